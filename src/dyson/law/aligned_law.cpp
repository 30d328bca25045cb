#include "dyson/law/aligned_law.hpp"

#include "base/parallel.hpp"
#include "base/team.hpp"
#include "dyson/exact/moments.hpp"
#include "dyson/law/contour.hpp"
#include "dyson/law/potential.hpp"
#include "dyson/solve/tracker.hpp"
#include "linalg/blas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>

namespace spectra::dyson {
namespace {

constexpr int first_places = 15;
constexpr int in_a_row = 8;           // places that are reached from each other; rows are independent
constexpr double nothing = 1e-7;      // mass: below a place with less the rest of its row is left out
constexpr double lowest = 1e-3;       // of the root mean square: what is below does not matter for W1
constexpr int max_rounds = 20;
constexpr std::size_t max_places = 1500;
constexpr double most_careful = 0.01;  // of the error that is allowed
constexpr double left_open = 0.5;      // of the error: for the cells that are not halved in a round
constexpr double square_share = 2;  // 2∫|ΔF|s ds: the share of the mean square, whose error may be as large
constexpr int bins_per_cell = 16;      // of the law, between two places
constexpr int most_together = 4;       // singular values between two gaps that a circle is drawn round
constexpr int readings = 4;            // of all circles in a round
constexpr double close_together = 0.05;  // several of them: relative distance of its ends
constexpr double widest = 3;             // ratio of its ends
constexpr double similar = 4;            // ratio of distances between places that one cubic goes through
constexpr double stray = 0.05;           // of the mass found by a circle: what may come from outside
constexpr std::size_t most_sharp = 4;    // bands whose spread is looked at twice
constexpr double as_sharp = 1e-4;        // relative spread that need not be known
constexpr double sharpness = 0.2;        // of the variance of a band: what may come from outside
constexpr double shape = 0.2;  // W1 of laws of one value with the same mean and spread, in units of it
constexpr double slack = 1e-5;         // by which F may decrease
constexpr double tilt = 1e-4;          // places are ω = s(1 + i·tilt)

struct Place {
    double s = 0;
    double mass = 0;     ///< F(s)
    double density = 0;  ///< dF/ds
    Complex scaled_green = 0;
    bool certified = false;
    bool whole = false;  ///< a whole number of singular values is below: between bands
    Solution solution;
};

struct Cell {
    std::size_t lower = 0, upper = 0;  ///< places
    double error = 0;                  ///< of W1
    double weight = 1;                 ///< of it in what decides: the mean square matters as well
    bool closed = false;               ///< cannot be halved
    int values = 0;                    ///< singular values between two gaps, few; 0: not known to be
    std::optional<Inside> circle = {};  ///< drawn round it
    bool sharp = false;                 ///< what is outside hardly changes the spread
    double centre = 0;                  ///< of what is in it, as far as the circle tells; 0: not known
    std::optional<Inside> band = {};    ///< what it has found, without what is outside
    double middle = 0;                  ///< where to halve it

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

/// F of a semicircle of mean 0 and variance 1: a narrow band made by one value.
double semicircle(double x) {
    const double u = std::clamp(x / 2, -1.0, 1.0);
    return 0.5 + (u * std::sqrt(1 - u * u) + std::asin(u)) / std::numbers::pi;
}

/// F within the cells whose two places are certified, in bins.
Spectrum law_of(const std::vector<Place>& places, const std::vector<Cell>& cells) {
    std::vector<const Cell*> order;
    for (const Cell& cell : cells)
        if (places[cell.lower].certified && places[cell.upper].certified) order.push_back(&cell);
    if (order.empty()) return {};
    std::sort(order.begin(), order.end(),
              [&](const Cell* a, const Cell* b) { return places[a->lower].s < places[b->lower].s; });
    std::vector<double> edges{std::log(places[order.front()->lower].s)}, masses;
    double before = places[order.front()->lower].mass;
    const double below = before;
    const auto add = [&](double s, double mass) {
        edges.push_back(std::log(s));
        masses.push_back(std::max(0.0, mass - before));
        before = std::max(before, mass);
    };
    for (const Cell* cell : order) {
        const Place &a = places[cell->lower], &b = places[cell->upper];
        // Between uncertified places nothing is known: all of it is at the end.
        if (std::log(a.s) > edges.back()) add(a.s, a.mass);
        if (cell->band) {
            const double spread = std::max(cell->band->spread, 1e-6 * b.s);
            const double low = std::max(a.s, cell->band->mean - 2 * spread);
            const double high = std::min(b.s, cell->band->mean + 2 * spread);
            if (low > a.s) add(low, a.mass);
            for (int i = 1; i <= bins_per_cell; ++i) {
                const double s = std::lerp(low, high, static_cast<double>(i) / bins_per_cell);
                const double share = semicircle((s - cell->band->mean) / spread);
                add(s, i == bins_per_cell ? b.mass : std::lerp(a.mass, b.mass, share));
            }
            if (high < b.s) add(b.s, b.mass);
        } else {
            for (int i = 1; i <= bins_per_cell; ++i) {
                const double s = std::lerp(a.s, b.s, static_cast<double>(i) / bins_per_cell);
                add(s, i == bins_per_cell ? b.mass : between(a, b, s));
            }
        }
    }
    return Spectrum::from_histogram(std::move(edges), std::move(masses), below, std::max(0.0, 1 - before));
}

/// What is asked of a cell: to be halved, or what a circle round it finds.
struct Job {
    std::size_t cell = 0, lower = 0, upper = 0;
    bool circle = false;
    double s = 0;
    std::vector<std::size_t> nodes = {};  ///< places from which the middle is foreseen
    double from = 0, to = 0;              ///< ends of the circle
    Place found = {};
    Inside band = {};
};

/// The polynomial in ln s through the solutions at the job's nodes.
Unknowns foreseen(const Equation& equation, const Job& job, const std::vector<Place>& places) {
    std::vector<const Unknowns*> values;
    std::vector<double> weights;
    for (const std::size_t k : job.nodes) {
        double weight = 1;
        for (const std::size_t j : job.nodes)
            if (j != k) weight *= std::log(job.s / places[j].s) / std::log(places[k].s / places[j].s);
        values.push_back(&places[k].solution.m);
        weights.push_back(weight);
    }
    return equation.mix(values, weights.data());
}

void put(ByteWriter& writer, const Place& place) {
    writer.put(place.s);
    writer.put(place.mass);
    writer.put(place.density);
    writer.put(place.scaled_green);
    writer.put(place.certified);
    writer.put(place.whole);
    put(writer, place.solution);
}

Place get_place(ByteReader& reader) {
    Place place;
    place.s = reader.get<double>();
    place.mass = reader.get<double>();
    place.density = reader.get<double>();
    place.scaled_green = reader.get<Complex>();
    place.certified = reader.get<bool>();
    place.whole = reader.get<bool>();
    place.solution = get_solution(reader);
    return place;
}

class Counter {
public:
    Counter(const Network& network, const Tracker& tracker, const AlignedOptions& options)
        : size_(std::holds_alternative<AlignedBranch>(network.branch) ? network.size() : 0),
          reader_(network),
          team_(options.team),
          trackers_(static_cast<std::size_t>(threads_or_all(options.threads)), tracker) {}

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
            if (places.back().certified && places.back().mass < nothing) break;
        }
        return places;
    }

