#pragma once

#include "dyson/equations/digits.hpp"
#include "dyson/solve/equation.hpp"
#include "network/network.hpp"

#include <memory>

namespace spectra::dyson {

/// The equation of make_chain (chain.hpp) in the same unknowns, with every Newton step computed in more digits
/// and rounded at the end. For points that rounding hides from the chain: where streams without noise carry a current past
/// a layer in which noise dominates, what determines a_l/b_l is smaller than the current by a power of s over the noise.
/// The unknowns themselves are not ill-conditioned there.
///
/// The network's numbers are taken as exact.
std::unique_ptr<Equation> make_precise_chain(const Network& network, Digits digits);

/// Products of complex numbers in one Newton step of it, about 1 µs each in 120 digits.
double precise_products(const Network& network);

}  // namespace spectra::dyson
