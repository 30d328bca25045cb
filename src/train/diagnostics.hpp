#pragma once

#include <vector>

#include "train/learner.hpp"
#include "train/models/transformer.hpp"
#include "jacobian/torch.hpp"
#include "train/training_log.hpp"

namespace spectra::train {

/// Diagnostics of the model's mixers and states at these inputs (B, T, …): the largest over inputs for
/// defects and sums, otherwise means. One value per sublayer:
///   row_sum_defect, column_sum_defect   |sums − 1|
///   orthogonality_defect                |AᵀA − I|, largest entry
///   spectral_norm                       largest singular value of A
///   identity_distance                   ‖A − I‖_F / √n
///   row_maximum_10, _median, _90        quantiles of the largest entry of a row of A, over rows and tokens
///   diagonal_share                      share of A with the largest entry of every row on the diagonal
///   negative_share                      share of entries of A below −0.01
///   fractional_share                    share of entries of A farther than 0.05 from both 0 and 1
///   composite_row_sum, _column_sum      largest |sum| of a row or column of the product of all A so far
///   gate, beta, …                       if the mixer has them
///   beta_variance, beta_negative        variance of β, and the share below 0, over inputs and channels
///   stream_cosine_mixed                 between streams of one token's state after the mixer: of A x
///   stream_cosine                       the same after the sublayer
///   effective_rank                      exp entropy of the singular values of the states (tokens × channels)
///                                       after the sublayer, as a share of the channels
/// Operators on the channel axis (ddl, mgt) are too large to analyse at every token: they report only
/// their β. Of the whole network:
///   sequence_rank       before the first block and after every block: the effective rank of one sequence's states
///                       (T×C) as a share of min(T, C), mean over sequences
///   rank_preservation   its last value over its first
///   rank_decay          slope per block of its logarithm, by least squares
///   position_norm       mean norm of the prediction at every position; not of tokens
/// `tick` counts sublayers.
std::vector<Diagnostic> diagnose(Transformer& model, const torch::Tensor& x, const Tick& tick = {});

/// exp(−Σ p ln p), p = s/Σs, over the number of singular values s of the matrix; of a batch (…, rows, columns) the mean.
double effective_rank(const torch::Tensor& matrix);

}  // namespace spectra::train
