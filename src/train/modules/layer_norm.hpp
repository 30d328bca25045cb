#pragma once

#include "jacobian/torch.hpp"

/// Norms over the last axis. On a GPU by kernels of their own, while FastKernels exist.
namespace spectra::train {

/// weight ⊙ (x − mean)/√(variance + 1e-5), plus bias if there is one.
torch::Tensor layer_norm(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias = {});

/// weight ⊙ x/√(mean square + 1e-6); without a weight if there is none.
torch::Tensor rms_norm(const torch::Tensor& x, const torch::Tensor& weight);

}  // namespace spectra::train
