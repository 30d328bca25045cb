#include "dyson/exact/mixer_values.hpp"

#include "base/special_values.hpp"
#include "linalg/eigen_instances.hpp"
#include "mixers/defects.hpp"

#include <algorithm>
#include <cmath>

namespace spectra::dyson {
std::vector<Eigen::ArrayXd> layer_singular_values(const Network& network) {
    std::vector<Eigen::ArrayXd> values;
    values.reserve(network.mixers.size());
    for (std::size_t l = 0; l < network.mixers.size(); ++l) {
        if (l > 0 && network.mixers[l] == network.mixers[l - 1])
            values.push_back(values.back());
        else
            values.emplace_back(mixers::singular_values(network.mixers[l]).array());
    }
    return values;
}

std::vector<double> log_singular_values_of_product(const std::vector<Mixer>& mixers) {
    const Eigen::Index n = mixers.front().rows();
    // R ← (triangular factor of A Q) R, its rows stored with exponents: R = diag(e^{d})·U with unit rows
    // of U, so that no row is lost however small it becomes beside the others.
    Eigen::MatrixXd q = Eigen::MatrixXd::Identity(n, n);
    Eigen::MatrixXd unit = Eigen::MatrixXd::Identity(n, n);
    Eigen::VectorXd exponent = Eigen::VectorXd::Zero(n);
    for (const Mixer& a : mixers) {
        const Eigen::MatrixXd y = a * q;
        const Eigen::HouseholderQR<Eigen::MatrixXd> qr(y);
        q = qr.householderQ();
        const Eigen::MatrixXd r = qr.matrixQR().triangularView<Eigen::Upper>();
        Eigen::MatrixXd next(n, n);
        for (Eigen::Index i = 0; i < n; ++i) {
            double top = -infinity;
            for (Eigen::Index k = i; k < n; ++k)
                if (r(i, k) != 0) top = std::max(top, exponent(k));
            Eigen::RowVectorXd row = Eigen::RowVectorXd::Zero(n);
            if (top > -infinity)
                for (Eigen::Index k = i; k < n; ++k)
                    if (r(i, k) != 0) row += r(i, k) * std::exp(exponent(k) - top) * unit.row(k);
            const double norm = row.norm();
            next.row(i) = norm > 0 ? Eigen::RowVectorXd(row / norm) : row;
            exponent(i) = norm > 0 ? top + std::log(norm) : -infinity;
        }
        unit = next;
    }
    // One-sided Jacobi on the rows with their exponents: rotate pairs until orthogonal.
    for (int sweep = 0; sweep < 60; ++sweep) {
        double largest = 0;
        for (Eigen::Index i = 0; i < n; ++i) {
            for (Eigen::Index j = i + 1; j < n; ++j) {
                Eigen::Index a = i, b = j;
                if (exponent(a) < exponent(b)) std::swap(a, b);
                if (exponent(b) == -infinity) continue;
                const double cosine = unit.row(a).dot(unit.row(b));
                largest = std::max(largest, std::abs(cosine));
                if (std::abs(cosine) < 1e-16) continue;
                // Rows x = e^{α}û, y = e^{β}v̂, ratio ε = e^{β−α} ≤ 1: rotate by t = tan θ with
                // t ε-scaled: x' = c(x − t·y…) computed relative to each row's own scale.
                const double ratio = std::exp(exponent(b) - exponent(a));
                const double zeta = (ratio * ratio - 1) / (2 * ratio * cosine);
                const double t =
                    ratio == 0 ? 0 : (zeta > 0 ? 1.0 : -1.0) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
                const double c = 1 / std::sqrt(1 + t * t);
                // t/ratio stays finite as ratio → 0: −cosine.
                const double t_over_ratio = ratio < 1e-8 ? -cosine : t / ratio;
                Eigen::RowVectorXd x = c * (unit.row(a) - t * ratio * unit.row(b));
                Eigen::RowVectorXd y = c * (unit.row(b) + t_over_ratio * unit.row(a));
                const double nx = x.norm(), ny = y.norm();
                unit.row(a) = x / nx;
                unit.row(b) = ny > 0 ? Eigen::RowVectorXd(y / ny) : y;
                exponent(a) += std::log(nx);
                exponent(b) = ny > 0 ? exponent(b) + std::log(ny) : -infinity;
            }
        }
        if (largest < 1e-15) break;
    }
    std::vector<double> values(exponent.data(), exponent.data() + n);
    std::sort(values.rbegin(), values.rend());
    return values;
}

}  // namespace spectra::dyson
