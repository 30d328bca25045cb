#include "dyson/solve/newton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace spectra::dyson {

void put(ByteWriter& writer, const Solution& solution, bool with_unknowns) {
    writer.put(solution.omega.log_scale);
    writer.put(solution.omega.direction);
    const auto unknowns = with_unknowns ? static_cast<std::size_t>(solution.m.size()) : 0;
    writer.put_values(std::span<const Complex>(solution.m.data(), unknowns));
    writer.put(solution.state);
    writer.put(solution.residual);
    writer.put(solution.floor);
    writer.put(solution.steps);
    writer.put(solution.probes);
}

Solution get_solution(ByteReader& reader) {
    Solution solution;
    solution.omega.log_scale = reader.get<double>();
    solution.omega.direction = reader.get<Complex>();
    const auto m = reader.values<Complex>();
    solution.m = Eigen::Map<const Unknowns>(m.data(), static_cast<Eigen::Index>(m.size()));
    solution.state = reader.get<State>();
    solution.residual = reader.get<double>();
    solution.floor = reader.get<double>();
    solution.steps = reader.get<int>();
    solution.probes = reader.get<int>();
    return solution;
}

namespace {

// Relative imaginary part below which a solution at real ω is tried as real. A square-root edge
// reaches it at a relative distance of 1e-16, so nothing inside the support is mistaken for a gap.
constexpr double real_slack = 1e-8;
constexpr int max_halvings = 5;

// Chords: after a Newton step shorter than this, as long as corrections shrink at least by that factor.
constexpr double chord_from = 0.3;
constexpr double chord_contraction = 0.15;
// Relative difference of a chord and Newton's step where the linearised equation has not changed.
constexpr double same_linearisation = 0.05;
// The error that a chord may leave.
constexpr double chord_error = 1e-14;

/// How far rounding may push an imaginary part to the wrong sign, relative to the modulus. A
/// layer far from the scale of s has parameters that are real up to this.
double sign_slack(const Frequency& omega) {
    const double height = omega.direction.imag();
    return height == 0 ? real_slack : std::min(1e-9, 1e-3 * height);
}

struct Iteration {
    bool converged = false;
    double residual = 1;
    double floor = 0;
};

/// By how much the Newton step at m changes if m and the scale of ω change by a few ulps: the uncertainty of
/// the unknowns from rounding in the evaluation, amplified by the linearised equation.
double jitter(Equation& equation, const Frequency& omega, const Unknowns& m, int& steps, int& probes) {
    Unknowns reference, moved, perturbed(m.size());
    const auto correction = [&](const Frequency& at, const Unknowns& from, Unknowns& delta) {
        return equation.chord_step(at, from, delta) || equation.newton_step(at, from, delta);
    };
    if (!correction(omega, m, reference)) return std::numeric_limits<double>::infinity();
    ++steps, ++probes;
    double largest = 0;
    for (int k = 0; k < 2; ++k) {
        for (Eigen::Index i = 0; i < m.size(); ++i)
            perturbed(i) = m(i) * (1 + ((i * 7 + i / 3 + k) % 2 == 0 ? 0x1p-51 : -0x1p-51));
        Frequency nearby = omega;
        nearby.log_scale += (k + 1) * 0x1p-50 * (1 + std::abs(omega.log_scale));
        if (!correction(nearby, perturbed, moved)) return std::numeric_limits<double>::infinity();
        ++steps, ++probes;
        largest = std::max(largest, (moved - reference).cwiseAbs().maxCoeff());
    }
    return largest;
}

/// Corrections by chords, improved by Broyden's rank-one updates ("good" Broyden, as products of the steps taken).
class Chords {
public:
    void clear() { steps_.clear(); }
    /// A correction that was taken whole, the first by Newton's method.
    void add(const Unknowns& step) { steps_.push_back(step); }
    std::size_t count() const { return steps_.size(); }

