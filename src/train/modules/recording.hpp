#pragma once

#include <vector>

#include "jacobian/torch.hpp"

namespace spectra::train {

/// While it exists, no module waits for the device, so that what they launch can be recorded and replayed: a loop whose
/// length depends on the data runs a fixed number of times and reports here whether that was enough.
class Recording {
public:
    Recording();
    ~Recording();
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

    /// The one that exists, or null. Gradients, which another thread computes, see it too.
    static Recording* current();

    /// `failed`: one truth value, on the device.
    void report(const torch::Tensor& failed) { failures_.push_back(failed); }
    /// Whether anything failed: one truth value, on the device.
    torch::Tensor failed(torch::Device device) const;

private:
    std::vector<torch::Tensor> failures_;
};

}  // namespace spectra::train
