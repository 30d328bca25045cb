#pragma once

#include "jacobian/torch.hpp"

namespace spectra::train {

/// weight ⊙ (x − mean)/√(variance + 1e-5) over the last axis. On a GPU by kernels of its own, while FastKernels exist.
torch::Tensor layer_norm(const torch::Tensor& x, const torch::Tensor& weight);

}  // namespace spectra::train
