#include "mixers/cayley.hpp"

#include "linalg/eigen_instances.hpp"
#include "mixers/gaussian.hpp"

#include <cassert>
#include <stdexcept>

namespace spectra::mixers {

Eigen::MatrixXd skew_part(const Eigen::MatrixXd& h) {
    return h - h.transpose();
}

Eigen::MatrixXd draw_skew(int k, random::Stream& stream) {
    Eigen::MatrixXd skew = Eigen::MatrixXd::Zero(k, k);
    for (int i = 0; i < k; ++i) {
        for (int j = i + 1; j < k; ++j) {
            skew(i, j) = stream.normal();
            skew(j, i) = -skew(i, j);
        }
    }
    return skew;
}

Eigen::MatrixXd cayley_transform(const Eigen::MatrixXd& skew) {
    assert(skew.rows() == skew.cols());
    const Eigen::Index n = skew.rows();
    if (n == 0) return skew;
    if (!(skew.array().abs() <= 1e10).all())
        throw std::invalid_argument("Cayley: the entries of the skew matrix must be at most 1e10");
    const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(n, n);
    Eigen::MatrixXd q = (identity - skew).partialPivLu().solve(identity + skew);
    // The solution is orthogonal to ε·‖S‖; a Newton-Schulz step towards the nearest orthogonal matrix
    // squares that, and the largest S needs two.
    for (int step = 0; step < 2; ++step) q = 0.5 * q * (3.0 * identity - q.transpose() * q);
    return q;
}

Eigen::MatrixXd cayley_iteration(const Eigen::MatrixXd& skew, double step, int iterations) {
    assert(skew.rows() == skew.cols());
    const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(skew.rows(), skew.cols());
    Eigen::MatrixXd y = identity + step * skew;
    for (int s = 0; s < iterations; ++s) y = identity + 0.5 * step * skew * (identity + y);
    return y;
}

Eigen::MatrixXd draw_cayley(int n, double logit_scale, double step, std::optional<int> iterations,
                            random::Stream& stream) {
    const Eigen::MatrixXd w = skew_part(logit_scale * standard_normal(n, n, stream));
    return iterations ? cayley_iteration(w, step, *iterations) : cayley_transform(0.5 * step * w);
}

}  // namespace spectra::mixers
