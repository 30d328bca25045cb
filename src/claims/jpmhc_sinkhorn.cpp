#include "claims/jpmhc_sinkhorn.hpp"

#include "claims/sampling.hpp"
#include "linalg/eigen_instances.hpp"
#include "mixers/defects.hpp"
#include "mixers/gaussian.hpp"
#include "mixers/sinkhorn.hpp"

#include <cmath>

namespace spectra::claims::jpmhc {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int n = 4;

/// Logits 0 on the diagonal and −8 off it.
MatrixXd identity_like_logits() {
    return -8 * (MatrixXd::Ones(n, n) - MatrixXd::Identity(n, n));
}

struct Sums {
    VectorXd row, column;
};

Sums sums(const MatrixXd& p, const MatrixXd& upstream) {
    const MatrixXd h = p.cwiseProduct(upstream);
    return {h.rowwise().sum(), h.colwise().sum().transpose()};
}

MatrixXd gradient(const MatrixXd& p, const MatrixXd& upstream, const VectorXd& u, const VectorXd& v) {
    const VectorXd one = VectorXd::Ones(p.rows());
    return p.cwiseProduct(upstream - u * one.transpose() - one * v.transpose());
}

struct Sweeps {
    VectorXd u, v;
};

Sweeps gauss_seidel(const MatrixXd& p, const Sums& h, int count) {
    Sweeps out{VectorXd::Zero(p.rows()), VectorXd::Zero(p.rows())};
    for (int k = 0; k < count; ++k) {
        out.u = h.row - p * out.v;
        out.v = h.column - p.transpose() * out.u;
    }
    return out;
}

/// ‖(24)‖ after the sweeps over that before them; (25) holds after every sweep.
double residual(const MatrixXd& p, const MatrixXd& upstream, int count) {
    const Sums h = sums(p, upstream);
    const auto at = [&](int k) {
        const Sweeps s = gauss_seidel(p, h, k);
        return (p * s.v + s.u - h.row).norm();
    };
    const Sweeps first = gauss_seidel(p, h, 1);
    const double start = std::max(1e-300, (p * first.v + first.u - h.row).norm());
    return at(count) / start;
}

MatrixXd upstream_gradient(std::uint32_t sample) {
    auto random = stream(0, sample);
    return mixers::standard_normal(n, n, random);
}

double relative(const MatrixXd& a, const MatrixXd& b) {
    return (a - b).norm() / b.norm();
}

constexpr std::uint32_t upstreams = 201;

template <class Error>
double median_over_upstreams(const Error& error) {
    std::vector<double> values;
    for (std::uint32_t sample = 0; sample < upstreams; ++sample)
        values.push_back(error(upstream_gradient(sample)));
    return median(values);
}

double median_gauss_seidel_error(const MatrixXd& p, int sweeps) {
    return median_over_upstreams([&](const MatrixXd& upstream) {
        return relative(gauss_seidel_gradient(p, upstream, sweeps), direct_gradient(p, upstream));
    });
}

double median_residual(const MatrixXd& p, int sweeps) {
    return median_over_upstreams([&](const MatrixXd& upstream) { return residual(p, upstream, sweeps); });
}

/// ∂/∂X ⟨upstream, map(X)⟩ by central differences.
template <class Map>
MatrixXd differenced(const Map& map, const MatrixXd& logits, const MatrixXd& upstream) {
    constexpr double h = 1e-5;
    MatrixXd out(n, n);
    for (Eigen::Index k = 0; k < logits.size(); ++k) {
        MatrixXd up = logits, down = logits;
        up(k) += h;
        down(k) -= h;
        out(k) = upstream.cwiseProduct(map(up) - map(down)).sum() / (2 * h);
    }
    return out;
}

MatrixXd limit(const MatrixXd& logits) {
    return mixers::sinkhorn(logits);
}

double rate(const MatrixXd& p) {
    return std::pow(mixers::singular_values(p)(1), 2);
}

MatrixXd drawn_logits(double scale, std::uint32_t sample = 0) {
    auto random = stream(1, sample);
    return scale * mixers::standard_normal(n, n, random);
}

}  // namespace

Eigen::MatrixXd direct_gradient(const Eigen::MatrixXd& p, const Eigen::MatrixXd& upstream) {
    const Sums h = sums(p, upstream);
    const auto size = p.rows();
    const MatrixXd system = MatrixXd::Identity(size, size) - p.transpose() * p +
                            MatrixXd::Constant(size, size, 1.0 / static_cast<double>(size));
    const VectorXd v = system.lu().solve(h.column - p.transpose() * h.row);
    return gradient(p, upstream, h.row - p * v, v);
}

Eigen::MatrixXd gauss_seidel_gradient(const Eigen::MatrixXd& p, const Eigen::MatrixXd& upstream, int sweeps) {
    const Sweeps s = gauss_seidel(p, sums(p, upstream), sweeps);
    return gradient(p, upstream, s.u, s.v);
}

