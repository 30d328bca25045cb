#include "network/activation.hpp"

#include "base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>

namespace spectra {

namespace {

using Kind = ActivationKind;
using std::numbers::pi;

constexpr double leak = 0.01;

struct Named {
    Kind kind;
    const char* name;
};
constexpr Named names[] = {
    {Kind::linear, "linear"}, {Kind::relu, "relu"},           {Kind::leaky_relu, "leaky-relu"},
    {Kind::tanh, "tanh"},     {Kind::hard_tanh, "hard-tanh"}, {Kind::erf, "erf"},
    {Kind::gelu, "gelu"},     {Kind::silu, "silu"},           {Kind::bernoulli, "bernoulli"},
};

double square(double x) {
    return x * x;
}

/// Density and distribution of N(0, 1).
double normal_density(double h) {
    return std::exp(-0.5 * h * h) / std::sqrt(2 * pi);
}
double normal_cdf(double h) {
    return 0.5 * std::erfc(-h / std::numbers::sqrt2);
}

double sech2(double x) {
    return 1 / square(std::cosh(x));
}

[[noreturn]] void refuse_bernoulli(const char* what) {
    throw std::invalid_argument(
        fmt::format("activation bernoulli: {} is not defined; it has slopes but no values", what));
}

void check_variance(double q) {
    if (!std::isfinite(q) || q < 0)
        throw std::invalid_argument(
            fmt::format("activation: the pre-activation variance is {}; must be finite and ≥ 0", q));
}

/// E Φ(h)² with Φ the normal distribution function: the probability that two normals of correlation q/(1 + q)
/// are both negative.
double mean_cdf2(double q) {
    return 0.25 + std::atan2(q, std::sqrt(1 + 2 * q)) / (2 * pi);
}

/// The nodes of the quadrature. The trapezoidal rule converges geometrically: the integrands are
/// analytic for |Im h| < π/2, which a step of 0.2 resolves to 1e-21, and a Gaussian by 0.4 standard
/// deviations to more. Beyond `reach` the Gaussian, or the integrand itself (e^{−|h|} or less), is below
/// 1e-19.
struct Nodes {
    explicit Nodes(double q, double finer = 1)
        : step(std::min(0.4 * std::sqrt(q), 0.2) / finer),
          count(static_cast<int>(std::ceil(std::min(9.5 * std::sqrt(q), 45.0) / step))),
          scale(step / std::sqrt(2 * pi * q)),
          inverse(0.5 / q) {}

    double place(int k) const { return k * step; }
    double weight(int k) const { return scale * std::exp(-square(place(k)) * inverse); }

