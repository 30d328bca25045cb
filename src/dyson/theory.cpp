#include "dyson/theory.hpp"

#include "dyson/chain.hpp"
#include "dyson/density.hpp"
#include "dyson/moments.hpp"
#include "dyson/scalar.hpp"
#include "dyson/tracker.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <memory>
#include <optional>

namespace spectra::dyson {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::unique_ptr<Equation> make_equation(const Network& network, Method method) {
    return method == Method::operator_valued ? make_chain(network) : make_scalar(network);
}

bool noiseless(const Network& network) {
    return std::all_of(sigma2(network).begin(), sigma2(network).end(), [](double v) { return v == 0; });
}

bool any_layer_is_zero(const Network& network) {
    for (std::size_t l = 0; l < network.mixers.size(); ++l)
        if (network.mixers[l].isZero(0) && sigma2(network)[l] == 0) return true;
    return false;
}

/// Without noise the law is the singular values of the product of the mixers. Values closer than
/// rounding are one atom.
Density atoms_of_product(const Network& network) {
    Density density;
    const double mass = 1.0 / network.streams;
    const int zeros = static_cast<int>(std::lround(atom_at_zero(network) * network.streams));
    std::vector<double> values = log_singular_values_of_product(network.mixers);
    std::sort(values.begin(), values.end());
    for (int k = 0; k < zeros; ++k) values[static_cast<std::size_t>(k)] = -infinity;
    const double close = 1e-13 * network.depth();
    for (const double value : values) {
        if (!density.atoms.empty() &&
            (value == density.atoms.back().log_place || value - density.atoms.back().log_place < close))
            density.atoms.back().mass += mass;
        else
            density.atoms.push_back({value, mass});
    }
    return density;
}

void append(Curve& curve, const Equation& equation, const Solution& s, double log_s, Complex omega) {
    curve.log_s.push_back(log_s);
    curve.density_log.push_back(density_log(equation, s));
    curve.omega.push_back(omega);
    const Complex scaled = equation.scaled_green(s.omega, s.m);
    curve.g.push_back(s.state == State::gap ? Complex(scaled.real(), 0) * std::exp(-log_s)
                                            : scaled * std::exp(-log_s));
    curve.residual.push_back(s.residual);
    curve.floor.push_back(s.floor);
    curve.iterations.push_back(s.steps);
    curve.certified.push_back(s.ok() ? 1 : 0);
}

/// Places of a curve that is not the law's own grid.
std::vector<double> curve_places(const Options& options, const Spectrum& law) {
    std::vector<double> places;
    if (options.grid) {
        const Grid& grid = *options.grid;
        for (int k = 0; k < grid.points; ++k) {
            const double f = static_cast<double>(k) / (grid.points - 1);
            const double s = grid.logarithmic ? std::exp(std::lerp(std::log(grid.min), std::log(grid.max), f))
                                              : std::lerp(grid.min, grid.max, f);
            // s = 0 stands for the limit from above: a millionth of the first step.
            places.push_back(std::log(s > 0 ? s : 1e-6 * (grid.max - grid.min) / (grid.points - 1)));
        }
        return places;
    }
    // A smoothed density has no edges: half of the points even in s, half in ln s.
    const Metrics metrics = law.metrics();
    const double top = metrics.largest + 20 * options.eta;
    const double bottom = 0.1 * std::max(std::min(metrics.smallest, options.eta), 1e-3 * options.eta);
    const int half = std::max(2, options.points / 2);
    for (int k = 1; k <= half; ++k) {
        const double f = static_cast<double>(k) / half;
        places.push_back(std::log(f * top));
        places.push_back(std::lerp(std::log(bottom), std::log(top), f - 0.5 / half));
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    return places;
}

/// Each point from the nearest node of the law: independent of the others and of the threads.
Curve solve_curve(const Tracker& tracker, const std::vector<double>& places, const SolvedLaw& law,
                  const Options& options, Summary& summary) {
    std::vector<Solution> points(places.size());
    std::exception_ptr failure;
    long steps = 0;
    double passes = 0;
    int descents = 0;
    const int threads = options.threads > 0 ? options.threads : omp_get_max_threads();
#pragma omp parallel num_threads(threads) reduction(+ : steps, passes, descents)
    {
        Tracker mine(tracker);
        const double passes_before = mine.passes();
#pragma omp for schedule(dynamic)
        for (std::size_t k = 0; k < places.size(); ++k) {
            try {
                const double x = places[k];
                const auto& grid = law.density.log_s;
                const auto near =
                    static_cast<std::size_t>(std::lower_bound(grid.begin(), grid.end(), x) - grid.begin());
                const bool inside = options.eta == 0 && near < grid.size() && near > 0;
                points[k] = mine.solve(x, options.eta * std::exp(-x), inside ? &law.nodes[near].m : nullptr);
            } catch (...) {
#pragma omp critical
                failure = std::current_exception();
            }
        }
        steps += mine.newton_steps();
        passes += mine.passes() - passes_before;
        descents += mine.descents();
    }
    if (failure) std::rethrow_exception(failure);
    summary.newton_steps += steps;
    summary.passes += static_cast<long>(passes);
    summary.descents += descents;
    Curve curve;
    const auto equation = Tracker(tracker).equation().clone();
    for (std::size_t k = 0; k < places.size(); ++k)
        append(curve, *equation, points[k], places[k], {std::exp(places[k]), options.eta});
    return curve;
}

void finish(Theory& theory, const std::chrono::steady_clock::time_point& start) {
    Summary& summary = theory.summary;
    summary.points = static_cast<int>(theory.curve.size());
    for (const auto flag : theory.curve.certified) summary.uncertified += flag == 0 ? 1 : 0;
    for (std::size_t k = 0; k < theory.curve.size(); ++k)
        summary.largest_residual = std::max(summary.largest_residual, theory.curve.residual[k]);
    const Metrics metrics = theory.law.metrics();
    summary.mass = theory.law.mass();
    summary.mean_square = metrics.mean_square;
    summary.log_mean = metrics.log_mean;
    summary.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The law must pass the sum rules that are known exactly.
void check_sum_rules(Summary& summary, bool law_complete, const std::string& law_message) {
    const double mass_error = std::abs(summary.mass - 1);
    const bool both_zero = summary.mean_square == 0 && summary.mean_square_exact == 0;
    const double square_error = both_zero ? 0 : std::abs(summary.mean_square / summary.mean_square_exact - 1);
    const bool both_infinite = summary.log_mean == summary.log_mean_exact;
    const double log_error = both_infinite ? 0 : std::abs(summary.log_mean - summary.log_mean_exact);
    if (!law_complete) {
        summary.message = law_message;
    } else if (summary.uncertified > 0) {
        summary.message = std::to_string(summary.uncertified) + " of " + std::to_string(summary.points) +
                          " points are not certified";
    } else if (!(mass_error <= 1e-5)) {
        summary.message = "the mass differs from 1 by " + std::to_string(mass_error);
    } else if (!(square_error <= 1e-5)) {
        summary.message = "the mean square differs from its exact value by " + std::to_string(square_error);
    } else if (!(log_error <= 1e-4 * (1 + std::abs(summary.log_mean_exact)))) {
        summary.message = "the mean of ln s differs from its exact value by " + std::to_string(log_error);
    } else {
        summary.certified = true;
        summary.message = "certified";
    }
}

}  // namespace

std::string name(Method method) {
    return method == Method::operator_valued ? "ov" : "scalar";
}

Theory solve(const Network& network, Method method, const Options& options) {
    check(network);
    const auto start = std::chrono::steady_clock::now();
    Theory theory;
    theory.method = method;
    theory.eta = options.eta;
    Summary& summary = theory.summary;
    const bool scalar = method == Method::scalar;
    summary.mean_square_exact = scalar ? scalar_mean_square(network) : mean_square(network);
    summary.log_mean_exact = log_mean(network);

    SolvedLaw law;
    const bool pure_atoms = noiseless(network) && (!scalar || network.depth() == 1);
    if (any_layer_is_zero(network)) {
        law.density.atoms.push_back({-infinity, 1.0});
        law.complete = true;
    } else if (pure_atoms) {
        law.density = atoms_of_product(network);
        law.complete = true;
    }
    const bool has_curve = !any_layer_is_zero(network) && (options.eta > 0 || options.grid || !law.complete);
    if (!has_curve) {
        theory.law = Spectrum::from_density(law.density);
        finish(theory, start);
        check_sum_rules(summary, true, {});
        return theory;
    }

    const Range support = range(network);
    const double near = std::max(support.log_lower, support.log_upper - 10);
    const Tracker tracker(make_equation(network, method), support.log_upper, near);
    if (!law.complete) {
        DensityOptions density_options;
        density_options.points = options.points;
        density_options.tolerance = options.tolerance;
        density_options.threads = options.threads;
        law = solve_density(tracker, support, density_options);
        summary.newton_steps = law.newton_steps;
        summary.passes = static_cast<long>(law.passes);
        summary.descents = law.descents;
    }
    theory.law = Spectrum::from_density(law.density);
    if (options.grid || options.eta > 0) {
        theory.curve = solve_curve(tracker, curve_places(options, theory.law), law, options, summary);
    } else {
        const auto equation = make_equation(network, method);
        for (const Solution& s : law.nodes)
            append(theory.curve, *equation, s, s.omega.log_scale, {std::exp(s.omega.log_scale), 0});
    }
    finish(theory, start);
    check_sum_rules(summary, law.complete, law.message);
    return theory;
}

Green green(const Network& network, const std::vector<std::complex<double>>& omega, const Options&) {
    check(network);
    Green result;
    result.omega = omega;
    const bool zero = any_layer_is_zero(network);
    const Range support = zero ? Range{} : range(network);
    std::optional<Tracker> tracker;
    if (!zero) tracker.emplace(make_chain(network), support.log_upper, support.log_upper - 5);
    for (const Complex w : omega) {
        if (zero) {  // J = 0
            result.g.push_back(1.0 / w);
            result.residual.push_back(0);
            result.iterations.push_back(0);
            result.certified.push_back(1);
            continue;
        }
        const bool mirrored = w.real() < 0;
        const Solution s = tracker->solve(mirrored ? -std::conj(w) : w);
        const Complex g = tracker->equation().scaled_green(s.omega, s.m) * std::exp(-s.omega.log_scale);
        result.g.push_back(mirrored ? -std::conj(g) : g);
        result.residual.push_back(s.residual);
        result.iterations.push_back(s.steps);
        result.certified.push_back(s.ok() ? 1 : 0);
    }
    return result;
}

}  // namespace spectra::dyson
