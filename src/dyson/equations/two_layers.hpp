#pragma once

#include "dyson/solve/equation.hpp"
#include "dyson/solve/green_point.hpp"
#include "network/network.hpp"

#include <memory>

namespace spectra::dyson {

/// Two layers with isotropic Gaussian branches by the operator-valued S-transform, exact for any mixers: a second
/// method, independent of the chain.
///
/// X = Y_2ᵀY_2 and Y = Y_1Y_1ᵀ are free over the n×n matrices, and J Jᵀ has the spectrum of XY. With
/// Ψ_X(b) = E(1 − bX)⁻¹ − 1, E the average over the p-dimensional factor, and S_X(w) = (1 + w)w⁻¹Ψ_X⁻¹(w),
/// the twisted product S_{XY}(w) = S_Y(w) S_X(S_Y(w)⁻¹ w S_Y(w)) at the point 1/z, z = ω², reads
///
///     w = Ψ_Y(b_Y),     Ψ_X(b_X) = b_Y⁻¹ w b_Y,     b_Y b_X = w(1 + w)⁻¹/z,     g(ω) = tr_n(1 + w)/ω,
///
/// n² equations for the matrix b_Y. The Ψ of one layer at a matrix b, with K = AᵀA for X and AAᵀ for Y:
///
///     Ψ(b) = NC,     N = (b⁻¹ − C)⁻¹,     C = σ²μ + K/u,     u = 1 − σ²ν,
///     ν = tr_n N,     μu = 1 + tr_n(KN)/u,
///
/// so that b_X = C_Y/z, and b_Y⁻¹ w b_Y = C_Y N_Y. The unknowns are b_Y and the μ, ν of both layers.
/// (Analytically the system closes: also b_Y = C_X/z, four numbers in total, which is the chain. Solved in this form it
/// shares nothing with the chain's code.) The right solution is the one with −Im ωb_Y > 0 and −Im ωb_X > 0 as matrices,
/// and Im g < 0. For more layers the average onto the matrices is not a trace, and nesting this method is an
/// approximation. Throws std::invalid_argument for other depths and branches.
std::unique_ptr<Equation> make_two_layers(const Network& network);

/// g at one ω, Im ω > 0.
GreenPoint two_layers_green(const Network& network, Complex omega);

}  // namespace spectra::dyson
