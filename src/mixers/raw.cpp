#include "mixers/raw.hpp"

#include "mixers/cayley.hpp"
#include "mixers/cayley_hybrid.hpp"
#include "mixers/grassmann.hpp"
#include "mixers/householder.hpp"
#include "mixers/permutation.hpp"
#include "mixers/sinkhorn.hpp"
#include "mixers/spectral_sphere.hpp"

#include <algorithm>
#include <cmath>

namespace spectra::mixers {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

Mixer raw_identity(const VectorXd& /*raw*/, int n, const RawOptions& /*options*/) {
    return MatrixXd::Identity(n, n);
}

Mixer raw_matrix(const VectorXd& raw, int n, const RawOptions& /*options*/) {
    return by_rows(raw, n, n);
}

Mixer raw_bistochastic(const VectorXd& raw, int n, const RawOptions& options) {
    const MatrixXd logits = by_rows(raw, n, n) / options.temperature;
    if (!options.sweeps) return sinkhorn(logits);
    if (options.columns_first) return sinkhorn_sweeps(logits.transpose(), *options.sweeps).transpose();
    return sinkhorn_sweeps(logits, *options.sweeps);
}

Mixer raw_permutation(const VectorXd& raw, int n, const RawOptions& options) {
    return permutation_mixture(all_permutations(n), softmax(raw / options.temperature));
}

Mixer raw_orthogonal(const VectorXd& raw, int n, const RawOptions& /*options*/) {
    return cayley_transform(-skew_of(raw, n));
}

Mixer raw_cayley(const VectorXd& raw, int n, const RawOptions& options) {
    const MatrixXd skew = skew_part(by_rows(raw, n, n));
    return options.cayley_iterations ? cayley_iteration(skew, options.cayley_step, *options.cayley_iterations)
                                     : cayley_transform(0.5 * options.cayley_step * skew);
}

Mixer raw_cayley_hybrid(const VectorXd& raw, int n, const RawOptions& /*options*/) {
    return hybrid(raw.head(n), raw.segment(n, n), softplus(raw(2 * n)), raw.segment(2 * n + 1, n),
                  sigmoid(raw(3 * n + 1)));
}

Mixer raw_rotation(const VectorXd& raw, int n, const RawOptions& /*options*/) {
    return plane_rotation(raw.head(n), raw.segment(n, n), softplus(raw(2 * n)));
}

Mixer raw_spectral_sphere(const VectorXd& raw, int n, const RawOptions& /*options*/) {
    const Index skews = (n - 1) * (n - 2) / 2;
    const MatrixXd u = cayley_transform(skew_of(raw.head(skews), n - 1));
    const MatrixXd v = cayley_transform(skew_of(raw.segment(skews, skews), n - 1));
    return spectral_sphere(u, raw.tail(n - 1).array().tanh(), v);
}

Mixer raw_householder(const VectorXd& raw, int n, const RawOptions& /*options*/) {
    const VectorXd k = raw.head(n);
    return k.isZero(0) ? MatrixXd(MatrixXd::Identity(n, n)) : householder(k, 2 * sigmoid(raw(n)));
}

Mixer raw_grassmann(const VectorXd& raw, int n, const RawOptions& /*options*/) {
    return projector(by_rows(raw, n, static_cast<int>(raw.size()) / n));
}

double sigmoid(double x) {
    return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

VectorXd sigmoid(const VectorXd& x) {
    return x.unaryExpr([](double value) { return sigmoid(value); });
}

double softplus(double x) {
    return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

MatrixXd by_rows(const VectorXd& raw, int rows, int columns) {
    return raw.reshaped<Eigen::RowMajor>(rows, columns);
}

MatrixXd skew_of(const VectorXd& upper, int k) {
    MatrixXd skew = MatrixXd::Zero(k, k);
    Index next = 0;
    for (int i = 0; i < k; ++i)
        for (int j = i + 1; j < k; ++j, ++next) {
            skew(i, j) = upper(next);
            skew(j, i) = -upper(next);
        }
    return skew;
}

Mixer hybrid(const VectorXd& u, const VectorXd& v, double beta, const VectorXd& k, double gate) {
    const VectorXd direction = k / std::max(k.norm(), 1e-12);
    const int n = static_cast<int>(k.size());
    return gate * plane_rotation(u, v, beta) +
           (1 - gate) * (MatrixXd::Identity(n, n) - 2 * direction * direction.transpose());
}

}  // namespace spectra::mixers
