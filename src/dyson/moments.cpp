#include "dyson/moments.hpp"

#include "mixers/defects.hpp"

#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <limits>

namespace spectra::dyson {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

using mixers::singular_values;

double mean(const Eigen::ArrayXd& x) {
    return x.mean();
}

/// The layers' singular values, one decomposition for a run of equal mixers.
std::vector<Eigen::ArrayXd> layer_singular_values(const Network& network) {
    std::vector<Eigen::ArrayXd> values;
    values.reserve(network.mixers.size());
    for (std::size_t l = 0; l < network.mixers.size(); ++l) {
        if (l > 0 && network.mixers[l] == network.mixers[l - 1])
            values.push_back(values.back());
        else
            values.emplace_back(singular_values(network.mixers[l]).array());
    }
    return values;
}

double layer_log_mean(const Eigen::ArrayXd& a, double sigma2) {
    const Eigen::ArrayXd a2 = a.square();
    if (sigma2 == 0) return a.minCoeff() > 0 ? mean(a.log()) : -infinity;
    // f(t) = σ²⟨1/(a² + t)⟩ − 1 with t = σ⁴y² decreases in t; its root lies in [0, σ²].
    const auto f = [&](double t) { return sigma2 * mean((a2 + t).inverse()) - 1; };
    double t = 0;
    const bool singular = a.minCoeff() == 0;
    if (singular || f(0) > 0) {
        double low = 0, high = sigma2;
        for (int k = 0; k < 2000 && high - low > 0; ++k) {
            // Bisect in the logarithm once the bracket is away from zero: the root may be tiny.
            const double middle = low > 0 ? std::sqrt(low) * std::sqrt(high) : high / 16;
            if (middle <= low || middle >= high) break;
            (f(middle) > 0 ? low : high) = middle;
            if (high < 1e-300) break;
        }
        t = high;
    }
    return 0.5 * mean((a2 + t).log()) - 0.5 * t / sigma2;
}

double layer_kappa(const Eigen::ArrayXd& a, double sigma2) {
    if (sigma2 == 0) return 0;
    if (a.minCoeff() == 0) return 1;
    const double ratio = sigma2 * mean(a.square().inverse());
    if (std::abs(ratio - 1) <= 1e-13) return 0.5;
    return ratio > 1 ? 1 : 0;
}

/// Extremum of ln z(y) over ln|y − pole| by golden section: z is unimodal on the branch.
template <class F>
double golden_minimum(F f, double low, double high) {
    const double ratio = (std::sqrt(5.0) - 1) / 2;
    double a = low, b = high, c = b - ratio * (b - a), d = a + ratio * (b - a);
    double fc = f(c), fd = f(d);
    for (int k = 0; k < 200 && b - a > 1e-12 * (1 + std::abs(a) + std::abs(b)); ++k) {
        if (fc < fd) {
            b = d;
            d = c;
            fd = fc;
            c = b - ratio * (b - a);
            fc = f(c);
        } else {
            a = c;
            c = d;
            fc = fd;
            d = a + ratio * (b - a);
            fd = f(d);
        }
    }
    return std::min(fc, fd);
}

/// ln of the largest singular value of one layer.
double layer_log_upper(const Eigen::ArrayXd& a, double sigma2) {
    const double top = a.maxCoeff();
    if (sigma2 == 0) return std::log(top);
    const double top2 = top * top, scale = top2 + sigma2;
    const auto log_z = [&](double log_gap) {
        const double gap = std::exp(log_gap);
        const double y = top2 + gap;
        return std::log(y) + 2 * std::log1p(sigma2 * mean((gap + (top2 - a.square())).inverse()));
    };
    return 0.5 * golden_minimum(log_z, std::log(scale) - 80, std::log(scale) + 10);
}

/// ln of the smallest singular value of one layer; −∞ where its law reaches zero.
double layer_log_lower(const Eigen::ArrayXd& a, double sigma2) {
    const double bottom = a.minCoeff();
    if (bottom == 0) return -infinity;
    if (sigma2 == 0) return std::log(bottom);
    const double bottom2 = bottom * bottom;
    if (!(sigma2 * mean(a.square().inverse()) < 1)) return -infinity;
    // y = bottom²·t/(1 + t) runs over (0, bottom²).
    const auto minus_log_z = [&](double log_t) {
        const double t = std::exp(log_t);
        const double y = bottom2 * t / (1 + t), gap = bottom2 / (1 + t);
        const double factor = 1 - sigma2 * mean((gap + (a.square() - bottom2)).inverse());
        return factor > 0 ? -(std::log(y) + 2 * std::log(factor)) : infinity;
    };
    return -0.5 * golden_minimum(minus_log_z, -80, 80);
}

}  // namespace

