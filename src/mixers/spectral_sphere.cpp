#include "mixers/spectral_sphere.hpp"

#include "mixers/cayley.hpp"
#include "mixers/gaussian.hpp"

#include <cassert>
#include <cmath>

namespace spectra::mixers {

Eigen::MatrixXd helmert_basis(int n) {
    assert(n >= 1);
    Eigen::MatrixXd basis = Eigen::MatrixXd::Zero(n, n - 1);
    for (int k = 1; k < n; ++k) {
        const double length = std::sqrt(static_cast<double>(k) * static_cast<double>(k + 1));
        basis.col(k - 1).head(k).setConstant(1.0 / length);
        basis(k, k - 1) = -static_cast<double>(k) / length;
    }
    return basis;
}

Eigen::MatrixXd spectral_sphere(const Eigen::MatrixXd& u, const Eigen::VectorXd& sigma,
                                const Eigen::MatrixXd& v) {
    assert(u.rows() == sigma.size() && v.rows() == sigma.size());
    const int n = static_cast<int>(sigma.size()) + 1;
    Eigen::MatrixXd a = Eigen::MatrixXd::Constant(n, n, 1.0 / static_cast<double>(n));
    if (n == 1) return a;
    const Eigen::MatrixXd basis = helmert_basis(n);
    a += (basis * u) * sigma.asDiagonal() * (basis * v).transpose();
    return a;
}

Eigen::MatrixXd draw_spectral_sphere(int n, random::Stream& stream) {
    const Eigen::MatrixXd u = cayley_transform(draw_skew(n - 1, stream));
    const Eigen::MatrixXd v = cayley_transform(draw_skew(n - 1, stream));
    const Eigen::VectorXd sigma = standard_normal(n - 1, 1, stream).array().tanh();
    return spectral_sphere(u, sigma, v);
}

}  // namespace spectra::mixers
