#pragma once

#include "jacobian/torch.hpp"

/// What connections do to n parallel streams: x (B, T, n p) is n streams of p channels, one after the other. On a GPU by
/// kernels of their own, while FastKernels exist.
namespace spectra::train {

/// Σ_i pre_i x_i for pre (B, T, n): (B, T, p), or n copies of it, (B, T, n p).
torch::Tensor read_streams(const torch::Tensor& pre, const torch::Tensor& x, bool all_streams = false);

/// H x on the stream axis: H (B, T or 1, n, n).
torch::Tensor apply_mixer(const torch::Tensor& matrix, const torch::Tensor& x);

/// H x + post ⊗ y: to stream i comes post_i times y (B, T, p), or times stream i of y (B, T, n p). An undefined H is the
/// identity.
torch::Tensor write_streams(const torch::Tensor& matrix, const torch::Tensor& x, const torch::Tensor& post,
                            const torch::Tensor& y);

}  // namespace spectra::train
