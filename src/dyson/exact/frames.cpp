#include "dyson/exact/frames.hpp"

#include "linalg/eigen_instances.hpp"

#include <algorithm>
#include <cmath>

namespace spectra::dyson {
namespace {

constexpr double largest_entry = 10;

}  // namespace

std::vector<Eigen::VectorXd> growth_of(const std::vector<Eigen::VectorXd>& log_diagonal,
                                       const std::vector<double>& floor) {
    std::vector<Eigen::VectorXd> growth{Eigen::VectorXd::Zero(log_diagonal.front().size())};
    for (std::size_t l = 0; l < log_diagonal.size(); ++l)
        growth.emplace_back(growth.back() + log_diagonal[l].cwiseMax(floor[l]));
    return growth;
}

Frames follow_streams(const std::vector<Eigen::MatrixXd>& mixers, const std::vector<double>& floor,
                      double graded_from) {
    const Eigen::Index n = mixers.front().rows();
    const std::size_t layers = mixers.size();
    Frames frames;
    std::vector<Eigen::MatrixXd> orthogonal{Eigen::MatrixXd::Identity(n, n)}, triangular;
    for (std::size_t l = 0; l < layers; ++l) {
        const Eigen::HouseholderQR<Eigen::MatrixXd> qr(mixers[l] * orthogonal.back());
        triangular.emplace_back(qr.matrixQR().triangularView<Eigen::Upper>());
        orthogonal.emplace_back(qr.householderQ());
        frames.log_diagonal.emplace_back(triangular.back().diagonal().cwiseAbs().array().log());
    }
    for (const Eigen::VectorXd& growth : growth_of(frames.log_diagonal, floor))
        frames.graded = frames.graded || growth.maxCoeff() - growth.minCoeff() > graded_from;
    if (!frames.graded) return frames;

    frames.adjoint.resize(layers + 1);
    frames.inverse.resize(layers + 1);
    frames.mixers.resize(layers);
    Eigen::MatrixXd w = Eigen::MatrixXd::Identity(n, n);
    for (std::size_t l = layers;; --l) {
        frames.adjoint[l] = (orthogonal[l] * w).transpose();
        const Eigen::MatrixXd inverse =
            w.triangularView<Eigen::UnitUpper>().solve(Eigen::MatrixXd::Identity(n, n));
        frames.inverse[l] = inverse * orthogonal[l].transpose();
        if (l == 0) break;
        const Eigen::MatrixXd& r = triangular[l - 1];
        Eigen::MatrixXd before = Eigen::MatrixXd::Identity(n, n);
        bool cut = false;
        for (Eigen::Index j = 0; j < n; ++j) {
            // Column j of R W' = W diag(R), from its diagonal upwards.
            for (Eigen::Index i = j; i-- > 0;) {
                double sum = w(i, j) * r(j, j);
                for (Eigen::Index k = i + 1; k <= j; ++k) sum -= r(i, k) * before(k, j);
                const double value = sum / r(i, i);
                cut = cut || !(std::abs(value) <= largest_entry);
                before(i, j) = std::isfinite(value) ? std::clamp(value, -largest_entry, largest_entry) : 0;
            }
        }
        if (cut)
            frames.mixers[l - 1] = (inverse * r * before).triangularView<Eigen::Upper>();
        else
            frames.mixers[l - 1] = r.diagonal().asDiagonal();
        w = before;
    }
    return frames;
}

}  // namespace spectra::dyson
