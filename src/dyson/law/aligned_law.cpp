#include "dyson/law/aligned_law.hpp"

#include "base/parallel.hpp"
#include "dyson/exact/moments.hpp"
#include "dyson/law/potential.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace spectra::dyson {
namespace {

constexpr int first_places = 25;
constexpr int in_a_row = 5;           // places that are reached from each other; rows are independent
constexpr double lowest = 1e-3;       // of the root mean square: what is below does not matter for W1
constexpr int max_halvings = 14;
constexpr int max_places = 1500;
constexpr double share_of_error = 30;  // a cell may have 1/30 of the whole error
constexpr int bins_per_cell = 16;      // of the law, between two places
constexpr double slack = 1e-6;         // by which F may decrease

struct Place {
    double s = 0;
    double mass = 0;     ///< F(s)
    double density = 0;  ///< dF/ds
    Complex scaled_green = 0;
    bool certified = false;
    Solution solution;
};

struct Cell {
    std::size_t lower = 0, upper = 0;  ///< places
};

/// F between two places: the cubic through both values and slopes, limited so that it increases (Fritsch and Carlson).
double between(const Place& a, const Place& b, double s) {
    const double width = b.s - a.s, rise = b.mass - a.mass;
    if (!(width > 0) || !(rise > 0)) return a.mass;
    const double secant = rise / width;
    const double d0 = std::min(a.density, 3 * secant), d1 = std::min(b.density, 3 * secant);
    const double t = (s - a.s) / width, u = 1 - t;
    return a.mass * (1 + 2 * t) * u * u + b.mass * (3 - 2 * t) * t * t + width * (d0 * t * u * u - d1 * t * t * u);
}

/// The mass between a and b by the parabola through three densities.
double integral(const Place& a, const Place& middle, const Place& b, double lower, double upper) {
    const double width = lower + upper;
    return width / 6 *
           ((2 - upper / lower) * a.density + width * width / (lower * upper) * middle.density +
            (2 - lower / upper) * b.density);
}

class Counter {
public:
    Counter(const Network& network, const Tracker& tracker, int threads)
        : size_(network.size()), reader_(network), trackers_(static_cast<std::size_t>(threads_or_all(threads)), tracker) {}

    /// At the positions of one row, each from the one before; the first from `guess`, if there is one.
    std::vector<Place> row(Tracker& tracker, const std::vector<double>& positions, const Unknowns* guess) const {
        std::vector<Place> places;
        for (const double s : positions) {
            Place place = at(tracker, s, guess);
            // A point may fail where the density has an edge: its neighbourhood does as well.
            for (const double offset : {1e-4, -1e-4, 1e-3}) {
                if (place.certified) break;
                place = at(tracker, s * (1 + offset), nullptr);
            }
            places.push_back(std::move(place));
            guess = places.back().certified ? &places.back().solution.m : nullptr;
        }
        return places;
    }

    /// Rows of positions, in parallel.
    std::vector<std::vector<Place>> rows(const std::vector<std::vector<double>>& positions,
                                         const std::vector<const Unknowns*>& guesses) {
        std::vector<std::vector<Place>> found(positions.size());
        parallel_for(positions.size(), trackers_,
                     [&](Tracker& mine, std::size_t k) { found[k] = row(mine, positions[k], guesses[k]); });
        return found;
    }

    long newton_steps() const {
        long sum = 0;
        for (const Tracker& tracker : trackers_) sum += tracker.newton_steps();
        return sum;
    }
    int descents() const {
        int sum = 0;
        for (const Tracker& tracker : trackers_) sum += tracker.descents();
        return sum;
    }

private:
    Place at(Tracker& tracker, double s, const Unknowns* guess) const {
        Place place;
        place.s = s;
        place.solution = tracker.solve(std::log(s), 0, guess);
        const MassBelow counted = mass_below(reader_, countable(tracker, place.solution));
        place.mass = counted.mass;
        place.certified = counted.certified;
        // Between bands a whole number of singular values is below, up to rounding.
        const double whole = std::round(place.mass * size_) / size_;
        if (place.solution.state == State::gap && std::abs(place.mass - whole) < slack) place.mass = whole;
        place.scaled_green = counted.potential.scaled_green;
        if (place.solution.state == State::gap) place.scaled_green = place.scaled_green.real();
        place.density = std::max(0.0, -2 / std::numbers::pi * place.scaled_green.imag()) / s;
        return place;
    }

    double size_;
    PotentialReader reader_;
    std::vector<Tracker> trackers_;
};

std::vector<Place> coarse_places(Counter& counter, double low, double top) {
    std::vector<std::vector<double>> rows;
    for (int k = 0; k < first_places; ++k) {
        if (k % in_a_row == 0) rows.emplace_back();
        // From the top down: half of the places evenly in ln s, weighted towards the top.
        const double f = static_cast<double>(k) / (first_places - 1);
        rows.back().push_back(std::exp(std::lerp(std::log(top), std::log(low), f * f * 0.5 + 0.5 * f)));
    }
    std::vector<Place> places;
    for (auto& row : counter.rows(rows, std::vector<const Unknowns*>(rows.size(), nullptr)))
        for (Place& place : row) places.push_back(std::move(place));
    std::reverse(places.begin(), places.end());
    return places;
}

}  // namespace

