#include "dyson/law/aligned_law.hpp"

#include "base/parallel.hpp"
#include "dyson/exact/moments.hpp"
#include "dyson/law/potential.hpp"
#include "dyson/solve/tracker.hpp"
#include "linalg/blas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace spectra::dyson {
namespace {

constexpr int first_places = 15;
constexpr int in_a_row = 5;           // places that are reached from each other; rows are independent
constexpr double lowest = 1e-3;       // of the root mean square: what is below does not matter for W1
constexpr int max_rounds = 20;
constexpr std::size_t max_places = 1500;
constexpr double most_careful = 0.01;  // of the error that is allowed
constexpr double left_open = 0.5;      // of the error: for the cells that are not halved in a round
constexpr double square_share = 2;  // 2∫|ΔF|s ds: the share of the mean square, whose error may be as large
constexpr int bins_per_cell = 16;      // of the law, between two places
constexpr double slack = 1e-5;         // by which F may decrease
constexpr double tilt = 1e-4;          // places are ω = s(1 + i·tilt)

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
    double error = 0;                  ///< of W1
    double weight = 1;                 ///< of it in what decides: the mean square matters as well
    bool closed = false;               ///< cannot be halved

    double matters() const { return error * weight; }
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

/// F between the certified places, in bins.
Spectrum law_of(const std::vector<Place>& places) {
    std::vector<const Place*> order;
    for (const Place& place : places)
        if (place.certified) order.push_back(&place);
    if (order.size() < 2) return {};
    std::sort(order.begin(), order.end(), [](const Place* a, const Place* b) { return a->s < b->s; });
    std::vector<double> edges{std::log(order.front()->s)}, masses;
    for (std::size_t k = 0; k + 1 < order.size(); ++k) {
        const Place &a = *order[k], &b = *order[k + 1];
        double before = a.mass;
        for (int i = 1; i <= bins_per_cell; ++i) {
            const double s = std::lerp(a.s, b.s, static_cast<double>(i) / bins_per_cell);
            const double mass = i == bins_per_cell ? b.mass : between(a, b, s);
            edges.push_back(std::log(s));
            masses.push_back(std::max(0.0, mass - before));
            before = std::max(before, mass);
        }
    }
    return Spectrum::from_histogram(std::move(edges), std::move(masses), order.front()->mass,
                                    std::max(0.0, 1 - order.back()->mass));
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
    /// Just above the axis the right solution is the only admissible one, in bands and between them. There Φ(s) =
    /// Φ(ω) − 2(ω − s) g(ω) to second order in the tilt (potential.hpp).
    Place at(Tracker& tracker, double s, const Unknowns* guess) const {
        Place place;
        place.s = s;
        if (guess != nullptr) place.solution = tracker.try_from(std::log(s), tilt, *guess);
        if (!place.solution.ok())
            place.solution = guess != nullptr ? tracker.lower(std::log(s), tilt, *guess)
                                              : tracker.solve(std::log(s), tilt);
        const MassBelow counted = mass_below(reader_, place.solution);
        place.certified = counted.certified;
        place.scaled_green = counted.potential.scaled_green;
        place.mass =
            std::clamp(counted.mass + 2 * tilt / std::numbers::pi * place.scaled_green.real(), 0.0, 1.0);
        // Between bands a whole number of singular values is below.
        const double whole = std::round(place.mass * size_) / size_;
        if (std::abs(place.mass - whole) < slack) place.mass = whole;
        place.density = std::max(0.0, -2 / std::numbers::pi * place.scaled_green.imag()) / s;
        return place;
    }

    double size_;
    PotentialReader reader_;
    std::vector<Tracker> trackers_;
};

/// From the top down, weighted towards it; the first of every row is reached from far away.
std::vector<std::vector<double>> coarse_rows(double low, double top) {
    std::vector<std::vector<double>> rows;
    for (int k = 0; k < first_places; ++k) {
        if (k % in_a_row == 0) rows.emplace_back();
        const double f = static_cast<double>(k) / (first_places - 1);
        rows.back().push_back(std::exp(std::lerp(std::log(top), std::log(low), f * f * 0.5 + 0.5 * f)));
    }
    return rows;
}

}  // namespace