    /// In parallel.
    void run(std::vector<Job>& jobs, const std::vector<Place>& places) {
        const auto solve = [&](Tracker& mine, std::size_t k) {
            Job& job = jobs[k];
            if (job.circle) {
                job.band =
                    inside(mine, job.from, job.to, places[job.lower].solution, places[job.upper].solution);
                return;
            }
            const Unknowns guess = foreseen(mine.equation(), job, places);
            job.found = row(mine, {job.s}, &guess).front();
        };
        const auto send = [&](ByteWriter& writer, std::size_t k) {
            writer.put(jobs[k].band);
            put(writer, jobs[k].found);
        };
        const auto receive = [&](ByteReader& reader, std::size_t k) {
            jobs[k].band = reader.get<Inside>();
            jobs[k].found = get_place(reader);
        };
        parallel_for(team_, jobs.size(), trackers_, solve, send, receive);
    }

    /// Rows of positions, in parallel.
    std::vector<std::vector<Place>> rows(const std::vector<std::vector<double>>& positions,
                                         const std::vector<const Unknowns*>& guesses) {
        std::vector<std::vector<Place>> found(positions.size());
        const auto solve = [&](Tracker& mine, std::size_t k) {
            found[k] = row(mine, positions[k], guesses[k]);
        };
        const auto send = [&](ByteWriter& writer, std::size_t k) {
            writer.put(found[k].size());
            for (const Place& place : found[k]) put(writer, place);
        };
        const auto receive = [&](ByteReader& reader, std::size_t k) {
            for (auto left = reader.get<std::size_t>(); left > 0; --left)
                found[k].push_back(get_place(reader));
        };
        parallel_for(team_, positions.size(), trackers_, solve, send, receive);
        return found;
    }

