#include "mixers/sinkhorn.hpp"

#include "mixers/defects.hpp"
#include "mixers/gaussian.hpp"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace spectra::mixers {
namespace {

void normalise_rows(Eigen::MatrixXd& log_p) {
    const Eigen::VectorXd top = log_p.rowwise().maxCoeff();
    log_p.colwise() -= top;
    const Eigen::VectorXd rest = log_p.array().exp().rowwise().sum().log();
    log_p.colwise() -= rest;
}

void normalise_columns(Eigen::MatrixXd& log_p) {
    const Eigen::RowVectorXd top = log_p.colwise().maxCoeff();
    log_p.rowwise() -= top;
    const Eigen::RowVectorXd rest = log_p.array().exp().colwise().sum().log();
    log_p.rowwise() -= rest;
}

Eigen::MatrixXd exponential(const Eigen::MatrixXd& log_p) {
    return log_p.array().exp();
}

void check_logits(const Eigen::MatrixXd& logits) {
    assert(logits.rows() == logits.cols() && logits.rows() > 0);
    // Differences of logits must be finite too.
    constexpr double limit = std::numeric_limits<double>::max() / 8;
    if (!(logits.array().abs() <= limit).all())
        throw std::invalid_argument("Sinkhorn: logits must be finite (and below 1e307)");
}

/// A Newton step longer than this (in ln P) leaves the region where its model is valid.
constexpr double largest_step = 2.0;

/// ln P after a Newton step and a normalisation of the rows; `log_p` has its rows normalised.
Eigen::MatrixXd newton_step(const Eigen::MatrixXd& log_p, const Eigen::MatrixXd& p, double ridge) {
    Eigen::MatrixXd laplacian = -(p.transpose() * p);
    laplacian.diagonal().setZero();
    // With rows that sum to 1 the diagonal c_j - (PᵀP)_jj is this sum, free of cancellation.
    const Eigen::VectorXd degree = -laplacian.rowwise().sum();
    laplacian.diagonal() = degree.array() + ridge;
    const Eigen::VectorXd gradient = p.colwise().sum().transpose().array() - 1.0;
    Eigen::RowVectorXd step = -laplacian.ldlt().solve(gradient).transpose();
    step *= std::min(1.0, largest_step / step.cwiseAbs().maxCoeff());
    Eigen::MatrixXd next = log_p.rowwise() + step;
    normalise_rows(next);
    return next;
}

/// Balances ln P to tolerance; returns the sweeps used, or more than `allowed` if they were not
/// enough. Rows are normalised last.
int balance(Eigen::MatrixXd& log_p, double tolerance, int plain_sweeps, int allowed) {
    for (int sweep = 1; sweep <= allowed; ++sweep) {
        normalise_rows(log_p);
        Eigen::MatrixXd p = exponential(log_p);
        double defect = column_sum_defect(p);
        if (sweep > plain_sweeps && defect > tolerance) {
            Eigen::MatrixXd trial = newton_step(log_p, p, 0.1 * tolerance);
            Eigen::MatrixXd trial_p = exponential(trial);
            // A NaN from a singular matrix fails the comparison.
            if (const double trial_defect = column_sum_defect(trial_p); trial_defect < 0.9 * defect) {
                log_p.swap(trial);
                p.swap(trial_p);
                defect = trial_defect;
            }
        }
        if (defect <= tolerance && row_sum_defect(p) <= tolerance) return sweep;
        normalise_columns(log_p);
    }
    return allowed + 1;
}

}  // namespace

Eigen::MatrixXd sinkhorn_sweeps(const Eigen::MatrixXd& logits, int sweeps) {
    check_logits(logits);
    assert(sweeps >= 1);
    Eigen::MatrixXd log_p = logits;
    for (int t = 0; t < sweeps; ++t) {
        normalise_rows(log_p);
        normalise_columns(log_p);
    }
    return exponential(log_p);
}

Eigen::MatrixXd sinkhorn(const Eigen::MatrixXd& logits, const SinkhornOptions& options) {
    check_logits(logits);
    const double rounding = 4.0 * static_cast<double>(logits.rows()) * std::numeric_limits<double>::epsilon();
    const double tolerance = std::max(options.tolerance, rounding);
    const double spread = logits.maxCoeff() - logits.minCoeff();
    int doublings = 0;
    while (std::ldexp(spread, -doublings) > options.largest_spread) ++doublings;

    Eigen::MatrixXd log_p = std::ldexp(1.0, -doublings) * logits;
    int sweeps = 0;
    for (; doublings > 0 && sweeps <= options.max_sweeps; --doublings) {
        sweeps += balance(log_p, options.coarse_tolerance, options.plain_sweeps, options.max_sweeps - sweeps);
        log_p *= 2.0;
    }
    if (sweeps <= options.max_sweeps)
        sweeps += balance(log_p, tolerance, options.plain_sweeps, options.max_sweeps - sweeps);
    if (sweeps <= options.max_sweeps) return exponential(log_p);
    throw std::runtime_error("Sinkhorn: did not converge within the allowed number of sweeps");
}

Eigen::MatrixXd draw_bistochastic(int n, double logit_scale, std::optional<int> sweeps,
                                  random::Stream& stream) {
    const Eigen::MatrixXd logits = logit_scale * standard_normal(n, n, stream);
    return sweeps ? sinkhorn_sweeps(logits, *sweeps) : sinkhorn(logits);
}

}  // namespace spectra::mixers
