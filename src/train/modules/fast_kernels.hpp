#pragma once

#include "jacobian/torch.hpp"

namespace spectra::train {

/// While it exists (with `on`), norms, attention, mappings and streams have kernels of their own on a GPU, in float, faster
/// than Torch's for the sizes of our models. Their gradients cannot be differentiated again: for the steps of a training.
class FastKernels {
public:
    explicit FastKernels(bool on);
    ~FastKernels();
    FastKernels(const FastKernels&) = delete;
    FastKernels& operator=(const FastKernels&) = delete;

    /// Whether there is one and x is what it is for: floats on a GPU, at least one of them.
    static bool take(const torch::Tensor& x);

private:
    bool on_;
};

/// An argument of a torch::autograd::Function that need not be defined; others must be.
using OptionalTensor = c10::optional<torch::Tensor>;

/// x, or a copy of it where its numbers are not one after the other or do not begin at an address of which the kernels can
/// read four at a time.
torch::Tensor aligned(const torch::Tensor& x);

}  // namespace spectra::train
