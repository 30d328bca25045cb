#include "dyson/law/theory.hpp"

#include "base/parallel.hpp"
#include "base/special_values.hpp"
#include "base/team.hpp"
#include "dyson/equations/as_printed.hpp"
#include "dyson/equations/chain.hpp"
#include "dyson/equations/s_transform.hpp"
#include "dyson/equations/scalar.hpp"
#include "dyson/equations/site_draws.hpp"
#include "dyson/equations/tied.hpp"
#include "dyson/equations/two_layers.hpp"
#include "dyson/exact/moments.hpp"
#include "dyson/exact/one_stream.hpp"
#include "dyson/exact/sampled_values.hpp"
#include "dyson/exact/support_bounds.hpp"
#include "dyson/law/aligned_law.hpp"
#include "dyson/law/bands.hpp"
#include "dyson/law/density.hpp"
#include "dyson/law/potential.hpp"
#include "dyson/law/precise_points.hpp"
#include "dyson/law/unresolved.hpp"
#include "dyson/solve/tracker.hpp"
#include "dyson/solve/watched.hpp"
#include "linalg/blas.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <numbers>
#include <optional>
#include <stdexcept>
#include <utility>

namespace spectra::dyson {
namespace {

std::unique_ptr<Equation> make_equation(const Network& network, Method method) {
    switch (method) {
        case Method::scalar:
            return make_scalar(network);
        case Method::s_transform:
            return s_transform_is_exact(network) ? make_s_transform(network) : make_two_layers(network);
        case Method::printed:
            return make_printed(network);
        case Method::operator_valued:
            break;
    }
    return make_operator_valued(network);
}

/// A simpler network with the same law, if there is one.
std::optional<Network> simplified(const Network& network, Method method) {
    return method == Method::operator_valued ? with_one_stream(network) : std::nullopt;
}

bool any_layer_is_zero(const Network& network) {
    if (std::holds_alternative<AlignedBranch>(network.branch)) return log_mean_square(network) == -infinity;
    const auto all = sigma2(network);
    for (std::size_t l = 0; l < network.mixers.size(); ++l)
        if (network.mixers[l].isZero(0) && all[l] == 0) return true;
    return false;
}

SupportBounds range_of(const Network& network, Method method) {
    if (method == Method::printed) return printed::support_bounds(network);
    SupportBounds range = support_bounds(network);
    if (method != Method::scalar) return range;
    // Its law is not that of the network, but has the same mean of ln s, which lies in its midst where it has one band.
    range.log_far = std::min(range.log_upper, log_far_of(network, log_scalar_mean_square(network)));
    if (const auto mean = log_mean(network)) range.log_seeds.push_back(*mean);
    return range;
}

/// Scales of companion solutions: where bands can be, and a few below the top.
std::vector<double> anchors(const SupportBounds& range) {
    std::vector<double> places = range.log_seeds;
    double place = range.log_far;
    while (place > std::max(range.log_lower, range.log_far - 10)) {
        places.push_back(place);
        place -= 2;
    }
    std::erase_if(places, [](double x) { return !std::isfinite(x); });
    return places;
}

double log_mean_square_of(const Network& network, Method method) {
    switch (method) {
        case Method::scalar:
            return log_scalar_mean_square(network);
        case Method::printed:
            return std::log(printed::mean_square(network));
        case Method::operator_valued:
        case Method::s_transform:
            break;
    }
    return log_mean_square(network);
}

void append(Curve& curve, const Solution& s, Complex scaled_green, double log_s, Complex omega) {
    if (s.state == State::gap) scaled_green = scaled_green.real();
    curve.log_s.push_back(log_s);
    curve.density_log.push_back(std::max(0.0, -2 / std::numbers::pi * scaled_green.imag()));
    curve.omega.push_back(omega);
    curve.g.push_back(scaled_green * std::exp(-log_s));
    curve.residual.push_back(s.residual);
    curve.floor.push_back(s.floor);
    curve.iterations.push_back(s.steps);
    curve.certified.push_back(s.ok() ? 1 : 0);
}

bool is_first(const Options& options) {
    return options.team == nullptr || options.team->is_first();
}

/// What is true on the first process of the team, on all of them.
bool first_says(bool here, const Options& options) {
    if (options.team == nullptr) return here;
    ByteWriter writer;
    writer.put(here);
    const auto bytes = options.team->spread(writer.take());
    return ByteReader(bytes).get<bool>();
}

/// Positions of a curve that is not on the law's grid.
std::vector<double> curve_places(const Options& options, const Spectrum& law) {
    std::vector<double> places;
    if (options.grid) {
        const Grid& grid = *options.grid;
        for (int k = 0; k < grid.points; ++k) {
            const double f = static_cast<double>(k) / (grid.points - 1);
            const double s = grid.logarithmic ? std::exp(std::lerp(std::log(grid.min), std::log(grid.max), f))
                                              : std::lerp(grid.min, grid.max, f);
            // s = 0 means the limit from above: a millionth of the first step.
            places.push_back(std::log(s > 0 ? s : 1e-6 * (grid.max - grid.min) / (grid.points - 1)));
        }
        return places;
    }
    // A smoothed density has no edges: half of the points evenly in s, half in ln s.
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

/// Solves each point from the nearest node of the law, independently of the others and of the threads.
Curve solve_curve(const Tracker& tracker, const std::vector<double>& places, const SolvedLaw& law,
                  const Options& options, Summary& summary) {
    std::vector<Solution> points(places.size());
    const int threads = std::clamp(static_cast<int>(places.size()), 1, threads_or_all(options.threads));
    std::vector<Tracker> trackers(static_cast<std::size_t>(threads), tracker);
    const double passes_before = tracker.passes();
    parallel_for(places.size(), trackers, [&](Tracker& mine, std::size_t k) {
        const double x = places[k];
        const auto& grid = law.density.log_s;
        const auto near =
            static_cast<std::size_t>(std::lower_bound(grid.begin(), grid.end(), x) - grid.begin());
        const bool inside = options.eta == 0 && near < grid.size() && near > 0;
        points[k] = mine.solve(x, options.eta * std::exp(-x), inside ? &law.nodes[near].m : nullptr);
    });
    double passes = 0;
    for (const auto& mine : trackers) {
        summary.newton_steps += mine.newton_steps();
        summary.descents += mine.descents();
        passes += mine.passes() - passes_before;
    }
    summary.passes += static_cast<long>(passes);
    Curve curve;
    const auto equation = Tracker(tracker).equation().clone();
    for (std::size_t k = 0; k < places.size(); ++k)
        append(curve, points[k], equation->scaled_green(points[k].omega, points[k].m), places[k],
               {std::exp(places[k]), options.eta});
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
    summary.mean_fourth = theory.law.expectation([](double x) { return std::exp(4 * x); });
    summary.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<Density::Atom> zero_atom(const SupportBounds& support) {
    if (!(support.atom_at_zero > 0)) return {};
    return {{-infinity, support.atom_at_zero}};
}

/// The largest relative difference of g between the two halves of the sampled sites, on a few
/// points of the support: the error of the sample.
double site_error(const Network& network, const Spectrum& law) {
    double worst = 0;
    const auto metrics = law.metrics();
    std::vector<std::complex<double>> points;
    for (const double f : {0.3, 0.6, 0.9}) {
        const double s = f * metrics.largest;
        points.emplace_back(s, 0.1 * s);
    }
    const auto solve_half = [&](SiteHalf half) {
        const SupportBounds support = support_bounds(network);
        Tracker tracker(make_chain(network, half), support.log_far, anchors(support));
        std::vector<Complex> g;
        for (const auto& w : points) {
            const Solution s = tracker.solve(w);
            g.push_back(tracker.equation().scaled_green(s.omega, s.m) * std::exp(-s.omega.log_scale));
        }
        return g;
    };
    const auto first = solve_half(SiteHalf::first), second = solve_half(SiteHalf::second);
    for (std::size_t k = 0; k < points.size(); ++k)
        worst = std::max(worst, std::abs(first[k] - second[k]) / std::abs(first[k] + second[k]));
    return worst;
}

/// E s² over its exact value, which may lie outside the range of double, minus one.
double mean_square_error(const Spectrum& law, double log_exact) {
    return std::abs(law.expectation([&](double x) { return std::exp(2 * x - log_exact); }) - 1);
}

/// The law must pass the sum rules that are known exactly, after the checks of its density.
void check_sum_rules(const Theory& theory, Summary& summary, const Certificate& density,
                     double log_square_exact) {
    summary.judge(density.checks);
    const double mass_error = std::abs(summary.mass - 1);
    const bool both_zero = summary.mean_square == 0 && summary.mean_square_exact == 0;
    const bool beyond_double = std::isfinite(log_square_exact) && !std::isnormal(summary.mean_square_exact);
    const double square_error = beyond_double ? mean_square_error(theory.law, log_square_exact)
                                : both_zero   ? 0
                                              : std::abs(summary.mean_square / summary.mean_square_exact - 1);
    const double log_exact = summary.log_mean_exact.value_or(summary.log_mean);
    const double log_error = summary.log_mean == log_exact ? 0 : std::abs(summary.log_mean - log_exact);
    const double fourth_error = summary.mean_fourth_exact && *summary.mean_fourth_exact > 0 &&
                                        std::isfinite(*summary.mean_fourth_exact) &&
                                        std::isfinite(summary.mean_fourth)
                                    ? std::abs(summary.mean_fourth / *summary.mean_fourth_exact - 1)
                                    : 0;
    const auto differs = [](const std::string& what, double error) {
        return "the " + what + " differs from its exact value by " + std::to_string(error);
    };
    summary.judge(
        {{"points not certified", 0, static_cast<double>(summary.uncertified),
          std::to_string(summary.uncertified) + " of " + std::to_string(summary.points) +
              " points are not certified"},
         {"mass", tolerance::mass, mass_error, "the mass differs from 1 by " + std::to_string(mass_error)},
         {"mean square", tolerance::moment, square_error, differs("mean square", square_error)},
         {"fourth moment", tolerance::moment, fourth_error, differs("fourth moment", fourth_error)},
         {"mean of ln s", tolerance::log_mean * (1 + std::abs(log_exact)), log_error,
          differs("mean of ln s", log_error)}});
}

/// The law by counting (aligned_law.hpp): its mean square is as accurate as its distribution
/// function, not to rounding.
void solve_by_counting(const Network& network, const SupportBounds& support, const Options& options,
                       Theory& theory, const std::chrono::steady_clock::time_point& start) {
    constexpr double share_of_mean_square = 0.01;
    const auto equation = watched(make_equation(network, Method::operator_valued), options.on_step);
    AlignedLaw law = solve_aligned(network, equation->clone(), support.log_upper,
                                   {.threads = options.threads, .team = options.team});
    if (!is_first(options)) return;
    Summary& summary = theory.summary;
    summary.newton_steps = law.newton_steps;
    summary.descents = law.descents;
    theory.law = law.law;
    theory.outliers = law.outliers;
    SolvedLaw known;
    for (const Solution& point : law.points) known.density.log_s.push_back(point.omega.log_scale);
    if (options.grid || options.eta > 0) {
        known.nodes = law.points;
        const Tracker tracker(equation->clone(), support.log_far, anchors(support));
        theory.curve = solve_curve(tracker, curve_places(options, theory.law), known, options, summary);
    } else {
        for (std::size_t k = 0; k < law.points.size(); ++k)
            append(theory.curve, law.points[k], law.scaled_green[k], known.density.log_s[k],
                   std::exp(known.density.log_s[k]) * law.points[k].omega.direction);
    }
    finish(theory, start);
    summary.judge(law.checks);
    const double error = std::abs(summary.mean_square / summary.mean_square_exact - 1);
    summary.judge({{"mean square", share_of_mean_square, error,
                    "the mean square differs from its exact value by " + std::to_string(error)}});
}

/// The bands of a law with their solutions, for the next one.
Support bands_of(const SolvedLaw& law) {
    Support support;
    support.bands = law.bands;
    auto node = law.nodes.begin();
    for (Band& band : support.bands)
        for (; node != law.nodes.end() && node->omega.log_scale <= band.upper.log_s; ++node)
            if (node->state == State::certified) band.known.push_back(*node);
    return support;
}

/// Whether a law's solutions can start this equation's.
bool same_unknowns(const Support& last, const Equation& equation) {
    return !last.bands.empty() && std::all_of(last.bands.begin(), last.bands.end(), [&](const Band& band) {
        return !band.known.empty() && band.known.front().m.size() == equation.size();
    });
}

/// Refuses a law that was solved with more digits than the network has, where it depends on them.
void check_digits(SolvedLaw& law, const Network& network, const Tracker& tracker, const Options& options) {
    const double change = change_by_rounding(network, tracker, law.nodes, options.on_step);
    law.judge({{"change by rounding of the network", largest_change, change,
                "the law depends on digits that the network's numbers do not have in double precision"}});
}

/// The law of a checked network, with the bands of a law nearby, replaced by those of this one, or null.
Theory solve_checked(const Network& network, Method method, const Options& options, Support* last) {
    const Support near = last != nullptr ? std::exchange(*last, {}) : Support();
    const auto start = std::chrono::steady_clock::now();
    Theory theory;
    theory.method = method;
    theory.eta = options.eta;
    Summary& summary = theory.summary;
    const bool exact = method == Method::operator_valued || method == Method::s_transform;
    const double log_square = log_mean_square_of(network, method);
    summary.mean_square_exact = std::exp(log_square);
    // Sampled sites have the exact mean square, but not the other averages.
    const bool sampled =
        std::holds_alternative<ActivationBranch>(network.branch) && !site_draws(network).exact;
    if (method != Method::printed && !sampled) {
        summary.log_mean_exact = log_mean(network);
        if (const auto value = kappa(network); value && *value > 0)
            summary.tail_exponent_exact = 2 / (1 + *value);
    }
    if (exact && !sampled) summary.mean_fourth_exact = mean_fourth(network);

    SolvedLaw law;
    const bool pure_atoms =
        noiseless(network) && (exact || (method == Method::scalar && network.depth() == 1));
    if (any_layer_is_zero(network)) {
        law.density.atoms.push_back({-infinity, 1.0});
        law.certified = true;
    } else if (pure_atoms) {
        law.density.atoms = atoms(network);
        law.certified = true;
    }
    const bool has_curve = !any_layer_is_zero(network) && (options.eta > 0 || options.grid || !law.certified);
    if (!has_curve) {
        theory.law = Spectrum::from_density(law.density);
        finish(theory, start);
        check_sum_rules(theory, summary, {}, log_square);
        return theory;
    }

    const linalg::SingleThreadedBlas one_thread;  // for all threads, until the last is done
    const SupportBounds support = range_of(network, method);
    const bool counting = options.counting && method == Method::operator_valued;
    if ((counting || std::holds_alternative<AlignedBranch>(network.branch)) && !law.certified) {
        solve_by_counting(network, support, options, theory, start);
        return theory;
    }
    auto watched_equation = watched(make_equation(network, method), options.on_step);
    const bool warm = same_unknowns(near, *watched_equation);
    std::optional<Tracker> tracker(std::in_place, std::move(watched_equation), support.log_far,
                                   anchors(support), warm);
    if (!law.certified) {
        DensityOptions density_options;
        if (warm) density_options.near = &near;
        density_options.points = options.points;
        density_options.tolerance = options.tolerance;
        density_options.threads = options.threads;
        density_options.team = options.team;
        const auto points = exact ? atoms(network) : zero_atom(support);
        std::optional<PotentialReader> reader;  // made where a count is asked for
        if (method == Method::operator_valued)
            density_options.mass_above = [&](const Solution& solution) {
                if (!reader) reader.emplace(network);
                const MassBelow below = mass_below(*reader, solution);
                if (!below.certified) return std::numeric_limits<double>::quiet_NaN();
                double atoms_above = 0;
                for (const auto& atom : points)
                    if (atom.log_place > solution.omega.log_scale) atoms_above += atom.mass;
                return 1 - below.mass - atoms_above;
            };
        if (exact) density_options.more_seeds = [&] { return sampled_log_values(network); };
        const auto solve_by = [&](Tracker& solver) {
            SolvedLaw found = solve_density(solver, support, points, density_options);
            if (found.certified || method != Method::operator_valued) return found;
            if (is_first(options)) {
                const double square = summary.mean_square_exact;
                summary.unresolved = leave_below_gap(found, solver, square, summary.log_mean_exact);
                if (!found.certified)
                    summary.unresolved =
                        leave_unresolved(found, PotentialReader(network), square, summary.log_mean_exact);
                if (!found.certified)
                    summary.unresolved =
                        leave_below_lost_bands(found, solver, square, summary.log_mean_exact);
            }
            found.certified = first_says(found.certified, options);
            return found;
        };
        law = solve_by(*tracker);
        // Rounding may hide a part of the law.
        std::unique_ptr<Equation> longer;
        if (!law.certified && method == Method::operator_valued) longer = precise_equation_of_law(network);
        if (longer) {
            Tracker precise(*tracker, watched(std::move(longer), options.on_step));
            density_options.scans = false;
            SolvedLaw found = solve_by(precise);
            if (found.certified) {
                if (is_first(options)) check_digits(found, network, precise, options);
                law = std::move(found);
                tracker.emplace(precise);
            }
        }
        summary.newton_steps = law.newton_steps;
        summary.passes = static_cast<long>(law.passes);
        summary.descents = law.descents;
    }
    if (!is_first(options)) return theory;
    if (last != nullptr && law.certified) *last = bands_of(law);
    theory.law = Spectrum::from_density(law.density);
    summary.tail_exponent = law.density.tail_exponent;
    if (sampled) summary.average_error = site_error(network, theory.law);
    if (options.grid || options.eta > 0) {
        theory.curve = solve_curve(*tracker, curve_places(options, theory.law), law, options, summary);
    } else {
        const Equation& equation = std::as_const(*tracker).equation();
        for (const Solution& s : law.nodes)
            append(theory.curve, s, equation.scaled_green(s.omega, s.m), s.omega.log_scale,
                   {std::exp(s.omega.log_scale), 0});
    }
    finish(theory, start);
    check_sum_rules(theory, summary, law, log_square);
    return theory;
}

/// solve(), with the bands of a law nearby as above.
Theory solve_from(const Network& network, Method method, const Options& options, Support* last) {
    check(network);
    check(network, method);
    if (const auto simple = simplified(network, method)) {
        Theory theory = solve_checked(*simple, method, options, last);
        if (first_says(theory.summary.certified, options)) return theory;
    }
    return solve_checked(network, method, options, last);
}

/// Points without a certificate, in extended precision: those of one half e-fold together, which share the way there.
void solve_again(const Network& network, const Tracker& tracker, const Options& options, Green& green) {
    std::map<long, std::vector<std::size_t>> by_scale;
    for (std::size_t k = 0; k < green.omega.size(); ++k)
        if (green.certified[k] == 0)
            by_scale[std::lround(2 * std::log(std::abs(green.omega[k])))].push_back(k);
    std::vector<std::vector<std::size_t>> groups;
    for (auto& [scale, group] : by_scale) groups.push_back(std::move(group));
    struct Nothing {};
    std::vector<Nothing> threads(static_cast<std::size_t>(
        std::clamp(static_cast<int>(groups.size()), 1, threads_or_all(options.threads))));
    std::vector<std::vector<PrecisePoint>> solved(groups.size());
    const auto solve = [&](Nothing&, std::size_t i) {
        std::vector<Complex> omega;
        for (const std::size_t k : groups[i]) omega.push_back(green.omega[k]);
        solved[i] = precise_points(network, tracker, omega, options.on_step);
    };
    const auto send = [&](ByteWriter& writer, std::size_t i) {
        for (const PrecisePoint& point : solved[i]) writer.put(point);
    };
    const auto receive = [&](ByteReader& reader, std::size_t i) {
        for (std::size_t j = 0; j < groups[i].size(); ++j) solved[i].push_back(reader.get<PrecisePoint>());
    };
    parallel_for(options.team, groups.size(), threads, solve, send, receive);
    for (std::size_t i = 0; i < groups.size(); ++i)
        for (std::size_t j = 0; j < groups[i].size(); ++j) {
            const std::size_t k = groups[i][j];
            const PrecisePoint& point = solved[i][j];
            if (point.certified) green.g[k] = point.g;
            green.residual[k] = point.residual;
            green.iterations[k] += point.steps;
            green.certified[k] = point.certified ? 1 : 0;
            green.beyond_double[k] = point.beyond_double ? 1 : 0;
        }
}

}  // namespace

std::string name(Method method) {
    switch (method) {
        case Method::scalar:
            return "scalar";
        case Method::s_transform:
            return "s-transform";
        case Method::printed:
            return "printed";
        case Method::operator_valued:
            break;
    }
    return "ov";
}

void check(const Network& network, Method method) {
    if (method == Method::operator_valued) {
        const int size = network.depth() * network.streams;
        if (std::holds_alternative<TiedBranch>(network.branch) && size > max_tied_size)
            throw std::invalid_argument(
                "theory ov of a tied branch solves for all pairs of layers at once: L·n is " +
                std::to_string(size) + "; must be at most " + std::to_string(max_tied_size) +
                ", or use no theory");
        return;
    }
    if (!isotropic_gaussian(network))
        throw std::invalid_argument("theory " + name(method) +
                                    " supports isotropic Gaussian branches only; use ov");
    if (method == Method::s_transform && !s_transform_is_exact(network) && network.depth() != 2)
        throw std::invalid_argument(
            "theory s-transform requires one stream, two layers, or mixers that are multiples of orthogonal "
            "matrices; use ov, scalar or printed");
}

Theory solve(const Network& network, Method method, const Options& options) {
    return solve_from(network, method, options, nullptr);
}

/// The bands of the last law, with their solutions.
struct Follower::Last {
    Support support;
};

Follower::Follower() : last_(std::make_unique<Last>()) {}
Follower::Follower(Follower&&) noexcept = default;
Follower& Follower::operator=(Follower&&) noexcept = default;
Follower::~Follower() = default;

Theory Follower::solve(const Network& network, Method method, const Options& options) {
    return solve_from(network, method, options, &last_->support);
}

bool Follower::has_law() const {
    return !last_->support.bands.empty();
}

double seconds_per_step(const Network& given, Method method) {
    using Clock = std::chrono::steady_clock;
    const auto simple = simplified(given, method);
    const Network& network = simple ? *simple : given;
    const SupportBounds support = range_of(network, method);
    if (!std::isfinite(support.log_upper)) return 0;  // J = 0
    const auto equation = make_equation(network, method);
    const Frequency omega{support.log_far, {0.0, 1.0}};
    const Unknowns m = equation->far(omega);
    Unknowns delta;
    double least = infinity;
    for (int k = 0; k < 2; ++k) {  // the first one may allocate
        const auto start = Clock::now();
        equation->newton_step(omega, m, delta);
        least = std::min(least, std::chrono::duration<double>(Clock::now() - start).count());
    }
    return least;
}

std::string Green::verdict(std::size_t point) const {
    if (certified[point] != 0) return "yes";
    return beyond_double[point] != 0 ? "beyond double precision" : "no";
}

Green green(const Network& given, const std::vector<std::complex<double>>& omega, const Options& options) {
    check(given);
    check(given, Method::operator_valued);
    const auto simple = simplified(given, Method::operator_valued);
    const Network& network = simple ? *simple : given;
    const std::size_t count = omega.size();
    Green result;
    result.omega = omega;
    result.certified.assign(count, 1);
    result.residual.assign(count, 0);
    result.iterations.assign(count, 0);
    result.beyond_double.assign(count, 0);
    if (any_layer_is_zero(network)) {  // J = 0
        for (const Complex w : omega) result.g.push_back(1.0 / w);
        return result;
    }
    result.g.resize(count);
    const SupportBounds support = support_bounds(network);
    const Tracker tracker(watched(make_equation(network, Method::operator_valued), options.on_step),
                          support.log_far, anchors(support));
    const int threads = std::clamp(static_cast<int>(count), 1, threads_or_all(options.threads));
    std::vector<Tracker> trackers(static_cast<std::size_t>(threads), tracker);
    const auto solve = [&](Tracker& mine, std::size_t k) {
        const Complex w = omega[k];
        const bool mirrored = w.real() < 0;
        const Solution s = mine.solve(mirrored ? -std::conj(w) : w);
        // For a point that is not certified, intermediate results give no g.
        const Complex g = s.ok() ? mine.equation().scaled_green(s.omega, s.m) * std::exp(-s.omega.log_scale)
                                 : Complex(std::nan(""), std::nan(""));
        result.g[k] = mirrored ? -std::conj(g) : g;
        result.residual[k] = s.residual;
        result.iterations[k] = s.steps;
        result.certified[k] = s.ok() ? 1 : 0;
    };
    const auto send = [&](ByteWriter& writer, std::size_t k) {
        writer.put(result.g[k]);
        writer.put(result.residual[k]);
        writer.put(result.iterations[k]);
        writer.put(result.certified[k]);
    };
    const auto receive = [&](ByteReader& reader, std::size_t k) {
        result.g[k] = reader.get<Complex>();
        result.residual[k] = reader.get<double>();
        result.iterations[k] = reader.get<int>();
        result.certified[k] = reader.get<std::uint8_t>();
    };
    parallel_for(options.team, count, trackers, solve, send, receive);
    if (has_precise_points(network)) solve_again(network, tracker, options, result);
    return result;
}

}  // namespace spectra::dyson
