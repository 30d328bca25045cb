#pragma once

#include <Eigen/Core>

#include <vector>

namespace spectra::dyson {

/// The same numbers, not copied.
inline Eigen::Map<const Eigen::ArrayXd> as_array(const std::vector<double>& values) {
    return {values.data(), static_cast<Eigen::Index>(values.size())};
}

inline double mean(const Eigen::ArrayXd& values) {
    return values.mean();
}

}  // namespace spectra::dyson
