#include "mixers/gaussian.hpp"

#include <cmath>
#include <span>

namespace spectra::mixers {

Eigen::MatrixXd standard_normal(int rows, int columns, random::Stream& stream) {
    Eigen::MatrixXd g(rows, columns);
    stream.fill_normal(std::span<double>(g.data(), static_cast<std::size_t>(g.size())));
    return g;
}

Eigen::VectorXd unit_vector(int n, random::Stream& stream) {
    const Eigen::VectorXd g = standard_normal(n, 1, stream);
    return g.stableNormalized();
}

Eigen::MatrixXd draw_gaussian(int n, random::Stream& stream) {
    return standard_normal(n, n, stream) / std::sqrt(static_cast<double>(n));
}

}  // namespace spectra::mixers
