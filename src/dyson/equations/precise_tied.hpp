#pragma once

#include "dyson/equations/digits.hpp"
#include "dyson/solve/equation.hpp"
#include "network/network.hpp"

#include <memory>

namespace spectra::dyson {

/// The equation of make_tied (tied.hpp) in the same unknowns, in more digits, as make_precise_chain is that of make_chain.
/// Off-diagonal unknowns have no logarithms in which the equation would be nearly linear, so close to a solution a step leads
/// to the solution itself: Newton's method goes on in them, and only its end is rounded.
std::unique_ptr<Equation> make_precise_tied(const Network& network, Digits digits);

/// Products of complex numbers in one Newton step of it, about 1 µs each in 120 digits.
double precise_tied_products(const Network& network);

}  // namespace spectra::dyson