    void improve(Unknowns& step) const {
        for (std::size_t k = 0; k + 1 < steps_.size(); ++k)
            step += (steps_[k].dot(step) / steps_[k].squaredNorm()) * steps_[k + 1];
        step /= 1.0 - steps_.back().dot(step) / steps_.back().squaredNorm();
    }

private:
    std::vector<Unknowns> steps_;
};

Iteration iterate(Equation& equation, const Frequency& omega, Unknowns& m, int max_steps, double enough,
                  int& steps, int& probes) {
    const double slack = sign_slack(omega), small = std::max(enough, equation.certified_step());
    const double longest = equation.longest_step();
    Iteration result;
    Unknowns delta, trial;
    double previous = std::numeric_limits<double>::infinity();
    Chords chords;
    int newton_steps = 0, taken_chords = 0;
    while (newton_steps < max_steps) {
        Unknowns rejected;  // a chord that is too long
        const bool after_newton = chords.count() == 1;
        if (chords.count() > 0 && previous < chord_from && equation.chord_step(omega, m, delta)) {
            rejected = delta;
            chords.improve(delta);
            const double step = delta.cwiseAbs().maxCoeff(), contraction = step / previous;
            trial = equation.moved(m, delta, 1);
            // The chord before was short enough: what is left is its error, or rounding.
            if (chords.count() > 1 && result.residual <= small && step <= small) {
                m = trial;
                result.residual = step / (1 - chord_contraction);
                result.converged = true;
                return result;
            }
            if (contraction < chord_contraction &&
                (step <= real_slack || equation.admissible(omega, trial, -slack))) {
                m = trial;
                chords.add(delta);
                previous = step;
                if (++taken_chords % 2 == 1) ++steps;
                // Newton's own step would be at most that long.
                result.residual = step / (1 - contraction);
                if (result.residual > small || contraction * step > std::max(chord_error, enough)) continue;
                result.converged = true;
                return result;
            }
        }
        ++newton_steps, ++steps;
        if (!equation.newton_step(omega, m, delta)) return result;
        const double step = delta.cwiseAbs().maxCoeff();
        if (!std::isfinite(step) || step > 1e8) return result;
        double fraction = step > longest ? longest / step : 1;
        trial = equation.moved(m, delta, fraction);
        for (int h = 0; h < max_halvings && step > real_slack; ++h) {
            if (equation.admissible(omega, trial, -slack)) break;
            fraction /= 2;
            trial = equation.moved(m, delta, fraction);
        }
        m = trial;
        result.residual = step;
        if (fraction == 1 && step <= small) {
            result.converged = true;
            return result;
        }
        // Rounding has stopped the convergence, if not the change of the linearised equation: is this the level that
        // conditioning predicts?
        const bool same_equation = rejected.size() == 0 || after_newton ||
                                   (delta - rejected).cwiseAbs().maxCoeff() < same_linearisation * step;
        if (step < 1e-5 && step > 0.2 * previous && fraction == 1 && same_equation) {
            result.floor = 30 * jitter(equation, omega, m, steps, probes);
            result.converged = step <= result.floor && result.floor < 1e-4;
            return result;
        }
        chords.clear();
        if (fraction == 1) chords.add(delta);
        previous = step;
    }
    return result;
}

}  // namespace

bool continues_above(Equation& equation, const Frequency& omega, const Unknowns& m) {
    constexpr double height = 1e-5;
    Unknowns delta;
    const Frequency above{omega.log_scale, omega.direction * Complex(1, height)};
    if (!equation.newton_step(above, m, delta)) return false;
    const Unknowns scale = equation.scale(m);
    const Unknowns slope = Complex(0, 1) * scale.cwiseProduct(delta).imag().cast<Complex>() / height;
    return equation.admissible(omega, slope + m, -1e-6);
}

Solution newton(Equation& equation, const Frequency& omega, const Unknowns& guess, int max_steps,
                double enough) {
    Solution solution;
    solution.omega = omega;
    solution.m = guess;
    const bool real_axis = omega.direction.imag() == 0;
    Iteration it = iterate(equation, omega, solution.m, max_steps, enough, solution.steps, solution.probes);
    solution.residual = it.residual;
    solution.floor = it.floor;
    if (!it.converged || !solution.m.allFinite()) return solution;
    if (!real_axis) {
        if (equation.admissible(omega, solution.m, -sign_slack(omega))) solution.state = State::certified;
        return solution;
    }
    // Inside the support: complex, and no imaginary part of the wrong sign. If a layer is far from
    // the scale of s, its parameter may be real to rounding, so signs are checked up to that.
    const double rounding = std::max({1e-13, 10 * solution.floor, 10 * solution.residual});
    const double imaginary =
        solution.m.imag().cwiseQuotient(equation.scale(solution.m).cwiseAbs()).cwiseAbs().maxCoeff();
    if (imaginary > std::max(real_slack, 10 * rounding) &&
        equation.admissible(omega, solution.m, -rounding)) {
        solution.state = State::certified;
        return solution;
    }
    Unknowns real_part = solution.m.real().cast<Complex>();
    if (imaginary > 1e-5) return solution;
    it = iterate(equation, omega, real_part, max_steps, enough, solution.steps, solution.probes);
    if (!it.converged || !equation.stable_in_gap(omega, real_part)) return solution;
    solution.m = real_part;
    solution.residual = it.residual;
    solution.floor = it.floor;
    solution.state = State::gap;
    return solution;
}

}  // namespace spectra::dyson