AlignedLaw solve_aligned(const Network& network, const Tracker& tracker, double log_upper,
                         const AlignedOptions& options) {
    const double rms = std::exp(0.5 * log_mean_square(network));
    const double allowed = options.tolerance * rms;
    // ∫|ΔF| ds of a cell, and 2∫|ΔF| s ds: its share of the errors of W1 and of the mean square.
    const auto matters = [&](double change, double s) {
        return std::max(change, 2 * s * change / rms) > allowed / share_of_error;
    };
    Counter counter(network, tracker, options.threads);
    std::vector<Place> places = coarse_places(counter, lowest * rms, 1.02 * std::exp(log_upper));
    std::vector<Cell> open;
    std::vector<double> changes;  // of W1, cell by cell that is done
    for (std::size_t k = 0; k + 1 < places.size(); ++k) open.push_back({k, k + 1});
    for (int halving = 0; !open.empty(); ++halving) {
        std::vector<std::vector<double>> middles;
        std::vector<const Unknowns*> guesses;
        std::vector<Cell> halved;
        for (const Cell& cell : open) {
            const Place &a = places[cell.lower], &b = places[cell.upper];
            const double reach = (b.s - a.s) * (b.mass - a.mass);
            if (!a.certified || !b.certified || !matters(reach, b.s)) {
                changes.push_back(std::max(0.0, reach) / 2);
                continue;
            }
            // The middle of the mass rather than of the stretch, where the two differ.
            const double ratio = b.s / a.s;
            middles.push_back({ratio > 3 ? std::sqrt(a.s * b.s) : 0.5 * (a.s + b.s)});
            guesses.push_back(&(a.solution.state == State::certified ? a : b).solution.m);
            halved.push_back(cell);
        }
        open.clear();
        if (halved.empty()) break;
        auto found = counter.rows(middles, guesses);
        for (std::size_t k = 0; k < halved.size(); ++k) {
            const Place& a = places[halved[k].lower];
            const Place& b = places[halved[k].upper];
            Place& middle = found[k].front();
            // The cubic must foresee the middle, and the densities the mass: two narrow bands may be symmetrical.
            const double width = b.s - a.s, lower = middle.s - a.s, upper = b.s - middle.s;
            const double foreseen = std::abs(middle.mass - between(a, b, middle.s));
            const double missing =
                std::abs(b.mass - a.mass - integral(a, middle, b, lower, upper));
            const double change = width * std::max(foreseen, missing) / 2;
            const bool last = halving == max_halvings || places.size() > max_places;
            if (!middle.certified || last || !matters(change, b.s))
                changes.push_back(change);
            else
                for (const Cell& half : {Cell{halved[k].lower, places.size()}, Cell{places.size(), halved[k].upper}})
                    open.push_back(half);
            places.push_back(std::move(middle));
        }
    }

    AlignedLaw out;
    out.newton_steps = counter.newton_steps();
    out.descents = counter.descents();
    std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.s < b.s; });
    const auto lost = std::count_if(places.begin(), places.end(), [](const Place& place) { return !place.certified; });
    double worst_decrease = 0;
    for (std::size_t k = 0; k + 1 < places.size(); ++k)
        worst_decrease = std::max(worst_decrease, places[k].mass - places[k + 1].mass);
    for (const double change : changes) out.error += change / 4;
    out.error += places.front().s * places.front().mass;
    const double above = 1 - places.back().mass;
    out.judge({{"counts not certified", 0, static_cast<double>(lost),
                fmt::format("{} of {} counts are not certified", lost, places.size())},
               {"decrease of the distribution function", slack, worst_decrease,
                fmt::format("the distribution function decreases by {:.1g}", worst_decrease)},
               {"mass above the bound", slack, above, fmt::format("a mass of {:.1g} lies above the bound", above)},
               {"error of W1", allowed, out.error, fmt::format("W1 is not known to {:.2g}", allowed)}});
    std::erase_if(places, [](const Place& place) { return !place.certified; });
    if (places.size() < 2) return out;

    std::vector<double> edges{std::log(places.front().s)}, masses;
    for (std::size_t k = 0; k + 1 < places.size(); ++k) {
        const Place &a = places[k], &b = places[k + 1];
        double before = a.mass;
        for (int i = 1; i <= bins_per_cell; ++i) {
            const double s = std::lerp(a.s, b.s, static_cast<double>(i) / bins_per_cell);
            const double mass = i == bins_per_cell ? b.mass : between(a, b, s);
            edges.push_back(std::log(s));
            masses.push_back(std::max(0.0, mass - before));
            before = std::max(before, mass);
        }
    }
    out.law = Spectrum::from_histogram(std::move(edges), std::move(masses), places.front().mass,
                                       std::max(0.0, 1 - places.back().mass));
    for (Place& place : places) {
        out.scaled_green.push_back(place.scaled_green);
        out.points.push_back(std::move(place.solution));
    }
    return out;
}

}  // namespace spectra::dyson
