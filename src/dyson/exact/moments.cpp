#include "dyson/exact/moments.hpp"

#include "base/special_values.hpp"
#include "dyson/exact/aligned_moments.hpp"
#include "dyson/exact/arrays.hpp"
#include "dyson/exact/layer_branch.hpp"
#include "dyson/exact/mixer_values.hpp"
#include "linalg/eigen_instances.hpp"
#include "network/tied_moments.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace spectra::dyson {
namespace {

// Singular values below this share of the largest are zero; thresholds of κ are met to this accuracy.
constexpr double rounding = 1e-13;

using Matrix = Eigen::MatrixXd;

double tr_n(const Matrix& x) {
    return x.trace() / static_cast<double>(x.rows());
}

// ---- covariances -------------------------------------------------------------------------------

double quadratic(const Eigen::VectorXd& x, const Matrix& m) {
    return x.dot(m * x);
}

/// η(T) = E X (T ⊗ 1) Xᵀ
Matrix covariance(const LayerBranch& layer, const Matrix& t) {
    if (layer.hyper_connection())
        return layer.sigma2 * quadratic(*layer.pre, t) * *layer.post * layer.post->transpose();
    return layer.sigma2 * tr_n(t) * Matrix::Identity(t.rows(), t.cols());
}

/// η*(U) = E Xᵀ (U ⊗ 1) X
Matrix dual_covariance(const LayerBranch& layer, const Matrix& u) {
    if (layer.hyper_connection())
        return layer.sigma2 * quadratic(*layer.post, u) * *layer.pre * layer.pre->transpose();
    return layer.sigma2 * tr_n(u) * Matrix::Identity(u.rows(), u.cols());
}

/// The contribution of a branch that is not Gaussian to the fourth moment.
double fourth_cumulant(const LayerBranch& layer, const Matrix& t, const Matrix& u) {
    double sum = 0;
    if (layer.values) {
        const Eigen::ArrayXd squares = as_array(*layer.values).square();
        const double k = squares.square().mean() - 2 * squares.mean() * squares.mean();
        const double root = layer.hyper_connection() ? quadratic(*layer.pre, t) * quadratic(*layer.post, u)
                                                     : tr_n(t) * tr_n(u);
        sum += k * root * root / (layer.hyper_connection() ? static_cast<double>(t.rows()) : 1);
    }
    double second = 0, fourth = 0;
    for (std::size_t k = 0; k < layer.slopes.value.size(); ++k) {
        second += layer.slopes.probability[k] * layer.slopes.value[k];
        fourth += layer.slopes.probability[k] * layer.slopes.value[k] * layer.slopes.value[k];
    }
    const double root = layer.sigma_w2 * tr_n(t);
    return sum + root * root * (fourth - second * second) * u.diagonal().squaredNorm() /
                     static_cast<double>(u.rows());
}

/// A matrix with its size stored separately, as a logarithm.
struct Scaled {
    Matrix matrix;
    double log_scale = 0;

