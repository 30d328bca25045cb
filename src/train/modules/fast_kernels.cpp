#include "train/modules/fast_kernels.hpp"

#include <cstdint>

namespace spectra::train {
namespace {

int scopes = 0;

}  // namespace

FastKernels::FastKernels(bool on) : on_(on) {
    scopes += on_ ? 1 : 0;
}

FastKernels::~FastKernels() {
    scopes -= on_ ? 1 : 0;
}

bool FastKernels::take(const torch::Tensor& x) {
    return scopes > 0 && x.is_cuda() && x.scalar_type() == torch::kFloat && x.numel() > 0;
}

torch::Tensor aligned(const torch::Tensor& x) {
    const auto plain = x.contiguous();
    return reinterpret_cast<std::uintptr_t>(plain.data_ptr()) % (4 * sizeof(float)) == 0 ? plain
                                                                                         : plain.clone();
}

}  // namespace spectra::train
