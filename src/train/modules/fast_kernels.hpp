#pragma once

#include "jacobian/torch.hpp"

namespace spectra::train {

/// While it exists (with `on`), norms and attention have kernels of their own on a GPU, in float, faster than Torch's for
/// the sizes of our models. Their gradients cannot be differentiated again: for the steps of a training.
class FastKernels {
public:
    explicit FastKernels(bool on);
    ~FastKernels();
    FastKernels(const FastKernels&) = delete;
    FastKernels& operator=(const FastKernels&) = delete;

    /// Whether there is one.
    static bool on();

private:
    bool on_;
};

/// x, or a copy of it where its numbers are not one after the other or do not begin at an address of which the kernels can
/// read four at a time.
torch::Tensor aligned(const torch::Tensor& x);

}  // namespace spectra::train
