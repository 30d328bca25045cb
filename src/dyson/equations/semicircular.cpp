#include "dyson/equations/semicircular.hpp"

#include "linalg/eigen_instances.hpp"
#include "linalg/gmres.hpp"

#include <Eigen/SparseCore>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <random>
#include <stdexcept>

namespace spectra::dyson {
namespace {

using Complex = std::complex<double>;
using Eigen::Index;
using Eigen::MatrixXcd;
using Eigen::VectorXcd;
using Eigen::VectorXd;

constexpr Complex imaginary_unit(0, 1);

// Entries of η(random) below this, relative to the largest, count as zero.
constexpr double rank_tolerance = 1e-9;
// After a step this small the next one uses the same factors, because it only confirms.
constexpr double confirming_step = 1e-5;
constexpr int max_halvings = 5;
constexpr double gmres_tolerance = 1e-7;
constexpr int gmres_max_iterations = 400;
constexpr int gmres_typical_iterations = 30;
constexpr std::size_t anderson_depth = 5;

struct Entry {
    Index row = 0, column = 0;
    Complex value;
};

MatrixXcd imaginary_part(const MatrixXcd& a) {
    return (a - a.adjoint()) * Complex(0, -0.5);
}

}  // namespace

struct Semicircular::Solver {
    Solver(const std::vector<MatrixXcd>& kraus, const SemicircularOptions& options);

    MatrixXcd covariance(const MatrixXcd& b) const {
        MatrixXcd out = MatrixXcd::Zero(n, n);
        for (const auto& a : kraus_) {
            const MatrixXcd left = a * b;
            out.noalias() += left * a.adjoint();
        }
        return out;
    }

    SemicircularSolution solve(const MatrixXcd& b, const std::vector<VectorXcd>& guesses, double distance);

    void find_range();
    MatrixXcd expand(const VectorXcd& x) const;
    VectorXcd restrict_covariance(const MatrixXcd& b) const;
    bool evaluate(const VectorXcd& x);
    bool build();
    bool form_image(double terms) const;
    double build_operations() const;
    double apply_operations() const;
    bool solve_linear(const VectorXcd& rhs, VectorXcd& delta);
    double measure(const VectorXcd& delta) const;
    double jitter(const VectorXcd& x);
    bool in_half_plane(const VectorXcd& x) const;
    bool newton(double t, VectorXcd& x, int max_steps, SemicircularSummary& summary);
    bool descend(double t, VectorXcd& x, SemicircularSummary& summary);
    bool fixed_point(VectorXcd& x, SemicircularSummary& summary);

    Index n = 0;
    Index unknowns = 0;
    SemicircularOptions options;
    bool dense = false;
    std::vector<Eigen::SparseMatrix<Complex>> kraus_;
    std::vector<Entry> pivots_;                    ///< where Σ is read
    std::vector<std::vector<Entry>> basis_;        ///< B_j
    std::vector<std::vector<Entry>> functionals_;  ///< η(·) at the pivots
    double functional_entries_ = 0, kraus_entries_ = 0;
    bool prefer_built_ = false;  ///< to GMRES
    double operations_ = 0;      ///< complex multiplications

