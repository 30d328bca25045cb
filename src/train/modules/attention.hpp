#pragma once

#include "jacobian/torch.hpp"

namespace spectra::train {

/// softmax(q kᵀ/√h) v, (B, heads, T, h) each; causal: over the tokens so far.
torch::Tensor attention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v, bool causal);

/// The same of queries, keys and values side by side in the last axis, heads inside each: (B, T, 3C) → (B, T, C). On a GPU
/// by kernels of its own, while FastKernels exist.
torch::Tensor self_attention(const torch::Tensor& packed, int64_t heads, bool causal);

}  // namespace spectra::train
