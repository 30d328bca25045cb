#include "mixers/grassmann.hpp"

#include "mixers/gaussian.hpp"
#include "mixers/orthogonal.hpp"

#include <cassert>

namespace spectra::mixers {

Eigen::MatrixXd projector(const Eigen::MatrixXd& g) {
    if (g.cols() == 0) return Eigen::MatrixXd::Zero(g.rows(), g.rows());
    const Eigen::MatrixXd u = orthonormalise(g);
    return u * u.transpose();
}

Eigen::MatrixXd draw_grassmann(int n, int rank, random::Stream& stream) {
    assert(rank >= 0 && rank <= n);
    return projector(standard_normal(n, rank, stream));
}

}  // namespace spectra::mixers