    double step;
    int count;  ///< to either side of zero
    double scale, inverse;
};

/// E f(h) for an even f.
template <typename F>
double mean_even(double q, F f) {
    const Nodes nodes(q);
    double sum = 0;
    for (int k = nodes.count; k > 0; --k) sum += nodes.weight(k) * f(nodes.place(k));
    return 2 * sum + nodes.weight(0) * f(0.0);
}

/// Above this q, moments of functions that do not decay are computed from their differences to their limits.
constexpr double wide = 4;

double tanh_square(double q) {
    if (q > wide) return 1 - mean_even(q, sech2);
    return mean_even(q, [](double h) { return square(std::tanh(h)); });
}

// silu with t = tanh(h/2), s = 1 − t²: φ = h(1 + t)/2, φ' = ½ + o, o = t/2 + hs/4 odd.

double silu_square(double q) {
    if (q > wide) return q / 2 - mean_even(q, [](double h) { return h * h * sech2(h / 2) / 4; });
    return mean_even(q, [](double h) { return h * h * (1 + square(std::tanh(h / 2))) / 4; });
}

double silu_derivative2(double q) {
    if (q > wide)
        return 0.5 - mean_even(q, [](double h) {
                   const double s = sech2(h / 2);
                   return s / 4 - std::tanh(h / 2) * h * s / 4 - square(h * s) / 16;
               });
    return 0.25 + mean_even(q, [](double h) { return square(std::tanh(h / 2) / 2 + h * sech2(h / 2) / 4); });
}

/// E min(h², 1) = q P(3/2, u²) + erfc(u), u = 1/√(2q), P the regularised incomplete gamma function.
double hard_tanh_square(double q) {
    const double u = 1 / std::sqrt(2 * q), factor = 2 * u * std::exp(-u * u) / std::sqrt(pi);
    if (u > 1) return q * (std::erf(u) - factor) + std::erfc(u);
    double series = 0, term = 1;
    for (int k = 1; term > 1e-18; ++k) series += term *= 2 * u * u / (2 * k + 1);
    return q * factor * series + std::erfc(u);
}

SlopeLaw two_values(double lower, double upper, double probability_lower, double probability_upper) {
    SlopeLaw law;
    if (probability_lower > 0) {
        law.value.push_back(lower);
        law.probability.push_back(probability_lower);
    }
    if (probability_upper > 0) {
        law.value.push_back(upper);
        law.probability.push_back(probability_upper);
    }
    return law;
}

/// Gauss rule of a discrete law: Lanczos' tridiagonal matrix (orthogonalised twice), then Golub and Welsch.
SlopeLaw gauss_rule(const Eigen::ArrayXd& values, const Eigen::ArrayXd& weights, int points) {
    const Eigen::Index size = std::min<Eigen::Index>(points, values.size());
    Eigen::MatrixXd basis(values.size(), size);
    Eigen::VectorXd diagonal(size), beside(size);
    basis.col(0) = (weights / weights.sum()).sqrt();
    const double narrow = 1e-13 * values.abs().maxCoeff();
    Eigen::Index count = 0;
    for (;;) {
        Eigen::VectorXd next = values * basis.col(count).array();
        diagonal(count) = basis.col(count).dot(next);
        const auto known = basis.leftCols(count + 1);
        for (int pass = 0; pass < 2; ++pass) next -= known * (known.transpose() * next).eval();
        beside(count) = next.norm();
        if (++count == size || beside(count - 1) <= narrow) break;
        basis.col(count) = next / beside(count - 1);
    }
    Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
    solver.computeFromTridiagonal(diagonal.head(count), beside.head(count - 1));
    SlopeLaw law;
    law.exact = false;
    for (Eigen::Index k = 0; k < count; ++k) {
        const double probability = square(solver.eigenvectors()(0, k));
        if (!(probability > 0)) continue;
        law.value.push_back(std::clamp(solver.eigenvalues()(k), values.minCoeff(), values.maxCoeff()));
        law.probability.push_back(probability);
    }
    return law;
}

SlopeLaw smooth_slope_law(const Activation& activation, double q, int points) {
    if (q == 0) return {{square(derivative(activation, 0))}, {1.0}, true};
    const Nodes nodes(q, 4);  // high powers of φ'² are narrow
    const int size = 2 * nodes.count + 1;
    Eigen::ArrayXd values(size), weights(size);
    for (int k = -nodes.count; k <= nodes.count; ++k) {
        values(k + nodes.count) = square(derivative(activation, nodes.place(k)));
        weights(k + nodes.count) = nodes.weight(k);
    }
    // Mass beyond the nodes has the slopes at infinity, half of it on either side. It is the missing mass,
    // not the Gaussian's tail: functions of the slope then have the full accuracy of the rule.
    if (const double missing = 1 - weights.sum(); missing > 1e-12) {
        const bool rises = activation.kind == Kind::gelu || activation.kind == Kind::silu;
        values.conservativeResize(size + 2);
        weights.conservativeResize(size + 2);
        values.tail(2) << 0, rises ? 1 : 0;
        weights.tail(2) << missing / 2, missing / 2;
    }
    return gauss_rule(values, weights, points);
}

}  // namespace

double value(const Activation& activation, double h) {
    switch (activation.kind) {
        case Kind::linear:
            return h;
        case Kind::relu:
            return std::max(h, 0.0);
        case Kind::leaky_relu:
            return h > 0 ? h : leak * h;
        case Kind::tanh:
            return std::tanh(h);
        case Kind::hard_tanh:
            return std::clamp(h, -1.0, 1.0);
        case Kind::erf:
            return std::erf(h);
        case Kind::gelu:
            return h * normal_cdf(h);
        case Kind::silu:
            return h / (1 + std::exp(-h));
        case Kind::bernoulli:
            break;
    }
    refuse_bernoulli("φ");
}

double derivative(const Activation& activation, double h) {
    switch (activation.kind) {
        case Kind::linear:
            return 1;
        case Kind::relu:
            return h > 0 ? 1 : 0;
        case Kind::leaky_relu:
            return h > 0 ? 1 : leak;
        case Kind::tanh:
            return sech2(h);
        case Kind::hard_tanh:
            return std::abs(h) <= 1 ? 1 : 0;
        case Kind::erf:
            return 2 / std::sqrt(pi) * std::exp(-h * h);
        case Kind::gelu:
            return normal_cdf(h) + h * normal_density(h);
        case Kind::silu:
            return (1 + h / (1 + std::exp(h))) / (1 + std::exp(-h));
        case Kind::bernoulli:
            break;
    }
    refuse_bernoulli("φ'");
}

double mean(const Activation& activation, double q) {
    if (activation.kind == Kind::bernoulli) refuse_bernoulli("E φ");
    check_variance(q);
    if (q == 0) return 0;
    switch (activation.kind) {
        case Kind::relu:
            return std::sqrt(q / (2 * pi));
        case Kind::leaky_relu:
            return (1 - leak) * std::sqrt(q / (2 * pi));
        // E hf(h) = q E f'(h)
        case Kind::gelu:
            return q / std::sqrt(2 * pi * (1 + q));
        case Kind::silu:
            return q * mean_even(q, [](double h) { return sech2(h / 2) / 4; });
        default:
            return 0;  // odd
    }
}

double mean_square(const Activation& activation, double q) {
    if (activation.kind == Kind::bernoulli) refuse_bernoulli("E φ²");
    check_variance(q);
    if (q == 0) return 0;
    switch (activation.kind) {
        case Kind::relu:
            return q / 2;
        case Kind::leaky_relu:
            return (1 + leak * leak) * q / 2;
        case Kind::tanh:
            return tanh_square(q);
        case Kind::hard_tanh:
            return hard_tanh_square(q);
        case Kind::erf:
            return 2 / pi * std::atan2(2 * q, std::sqrt(1 + 4 * q));
        case Kind::gelu:
            return q * (mean_cdf2(q) + q / (1 + q) / (pi * std::sqrt(1 + 2 * q)));
        case Kind::silu:
            return silu_square(q);
        default:
            return q;
    }
}

double mean_derivative2(const Activation& activation, double q) {
    if (depends_on_variance(activation)) check_variance(q);
    switch (activation.kind) {
        case Kind::linear:
            return 1;
        case Kind::relu:
            return 0.5;
        case Kind::leaky_relu:
            return (1 + leak * leak) / 2;
        case Kind::bernoulli:
            return activation.probability;
        case Kind::hard_tanh:
            return std::erf(1 / std::sqrt(2 * q));
        case Kind::erf:
            return 4 / pi / std::sqrt(1 + 4 * q);
        case Kind::gelu:
            return mean_cdf2(q) + q / (1 + q) / (pi * std::sqrt(1 + 2 * q)) +
                   q / (2 * pi * std::pow(1 + 2 * q, 1.5));
        case Kind::tanh:
            return q == 0 ? 1 : mean_even(q, [](double h) { return square(sech2(h)); });
        case Kind::silu:
            return q == 0 ? 0.25 : silu_derivative2(q);
    }
    return 1;
}

bool depends_on_variance(const Activation& activation) {
    switch (activation.kind) {
        case Kind::linear:
        case Kind::relu:
        case Kind::leaky_relu:
        case Kind::bernoulli:
            return false;
        default:
            return true;
    }
}

SlopeLaw slope_law(const Activation& activation, double q, int points) {
    if (depends_on_variance(activation)) check_variance(q);
    if (points < 1) throw std::invalid_argument(fmt::format("slope_law: {} points; must be ≥ 1", points));
    switch (activation.kind) {
        case Kind::linear:
            return two_values(0, 1, 0, 1);
        case Kind::relu:
            return two_values(0, 1, 0.5, 0.5);
        case Kind::leaky_relu:
            return two_values(leak * leak, 1, 0.5, 0.5);
        case Kind::bernoulli:
            return two_values(0, 1, 1 - activation.probability, activation.probability);
        case Kind::hard_tanh: {
            const double u = 1 / std::sqrt(2 * q);
            return two_values(0, 1, std::erfc(u), std::erf(u));
        }
        default:
            return smooth_slope_law(activation, q, points);
    }
}

std::string name(const Activation& activation) {
    for (const auto& known : names)
        if (known.kind == activation.kind) return known.name;
    return "unknown";
}

Activation activation_from_name(const std::string& name) {
    for (const auto& known : names)
        if (known.kind != Kind::bernoulli && known.name == name) return {known.kind};
    throw std::invalid_argument(fmt::format("unknown activation {}; must be one of {}", in_quotes(name),
                                            fmt::join(activation_names(), ", ")));
}

const std::vector<std::string>& activation_names() {
    static const std::vector<std::string> all = [] {
        std::vector<std::string> list;
        for (const auto& known : names)
            if (known.kind != Kind::bernoulli) list.emplace_back(known.name);
        return list;
    }();
    return all;
}

}  // namespace spectra