    /// False if the matrix is zero.
    bool normalise() {
        const double size = tr_n(matrix);
        if (!(size > 0)) return false;
        matrix /= size;
        log_scale += std::log(size);
        return true;
    }
};

double tied_log_mean_square(const Network& network, const std::vector<LayerBranch>& layers) {
    const auto moments = tied_moments(network.mixers, [&](std::size_t k, std::size_t m, const Matrix& t) {
        return mixed_covariance(layers[k - 1], layers[m - 1], t);
    });
    return moments.square.size() > layers.size() ? moments.log_scale.back() : -infinity;
}

// ---- one layer's ln s and κ --------------------------------------------------------------------

/// The root of a decreasing f on [0, high], 0 if f is never positive. Bisects in the logarithm once the
/// bracket is away from zero: the root may be tiny.
template <class F>
double root_of_decreasing(F f, double high) {
    double low = 0;
    for (int k = 0; k < 2000 && high - low > 0; ++k) {
        const double middle = low > 0 ? std::sqrt(low) * std::sqrt(high) : high / 16;
        if (middle <= low || middle >= high || high < 1e-300) break;
        (f(middle) > 0 ? low : high) = middle;
    }
    return low > 0 ? high : 0;
}

double gaussian_log_mean(const Eigen::ArrayXd& a, double sigma2) {
    const Eigen::ArrayXd a2 = a.square();
    const bool singular = a.minCoeff() == 0;
    if (sigma2 == 0) return singular ? -infinity : mean(a.log());
    // f(t) = σ²⟨1/(a² + t)⟩ − 1 with t = σ⁴y² decreases in t; its root lies in [0, σ²].
    const auto f = [&](double t) { return sigma2 * mean((a2 + t).inverse()) - 1; };
    const double t = singular || f(0) > 0 ? root_of_decreasing(f, sigma2) : 0;
    return 0.5 * mean((a2 + t).log()) - 0.5 * t / sigma2;
}

/// 1/⟨y/(a² + y²)⟩ − y, without cancellation.
double subordinate(const Eigen::ArrayXd& a2, double y) {
    const Eigen::ArrayXd inverse = (a2 + y * y).inverse();
    return mean(a2 * inverse) / (y * mean(inverse));
}

/// The subordination functions of A + X at ω → 0 for bi-invariant X: ω_1 = iy_1, ω_2 = iy_2.
struct Subordination {
    enum class Kind { inside, first_wins, second_wins } kind = Kind::inside;
    double y1 = 0, y2 = 0;
    double ratio = 1;  ///< at the border that was reached; the layer has a gap at zero if it is below one
};

Subordination subordination(const Eigen::ArrayXd& a, const Eigen::ArrayXd& t) {
    const Eigen::ArrayXd a2 = a.square(), t2 = t.square();
    Subordination s;
    // y ↦ φ_t(φ_a(y)) does not expand ratios: it has one fixed point, inside or at a border.
    if (a.minCoeff() > 0) {
        s.ratio = mean(t2) * mean(a2.inverse());
        if (s.ratio <= 1 + rounding) {
            s.kind = Subordination::Kind::first_wins;
            return s;
        }
    }
    if (t.minCoeff() > 0) {
        s.ratio = mean(a2) * mean(t2.inverse());
        if (s.ratio <= 1 + rounding) {
            s.kind = Subordination::Kind::second_wins;
            return s;
        }
    }
    const double scale = std::sqrt(mean(a2) + mean(t2));
    double low = std::log(scale) - 300, high = std::log(scale) + 300;
    for (int k = 0; k < 200 && high - low > 1e-15; ++k) {
        const double middle = (low + high) / 2, y = std::exp(middle);
        (subordinate(t2, subordinate(a2, y)) > y ? low : high) = middle;
    }
    s.y1 = std::exp((low + high) / 2);
    s.y2 = subordinate(a2, s.y1);
    return s;
}

double law_log_mean(const Eigen::ArrayXd& a, const Eigen::ArrayXd& t) {
    const auto zeros = [](const Eigen::ArrayXd& x) {
        return static_cast<double>((x == 0).count()) / static_cast<double>(x.size());
    };
    if (zeros(a) + zeros(t) > 1) return -infinity;
    if (t.maxCoeff() == 0) return mean(a.log());
    if (a.maxCoeff() == 0) return mean(t.log());
    const Subordination s = subordination(a, t);
    if (s.kind == Subordination::Kind::first_wins) return mean(a.log());
    if (s.kind == Subordination::Kind::second_wins) return mean(t.log());
    return 0.5 * mean((a.square() + s.y1 * s.y1).log()) + 0.5 * mean((t.square() + s.y2 * s.y2).log()) -
           std::log(s.y1 + s.y2);
}

double gaussian_kappa(const Eigen::ArrayXd& a, double sigma2) {
    if (sigma2 == 0) return 0;
    if (a.minCoeff() == 0) return 1;
    const double ratio = sigma2 * mean(a.square().inverse());
    if (std::abs(ratio - 1) <= rounding) return 0.5;
    return ratio > 1 ? 1 : 0;
}

double law_kappa(const Eigen::ArrayXd& a, const Eigen::ArrayXd& t) {
    if (t.maxCoeff() == 0 || a.maxCoeff() == 0) return 0;  // only atoms
    const Subordination s = subordination(a, t);
    if (s.kind == Subordination::Kind::inside) return 1;
    return std::abs(s.ratio - 1) <= rounding ? 0.5 : 0;
}

/// det(A ⊗ 1 + post preᵀ ⊗ F) = Π_{i<n} s_i^p · det(s_n + c F), s_i the singular values of A.
struct Determinant {
    double log_factor = 0;
    double smallest = 0;  ///< s_n
    double coupling = 0;  ///< |c|
};

Determinant determinant(const Mixer& mixer, const LayerBranch& layer) {
    const Eigen::JacobiSVD<Matrix> svd(mixer, Eigen::ComputeFullU | Eigen::ComputeFullV);
    Eigen::ArrayXd s = svd.singularValues().array();
    s = (s > rounding * s(0)).select(s, 0.0);
    const Eigen::Index last = s.size() - 1;
    const Eigen::ArrayXd overlap =
        (svd.matrixV().transpose() * *layer.pre).array() * (svd.matrixU().transpose() * *layer.post).array();
    Determinant d;
    d.smallest = s(last);
    d.coupling = overlap(last);
    for (Eigen::Index i = 0; i < last; ++i) {
        d.log_factor += std::log(s(i));
        if (s(last) > 0) d.coupling += overlap(i) * s(last) / s(i);
    }
    d.coupling = std::abs(d.coupling);
    // Rounding creates a coupling where there is none.
    if (d.coupling <= rounding * layer.pre->norm() * layer.post->norm()) d.coupling = 0;
    return d;
}

/// E over all combinations of a site's slopes; empty if there are too many.
std::optional<double> activation_log_mean(const Mixer& mixer, const LayerBranch& layer) {
    const Eigen::Index n = mixer.rows();
    const std::size_t values = layer.slopes.value.size();
    double combinations = 1;
    for (Eigen::Index i = 0; i < n; ++i) combinations *= static_cast<double>(values);
    if (!layer.slopes.exact || combinations > 4096) return std::nullopt;

    std::vector<Eigen::VectorXd> slopes;
    std::vector<double> weights;
    for (std::size_t code = 0; code < static_cast<std::size_t>(combinations); ++code) {
        Eigen::VectorXd d2(n);
        double weight = 1;
        std::size_t rest = code;
        for (Eigen::Index i = 0; i < n; ++i, rest /= values) {
            d2(i) = layer.slopes.value[rest % values];
            weight *= layer.slopes.probability[rest % values];
        }
        slopes.push_back(d2);
        weights.push_back(weight);
    }
    const Matrix square = mixer * mixer.transpose();
    const auto dressed = [&](double tau, std::size_t k) -> Matrix {
        return square + Matrix((tau * slopes[k]).asDiagonal());
    };
    const auto f = [&](double tau) {
        double sum = -1;
        for (std::size_t k = 0; k < slopes.size(); ++k)
            sum +=
                layer.sigma_w2 * weights[k] *
                tr_n(slopes[k].asDiagonal() * Matrix(dressed(tau, k).ldlt().solve(Matrix::Identity(n, n))));
        return sum;
    };
    // σ_w² tr_n D²(…)⁻¹ ≤ σ_w²/τ.
    const double tau = layer.sigma_w2 > 0 ? root_of_decreasing(f, layer.sigma_w2) : 0;
    double sum = layer.sigma_w2 > 0 ? -0.5 * tau / layer.sigma_w2 : 0;
    for (std::size_t k = 0; k < slopes.size(); ++k)
        sum += 0.5 * weights[k] * dressed(tau, k).ldlt().vectorD().array().log().mean();
    if (std::isnan(sum)) return std::nullopt;  // AAᵀ is singular to rounding
    return sum;
}

bool aligned(const Network& network) {
    return std::holds_alternative<AlignedBranch>(network.branch);
}

Eigen::ArrayXd without_rounding(const Eigen::ArrayXd& a) {
    return (a > rounding * a.maxCoeff()).select(a, 0.0);
}

}  // namespace