double log_mean_square(const Network& network) {
    const auto n = static_cast<Eigen::Index>(network.streams);
    Eigen::MatrixXd t = Eigen::MatrixXd::Identity(n, n);
    double log_scale = 0;
    for (std::size_t l = 0; l < network.mixers.size(); ++l) {
        const Mixer& a = network.mixers[l];
        const double noise = sigma2(network)[l] * t.trace() / static_cast<double>(n);
        t = (a * t * a.transpose()).eval();
        t.diagonal().array() += noise;
        const double size = t.trace() / static_cast<double>(n);
        if (!(size > 0)) return -infinity;
        t /= size;
        log_scale += std::log(size);
    }
    return log_scale;
}

double mean_square(const Network& network) {
    return std::exp(log_mean_square(network));
}

double mean_fourth(const Network& network) {
    const auto n = static_cast<Eigen::Index>(network.streams);
    const std::size_t depth = network.mixers.size();
    const auto tr = [&](const Eigen::MatrixXd& x) { return x.trace() / static_cast<double>(n); };
    const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(n, n);
    std::vector<Eigen::MatrixXd> t(depth + 1, one), u(depth + 1, one);
    for (std::size_t l = 1; l <= depth; ++l) {
        const Mixer& a = network.mixers[l - 1];
        t[l] = a * t[l - 1] * a.transpose() + sigma2(network)[l - 1] * tr(t[l - 1]) * one;
    }
    for (std::size_t l = depth; l > 0; --l) {
        const Mixer& a = network.mixers[l - 1];
        u[l - 1] = a.transpose() * u[l] * a + sigma2(network)[l - 1] * tr(u[l]) * one;
    }
    double sum = tr(t[depth] * t[depth]);
    for (std::size_t l = 1; l <= depth; ++l) {
        const double noise = sigma2(network)[l - 1] * tr(u[l]);
        const Eigen::MatrixXd square = t[l - 1] * t[l - 1];
        sum += noise * (2 * tr(u[l - 1] * square) - noise * tr(square));
    }
    return sum;
}

double scalar_mean_square(const Network& network) {
    double log_product = 0;
    for (std::size_t l = 0; l < network.mixers.size(); ++l)
        log_product += std::log(network.mixers[l].squaredNorm() / network.streams + sigma2(network)[l]);
    return std::exp(log_product);
}

double log_mean(const Network& network) {
    if (atom_at_zero(network) > 0) return -infinity;
    const auto values = layer_singular_values(network);
    double sum = 0;
    for (std::size_t l = 0; l < values.size(); ++l) sum += layer_log_mean(values[l], sigma2(network)[l]);
    return sum;
}

double kappa(const Network& network) {
    const auto values = layer_singular_values(network);
    double sum = 0;
    for (std::size_t l = 0; l < values.size(); ++l) sum += layer_kappa(values[l], sigma2(network)[l]);
    return sum;
}

std::vector<double> log_singular_values_of_product(const std::vector<Mixer>& mixers) {
    const Eigen::Index n = mixers.front().rows();
    // R ← (A Q)'s triangular factor times R, its rows kept with exponents: R = diag(e^{d})·U with U of
    // unit rows, so that no row is lost however small it becomes beside the others.
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

double atom_at_zero(const Network& network) {
    const int n = network.streams;
    int rank = n;
    for (std::size_t l = 0; l < network.mixers.size();) {
        if (sigma2(network)[l] > 0) {
            ++l;
            continue;
        }
        std::vector<Mixer> run;
        for (; l < network.mixers.size() && sigma2(network)[l] == 0; ++l) run.push_back(network.mixers[l]);
        // Rounding leaves zeros at eps of each layer's norm; a singular layer bounds the rank whatever
        // rounding made of the product.
        const double unit = n * std::numeric_limits<double>::epsilon();
        double log_zero = 0;
        int nonzero = n;
        for (const Mixer& a : run) {
            const Eigen::VectorXd s = singular_values(a);
            log_zero += std::log(unit * s(0));
            nonzero = std::min(nonzero, static_cast<int>((s.array() > unit * s(0)).count()));
        }
        const auto values = log_singular_values_of_product(run);
        nonzero =
            std::min(nonzero, static_cast<int>(std::count_if(values.begin(), values.end(), [&](double value) {
                         return value > -infinity && value > log_zero;
                     })));
        rank = std::min(rank, nonzero);
    }
    return 1 - static_cast<double>(rank) / n;
}

Range range(const Network& network) {
    Range result;
    const auto values = layer_singular_values(network);
    double total_noise = 0;
    for (std::size_t l = 0; l < values.size(); ++l) {
        const double s2 = sigma2(network)[l];
        result.log_upper += layer_log_upper(values[l], s2);
        result.log_lower += layer_log_lower(values[l], s2);
        result.kappa += layer_kappa(values[l], s2);
        total_noise += s2 / (values[l].square().mean() + s2);
    }
    result.atom_at_zero = atom_at_zero(network);
    for (const double x : log_singular_values_of_product(network.mixers))
        if (x > -infinity) result.log_seeds.push_back(x);
    result.scan_step = std::clamp(0.5 * std::sqrt(total_noise), 0.02, 0.25);
    return result;
}

}  // namespace spectra::dyson