    // The current point.
    MatrixXcd b_, shifted_, m_;
    double t_ = 0;
    VectorXcd defect_;
    VectorXd scales_;                    ///< √|M_pp|
    Eigen::PartialPivLU<MatrixXcd> lu_;  ///< of Newton's matrix, if built_
    bool built_ = false;
};

Semicircular::Solver::Solver(const std::vector<MatrixXcd>& kraus, const SemicircularOptions& chosen)
    : options(chosen) {
    if (kraus.empty()) throw std::invalid_argument("semicircular: no matrices a_k; expected at least one");
    n = kraus.front().rows();
    for (std::size_t k = 0; k < kraus.size(); ++k) {
        const MatrixXcd& a = kraus[k];
        if (n == 0 || a.rows() != n || a.cols() != n)
            throw std::invalid_argument("semicircular: matrix " + std::to_string(k + 1) + " is " +
                                        std::to_string(a.rows()) + "×" + std::to_string(a.cols()) +
                                        "; matrices must be square, all of the same size");
        if (!a.allFinite())
            throw std::invalid_argument("semicircular: matrix " + std::to_string(k + 1) +
                                        " has an entry that is not finite");
        kraus_.emplace_back(a.sparseView());
        kraus_entries_ += static_cast<double>(kraus_.back().nonZeros());
    }
    find_range();
}

/// Gauss–Jordan elimination of images of random matrices: expresses the range by the entries at pivots.
/// Entries that depend on the argument of η in the same way stay exactly equal, so structure is kept.
void Semicircular::Solver::find_range() {
    std::mt19937_64 generator(1);
    const auto uniform = [&] { return static_cast<double>(generator() >> 11) * 0x1p-52 - 1.0; };
    std::vector<VectorXcd> rows;
    const Index area = n * n;
    MatrixXcd probe(n, n);
    for (;;) {
        for (Complex& value : probe.reshaped()) value = {uniform(), uniform()};
        const MatrixXcd image = covariance(probe);
        VectorXcd row = image.reshaped();
        const double size = row.cwiseAbs().maxCoeff();
        if (size == 0) break;
        for (std::size_t j = 0; j < rows.size(); ++j) {
            const Entry& pivot = pivots_[j];
            row -= row(pivot.row + n * pivot.column) * rows[j];
        }
        Index at = 0;
        if (!(row.cwiseAbs().maxCoeff(&at) > rank_tolerance * size)) break;
        if (static_cast<int>(rows.size()) == options.dense_limit) {
            pivots_.clear();
            unknowns = area;
            return;
        }
        row /= Complex(row(at));
        row(at) = 1;
        for (VectorXcd& other : rows) {
            const Complex factor = other(at);
            if (factor == 0.0) continue;
            other -= factor * row;
            other(at) = 0;
        }
        rows.push_back(row);
        pivots_.push_back({at % n, at / n, 1});
        if (static_cast<Index>(rows.size()) == area) break;
    }
    dense = true;
    unknowns = static_cast<Index>(rows.size());
    for (const VectorXcd& row : rows) {
        auto& entries = basis_.emplace_back();
        for (Index k = 0; k < area; ++k)
            if (std::abs(row(k)) > rank_tolerance) entries.push_back({k % n, k / n, row(k)});
    }
    for (const Entry& pivot : pivots_) {
        MatrixXcd coefficients = MatrixXcd::Zero(n, n);
        for (const auto& a : kraus_) {
            const VectorXcd left = a.row(pivot.row).transpose(), right = a.row(pivot.column).adjoint();
            coefficients.noalias() += left * right.transpose();
        }
        auto& entries = functionals_.emplace_back();
        for (Index v = 0; v < n; ++v)
            for (Index u = 0; u < n; ++u)
                if (coefficients(u, v) != 0.0) entries.push_back({u, v, coefficients(u, v)});
        functional_entries_ += static_cast<double>(entries.size());
    }
    prefer_built_ = build_operations() <= gmres_typical_iterations * apply_operations();
}

MatrixXcd Semicircular::Solver::expand(const VectorXcd& x) const {
    if (!dense) return x.reshaped(n, n);
    MatrixXcd sigma = MatrixXcd::Zero(n, n);
    for (std::size_t j = 0; j < basis_.size(); ++j)
        for (const Entry& entry : basis_[j])
            sigma(entry.row, entry.column) += entry.value * x(static_cast<Index>(j));
    return sigma;
}

VectorXcd Semicircular::Solver::restrict_covariance(const MatrixXcd& b) const {
    if (!dense) return covariance(b).reshaped();
    VectorXcd x(unknowns);
    for (std::size_t i = 0; i < functionals_.size(); ++i) {
        Complex sum = 0;
        for (const Entry& entry : functionals_[i]) sum += entry.value * b(entry.row, entry.column);
        x(static_cast<Index>(i)) = sum;
    }
    return x;
}

/// M, its scales and the defect at Σ = x.
bool Semicircular::Solver::evaluate(const VectorXcd& x) {
    const auto size = static_cast<double>(n);
    operations_ += size * size * size + (dense ? functional_entries_ : 2 * kraus_entries_ * size);
    m_ = (shifted_ - expand(x)).partialPivLu().inverse();
    if (!m_.allFinite()) return false;
    defect_ = restrict_covariance(m_) - x;
    const double least = 1e-16 * m_.cwiseAbs2().maxCoeff();
    scales_ = m_.diagonal().cwiseAbs2().cwiseMax(least).array().sqrt().sqrt();
    return true;
}

/// Operations of one application of Newton's matrix.
double Semicircular::Solver::apply_operations() const {
    const auto size = static_cast<double>(n);
    return 2 * size * size * size + (dense ? functional_entries_ : 2 * kraus_entries_ * size);
}

/// Whether all entries of M B_j M are formed, or only those that functionals need.
bool Semicircular::Solver::form_image(double terms) const {
    const auto size = static_cast<double>(n);
    return 2 * functional_entries_ * terms > size * size * std::min(terms, 2 * size) + functional_entries_;
}

/// Operations of building and factoring Newton's matrix.
double Semicircular::Solver::build_operations() const {
    const auto size = static_cast<double>(n), count = static_cast<double>(unknowns);
    double sum = count * count * count / 3;
    for (const auto& entries : basis_) {
        const auto terms = static_cast<double>(entries.size());
        sum += form_image(terms) ? size * size * std::min(terms, 2 * size) + functional_entries_
                                 : 2 * functional_entries_ * terms;
    }
    return sum;
}

bool Semicircular::Solver::build() {
    const auto size = static_cast<double>(n);
    operations_ += build_operations();
    MatrixXcd matrix = MatrixXcd::Identity(unknowns, unknowns);
    MatrixXcd image;
    for (Index j = 0; j < unknowns; ++j) {
        const auto& entries = basis_[static_cast<std::size_t>(j)];
        const auto terms = static_cast<double>(entries.size());
        if (form_image(terms)) {
            if (terms > 2 * size) {
                MatrixXcd b = MatrixXcd::Zero(n, n);
                for (const Entry& entry : entries) b(entry.row, entry.column) = entry.value;
                image.noalias() = m_ * (b * m_);
            } else {
                image = MatrixXcd::Zero(n, n);
                for (const Entry& entry : entries)
                    image.noalias() += m_.col(entry.row) * (entry.value * m_.row(entry.column));
            }
            matrix.col(j) -= restrict_covariance(image);
            continue;
        }
        for (Index i = 0; i < unknowns; ++i) {
            Complex sum = 0;
            for (const Entry& at : functionals_[static_cast<std::size_t>(i)]) {
                Complex value = 0;
                for (const Entry& entry : entries)
                    value += entry.value * m_(at.row, entry.row) * m_(entry.column, at.column);
                sum += at.value * value;
            }
            matrix(i, j) -= sum;
        }
    }
    if (!matrix.allFinite()) return false;
    lu_.compute(matrix);
    built_ = true;
    return true;
}

bool Semicircular::Solver::solve_linear(const VectorXcd& rhs, VectorXcd& delta) {
    if (!built_ && !prefer_built_) {
        const auto apply = [&](const VectorXcd& v, VectorXcd& out) {
            const MatrixXcd image = m_ * (expand(v) * m_);
            out = v - restrict_covariance(image);
        };
        const linalg::GmresSummary result = linalg::gmres(apply, rhs, delta, gmres_tolerance, gmres_max_iterations);
        operations_ += result.iterations * apply_operations();
        if (result.converged) return delta.allFinite();
    }
    if (!built_ && !(dense && build())) return false;
    operations_ += static_cast<double>(unknowns * unknowns);
    delta = lu_.solve(rhs);
    return delta.allFinite();
}

/// max_pq |dΣ_pq| √|M_pp M_qq|.
double Semicircular::Solver::measure(const VectorXcd& delta) const {
    const MatrixXcd change = expand(delta);
    double largest = 0;
    const auto include = [&](Index p, Index q) {
        const double value = std::norm(change(p, q)) * scales_(p) * scales_(p) * scales_(q) * scales_(q);
        if (!(value <= largest)) largest = value;  // NaN too
    };
    if (dense)
        for (const auto& entries : basis_)
            for (const Entry& entry : entries) include(entry.row, entry.column);
    else
        for (Index q = 0; q < n; ++q)
            for (Index p = 0; p < n; ++p) include(p, q);
    return std::sqrt(largest);
}

/// Im(b − Σ) ≥ 0, up to rounding in units of M.
bool Semicircular::Solver::in_half_plane(const VectorXcd& x) const {
    const MatrixXcd matrix = shifted_ - expand(x);
    double height = 0, lowest = std::numeric_limits<double>::infinity();
    bool diagonal = true;
    for (Index q = 0; q < n; ++q) {
        const double square = scales_(q) * scales_(q);
        height = std::max(height, shifted_(q, q).imag() * square);
        lowest = std::min(lowest, matrix(q, q).imag() * square);
        for (Index p = 0; p < q; ++p) diagonal = diagonal && matrix(p, q) == std::conj(matrix(q, p));
    }
    const double slack = std::min(1e-9, 1e-3 * height);
    if (!matrix.allFinite() || !(lowest > -slack)) return false;
    if (diagonal) return true;
    MatrixXcd raised = scales_.asDiagonal() * imaginary_part(matrix) * scales_.asDiagonal();
    raised.diagonal().array() += slack;
    return Eigen::LLT<MatrixXcd>(raised).info() == Eigen::Success;
}

/// By how much the Newton step changes if Σ and b change by a few ulps: the uncertainty from rounding.
double Semicircular::Solver::jitter(const VectorXcd& x) {
    const MatrixXcd exact = shifted_;
    VectorXcd reference, moved;
    double largest =
        evaluate(x) && solve_linear(defect_, reference) ? 0 : std::numeric_limits<double>::infinity();
    for (int k = 0; k < 2 && std::isfinite(largest); ++k) {
        VectorXcd perturbed = x;
        for (Index i = 0; i < unknowns; ++i)
            perturbed(i) *= 1 + ((i * 7 + i / 3 + k) % 2 == 0 ? 0x1p-51 : -0x1p-51);
        shifted_ = exact * (1 + (k + 1) * 0x1p-51);
        largest = evaluate(perturbed) && solve_linear(defect_, moved)
                      ? std::max(largest, measure(moved - reference))
                      : std::numeric_limits<double>::infinity();
    }
    shifted_ = exact;
    return evaluate(x) ? largest : std::numeric_limits<double>::infinity();
}

/// Newton at b + it. True if it converged to a solution of the right sign; m_ is then M.
bool Semicircular::Solver::newton(double t, VectorXcd& x, int max_steps, SemicircularSummary& summary) {
    t_ = t;
    shifted_ = b_;
    shifted_.diagonal().array() += Complex(0, t);
    double previous = std::numeric_limits<double>::infinity();
    VectorXcd delta, trial;
    for (int k = 0; k < max_steps; ++k) {
        if (!evaluate(x)) return false;
        ++summary.newton_steps;
        if (previous > confirming_step) built_ = false;
        if (!solve_linear(defect_, delta)) return false;
        const double step = measure(delta);
        if (!std::isfinite(step) || step > 1e6) return false;
        double fraction = step > 2 ? 2 / step : 1;
        trial = x + fraction * delta;
        for (int h = 0; h < max_halvings && !in_half_plane(trial); ++h) {
            fraction /= 2;
            trial = x + fraction * delta;
        }
        x = trial;
        summary.step = step;
        summary.floor = 0;
        bool converged = fraction == 1 && step <= options.tolerance;
        if (!converged && fraction == 1 && step < 1e-5 && step > 0.2 * previous) {
            // Rounding has stopped the convergence: is this the level that conditioning predicts?
            summary.floor = 10 * jitter(x);
            if (!(step <= summary.floor && summary.floor < 1e-4)) return false;
            delta.setZero();  // m_ already belongs to x
            converged = true;
        }
        if (converged) {
            if (step > 1e-13) {
                const MatrixXcd change = expand(delta) * m_;
                m_ += m_ * change;
            }
            return in_half_plane(x);
        }
        previous = step;
    }
    return false;
}

/// From the solution x at b + it to the one at b.
bool Semicircular::Solver::descend(double t, VectorXcd& x, SemicircularSummary& summary) {
    double factor = 4, previous_t = 0;
    VectorXcd previous;
    for (int rung = 0; rung < options.max_rungs; ++rung) {
        const auto predict = [&](double to) -> VectorXcd {
            if (previous.size() == 0) return x;
            return x + (x - previous) * ((to - t) / (t - previous_t));
        };
        // All the way if the secant predicts that it is near.
        if (previous.size() > 0) {
            VectorXcd guess = predict(0);
            if (measure(guess - x) < 0.3) {
                if (!in_half_plane(guess)) guess = x;
                if (newton(0, guess, options.max_steps, summary)) {
                    x = guess;
                    return true;
                }
            }
        }
        const double next = t / factor;
        VectorXcd guess = predict(next);
        if (!in_half_plane(guess)) guess = x;
        if (newton(next, guess, 6, summary)) {
            previous = x;
            previous_t = t;
            x = guess;
            t = next;
            ++summary.rungs;
            factor = std::min(factor * factor, 64.0);
        } else {
            factor = std::sqrt(factor);
            if (factor < 1.05) return false;
        }
        if (t < 1e-14 * b_.norm()) return newton(0, x, options.max_steps, summary);
    }
    return false;
}

/// The averaged map with Anderson acceleration, from x; ends close to the solution, for Newton to finish.
bool Semicircular::Solver::fixed_point(VectorXcd& x, SemicircularSummary& summary) {
    shifted_ = b_;
    std::vector<VectorXcd> points, residuals;
    for (int k = 0; k < options.max_fixed_point_steps; ++k) {
        if (!evaluate(x)) return false;
        ++summary.fixed_point_steps;
        const VectorXcd residual = 0.5 * defect_;
        if (measure(residual) < 1e-4) {
            VectorXcd polished = x;
            if (newton(0, polished, options.max_steps, summary)) {
                x = polished;
                return true;
            }
            shifted_ = b_;
            if (!evaluate(x)) return false;
        }
        points.push_back(x);
        residuals.push_back(residual);
        if (points.size() > anderson_depth + 1) {
            points.erase(points.begin());
            residuals.erase(residuals.begin());
        }
        VectorXcd next = x + residual;
        const auto columns = static_cast<Index>(points.size()) - 1;
        if (columns > 0) {
            MatrixXcd differences(unknowns, columns), moves(unknowns, columns);
            for (Index c = 0; c < columns; ++c) {
                const auto a = static_cast<std::size_t>(c);
                differences.col(c) = residuals[a + 1] - residuals[a];
                moves.col(c) = points[a + 1] - points[a] + differences.col(c);
            }
            MatrixXcd normal = differences.adjoint() * differences;
            normal.diagonal().array() += 1e-14 * normal.diagonal().cwiseAbs().maxCoeff();
            const VectorXcd gamma = normal.partialPivLu().solve(differences.adjoint() * residual);
            const VectorXcd accelerated = next - moves * gamma;
            if (accelerated.allFinite() && in_half_plane(accelerated)) next = accelerated;
        }
        x = next;
    }
    return false;
}

SemicircularSolution Semicircular::Solver::solve(const MatrixXcd& b, const std::vector<VectorXcd>& guesses,
                                                 double distance) {
    if (b.rows() != n || b.cols() != n || !b.allFinite())
        throw std::invalid_argument("semicircular: b is " + std::to_string(b.rows()) + "×" +
                                    std::to_string(b.cols()) + "; must be finite, " + std::to_string(n) +
                                    "×" + std::to_string(n));
    const MatrixXcd height = imaginary_part(b);
    const double largest = height.norm();
    if (!(largest > 0) ||
        Eigen::LLT<MatrixXcd>(height + 1e-12 * largest * MatrixXcd::Identity(n, n)).info() != Eigen::Success)
        throw std::invalid_argument("semicircular: Im b is not positive; must be >= 0 and not zero");

    SemicircularSolution solution;
    SemicircularSummary& summary = solution.summary;
    solution.b = b_ = b;
    operations_ = 0;
    VectorXcd x;
    const auto solved = [&] {
        for (const VectorXcd& guess : guesses) {
            x = guess;
            if (newton(0, x, 8, summary)) return true;
        }
        if (!guesses.empty() && distance > 0) {
            for (const double lift : {4.0, 40.0}) {
                x = guesses.back();
                if (newton(lift * distance, x, 8, summary) && descend(lift * distance, x, summary))
                    return true;
            }
        }
        // At this height the averaged map contracts, and the first term of the series is close.
        const MatrixXcd one = MatrixXcd::Identity(n, n);
        double t = 4 * (b.norm() + std::sqrt(covariance(one).norm()));
        x = restrict_covariance((b + imaginary_unit * t * one).partialPivLu().inverse());
        if (newton(t, x, options.max_steps, summary) && descend(t, x, summary)) return true;
        return fixed_point(x, summary);
    };
    summary.certified = solved();
    summary.message = summary.certified ? "certified" : "no solution with Im M <= 0 was reached";
    const auto size = static_cast<double>(n);
    summary.map_evaluations =
        operations_ / (size * size * size + (dense ? functional_entries_ : 2 * kraus_entries_ * size));
    solution.m = m_;
    return solution;
}

Semicircular::Semicircular(const std::vector<MatrixXcd>& kraus, const SemicircularOptions& options)
    : solver_(std::make_unique<Solver>(kraus, options)) {}
Semicircular::Semicircular(const Semicircular& other) : solver_(std::make_unique<Solver>(*other.solver_)) {}
Semicircular::~Semicircular() = default;

Index Semicircular::size() const {
    return solver_->n;
}

Index Semicircular::range_dimension() const {
    return solver_->unknowns;
}

MatrixXcd Semicircular::covariance(const MatrixXcd& b) const {
    return solver_->covariance(b);
}

SemicircularSolution Semicircular::solve(const MatrixXcd& b, const SemicircularSolution* nearby) {
    if (nearby == nullptr || !nearby->ok() || nearby->b.rows() != b.rows()) return solver_->solve(b, {}, 0);
    return solver_->solve(b, {solver_->restrict_covariance(nearby->m)}, (b - nearby->b).norm());
}

std::vector<SemicircularSolution> Semicircular::sweep(const std::vector<MatrixXcd>& b) {
    std::vector<SemicircularSolution> solutions;
    VectorXcd last, before;
    MatrixXcd move;
    for (std::size_t k = 0; k < b.size(); ++k) {
        std::vector<VectorXcd> guesses;
        double distance = 0;
        if (last.size() > 0) {
            const MatrixXcd next = b[k] - solutions.back().b;
            distance = next.norm();
            const double ratio = before.size() > 0 && move.norm() > 0
                                     ? (move.conjugate().cwiseProduct(next).sum() / move.squaredNorm()).real()
                                     : 0;
            if (ratio != 0) guesses.push_back(last + ratio * (last - before));
            guesses.push_back(last);
        }
        solutions.push_back(solver_->solve(b[k], guesses, distance));
        before.resize(0);
        if (solutions.back().ok()) {
            const VectorXcd here = solver_->restrict_covariance(solutions.back().m);
            if (last.size() > 0) {
                before = last;
                move = b[k] - b[k - 1];
            }
            last = here;
        } else {
            last.resize(0);
        }
    }
    return solutions;
}

double Semicircular::density(const MatrixXcd& a_0, double x, double smoothing) {
    const Index n = solver_->n;
    if (a_0.rows() != n || a_0.cols() != n ||
        !(a_0 - a_0.adjoint()).isMuchSmallerThan(1.0 + a_0.norm(), 1e-12))
        throw std::invalid_argument("semicircular: a_0 must be self-adjoint, " + std::to_string(n) + "×" +
                                    std::to_string(n));
    const SemicircularSolution solution =
        solve(Complex(x, smoothing) * MatrixXcd::Identity(n, n) - a_0, nullptr);
    return solution.ok() ? dyson::density(solution) : std::numeric_limits<double>::quiet_NaN();
}

double density(const SemicircularSolution& solution) {
    return -solution.m.trace().imag() / (std::numbers::pi * static_cast<double>(solution.m.rows()));
}

}  // namespace spectra::dyson