    struct Work {
        long newton_steps = 0;
        int descents = 0;
    };
    /// Of the whole team on its first process.
    Work work() const {
        Work sum;
        const auto add = [&](long newton_steps, int descents) {
            sum.newton_steps += newton_steps;
            sum.descents += descents;
        };
        for (const Tracker& tracker : trackers_) add(tracker.newton_steps(), tracker.descents());
        if (team_ == nullptr) return sum;
        ByteWriter own;
        own.put(sum);
        sum = {};
        for (const auto& part : team_->gather(own.take())) {
            const auto others = ByteReader(part).get<Work>();
            add(others.newton_steps, others.descents);
        }
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
        if (place.scaled_green == 0.0 && place.solution.ok())
            place.scaled_green = tracker.equation().scaled_green(place.solution.omega, place.solution.m);
        place.mass =
            std::clamp(counted.mass + 2 * tilt / std::numbers::pi * place.scaled_green.real(), 0.0, 1.0);
        // Between bands a whole number of singular values is below.
        const double whole = std::round(place.mass * size_) / size_;
        place.whole = size_ > 0 && std::abs(place.mass - whole) < slack;
        if (place.whole) place.mass = whole;
        place.density = std::max(0.0, -2 / std::numbers::pi * place.scaled_green.imag()) / s;
        return place;
    }

    double size_;  ///< N, if the law is that of this very width; 0: a limit
    PotentialReader reader_;
    Team* team_;
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

/// Halves cells, and draws circles round narrow bands, until W1 is known.
class Search {
public:
    Search(const Network& network, Counter& counter, const AlignedOptions& options)
        : size_(network.size()),
          rms_(std::exp(0.5 * log_mean_square(network))),
          tolerance_(options.tolerance),
          circles_(options.circles),
          counter_(counter) {}

