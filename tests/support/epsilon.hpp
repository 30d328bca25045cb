#pragma once

#include <limits>

namespace spectra::tests {

inline constexpr double epsilon = std::numeric_limits<double>::epsilon();

}  // namespace spectra::tests
