#include "dyson/law/cdf_law.hpp"

#include "dyson/exact/moments.hpp"
#include "dyson/law/potential.hpp"
#include "dyson/exact/support_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace spectra::dyson {
namespace {

constexpr int first_cells = 48;
constexpr int max_halvings = 16;
constexpr int max_points = 4000;
constexpr int levels_to_agree = 2;     // consecutive halvings without a change
constexpr double share_of_error = 50;  // a cell may have 1/50 of the whole error
constexpr double lowest = 0.1;         // of the tolerance: lower positions do not matter

struct Place {
    double s = 0, mass = 0;
};

struct Cell {
    Place lower, upper;
    double change = 0;  ///< of W1, by the position between them
    int agreed = 0;

    double width() const { return upper.s - lower.s; }
    double mass() const { return upper.mass - lower.mass; }
};

class Counter {
public:
    explicit Counter(const Network& network) : network_(network) {}

    /// F at every position. If a point is not certified, another one at most `reach` away is used.
    std::vector<Place> at(std::vector<double> places, double reach) {
        std::vector<Place> found(places.size());
        std::vector<std::size_t> open(places.size());
        for (std::size_t k = 0; k < open.size(); ++k) open[k] = k;
        for (const double offset : {0.0, 0.37, -0.29, 0.11, -0.43}) {
            std::vector<double> logs;
            for (const std::size_t k : open) logs.push_back(std::log(places[k] + offset * reach));
            const auto counted = mass_below(network_, logs);
            points += static_cast<int>(logs.size());
            std::vector<std::size_t> left;
            for (std::size_t i = 0; i < open.size(); ++i) {
                if (counted[i].certified)
                    found[open[i]] = {std::exp(logs[i]), counted[i].mass};
                else
                    left.push_back(open[i]);
            }
            open = std::move(left);
            if (open.empty()) break;
        }
        for (const std::size_t k : open) found[k] = {places[k], std::nan("")};
        lost += open.size();
        return found;
    }

    int points = 0;
    std::size_t lost = 0;

private:
    const Network& network_;
};

/// Evenly spaced positions, and the thresholds of the metrics.
std::vector<double> first_places(double low, double top) {
    std::vector<double> places{low};
    for (int k = 1; k <= first_cells; ++k) places.push_back(top * k / first_cells);
    for (const double threshold : {collapsed_below, window_lower, window_upper})
        if (threshold > low && threshold < top) places.push_back(threshold);
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    return places;
}

}  // namespace

CountedLaw count_law(const Network& network, double tolerance) {
    const double rms = std::exp(0.5 * log_mean_square(network));
    const double low = lowest * tolerance * rms, allowed = tolerance * rms;
    Counter counter(network);
    const auto places = first_places(low, 1.01 * std::exp(support_bounds(network).log_upper));
    const auto counted = counter.at(places, 0.01 * low);
    std::vector<Cell> open, done;
    for (std::size_t k = 0; k + 1 < counted.size(); ++k) open.push_back({counted[k], counted[k + 1]});
    for (int halving = 0; !open.empty() && counter.lost == 0; ++halving) {
        std::vector<double> middles;
        for (const Cell& cell : open) middles.push_back(0.5 * (cell.lower.s + cell.upper.s));
        const double narrowest = std::min_element(open.begin(), open.end(), [](const auto& a, const auto& b) {
                                     return a.width() < b.width();
                                 })->width();
        const auto between = counter.at(middles, 0.3 * narrowest);
        std::vector<Cell> next;
        for (std::size_t k = 0; k < open.size(); ++k) {
            const Cell& parent = open[k];
            const double share = (between[k].s - parent.lower.s) / parent.width();
            const double straight = parent.lower.mass + share * parent.mass();
            const double change = 0.5 * parent.width() * std::abs(between[k].mass - straight);
            const int agreed = change < allowed / share_of_error ? parent.agreed + 1 : 0;
            for (Cell child : {Cell{parent.lower, between[k]}, Cell{between[k], parent.upper}}) {
                child.change = change / 2;
                child.agreed = agreed;
                const bool small = child.width() * child.mass() < allowed / share_of_error;
                const bool last = halving == max_halvings || counter.points > max_points;
                (small || agreed >= levels_to_agree || last ? done : next).push_back(child);
            }
        }
        open = std::move(next);
    }

    CountedLaw out;
    out.points = counter.points;
    out.judge({{"counts not certified", 0, static_cast<double>(counter.lost),
                std::to_string(counter.lost) + " of " + std::to_string(counter.points) + " counts are not certified"}});
    if (!out.certified) return out;
    std::sort(done.begin(), done.end(), [](const Cell& a, const Cell& b) { return a.lower.s < b.lower.s; });
    std::vector<double> edges{std::log(done.front().lower.s)}, masses;
    out.error = low * done.front().lower.mass;
    for (const Cell& cell : done) {
        edges.push_back(std::log(cell.upper.s));
        masses.push_back(std::max(0.0, cell.mass()));
        // Halving once more would change a quarter as much; at most all of the mass can be misplaced.
        out.error += std::min(cell.change / 4, cell.width() * cell.mass() / 2);
    }
    out.law = Spectrum::from_histogram(std::move(edges), std::move(masses), done.front().lower.mass,
                                       std::max(0.0, 1 - done.back().upper.mass));
    out.judge({{"error of W1", allowed, out.error, "W1 is not known to " + std::to_string(allowed)}});
    return out;
}

}  // namespace spectra::dyson
