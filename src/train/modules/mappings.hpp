#pragma once

#include <utility>

#include "jacobian/torch.hpp"

/// Mappings from a token's numbers (…, k). On a GPU by kernels of their own, while FastKernels exist.
namespace spectra::train {

/// Of logits L and M (…, 2n²) over the temperature: the row softmax of L averaged over rows, and the column softmax of M
/// applied to n copies: (…, n) each.
std::pair<torch::Tensor, torch::Tensor> softmax_routes(const torch::Tensor& logits, int64_t n,
                                                       double temperature);

/// cayley_iterative of W = R − Rᵀ for the numbers R (…, n²): (…, n, n).
torch::Tensor iterated_cayley(const torch::Tensor& raw, int64_t n, double step, int iterations);

}  // namespace spectra::train
