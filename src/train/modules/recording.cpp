#include "train/modules/recording.hpp"

#include <atomic>

namespace spectra::train {

namespace {

std::atomic<Recording*> the_one = nullptr;

}  // namespace

Recording::Recording() {
    Recording* none = nullptr;
    TORCH_CHECK(the_one.compare_exchange_strong(none, this), "two recordings at once");
}

Recording::~Recording() {
    the_one = nullptr;
}

Recording* Recording::current() {
    return the_one;
}

torch::Tensor Recording::failed(torch::Device device) const {
    if (failures_.empty()) return torch::zeros({}, torch::dtype(torch::kBool).device(device));
    return torch::stack(failures_).any();
}

}  // namespace spectra::train
