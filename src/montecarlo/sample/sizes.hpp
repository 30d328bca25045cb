#pragma once

#include <algorithm>
#include <cstddef>

namespace spectra::montecarlo {

inline std::size_t unsigned_of(int x) {
    return static_cast<std::size_t>(std::max(x, 0));
}

inline std::size_t squared(int size) {
    return static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
}

}  // namespace spectra::montecarlo
