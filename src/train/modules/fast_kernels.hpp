#pragma once

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

}  // namespace spectra::train