    void run(std::vector<Place> first) {
        places_ = std::move(first);
        std::sort(places_.begin(), places_.end(), [](const Place& a, const Place& b) { return a.s < b.s; });
        for (std::size_t k = 0; k + 1 < places_.size(); ++k)
            cells_.push_back(cell_of(k, k + 1, std::numeric_limits<double>::infinity()));
        double wanted = allowed();
        for (int round = 0; round < max_rounds && places_.size() < max_places; ++round) {
            double left = sort_cells();
            if (left <= wanted) {
                // Errors are estimates. The mean square is known: where it is missed, they were too small.
                if (std::abs(law().metrics().mean_square / (rms_ * rms_) - 1) <= tolerance_ ||
                    wanted < most_careful * allowed())
                    break;
                wanted = std::min(wanted, left) / 4;
            }
            std::vector<Job> jobs;
            for (std::size_t k = 0; k < cells_.size() && left > left_open * wanted && !cells_[k].closed;
                 ++k) {
                jobs.push_back(job_of(k));
                left -= cells_[k].matters();
            }
            if (jobs.empty()) break;
            // A circle says more once more is known of what is outside.
            const auto is_new = [&](const Job& job) { return !cells_[job.cell].circle; };
            if (std::any_of(jobs.begin(), jobs.end(), is_new)) std::erase_if(jobs, std::not_fn(is_new));
            // The longest first, so that threads end together.
            std::stable_partition(jobs.begin(), jobs.end(), [](const Job& job) { return job.circle; });
            counter_.run(jobs, places_);
            for (Job& job : jobs) {
                if (job.circle)
                    draw(job.band, cells_[job.cell]);
                else
                    halve(job.cell, std::move(job.found));
            }
            read_circles();
        }
        sharpen();
    }

    double allowed() const { return tolerance_ * rms_; }
    Spectrum law() const { return law_of(places_, cells_); }
    const std::vector<Place>& places() const { return places_; }
    const std::vector<Cell>& cells() const { return cells_; }

    /// From the top down to the first cell whose values are not known to be few, or whose spread is not known.
    std::vector<Outlier> outliers() const {
        std::vector<const Cell*> order;
        for (const Cell& cell : cells_) order.push_back(&cell);
        std::sort(order.begin(), order.end(),
                  [&](const Cell* a, const Cell* b) { return places_[a->lower].s > places_[b->lower].s; });
        std::vector<Outlier> found;
        for (const Cell* cell : order) {
            if (places_[cell->upper].mass - places_[cell->lower].mass < slack) continue;
            if (!cell->band || (cell->values == 1 && !cell->sharp)) break;
            const double from_draws = cell->values == 1 ? std::numbers::sqrt2 : 1;
            found.push_back({cell->band->mean, from_draws * cell->band->spread, cell->values});
        }
        return found;
    }

private:
    /// What one circle finds is outside the others.
    void read_circles() {
        for (int pass = 0; pass < readings; ++pass)
            for (Cell& cell : cells_)
                if (cell.circle) take(cell.circle->without(outside(cell)), cell);
    }

    /// Smaller circles round the largest bands of one value whose spread is not known: what is outside is farther from
    /// them.
    void sharpen() {
        std::sort(cells_.begin(), cells_.end(),
                  [](const Cell& a, const Cell& b) { return a.centre > b.centre; });
        std::vector<Job> jobs;
        for (std::size_t k = 0; k < cells_.size() && k < most_sharp; ++k) {
            const Cell& cell = cells_[k];
            if (!cell.band || cell.values != 1 || cell.sharp) continue;
            const double mean = cell.band->mean;
            const double radius =
                std::min({4 * cell.band->spread, mean - places_[cell.lower].s, places_[cell.upper].s - mean});
            Job job{k, cell.lower, cell.upper, true};
            job.from = mean - radius;
            job.to = mean + radius;
            if (radius > 2 * sharpness * cell.band->spread) jobs.push_back(job);
        }
        counter_.run(jobs, places_);
        for (const Job& job : jobs) {
            const Cell before = cells_[job.cell];
            draw(job.band, cells_[job.cell]);
            take(job.band.without(outside(cells_[job.cell])), cells_[job.cell]);
            if (!cells_[job.cell].band || cells_[job.cell].error > before.error) cells_[job.cell] = before;
        }
    }

