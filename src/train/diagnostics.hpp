#pragma once

#include <vector>

#include "train/learner.hpp"
#include "train/models/transformer.hpp"
#include "jacobian/torch.hpp"
#include "train/training_log.hpp"

namespace spectra::train {

/// Diagnostics of the model's mixers and states at these inputs (B, T, …): the largest over inputs for
/// defects, otherwise means:
///   row_sum_defect, column_sum_defect   |sums − 1|
///   orthogonality_defect                |AᵀA − I|, largest entry
///   spectral_norm                       largest singular value of A
///   identity_distance                   ‖A − I‖_F / √n
///   gate, beta, …                       if the mixer has them
///   stream_cosine                       between streams of one token's state after the sublayer
///   effective_rank                      exp entropy of the singular values of the states (tokens × channels)
///                                       after the sublayer, as a share of the channels
/// Operators on the channel axis (ddl, mgt) are too large to analyse at every token: they report only
/// their β. `tick` counts sublayers.
std::vector<Diagnostic> diagnose(Transformer& model, const torch::Tensor& x, const Tick& tick = {});

/// exp(−Σ p ln p), p = s/Σs, over the number of singular values s of the matrix.
double effective_rank(const torch::Tensor& matrix);

}  // namespace spectra::train
