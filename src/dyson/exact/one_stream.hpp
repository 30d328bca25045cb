#pragma once

#include "network/network.hpp"

#include <optional>

namespace spectra::dyson {

/// a² if A Aᵀ = a² (to 1e-12): A is a multiple of an orthogonal matrix.
std::optional<double> square_of_scale(const Mixer& a);

/// The network with one stream and mixers a_l that has the same law, if all mixers are multiples a_l of orthogonal
/// matrices and branches are isotropic; else none. Turn the coordinates after every layer by the product of the orthogonal
/// matrices so far: J only changes by rotations at its ends, mixers become a_l, and independent isotropic branches stay
/// what they are. So the equation of n×n blocks is one of numbers.
std::optional<Network> with_one_stream(const Network& network);

}  // namespace spectra::dyson
