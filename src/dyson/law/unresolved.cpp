#include "dyson/law/unresolved.hpp"

#include "base/special_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace spectra::dyson {
namespace {

constexpr double counted_to = 1e-6;      // rounding of the count
constexpr double largest_defect = 1e-3;  // of the point the count is read off, which is stationary there
constexpr double negligible = 1e-6;      // of the root mean square, in W1
constexpr double least_mass = 1e-12;     // less is only rounding: nothing is missing
constexpr std::size_t candidates = 512;

double mass_of(const std::vector<Density::Atom>& atoms) {
    double mass = 0;
    for (const auto& atom : atoms) mass += atom.mass;
    return mass;
}

double mass_by_weights(const Density& d, std::size_t from) {
    double mass = 0;
    for (std::size_t k = from; k < d.log_s.size(); ++k) mass += d.density_log[k] * d.weight[k];
    return mass;
}

/// The first node above which all are certified.
std::size_t first_certified(const SolvedLaw& law) {
    std::size_t k = law.nodes.size();
    while (k > 0 && law.nodes[k - 1].state == State::certified) --k;
    return k;
}

/// The lowest of the nodes from `first` on above which nothing is missing, with the mass counted above it.
std::optional<std::pair<std::size_t, double>> lowest_counted(const SolvedLaw& law, std::size_t first,
                                                             const PotentialReader& reader) {
    const Density& d = law.density;
    const double all = d.mass_below + mass_by_weights(d, 0) + mass_of(d.atoms);
    const std::size_t count = law.nodes.size() - first, step = std::max<std::size_t>(1, count / candidates);
    for (std::size_t k = first; k < law.nodes.size(); k += step) {
        const Potential potential = reader.at(law.nodes[k]);
        if (!(potential.mass_error < counted_to && potential.defect < largest_defect)) continue;
        if (std::abs(potential.mass_above - (all - d.cumulative[k])) < tolerance::mass)
            return std::pair(k, potential.mass_above);
    }
    return {};
}

template <class T>
void drop_front(std::vector<T>& values, std::size_t count) {
    values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count));
}

/// Without the lowest bands, as if they had not been found.
SolvedLaw without_lowest(SolvedLaw law, std::size_t bands) {
    Density& d = law.density;
    const double end = law.bands[bands - 1].upper.log_s;
    std::size_t count = 0;
    double mass = std::exchange(d.mass_below, 0);
    for (; count < d.log_s.size() && d.log_s[count] <= end; ++count)
        mass += d.density_log[count] * d.weight[count];
    d.tail_exponent = 0;
    drop_front(d.log_s, count);
    drop_front(d.density_log, count);
    drop_front(d.weight, count);
    drop_front(d.cumulative, count);
    for (double& c : d.cumulative) c -= mass;
    drop_front(d.support, bands);
    for (std::size_t k = 0; k < count; ++k) law.uncertified -= law.nodes[k].ok() ? 0 : 1;
    drop_front(law.nodes, count);
    drop_front(law.bands, bands);
    return law;
}

/// ∫ ln s of everything except the tail and atoms at zero.
double log_sum(const Density& d) {
    double sum = 0;
    for (std::size_t k = 0; k < d.log_s.size(); ++k) sum += d.weight[k] * d.density_log[k] * d.log_s[k];
    for (const auto& atom : d.atoms)
        if (atom.log_place > -infinity) sum += atom.mass * atom.log_place;
    return sum;
}

/// The rest as a tail, from the lowest point down, with the exact mean of ln s if that is known.
void add_tail(Density& d, double rest, std::optional<double> log_mean) {
    d.mass_below = rest;
    d.tail_exponent = 1;
    if (!log_mean || !std::isfinite(*log_mean)) return;
    const double depth = d.log_s.front() - (*log_mean - log_sum(d)) / rest;
    if (depth > 0) d.tail_exponent = 1 / depth;
}

void accept(SolvedLaw& law, double mass_error) {
    law.uncertified = 0;
    law.mass_error = mass_error;
    law.checks.clear();
    law.judge({{"mass found above what is unresolved", tolerance::mass, mass_error, ""}});
}

