#include "layouts/family.hpp"

#include "mixers/cayley.hpp"
#include "mixers/cayley_hybrid.hpp"
#include "mixers/grassmann.hpp"
#include "mixers/householder.hpp"
#include "mixers/permutation.hpp"
#include "mixers/sinkhorn.hpp"
#include "mixers/spectral_sphere.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace spectra::layouts {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Largest number of streams for which all n! permutations are listed (5040).
constexpr std::uint64_t most_permuted_streams = 7;
/// More streams than any model has.
constexpr std::uint64_t most_streams = 4096;

MatrixXd identity(int n) {
    return MatrixXd::Identity(n, n);
}

Mixer bistochastic(const VectorXd& raw, int n, const FamilyOptions& options) {
    const MatrixXd logits = by_rows(raw, n, n) / options.temperature;
    if (!options.sweeps) return mixers::sinkhorn(logits);
    if (options.columns_first)
        return mixers::sinkhorn_sweeps(logits.transpose(), *options.sweeps).transpose();
    return mixers::sinkhorn_sweeps(logits, *options.sweeps);
}

Mixer cayley(const VectorXd& raw, int n, const FamilyOptions& options) {
    const MatrixXd skew = mixers::skew_part(by_rows(raw, n, n));
    return options.cayley_iterations
               ? mixers::cayley_iteration(skew, options.cayley_step, *options.cayley_iterations)
               : mixers::cayley_transform(0.5 * options.cayley_step * skew);
}

Mixer spectral_sphere(const VectorXd& raw, int n) {
    const Index skews = (n - 1) * (n - 2) / 2;
    const MatrixXd u = mixers::cayley_transform(skew_of(raw.head(skews), n - 1));
    const MatrixXd v = mixers::cayley_transform(skew_of(raw.segment(skews, skews), n - 1));
    return mixers::spectral_sphere(u, raw.tail(n - 1).array().tanh(), v);
}

Mixer permutation(const VectorXd& raw, int n, const FamilyOptions& options) {
    return mixers::permutation_mixture(mixers::all_permutations(n),
                                       mixers::softmax(raw / options.temperature));
}

Mixer householder(const VectorXd& raw, int n) {
    const VectorXd k = raw.head(n);
    return k.isZero(0) ? identity(n) : mixers::householder(k, 2 * sigmoid(raw(n)));
}

Mixer rotation(const VectorXd& raw, int n) {
    return mixers::plane_rotation(raw.head(n), raw.segment(n, n), softplus(raw(2 * n)));
}

/// Count of raw numbers for n streams; 0 if the family does not fix it.
std::uint64_t raw_count(std::string_view family, std::uint64_t n) {
    if (family == "bistochastic" || family == "cayley" || family == "matrix") return n * n;
    if (family == "orthogonal") return n * (n - 1) / 2;
    if (family == "cayley-hybrid") return 3 * n + 2;
    if (family == "spectral-sphere") return (n - 1) * (n - 1);
    if (family == "householder") return n + 1;
    if (family == "rotation") return 2 * n + 1;
    if (family == "permutation" && n <= most_permuted_streams) {
        std::uint64_t factorial = 1;
        for (std::uint64_t k = 2; k <= n; ++k) factorial *= k;
        return factorial;
    }
    return 0;
}

}  // namespace

const std::vector<std::string>& family_names() {
    static const std::vector<std::string> names{
        "matrix",   "bistochastic",  "permutation",     "orthogonal",  "cayley",
        "rotation", "cayley-hybrid", "spectral-sphere", "householder", "grassmann"};
    return names;
}

std::optional<int> streams_of(std::string_view family, std::uint64_t count) {
    for (std::uint64_t n = 1; n <= most_streams && count > 0; ++n)
        if (raw_count(family, n) == count) return static_cast<int>(n);
    return {};
}

Mixer mixer_of(std::string_view family, const VectorXd& raw, int streams, const FamilyOptions& options) {
    const int n = streams;
    if (family == "matrix" || family == "hyper") return by_rows(raw, n, n);
    if (family == "bistochastic") return bistochastic(raw, n, options);
    if (family == "permutation") return permutation(raw, n, options);
    if (family == "orthogonal") return mixers::cayley_transform(-skew_of(raw, n));
    if (family == "cayley") return cayley(raw, n, options);
    if (family == "rotation") return rotation(raw, n);
    if (family == "spectral-sphere") return spectral_sphere(raw, n);
    if (family == "householder") return householder(raw, n);
    if (family == "grassmann") return mixers::projector(by_rows(raw, n, static_cast<int>(raw.size()) / n));
    if (family == "cayley-hybrid")
        return hybrid(raw.head(n), raw.segment(n, n), softplus(raw(2 * n)), raw.segment(2 * n + 1, n),
                      sigmoid(raw(3 * n + 1)));
    if (family == "identity") return identity(n);
    throw std::invalid_argument("unknown mixer family '" + std::string(family) + "'");
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
    return gate * mixers::plane_rotation(u, v, beta) +
           (1 - gate) * (identity(n) - 2 * direction * direction.transpose());
}

}  // namespace spectra::layouts