double log_mean_square(const Network& network) {
    if (aligned(network)) return aligned_moments(network).log_mean_square;
    const auto n = static_cast<Eigen::Index>(network.streams);
    const auto layers = layer_branches(network);
    if (std::holds_alternative<TiedBranch>(network.branch)) return tied_log_mean_square(network, layers);
    Scaled t{Matrix::Identity(n, n)};
    for (std::size_t l = 0; l < layers.size(); ++l) {
        const Mixer& a = network.mixers[l];
        t.matrix = (a * t.matrix * a.transpose() + covariance(layers[l], t.matrix)).eval();
        if (!t.normalise()) return -infinity;
    }
    return t.log_scale;
}

double mean_square(const Network& network) {
    return std::exp(log_mean_square(network));
}

std::optional<double> mean_fourth(const Network& network) {
    if (std::holds_alternative<TiedBranch>(network.branch) || aligned(network)) return std::nullopt;
    const auto n = static_cast<Eigen::Index>(network.streams);
    const auto layers = layer_branches(network);
    const std::size_t depth = layers.size();
    std::vector<Scaled> u(depth + 1, Scaled{Matrix::Identity(n, n)});
    for (std::size_t l = depth; l > 0; --l) {
        const Mixer& a = network.mixers[l - 1];
        u[l - 1] = {a.transpose() * u[l].matrix * a + dual_covariance(layers[l - 1], u[l].matrix),
                    u[l].log_scale};
        if (!u[l - 1].normalise()) return 0;
    }
    Scaled t{Matrix::Identity(n, n)};
    const double log_scale = 2 * u[0].log_scale;  // E s⁴ ≥ (E s²)²
    double sum = tr_n(u[0].matrix * u[0].matrix);
    for (std::size_t l = 1; l <= depth; ++l) {
        const Mixer& a = network.mixers[l - 1];
        const Matrix carried = a * t.matrix * a.transpose(), noise = covariance(layers[l - 1], t.matrix);
        const Matrix& above = u[l].matrix;
        const double term = tr_n(above * noise * above * (2 * carried + noise)) +
                            fourth_cumulant(layers[l - 1], t.matrix, above);
        sum += term * std::exp(2 * (t.log_scale + u[l].log_scale) - log_scale);
        t.matrix = carried + noise;
        if (!t.normalise()) return 0;
    }
    return std::exp(log_scale) * sum;
}

