#include "mixers/cayley_hybrid.hpp"

#include "mixers/gaussian.hpp"
#include "mixers/householder.hpp"

#include <cassert>
#include <cmath>
#include <limits>

namespace spectra::mixers {

Eigen::MatrixXd plane_rotation(const Eigen::VectorXd& u, const Eigen::VectorXd& v, double beta) {
    assert(u.size() == v.size());
    const Eigen::Index n = u.size();
    Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(n, n);
    const double u_length = u.stableNorm();
    const double v_length = v.stableNorm();
    if (u_length == 0 || v_length == 0) return identity;

    const Eigen::VectorXd e1 = u.stableNormalized();
    Eigen::VectorXd rest = v.stableNormalized();
    rest -= e1.dot(rest) * e1;
    // The rest of a parallel v is rounding and has no direction.
    if (rest.norm() <= 4.0 * static_cast<double>(n) * std::numeric_limits<double>::epsilon()) return identity;
    const double sine = rest.norm();
    rest.normalize();
    rest -= e1.dot(rest) * e1;  // once more: e1 and e2 orthogonal to rounding, however close u and v
    const Eigen::VectorXd e2 = rest.normalized();

    const double t = 0.5 * beta * (u_length * (v_length * sine));
    const double phi = 2.0 * std::atan(t);
    return identity + (std::cos(phi) - 1.0) * (e1 * e1.transpose() + e2 * e2.transpose()) +
           std::sin(phi) * (e2 * e1.transpose() - e1 * e2.transpose());
}

Eigen::MatrixXd cayley_hybrid(const Eigen::VectorXd& u, const Eigen::VectorXd& v, const Eigen::VectorXd& k,
                              double beta, double gate) {
    return gate * plane_rotation(u, v, beta) + (1.0 - gate) * householder(k, 2.0);
}

Eigen::MatrixXd draw_cayley_hybrid(int n, double beta, double gate, random::Stream& stream) {
    const Eigen::VectorXd u = standard_normal(n, 1, stream);
    const Eigen::VectorXd v = standard_normal(n, 1, stream);
    const Eigen::VectorXd k = unit_vector(n, stream);
    return cayley_hybrid(u, v, k, beta, gate);
}

}  // namespace spectra::mixers
