#pragma once

#include "jacobian/torch.hpp"

namespace spectra::train {

/// ln p of p_k = s(x_k) / Σ s(x_j) along the last dimension, in double: stablemax, with s(x) = x + 1 for x ≥ 0 and
/// 1/(1 − x) below, in place of softmax's exponential.
torch::Tensor log_stablemax(const torch::Tensor& logits);

/// Stablemax cross-entropy in nats of logits (B, T, K) and targets (B, T): of every sequence the mean over its targets
/// that are scored, and of these the mean. Double.
torch::Tensor stablemax_loss(const torch::Tensor& logits, const torch::Tensor& targets);

}  // namespace spectra::train
