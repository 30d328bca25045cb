#pragma once

/// \file
/// Point masses of the law, exactly.

#include "network/network.hpp"
#include "spectrum/spectrum.hpp"

#include <vector>

namespace spectra::dyson {

/// Point masses of the law of singular values, in increasing order of place.
///
/// * No noise at all: the singular values of A_L···A_1.
/// * Isotropic: at zero, where noiseless runs of layers have a product of rank r < n: 1 − min r/n. One layer
///   with singular values t given: at zero α + β − 1, at a value t of weight τ 2α + τ − 2, at a singular
///   value a of weight μ μ + 2β − 2, where positive; α and β are the weights of zero in A and X.
/// * Activation: at zero. One layer: a row of Y whose slope is zero is a row of A, the others are generic, so
///   the mass is (1/n) E(|S| − rank A_S), S the streams whose slopes vanish at a site and A_S their rows.
/// * Hyper-connection: let J_x = Π_l (A_l + x_l post_l pre_lᵀ) with generic numbers x_l in place of the F_l.
///   At zero 1 − rank(J_x)/n; at s > 0 as many nth parts as s² is an eigenvalue of J_x J_yᵀ whatever x and y
///   are (so s is a singular value of B = A_L···A_1 in particular). Numbers give the rank that large matrices
///   give per row because each F_l enters by a matrix of rank one. A tied F enters in several layers: there
///   x is a small matrix.
///
///   Where J_x J_yᵀ is too large for s² to stand out of its rounding, atoms are found by the subspace that
///   the noise does not reach, the largest U with
///
///       pre_lᵀ A_{l−1}···A_1 u = 0,   post_lᵀ A_{l+1}ᵀ···A_Lᵀ B u = 0   for every l that J depends on,   BᵀB
///       U ⊂ U:
///
///   J acts on it as B, so the singular values of B on U are atoms of mass 1/n each, however small.
///
/// Ranks are decided at 1e-10 of the norm of what is looked at, one layer at a time.
///
/// Lower bounds, not values: at zero for activations of several layers with singular mixers, and for
/// given singular values that vanish in several layers or in hyper-connections of several layers;
/// elsewhere, for given singular values that repeat (other than one isotropic layer).
std::vector<Density::Atom> atoms(const Network& network);

/// The mass of atoms() at s = 0.
double atom_at_zero(const Network& network);

}  // namespace spectra::dyson
