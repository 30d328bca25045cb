#include "montecarlo/finite_size.hpp"

#include "montecarlo/run/workers.hpp"
#include "random/stream.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace spectra::montecarlo {
namespace {

constexpr int draws = 100;
constexpr std::size_t most_values = 1'000'000;  // per width
constexpr double rounding = 1e-10;              // values of one atom, in ln s
constexpr double orders_left_out = 4;           // of 1/p, relative to the mean distance
constexpr double edges_left_out = 0.25;         // of sup |D|, found at edges, where b is not smooth

struct Distances {
    double linear = 0, log = 0, largest = 0;
};

/// Mean and variance of numbers.
struct Moments {
    double count = 0, sum = 0, squares = 0;

    void add(double x) {
        ++count;
        sum += x;
        squares += x * x;
    }
    double mean() const { return sum / count; }
    double variance() const { return std::max(0.0, (squares - sum * mean()) / (count - 1)); }
};

/// The values of several simulations in one sorted list, each with the number of its sample.
class Pool {
public:
    void add(const Simulation& simulation) {
        const std::size_t size = simulation.log_values.size() / static_cast<std::size_t>(simulation.samples);
        for (std::size_t k = 0; k < simulation.log_values.size(); ++k)
            levels_.push_back({simulation.log_values[k], 0, static_cast<std::uint32_t>(samples_ + k / size)});
        samples_ += static_cast<std::size_t>(simulation.samples);
        floor_ = std::max(floor_, simulation.law.log_floor());
    }
    void sort() {
        std::sort(levels_.begin(), levels_.end(),
                  [](const Level& a, const Level& b) { return a.log_s < b.log_s; });
        for (Level& level : levels_) level.relative = std::exp(level.log_s - levels_.back().log_s);
    }
    std::size_t samples() const { return samples_; }

    /// For D(x) = Σ over values up to x of the weight of their sample, from 0: ∫|D| ds, and above the floor
    /// ∫|D| d ln s and sup |D|. Values that differ by rounding are one step.
    Distances distances(std::span<const double> weights) const {
        Distances out;
        double difference = 0;
        for (std::size_t k = 0; k + 1 < levels_.size(); ++k) {
            const Level &from = levels_[k], &to = levels_[k + 1];
            difference += weights[from.sample];
            if (!(to.log_s - from.log_s > rounding)) continue;
            const double size = std::abs(difference);
            out.linear += size * (to.relative - from.relative);
            if (to.log_s <= floor_) continue;
            out.largest = std::max(out.largest, size);
            if (std::isfinite(from.log_s)) out.log += size * (to.log_s - std::max(from.log_s, floor_));
        }
        out.linear *= std::exp(levels_.back().log_s);
        return out;
    }

private:
    struct Level {
        double log_s, relative;  // relative: s over the largest
        std::uint32_t sample;
    };
    std::vector<Level> levels_;
    std::size_t samples_ = 0;
    double floor_ = -std::numeric_limits<double>::infinity();
};

/// Variance over samples of the share of their values below x, averaged over all values x.
double variance(const Simulation& simulation) {
    constexpr std::size_t places = 64;
    const auto samples = static_cast<std::size_t>(simulation.samples);
    const std::size_t size = simulation.log_values.size() / samples;
    double sum = 0;
    for (std::size_t k = 0; k < places; ++k) {
        const double place = simulation.law.log_quantile((static_cast<double>(k) + 0.5) / places);
        Moments shares;
        for (std::size_t s = 0; s < samples; ++s) {
            const auto values = std::span(simulation.log_values).subspan(s * size, size);
            const auto below = std::upper_bound(values.begin(), values.end(), place) - values.begin();
            shares.add(static_cast<double>(below) / static_cast<double>(size));
        }
        sum += shares.variance();
    }
    return sum / places;
}

Simulation simulate_width(Network network, Options options, int width, int samples) {
    network.width = width;
    const auto size = static_cast<std::size_t>(network.size());
    options.samples =
        static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(samples), most_values / size + 2));
    return simulate(network, options);
}

/// Mean over samples of ln s_2 − ln s_1 of their two lowest values above zero and the floor.
double lowest_gap(const Simulation& simulation) {
    const std::size_t size = simulation.log_values.size() / static_cast<std::size_t>(simulation.samples);
    const double floor = std::max(simulation.law.log_floor(), std::numeric_limits<double>::lowest());
    Moments gaps;
    for (std::size_t s = 0; s < simulation.log_values.size(); s += size) {
        const auto values = std::span(simulation.log_values).subspan(s, size);
        const auto lowest = std::lower_bound(values.begin(), values.end(), floor);
        if (values.end() - lowest >= 2) gaps.add(*std::next(lowest) - *lowest);
    }
    return gaps.count > 0 ? gaps.mean() : 0.0;
}

/// The contribution of the lowest level of a law that reaches zero to ∫ |F − F_∞| d ln s beyond b̂: see
/// finite_size.hpp.
double hard_edge(double gap, int size) {
    return 0.52 * std::max(gap - 0.42, 0.0) / size;
}

