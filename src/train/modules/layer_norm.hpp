#pragma once

#include "jacobian/torch.hpp"

namespace spectra::train {

/// weight ⊙ (x − mean)/√(variance + 1e-5) over the last axis.
torch::Tensor layer_norm(const torch::Tensor& x, const torch::Tensor& weight);

/// While it exists (with `on`), layer_norm has kernels of its own on a GPU, faster than Torch's for short rows. Their
/// gradients cannot be differentiated again: for the steps of a training.
class FastNorms {
public:
    explicit FastNorms(bool on);
    ~FastNorms();
    FastNorms(const FastNorms&) = delete;
    FastNorms& operator=(const FastNorms&) = delete;

private:
    [[maybe_unused]] bool on_;
};

}  // namespace spectra::train