    Cell cell_of(std::size_t lower, std::size_t upper, double error) const {
        const Place &a = places_[lower], &b = places_[upper];
        Cell cell{lower, upper};
        // At most all of its mass can be at the wrong end.
        cell.error = std::min(error, std::max(0.0, (b.s - a.s) * (b.mass - a.mass)) / 2);
        cell.weight = std::max(1.0, square_share * b.s / rms_);
        cell.closed = !a.certified || !b.certified;
        cell.middle = b.s / a.s > widest ? std::sqrt(a.s * b.s) : 0.5 * (a.s + b.s);
        const auto values = std::lround((b.mass - a.mass) * size_);
        const double widest_circle = values > 1 ? 1 + close_together : widest;
        if (circles_ && a.whole && b.whole && values <= most_together && b.s / a.s <= widest_circle)
            cell.values = static_cast<int>(values);
        return cell;
    }

    /// The largest errors first. Returns their sum.
    double sort_cells() {
        std::stable_sort(cells_.begin(), cells_.end(), [](const Cell& a, const Cell& b) {
            return std::pair(a.closed, -a.matters()) < std::pair(b.closed, -b.matters());
        });
        double sum = 0;
        for (const Cell& cell : cells_) sum += cell.matters();
        return sum;
    }

    Job job_of(std::size_t which) const {
        const Cell& cell = cells_[which];
        Job job{which,       cell.lower,
                cell.upper,  cell.values > 0 && !cell.circle,
                cell.middle, {cell.lower, cell.upper}};
        job.from = places_[cell.lower].s;
        job.to = places_[cell.upper].s;
        if (job.circle) return job;
        // Within a band the two next places make it a cubic.
        const Place &a = places_[cell.lower], &b = places_[cell.upper];
        const double width = std::log(b.s / a.s);
        for (const bool up : {false, true}) {
            const double from = up ? b.s : a.s;
            std::optional<std::size_t> next;
            for (std::size_t k = 0; k < places_.size(); ++k)
                if ((up ? places_[k].s > from : places_[k].s < from) &&
                    (!next || std::abs(places_[k].s - from) < std::abs(places_[*next].s - from)))
                    next = k;
            if (!next || a.whole || b.whole || places_[*next].whole || !places_[*next].certified) continue;
            const double distance = std::abs(std::log(places_[*next].s / from));
            if (distance < similar * width && width < similar * distance) job.nodes.push_back(*next);
        }
        return job;
    }

    /// What a circle round the cell sees of everything else, by what is known of it so far.
    Outside outside(const Cell& cell) const {
        Outside seen(cell.circle->lower, cell.circle->upper);
        for (const Cell& other : cells_) {
            if (&other == &cell) continue;
            const Place &a = places_[other.lower], &b = places_[other.upper];
            if (other.centre > 0) {
                seen.add(other.centre, b.mass - a.mass);
                continue;
            }
            double before = a.mass;
            for (int i = 1; i <= bins_per_cell; ++i) {
                const double mass =
                    between(a, b, std::lerp(a.s, b.s, static_cast<double>(i) / bins_per_cell));
                seen.add(std::lerp(a.s, b.s, (i - 0.5) / bins_per_cell), mass - before);
                before = mass;
            }
        }
        return seen;
    }

    void draw(const Inside& circle, Cell& cell) const {
        cell.circle = circle;
        const double low = places_[cell.lower].s, high = places_[cell.upper].s;
        cell.centre = circle.solved ? std::clamp(circle.mean, low, high) : 0.5 * (low + high);
    }

    void take(const Inside& band, Cell& cell) const {
        const double low = places_[cell.lower].s, high = places_[cell.upper].s, width = high - low;
        const double mass = cell.values / size_, astray = std::abs(band.mass / mass - 1);
        cell.band.reset();
        cell.sharp = astray * std::pow(0.5 * (band.upper - band.lower), 2) <
                     std::max(sharpness * std::pow(band.spread, 2), std::pow(as_sharp * band.mean, 2));
        cell.error = 0.5 * mass * width;
        if (!band.solved || !(band.mean > low) || !(band.mean < high)) return;
        cell.centre = band.mean;
        // The next circle would have the band in its middle.
        cell.middle =
            std::clamp(band.mean - low < high - band.mean ? 2 * band.mean - low : 2 * band.mean - high,
                       low + 0.1 * width, high - 0.1 * width);
        if (astray > stray) return;
        cell.band = band;
        // With the right mean and variance the mean square is right as well.
        cell.error =
            mass * ((cell.values == 1 ? shape : 1.0) * band.spread / cell.weight + 0.5 * astray * width);
        if (cell.values > 1) cell.middle = band.mean;
    }