/// Normal numbers with mean 0 within each simulation, one per sample.
void draw_multipliers(std::uint64_t seed, std::uint32_t draw, std::size_t first, std::span<double> out) {
    // The purpose `probe` is free: none of these simulations is a quadrature.
    random::Stream(seed, random::Purpose::probe, 0, draw).fill_normal(out);
    for (const auto part : {out.first(first), out.subspan(first)}) {
        const double mean = std::accumulate(part.begin(), part.end(), 0.0) / static_cast<double>(part.size());
        for (double& x : part) x -= mean;
    }
}

struct DistanceMoments {
    Moments linear, log, largest;

    void add(const Distances& distances) {
        linear.add(distances.linear);
        log.add(distances.log);
        largest.add(distances.largest);
    }
};

/// Distances of b̂ with added noise: its own noise, that of a simulation, and the amount by which its own
/// noise is smaller.
struct Noisy {
    DistanceMoments estimate, simulation, completed;
};

/// `ratio`: V_p/S over v̂.
Noisy add_noise(const Pool& pool, std::span<const double> plain, std::size_t first, double ratio,
                std::uint64_t seed) {
    std::vector<double> multipliers(plain.size()), weights(plain.size());
    const auto distances = [&](double size) {
        for (std::size_t k = 0; k < plain.size(); ++k) weights[k] = plain[k] * (1 + size * multipliers[k]);
        return pool.distances(weights);
    };
    Noisy out;
    for (std::uint32_t draw = 0; draw < draws; ++draw) {
        draw_multipliers(seed, draw, first, multipliers);
        out.estimate.add(distances(1));
        out.simulation.add(distances(std::sqrt(ratio)));
        out.completed.add(distances(std::sqrt(std::max(ratio - 1, 0.0))));
    }
    return out;
}

Expected expected(const Noisy& noisy, Moments DistanceMoments::*which, double relative, double added = 0) {
    const double mean = (noisy.completed.*which).mean();
    const double variance = (noisy.estimate.*which).variance() + (noisy.simulation.*which).variance();
    return {mean + added, std::sqrt(variance + std::pow(relative * mean, 2) + std::pow(added / 2, 2))};
}

/// V_p/S over v̂, with V_p by the power of p that the two widths show.
double noise_ratio(const Simulation& half, const Simulation& quarter, double beta, int width, int samples) {
    const double of_half = variance(half), of_quarter = variance(quarter);
    if (!(of_half > 0 && of_quarter > 0)) return 0;
    const double power = std::clamp(
        std::log(of_quarter / of_half) / std::log(static_cast<double>(half.width) / quarter.width), 0.0, 2.0);
    const double of_simulation = of_half * std::pow(static_cast<double>(half.width) / width, power) / samples;
    return of_simulation / (beta * beta * (of_half / half.samples + of_quarter / quarter.samples));
}

Options own_options(const Options& options) {
    Options own = options;
    own.seed = ~options.seed;
    own.keep = Keep::values;
    own.until_error.reset();
    own.progress = nullptr;
    own.checkpoint = nullptr;
    own.resume = nullptr;
    own.ranks = nullptr;
    return own;
}

}  // namespace

std::optional<ExpectedDistance> expected_distance(const Network& network, const Options& options) {
    if (std::holds_alternative<AlignedBranch>(network.branch)) return {};  // its theory is that of its own width
    if (network.width < 2 || options.samples < 1 || probe_count(network, options) > 0) return {};
    const Options own = own_options(options);
    const int samples = std::min(options.samples, std::numeric_limits<int>::max() / 8);
    const int width = std::max(network.width / 2, 2);
    const int of_half = std::max(2 * samples, 8), of_quarter = std::max(8 * samples, 32);
    const auto counted_from = [&](int before) {
        Options counted = own;
        if (options.progress)
            counted.progress = [&options, before, all = of_half + of_quarter](int finished, int) {
                options.progress(before + finished, all);
            };
        return counted;
    };
    const Simulation half = simulate_width(network, counted_from(0), width, of_half);
    const Simulation quarter = simulate_width(network, counted_from(of_half), width / 2, of_quarter);
    if (half.interrupted() || quarter.interrupted()) return {};

    Pool pool;
    pool.add(half);
    pool.add(quarter);
    pool.sort();
    const double beta = (1.0 / network.width) / (1.0 / quarter.width - 1.0 / half.width);
    const auto first = static_cast<std::size_t>(half.samples);
    std::vector<double> weights(pool.samples(), beta / static_cast<double>(quarter.log_values.size()));
    std::fill_n(weights.begin(), first, -beta / static_cast<double>(half.log_values.size()));

    const double ratio = noise_ratio(half, quarter, beta, network.width, options.samples);
    const Noisy noisy = add_noise(pool, weights, first, ratio, own.seed);
    const double orders = orders_left_out / network.width;
    return ExpectedDistance{
        expected(noisy, &DistanceMoments::linear, orders),
        expected(noisy, &DistanceMoments::log, orders, hard_edge(lowest_gap(half), network.size())),
        expected(noisy, &DistanceMoments::largest, std::max(orders, edges_left_out)),
        {half.width, quarter.width},
        {half.samples, quarter.samples}};
}

}  // namespace spectra::montecarlo
