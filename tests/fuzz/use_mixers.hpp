#pragma once

#include "mixers/mixer.hpp"

#include <cstdlib>
#include <vector>

namespace spectra::fuzz {

/// What every reader of mixers promises.
inline void use(const std::vector<Mixer>& mixers) {
    if (mixers.empty()) std::abort();
    const auto n = mixers.front().rows();
    for (const auto& mixer : mixers)
        if (n < 1 || mixer.rows() != n || mixer.cols() != n || !mixer.allFinite()) std::abort();
}

}  // namespace spectra::fuzz
