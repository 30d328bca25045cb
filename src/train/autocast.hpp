#pragma once

#include <ATen/autocast_mode.h>

#include "jacobian/torch.hpp"

namespace spectra::train {

/// While it exists, CUDA's matrix products run in bfloat16 (with `on`; otherwise nothing changes).
class Autocast {
public:
    explicit Autocast(bool on) : on_(on) {
        if (!on_) return;
#if SPECTRA_TORCH_AT_LEAST(2, 4)
        at::autocast::set_autocast_enabled(at::kCUDA, true);
        at::autocast::set_autocast_dtype(at::kCUDA, at::kBFloat16);
#else
        at::autocast::set_enabled(true);
        at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
#endif
        at::autocast::increment_nesting();
    }
    ~Autocast() {
        if (!on_) return;
        if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
#if SPECTRA_TORCH_AT_LEAST(2, 4)
        at::autocast::set_autocast_enabled(at::kCUDA, false);
#else
        at::autocast::set_enabled(false);
#endif
    }
    Autocast(const Autocast&) = delete;
    Autocast& operator=(const Autocast&) = delete;

private:
    bool on_;
};

}  // namespace spectra::train
