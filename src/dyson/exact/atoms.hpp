#pragma once

/// \file
/// Point masses of the law, exactly.

#include "network/network.hpp"
#include "spectrum/spectrum.hpp"

#include <vector>

namespace spectra::dyson {

/// Point masses of the law of singular values, in increasing order of position.
///
/// * No noise at all: the singular values of A_L···A_1.
/// * Isotropic: at zero, if noiseless runs of layers have a product of rank r < n: 1 − min r/n. One layer
///   with given singular values t: at zero α + β − 1; at a value t of weight τ: 2α + τ − 2; at a singular
///   value a of weight μ: μ + 2β − 2; if positive. α and β are the weights of zero in A and X.
/// * Activation: at zero. One layer: a row of Y with zero slope is a row of A, the others are generic, so
///   the mass is (1/n) E(|S| − rank A_S), S the streams with zero slopes at a site and A_S their rows.
/// * Hyper-connection: let J_x = Π_l (A_l + x_l post_l pre_lᵀ) with generic numbers x_l in place of the F_l.
///   At zero 1 − rank(J_x)/n; at s > 0 the multiplicity of s² as an eigenvalue of J_x J_yᵀ for all x and y,
///   times 1/n (so in particular s is a singular value of B = A_L···A_1). Numbers x_l give the same rank per
///   row as large matrices, because each F_l enters by a matrix of rank one. A tied F enters in several
///   layers: there x is a small matrix.
///
///   One layer with given singular values t whose mixer does not touch the branch (A pre = 0, Aᵀ post = 0): also at
///   ‖pre‖ ‖post‖ t, 1/n times the weight of t.
///
///   If J_x J_yᵀ is so large that its rounding hides s², atoms are found from the subspace that
///   the noise does not reach, the largest U with
///
///       pre_lᵀ A_{l−1}···A_1 u = 0,   post_lᵀ A_{l+1}ᵀ···A_Lᵀ B u = 0   for every l that J depends on,   BᵀB
///       U ⊂ U:
///
///   J acts on it like B, so the singular values of B on U are atoms of mass 1/n each, however small.
///
/// Ranks are decided at 1e-10 of the norm of what is looked at, one layer at a time.
///
/// Some masses are only lower bounds: at zero for activations of several layers with singular mixers, and for
/// given singular values that vanish in several layers or in hyper-connections of several layers;
/// elsewhere, for given singular values that repeat (except for one isotropic layer).
std::vector<Density::Atom> atoms(const Network& network);

/// The mass of atoms() at s = 0.
double atom_at_zero(const Network& network);

}  // namespace spectra::dyson