    void halve(std::size_t which, Place middle) {
        const Cell cell = cells_[which];
        const Place &a = places_[cell.lower], &b = places_[cell.upper];
        // The cubic must foresee the middle, and the densities the mass: two narrow bands may be symmetrical.
        const double foreseen = std::abs(middle.mass - between(a, b, middle.s));
        const double missing =
            std::abs(b.mass - a.mass - integral(a, middle, b, middle.s - a.s, b.s - middle.s));
        // Halving once more would change a quarter as much, half of it in either half.
        const double error = (b.s - a.s) * std::max(foreseen, missing) / 16;
        places_.push_back(std::move(middle));
        const std::size_t between_them = places_.size() - 1;
        cells_[which] = cell_of(cell.lower, between_them, error);
        cells_.push_back(cell_of(between_them, cell.upper, error));
    }

    double size_, rms_, tolerance_;
    bool circles_;
    Counter& counter_;
    std::vector<Place> places_;
    std::vector<Cell> cells_;
};

}  // namespace

AlignedLaw solve_aligned(const Network& network, std::unique_ptr<Equation> equation, double log_upper,
                         const AlignedOptions& options) {
    const linalg::SingleThreadedBlas one_thread;  // for all threads, until the last is done
    const double rms = std::exp(0.5 * log_mean_square(network));
    const auto rows = coarse_rows(lowest * rms, 1.02 * std::exp(log_upper));
    std::vector<double> heads;
    for (const auto& row : rows) heads.push_back(std::log(row.front()));
    const Tracker tracker(std::move(equation), log_upper, heads);
    Counter counter(network, tracker, options);
    std::vector<Place> first;
    for (auto& row : counter.rows(rows, std::vector<const Unknowns*>(rows.size(), nullptr)))
        for (Place& place : row) first.push_back(std::move(place));
    Search search(network, counter, options);
    search.run(std::move(first));

    AlignedLaw out;
    const auto work = counter.work();
    out.newton_steps = tracker.newton_steps() + work.newton_steps;
    out.descents = work.descents;
    std::vector<Place> places = search.places();
    std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.s < b.s; });
    const auto lost = std::count_if(places.begin(), places.end(), [](const Place& place) { return !place.certified; });
    double worst_decrease = 0;
    for (std::size_t k = 0; k + 1 < places.size(); ++k)
        worst_decrease = std::max(worst_decrease, places[k].mass - places[k + 1].mass);
    for (const Cell& cell : search.cells()) out.error += cell.error;
    out.error += places.front().s * places.front().mass;
    const double above = 1 - places.back().mass, allowed = search.allowed();
    out.judge({{"counts not certified", 0, static_cast<double>(lost),
                fmt::format("{} of {} counts are not certified", lost, places.size())},
               {"decrease of the distribution function", slack, worst_decrease,
                fmt::format("the distribution function decreases by {:.1g}", worst_decrease)},
               {"mass above the bound", slack, above, fmt::format("a mass of {:.1g} lies above the bound", above)},
               {"error of W1", allowed, out.error, fmt::format("W1 is not known to {:.2g}", allowed)}});
    std::erase_if(places, [](const Place& place) { return !place.certified; });
    if (places.size() < 2) return out;

    out.law = search.law();
    out.outliers = search.outliers();
    for (Place& place : places) {
        out.scaled_green.push_back(place.scaled_green);
        out.points.push_back(std::move(place.solution));
    }
    return out;
}

}  // namespace spectra::dyson