double log_scalar_mean_square(const Network& network) {
    const std::vector<double> variance = sigma2(network);
    double log_product = 0;
    for (std::size_t l = 0; l < network.mixers.size(); ++l)
        log_product += std::log(network.mixers[l].squaredNorm() / network.streams + variance[l]);
    return log_product;
}

double scalar_mean_square(const Network& network) {
    return std::exp(log_scalar_mean_square(network));
}

std::optional<double> log_mean(const Network& network) {
    if (aligned(network)) return std::nullopt;
    if (atom_at_zero(network) > 0) return -infinity;
    const auto layers = layer_branches(network);
    const auto values = layer_singular_values(network);
    double sum = 0;
    for (std::size_t l = 0; l < layers.size(); ++l) {
        const LayerBranch& layer = layers[l];
        if (layer.hyper_connection()) {
            const Determinant d = determinant(network.mixers[l], layer);
            const Eigen::ArrayXd a = Eigen::ArrayXd::Constant(1, d.smallest);
            const double rest = layer.values ? law_log_mean(a, d.coupling * as_array(*layer.values))
                                             : gaussian_log_mean(a, layer.sigma2 * d.coupling * d.coupling);
            sum += (d.log_factor + rest) / network.streams;
        } else if (layer.slopes.value.size() > 1) {
            const auto mean = activation_log_mean(network.mixers[l], layer);
            if (!mean) return std::nullopt;
            sum += *mean;
        } else {
            const Eigen::ArrayXd a = without_rounding(values[l]);
            sum +=
                layer.values ? law_log_mean(a, as_array(*layer.values)) : gaussian_log_mean(a, layer.sigma2);
        }
    }
    return sum;
}

std::optional<double> kappa(const Network& network) {
    if (aligned(network)) return std::nullopt;
    const auto layers = layer_branches(network);
    const auto values = layer_singular_values(network);
    const bool isotropic = std::all_of(layers.begin(), layers.end(), [](const LayerBranch& layer) {
        return !layer.hyper_connection() && !layer.values && layer.slopes.value.size() == 1;
    });
    const bool additive =
        layers.size() == 1 || (isotropic && !std::holds_alternative<TiedBranch>(network.branch));
    double sum = 0;
    for (std::size_t l = 0; l < layers.size(); ++l) {
        const LayerBranch& layer = layers[l];
        if (layer.hyper_connection()) {
            const Determinant d = determinant(network.mixers[l], layer);
            const Eigen::ArrayXd a = Eigen::ArrayXd::Constant(1, d.smallest);
            if (d.smallest == 0 && d.coupling == 0) return std::nullopt;
            sum += layer.values ? law_kappa(a, d.coupling * as_array(*layer.values))
                                : gaussian_kappa(a, layer.sigma2 * d.coupling * d.coupling);
        } else if (layer.values) {
            sum += law_kappa(without_rounding(values[l]), as_array(*layer.values));
        } else {
            sum += gaussian_kappa(without_rounding(values[l]), layer.sigma2);
        }
        if (sum > 0 && !additive) return std::nullopt;
    }
    return sum;
}

}  // namespace spectra::dyson
