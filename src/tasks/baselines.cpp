#include "tasks/baselines.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

namespace spectra::tasks {

namespace {

/// For each coordinate: the sums of (y − ŷ)² over all sequences and steps, for ŷ = x, −x, 0 and the running
/// mean.
struct SquareSums {
    explicit SquareSums(std::size_t dimension)
        : copy(dimension), minus(dimension), zero(dimension), mean(dimension) {}
    std::vector<double> copy, minus, zero, mean;
};

SquareSums square_sums(const Dataset& data) {
    const auto d = static_cast<std::size_t>(data.dimension);
    SquareSums sums(d);
    std::vector<double> total(d);
    const float* x = data.validation.x.data();
    const float* y = data.validation.y.data();
    for (std::int64_t k = 0; k < data.validation.count; ++k) {
        std::fill(total.begin(), total.end(), 0.0);
        for (std::int64_t t = 0; t < data.steps; ++t, x += d, y += d)
            for (std::size_t i = 0; i < d; ++i) {
                const double input = x[i];
                const double target = y[i];
                total[i] += input;
                const double mean = total[i] / static_cast<double>(t + 1);
                sums.copy[i] += (target - input) * (target - input);
                sums.minus[i] += (target + input) * (target + input);
                sums.zero[i] += target * target;
                sums.mean[i] += (target - mean) * (target - mean);
            }
    }
    return sums;
}

double sum(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
}

void add_real(const Dataset& data, Baselines& result) {
    const SquareSums sums = square_sums(data);
    const auto elements = static_cast<double>(data.validation.x.size());
    std::vector<double> better = sums.copy;
    for (std::size_t i = 0; i < better.size(); ++i) better[i] = std::min(better[i], sums.minus[i]);
    result.copy = sum(sums.copy) / elements;
    result.zero = sum(sums.zero) / elements;
    result.plain_negation = sum(sums.minus) / elements;
    if (better != sums.copy) result.negation = sum(better) / elements;
    if (data.steps > 1) result.running_mean = sum(sums.mean) / elements;
}

void count(const std::vector<std::int64_t>& targets, std::vector<double>& counts) {
    for (const auto target : targets)
        if (target != not_scored) ++counts[static_cast<std::size_t>(target)];
}

void add_tokens(const Dataset& data, Baselines& result) {
    std::vector<double> training(static_cast<std::size_t>(data.dimension));
    std::vector<double> validation(training.size());
    count(data.train.tokens_y, training);
    for (const auto token : data.stream) ++training[token];
    count(data.validation.tokens_y, validation);

    double scored = 0;
    double log_likelihood = 0;
    std::size_t occurring = 0;
    const double total = sum(training) + static_cast<double>(training.size());
    for (std::size_t k = 0; k < training.size(); ++k) {
        if (training[k] + validation[k] > 0) ++occurring;
        scored += validation[k];
        log_likelihood += validation[k] * std::log((training[k] + 1) / total);
    }
    result.uniform = std::log(static_cast<double>(occurring));
    result.unigram = -log_likelihood / scored;
}

/// Of predictions: the share of scored cells that are right, and whether all are.
std::pair<double, bool> accuracy(std::span<const std::int64_t> targets,
                                 std::span<const std::int64_t> predicted) {
    double scored = 0, right = 0;
    for (std::size_t k = 0; k < targets.size(); ++k) {
        if (targets[k] == not_scored) continue;
        ++scored;
        if (targets[k] == predicted[k]) ++right;
    }
    return {right / scored, right == scored};
}

void add_grids(const Dataset& data, Baselines& result) {
    std::vector<double> counts(static_cast<std::size_t>(data.dimension));
    count(data.train.tokens_y, counts);
    const auto steps = static_cast<std::size_t>(data.steps);
    const std::vector<std::int64_t> frequent(steps,
                                             std::max_element(counts.begin(), counts.end()) - counts.begin());
    double copied = 0, exact = 0, same = 0;
    for (std::size_t at = 0; at < data.validation.tokens_y.size(); at += steps) {
        const auto targets = std::span(data.validation.tokens_y).subspan(at, steps);
        const auto [cells, all] = accuracy(targets, std::span(data.validation.tokens_x).subspan(at, steps));
        copied += cells;
        exact += all ? 1 : 0;
        same += accuracy(targets, frequent).first;
    }
    const auto grids = static_cast<double>(data.validation.count);
    result.copy_cells = copied / grids;
    result.copy_exact = exact / grids;
    result.frequent_cells = same / grids;
}

}  // namespace

Baselines baselines(const Dataset& data) {
    Baselines result;
    if (data.tokens)
        add_tokens(data, result);
    else
        add_real(data, result);
    if (data.puzzles > 0) add_grids(data, result);
    if (std::isfinite(data.noise_floor)) result.noise_floor = data.noise_floor;
    return result;
}

}  // namespace spectra::tasks
