#include "linalg/gmres.hpp"

#include <Eigen/Jacobi>

#include <cmath>
#include <vector>

namespace spectra::linalg {

GmresSummary gmres(const std::function<void(const Eigen::VectorXcd&, Eigen::VectorXcd&)>& apply,
                   const Eigen::VectorXcd& b, Eigen::VectorXcd& x, double tolerance, int max_iterations,
                   int restart) {
    using Complex = std::complex<double>;
    GmresSummary summary;
    x.setZero(b.size());
    const double norm_b = b.norm();
    if (!std::isfinite(norm_b)) return summary;
    if (norm_b == 0) return {true, 0, 0};

    Eigen::VectorXcd r = b, w(b.size());
    const int m = static_cast<int>(std::min<Eigen::Index>(restart, b.size()));
    Eigen::MatrixXcd basis(b.size(), m + 1);
    Eigen::MatrixXcd h(m + 1, m);
    Eigen::VectorXcd rhs(m + 1);
    std::vector<Eigen::JacobiRotation<Complex>> rotations(static_cast<std::size_t>(m));

    while (summary.iterations < max_iterations) {
        const double beta = r.norm();
        summary.residual = beta / norm_b;
        if (!std::isfinite(beta)) return summary;
        if (summary.residual <= tolerance) {
            summary.converged = true;
            return summary;
        }
        basis.col(0) = r / beta;
        rhs.setZero();
        rhs(0) = beta;
        h.setZero();
        int k = 0;
        for (; k < m && summary.iterations < max_iterations;) {
            apply(basis.col(k), w);
            ++summary.iterations;
            for (int sweep = 0; sweep < 2; ++sweep) {
                for (int i = 0; i <= k; ++i) {
                    const Complex c = basis.col(i).dot(w);
                    h(i, k) += c;
                    w -= c * basis.col(i);
                }
            }
            const double norm_w = w.norm();
            if (!std::isfinite(norm_w)) return summary;
            h(k + 1, k) = norm_w;
            if (norm_w > 0) basis.col(k + 1) = w / norm_w;
            for (int i = 0; i < k; ++i)
                h.col(k).applyOnTheLeft(i, i + 1, rotations[static_cast<std::size_t>(i)].adjoint());
            auto& rotation = rotations[static_cast<std::size_t>(k)];
            rotation.makeGivens(h(k, k), h(k + 1, k));
            h.col(k).applyOnTheLeft(k, k + 1, rotation.adjoint());
            rhs.applyOnTheLeft(k, k + 1, rotation.adjoint());
            ++k;
            summary.residual = std::abs(rhs(k)) / norm_b;
            if (summary.residual <= tolerance || norm_w == 0) break;
        }
        const Eigen::VectorXcd y = h.topLeftCorner(k, k).triangularView<Eigen::Upper>().solve(rhs.head(k));
        if (!y.allFinite()) return summary;
        x += basis.leftCols(k) * y;
        apply(x, w);
        r = b - w;
    }
    summary.residual = r.norm() / norm_b;
    summary.converged = summary.residual <= tolerance;
    return summary;
}

}  // namespace spectra::linalg