/// Whether a law can be cut: not complete, but in order as far as it goes.
bool can_be_cut(const SolvedLaw& law) {
    return !law.certified && !law.nodes.empty() && law.nodes.size() == law.density.log_s.size() &&
           law.overlap <= tolerance::overlap && law.cut <= tolerance::mass;
}

}  // namespace

std::optional<Unresolved> leave_unresolved(SolvedLaw& law, const PotentialReader& reader, double mean_square,
                                           std::optional<double> log_mean) {
    if (!can_be_cut(law)) return {};
    const auto found = lowest_counted(law, first_certified(law), reader);
    if (!found) return {};
    const auto [at, counted] = *found;
    Density& d = law.density;
    const double x = d.log_s[at];
    double atoms_below = 0;
    for (const auto& atom : d.atoms)
        if (atom.log_place < x) atoms_below += atom.mass;
    const double rest = 1 - counted - atoms_below;
    if (!(rest > least_mass) || !(rest * std::exp(x) < negligible * std::sqrt(mean_square))) return {};

    const double shift = 1 - counted - d.cumulative[at];
    drop_front(d.log_s, at);
    drop_front(d.density_log, at);
    drop_front(d.weight, at);
    drop_front(d.cumulative, at);
    drop_front(law.nodes, at);
    for (double& c : d.cumulative) c += shift;
    // The node at the cut keeps the share of its weight above it.
    const double above = counted - (mass_of(d.atoms) - atoms_below) - mass_by_weights(d, 1);
    d.weight.front() = std::max(0.0, above) / d.density_log.front();
    std::erase_if(d.support, [&](const auto& band) { return band.log_upper < x; });
    if (!d.support.empty()) d.support.front().log_lower = -infinity;
    add_tail(d, rest, log_mean);
    accept(law, 0);
    return Unresolved{rest, x};
}

std::optional<Unresolved> leave_below_gap(SolvedLaw& law, Tracker& tracker, double mean_square,
                                          std::optional<double> log_mean) {
    Density& d = law.density;
    if (!can_be_cut(law) || law.uncertified > 0 || d.tail_exponent > 0) return {};
    const double rest = 1 - mass_by_weights(d, 0) - mass_of(d.atoms);
    if (!(rest > tolerance::mass)) return {};
    // Mass that is too close to the rest to be of no weight would have to be found.
    const double x =
        std::min(std::log(negligible * std::sqrt(mean_square) / rest), law.bands.front().lower.log_s) - 0.1;
    if (!std::isfinite(x)) return {};
    Solution gap = tracker.solve(x, 0);
    if (gap.state != State::gap) return {};
    double below = rest;
    for (const auto& atom : d.atoms)
        if (atom.log_place < x) below += atom.mass;
    const double error = std::abs(tracker.cumulative(x) - below);
    if (!(error < counted_to)) return {};
    if (log_mean && std::isfinite(*log_mean) && !(*log_mean - log_sum(d) < rest * x)) return {};
    // A point of the gap without density, from which on the rest lies.
    for (double& c : d.cumulative) c += rest;
    d.log_s.insert(d.log_s.begin(), x);
    d.density_log.insert(d.density_log.begin(), 0.0);
    d.weight.insert(d.weight.begin(), 0.0);
    d.cumulative.insert(d.cumulative.begin(), below);
    law.nodes.insert(law.nodes.begin(), std::move(gap));
    d.support.insert(d.support.begin(), {-infinity, x});
    add_tail(d, rest, log_mean);
    accept(law, error);
    return Unresolved{rest, x};
}

std::optional<Unresolved> leave_below_lost_bands(SolvedLaw& law, Tracker& tracker, double mean_square,
                                                 std::optional<double> log_mean) {
    for (std::size_t dropped = 1; dropped < law.bands.size(); ++dropped) {
        SolvedLaw kept = without_lowest(law, dropped);
        // What is dropped must be of no weight, even if only its mass is known.
        const double mass = 1 - mass_by_weights(kept.density, 0) - mass_of(kept.density.atoms);
        if (!(mass * std::exp(law.bands[dropped - 1].upper.log_s) < negligible * std::sqrt(mean_square)))
            break;
        if (auto unresolved = leave_below_gap(kept, tracker, mean_square, log_mean)) {
            law = std::move(kept);
            return unresolved;
        }
    }
    return {};
}

}  // namespace spectra::dyson
