#pragma once

/// \file
/// Claims of spectral-sphere-constrained hyper-connections (arXiv:2603.20896).

#include "claims/outcome.hpp"

#include <Eigen/Core>

namespace spectra::claims::shc {

/// C114. S_n is closed under products, and its members preserve the mean.
Outcome closure_under_products();
/// C115. Bistochastic matrices belong to S_n.
Outcome birkhoff_is_contained();
/// C116. A_n = J + Z_n.
Outcome affine_translation();
/// C117. ‖J + H‖ = max(1, ‖H‖).
Outcome spectral_decoupling();
/// C118. Every member of Z_n by the factorisation, also with cores of Cayley transforms with entries of at most 1.
Outcome completeness();
/// C119. How far the start is from the identity.
Outcome identity_start();
/// C120. (n − 1)² raw numbers.
Outcome raw_numbers();
/// C121. Sums after twenty Sinkhorn sweeps against the scale of the logits.
Outcome sums_after_twenty_sweeps();
/// C122. Norms of composites of three mixers.
Outcome composite_norms();
/// C125. Cosines between streams before and after bistochastic mixing.
Outcome convex_mixing_raises_similarity();
/// C131. Parameters against n.
Outcome parameter_growth();

/// The largest entry of the skew S with Q = (I − S)⁻¹(I + S)D, least over all signatures D = diag(±1).
double least_skew_entry(const Eigen::MatrixXd& q);

/// Parameters of the hyper-connections of the paper's model of 0.12 B, 24 modules of n streams of 768 channels: pre, post
/// and the residual's `numbers`, weights, biases and three factors.
double auxiliary_parameters(int n, double numbers);

}  // namespace spectra::claims::shc