AlignedLaw solve_aligned(const Network& network, std::unique_ptr<Equation> equation, double log_upper,
                         const AlignedOptions& options) {
    const linalg::SingleThreadedBlas one_thread;  // for all threads, until the last is done
    const double rms = std::exp(0.5 * log_mean_square(network));
    const double allowed = options.tolerance * rms;
    const auto rows = coarse_rows(lowest * rms, 1.02 * std::exp(log_upper));
    std::vector<double> heads;
    for (const auto& row : rows) heads.push_back(std::log(row.front()));
    const Tracker tracker(std::move(equation), log_upper, heads);
    Counter counter(network, tracker, options.threads);
    std::vector<Place> places;
    for (auto& row : counter.rows(rows, std::vector<const Unknowns*>(rows.size(), nullptr)))
        for (Place& place : row) places.push_back(std::move(place));
    std::reverse(places.begin(), places.end());
    const auto cell_of = [&](std::size_t lower, std::size_t upper, double error) {
        const Place &a = places[lower], &b = places[upper];
        // At most all of its mass can be at the wrong end.
        const double most = std::max(0.0, (b.s - a.s) * (b.mass - a.mass)) / 2;
        return Cell{lower, upper, std::min(error, most), std::max(1.0, square_share * b.s / rms),
                    !a.certified || !b.certified};
    };
    std::vector<Cell> cells;
    for (std::size_t k = 0; k + 1 < places.size(); ++k)
        cells.push_back(cell_of(k, k + 1, std::numeric_limits<double>::infinity()));
    double wanted = allowed;
    for (int round = 0; round < max_rounds && places.size() < max_places; ++round) {
        // The largest errors first, until the rest is small.
        std::stable_sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
            return std::pair(a.closed, -a.matters()) < std::pair(b.closed, -b.matters());
        });
        double left = 0;
        for (const Cell& cell : cells) left += cell.matters();
        if (left <= wanted) {
            // Errors are estimates. The mean square is known: where it is missed, they were too small.
            if (std::abs(law_of(places).metrics().mean_square / (rms * rms) - 1) <= options.tolerance ||
                wanted < most_careful * allowed)
                break;
            wanted = std::min(wanted, left) / 4;
        }
        std::size_t count = 0;
        std::vector<std::vector<double>> middles;
        std::vector<Unknowns> guesses;
        for (; count < cells.size() && left > left_open * wanted && !cells[count].closed; ++count) {
            const Cell& cell = cells[count];
            const Place &a = places[cell.lower], &b = places[cell.upper];
            const double s = b.s / a.s > 3 ? std::sqrt(a.s * b.s) : 0.5 * (a.s + b.s);
            const double t = std::log(s / a.s) / std::log(b.s / a.s), weights[2] = {1 - t, t};
            middles.push_back({s});
            guesses.push_back(tracker.equation().mix({&a.solution.m, &b.solution.m}, weights));
            left -= cell.matters();
        }
        if (count == 0) break;
        std::vector<const Unknowns*> from;
        for (const Unknowns& guess : guesses) from.push_back(&guess);
        auto found = counter.rows(middles, from);
        for (std::size_t k = 0; k < count; ++k) {
            const Cell cell = cells[k];
            const Place a = places[cell.lower], b = places[cell.upper];
            const Place& middle = found[k].front();
            // The cubic must foresee the middle, and the densities the mass: two narrow bands may be symmetrical.
            const double foreseen = std::abs(middle.mass - between(a, b, middle.s));
            const double missing =
                std::abs(b.mass - a.mass - integral(a, middle, b, middle.s - a.s, b.s - middle.s));
            // Halving once more would change a quarter as much, half of it in either half.
            const double error = (b.s - a.s) * std::max(foreseen, missing) / 16;
            places.push_back(std::move(found[k].front()));
            cells[k] = cell_of(cell.lower, places.size() - 1, error);
            cells.push_back(cell_of(places.size() - 1, cell.upper, error));
        }
    }

    AlignedLaw out;
    out.newton_steps = tracker.newton_steps() + counter.newton_steps();
    out.descents = counter.descents();
    std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.s < b.s; });
    const auto lost = std::count_if(places.begin(), places.end(), [](const Place& place) { return !place.certified; });
    double worst_decrease = 0;
    for (std::size_t k = 0; k + 1 < places.size(); ++k)
        worst_decrease = std::max(worst_decrease, places[k].mass - places[k + 1].mass);
    for (const Cell& cell : cells) out.error += cell.error;
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

    out.law = law_of(places);
    for (Place& place : places) {
        out.scaled_green.push_back(place.scaled_green);
        out.points.push_back(std::move(place.solution));
    }
    return out;
}

}  // namespace spectra::dyson