Outcome gauss_seidel_table() {
    const MatrixXd start = limit(identity_like_logits()), drawn = limit(drawn_logits(1)),
                   trained = limit(drawn_logits(3));
    const double worst = median_gauss_seidel_error(start, 16), typical = median_gauss_seidel_error(drawn, 16);
    return {
        worst < 1e-3     ? Verdict::holds
        : typical < 1e-3 ? Verdict::holds_in_part
                         : Verdict::refuted,
        {computed("residual after 16 sweeps, logits N(0, 1)", median_residual(drawn, 16), 1e-2),
         computed("gradient error after 16 sweeps, logits N(0, 1)", typical, 8e-4),
         computed("gradient error after 16 sweeps, logits N(0, 9)", median_gauss_seidel_error(trained, 16),
                  8e-4),
         computed("residual after 16 sweeps at the identity-like start", median_residual(start, 16), 1e-2),
         computed("gradient error after 16 sweeps at the identity-like start", worst, 8e-4),
         computed("0.75¹⁶, which the table has as residual", std::pow(0.75, 16), 1e-2)}};
}

Outcome gauss_seidel_rate() {
    const double start = rate(limit(identity_like_logits())), drawn = rate(limit(drawn_logits(1)));
    // The rate that is seen: how much the residual falls in one sweep once the slowest part is left.
    const MatrixXd p = limit(identity_like_logits());
    const double seen = residual(p, upstream_gradient(0), 200) / residual(p, upstream_gradient(0), 199);
    return {holds_if(start <= 1 - 1.0 / n),
            {computed("rate at the identity-like start, σ₂(P)²", start, 0.75),
             computed("rate seen there, sweep 200", seen, 0.75),
             computed("rate at logits N(0, 1)", drawn, 0.75)}};
}

Outcome implicit_gradient() {
    double worst = 0;
    for (std::uint32_t sample = 0; sample < 20; ++sample) {
        const MatrixXd logits = sample == 0 ? identity_like_logits() : drawn_logits(1, sample);
        const MatrixXd upstream = upstream_gradient(sample);
        worst = std::max(
            worst, relative(direct_gradient(limit(logits), upstream), differenced(limit, logits, upstream)));
    }
    // Differences of step 1e-5 of a map balanced to 1e-13: 1e-8 relative to a gradient of order one, and the gradients
    // at the start are of order 1e-3.
    return {holds_if(worst < 1e-5),
            {vanishing("largest relative difference to differences of the map", worst, 1e-5)}};
}

Outcome unrolled_gradient() {
    const auto twenty = [](const MatrixXd& logits) { return mixers::sinkhorn_sweeps(logits, 20); };
    const auto error = [&](const MatrixXd& logits) {
        const MatrixXd p = limit(logits);
        std::vector<double> values;
        for (std::uint32_t sample = 0; sample < 51; ++sample) {
            const MatrixXd upstream = upstream_gradient(sample);
            values.push_back(relative(differenced(twenty, logits, upstream), direct_gradient(p, upstream)));
        }
        return median(values);
    };
    const double start = error(identity_like_logits()), drawn = error(drawn_logits(1));
    return {start < 0.01   ? Verdict::holds
            : drawn < 0.01 ? Verdict::holds_in_part
                           : Verdict::refuted,
            {{"median difference to the limit's gradient, logits N(0, 1)", drawn, 1e-5, {}, {}},
             {"at the identity-like start", start, 1e-4, {}, {}}}};
}

Outcome implicit_gradient_accuracy() {
    const MatrixXd logits = identity_like_logits(), p = limit(logits);
    const double seidel = median_gauss_seidel_error(p, 16),
                 drawn = median_gauss_seidel_error(limit(drawn_logits(1)), 16);
    const double direct =
        relative(direct_gradient(p, upstream_gradient(0)), differenced(limit, logits, upstream_gradient(0)));
    return {holds_if(seidel <= 0.01),
            {computed("median error of 16 sweeps at the identity-like start", seidel, 0.01),
             computed("median error of 16 sweeps at logits N(0, 1)", drawn, 0.01),
             vanishing("error of the direct solve at the start", direct, 1e-5)}};
}

Outcome clamped_gradient() {
    double worst = 0;
    const auto compare = [&](const MatrixXd& p) {
        const MatrixXd clamped = p.cwiseMax(1e-8);
        for (const double size : {1e-6, 1.0, 1e6}) {
            const MatrixXd upstream = size * upstream_gradient(0);
            const MatrixXd a = gauss_seidel_gradient(p, upstream, 16),
                           b = gauss_seidel_gradient(clamped, upstream, 16);
            worst = std::max(worst, 1 - a.cwiseProduct(b).sum() / (a.norm() * b.norm()));
        }
    };
    compare(limit(identity_like_logits()));
    for (const double scale : {1.0, 3.0, 6.0, 12.0}) compare(limit(drawn_logits(scale)));
    return {holds_if(worst < 1e-6),
            {vanishing("largest 1 − cosine of the gradients with and without the clamp", worst, 1e-6)}};
}

}  // namespace spectra::claims::jpmhc
