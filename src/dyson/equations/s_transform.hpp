#pragma once

#include "dyson/solve/equation.hpp"
#include "dyson/solve/green_point.hpp"
#include "network/network.hpp"

#include <memory>

namespace spectra::dyson {

/// The law by S-transforms, a second method for networks where it is exact: isotropic Gaussian branches, and
/// one stream or only mixers that are multiples of orthogonal matrices, A_lᵀA_l = a_l² (to 1e-12).
///
/// With w = zG − 1, z = ω², one layer has
///
///     1/S_l(w) = ½ [(1 + 2w)σ_l² + a_l² + √(σ_l⁴ + 2(1 + 2w)a_l²σ_l² + a_l⁴)],
///
/// layers multiply, and w is the root of one equation, taken in logarithms,
///
///     z = (1 + w)/(w Π_l S_l(w)),      g(ω) = (1 + w)/ω.
///
/// For Im z > 0 the right w has Im w < 0. There every 1/S_l is in the lower half plane as well (the cut of
/// the square root is on the real axis, below w = −1), so principal logarithms suffice and none is off by 2πi
/// at any depth. More than one w with Im w < 0 may solve the equation: the right one has the z_l = (1 + w)/(w
/// S_l(w)) of every layer in the upper half plane, and is continued from large |z|. For equal layers this is
/// the z₁ map z = z₁ᴸ (w/(1 + w))^{L−1}.
///
/// The unknown is t = w/(1 + w), which keeps its digits at both ends of the law, w → 0 and w → −1.
bool s_transform_is_exact(const Network& network);

/// Throws std::invalid_argument if the method is not exact.
std::unique_ptr<Equation> make_s_transform(const Network& network);

/// g at one ω, Im ω > 0.
GreenPoint s_transform_green(const Network& network, Complex omega);

}  // namespace spectra::dyson
