#include "mixers/orthogonal.hpp"

#include "mixers/gaussian.hpp"

#include <Eigen/QR>

#include <cassert>

namespace spectra::mixers {

Eigen::MatrixXd orthonormalise(const Eigen::MatrixXd& g) {
    assert(g.rows() >= g.cols());
    if (g.cols() == 0) return g;
    const Eigen::HouseholderQR<Eigen::MatrixXd> qr(g);
    Eigen::MatrixXd q = qr.householderQ() * Eigen::MatrixXd::Identity(g.rows(), g.cols());
    for (Eigen::Index j = 0; j < q.cols(); ++j)
        if (qr.matrixQR()(j, j) < 0) q.col(j) = -q.col(j);
    return q;
}

Eigen::MatrixXd draw_orthogonal(int n, random::Stream& stream) {
    return orthonormalise(standard_normal(n, n, stream));
}

}  // namespace spectra::mixers
