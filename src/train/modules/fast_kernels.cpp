#include "train/modules/fast_kernels.hpp"

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

bool FastKernels::on() {
    return scopes > 0;
}

}  // namespace spectra::train
