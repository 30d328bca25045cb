#include "mixers/householder.hpp"

#include "mixers/gaussian.hpp"

#include <cmath>
#include <stdexcept>

namespace spectra::mixers {

Eigen::MatrixXd householder(const Eigen::VectorXd& k, double beta) {
    const double length = k.stableNorm();
    if (!(length > 0) || !std::isfinite(length))
        throw std::invalid_argument("Householder: the direction k must be finite and not zero");
    const Eigen::VectorXd unit = k.stableNormalized();
    const Eigen::MatrixXd square = unit * unit.transpose();  // first, so that the result is exactly symmetric
    return Eigen::MatrixXd::Identity(k.size(), k.size()) - beta * square;
}

Eigen::MatrixXd draw_householder(int n, double beta, random::Stream& stream) {
    return householder(unit_vector(n, stream), beta);
}

}  // namespace spectra::mixers
