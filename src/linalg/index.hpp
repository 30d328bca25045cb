#pragma once

#include <Eigen/Core>

#include <cstddef>

namespace spectra::linalg {

/// A place in a std::vector as Eigen's index.
constexpr Eigen::Index index(std::size_t k) {
    return static_cast<Eigen::Index>(k);
}

}  // namespace spectra::linalg
