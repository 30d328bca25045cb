#include "validation/alignment.hpp"

#include "dyson/law/theory.hpp"
#include "montecarlo/run/simulate.hpp"
#include "validation/common_part.hpp"
#include "validation/measured_kind.hpp"
#include "validation/prediction.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace spectra::validation {
namespace {

// Draws of the rest over all inputs together: the law of 24 differs from that of infinitely many by less than 0.003.
constexpr int draws_in_all = 24;
constexpr int least_draws = 8;
// Columns of the equation (aligned_chain.hpp) up to which it is solved: its work grows as their cube. Less than a minute
// on two cores, and minutes where the rank was asked for.
constexpr Eigen::Index most_columns = 512, most_if_asked = 1200;

Triplets first_of(const Triplets& all, Eigen::Index count) {
    return {all.values.head(count), all.left.leftCols(count), all.right.leftCols(count)};
}

double root_mean_square(const Spectrum& law) {
    return std::sqrt(law.metrics().mean_square);
}

/// What a single draw is off the law of all draws, over the measured root mean square: the mean and two standard
/// deviations. A measurement that is no further off is one of these draws for all that can be said.
double by_chance(const std::vector<std::vector<double>>& log_values, int draws, const Spectrum& law, double unit) {
    double sum = 0, squares = 0;
    for (int k = 0; k < draws; ++k) {
        std::vector<double> one;
        for (const auto& values : log_values) {
            const auto size = static_cast<std::ptrdiff_t>(values.size()) / draws;
            one.insert(one.end(), values.begin() + k * size, values.begin() + (k + 1) * size);
        }
        const double distance = agreement(law, Spectrum::from_log_values(std::move(one))).wasserstein1 / unit;
        sum += distance;
        squares += distance * distance;
    }
    const double mean = sum / draws;
    return mean + 2 * std::sqrt(std::max(0.0, squares / draws - mean * mean));
}

/// `chance` as in prediction_of_draws().
AlignedPrediction drawn(const std::vector<layouts::Measurement>& measurements, int rank, const Spectrum& measured,
                        const AlignmentOptions& options, double& chance) {
    int draws = std::max(least_draws, draws_in_all / static_cast<int>(measurements.size()));
    std::vector<std::vector<double>> log_values;
    for (const auto& m : measurements) {
        const Network network = aligned_network(m, rank);
        if (noiseless(network)) draws = 1;
        montecarlo::Options draw;
        draw.samples = draws;
        draw.seed = options.seed;
        draw.threads = options.threads;
        draw.device = options.device;
        draw.keep = montecarlo::Keep::values;
        log_values.push_back(montecarlo::simulate(network, draw).log_values);
    }
    return prediction_of_draws(rank, log_values, draws, measured, chance);
}

Eigen::Index columns_of(const Network& network) {
    const auto& branch = std::get<AlignedBranch>(network.branch);
    Eigen::Index pairs = 0;
    for (const Triplets& kept : branch.kept) pairs += kept.count();
    for (const Triplets& added : branch.derivative) pairs += added.count();
    return 2 * pairs;
}

std::optional<AlignedPrediction> solved(const layouts::Measurement& first, int rank, const Spectrum& measured,
                                        const AlignmentOptions& options) {
    const Network network = aligned_network(first, rank);
    const Eigen::Index most = options.rank ? most_if_asked : most_columns;
    if (!options.theory || shares_weights(first) || noiseless(network) || columns_of(network) > most) return std::nullopt;
    dyson::Options solve;
    solve.threads = options.threads;
    if (options.before_rank) solve.on_step = [&] { options.before_rank(rank); };
    const dyson::Theory theory = dyson::solve(network, dyson::Method::operator_valued, solve);
    AlignedPrediction out;
    out.rank = rank;
    out.law = theory.law;
    out.certificate = theory.summary;
    out.outliers = theory.outliers;
    if (out.law.empty()) return out;
    out.metrics = out.law.metrics();
    out.distance = agreement(out.law, measured).wasserstein1 / root_mean_square(measured);
    return out;
}

Eigen::MatrixXd overlaps(const layouts::Measurement& m, int rank) {
    const auto depth = static_cast<Eigen::Index>(m.branches.size());
    Eigen::MatrixXd result = Eigen::MatrixXd::Zero(depth, depth);
    for (Eigen::Index l = 0; l < depth; ++l) {
        for (Eigen::Index k = 0; k < l; ++k) {
            const Triplets& read = m.branches[static_cast<std::size_t>(l)].core;
            const Triplets& written = m.branches[static_cast<std::size_t>(k)].core;
            const Eigen::Index r = std::min({static_cast<Eigen::Index>(rank), read.count(), written.count()});
            if (r > 0)
                result(l, k) =
                    (read.right.leftCols(r).transpose() * written.left.leftCols(r)).squaredNorm() / static_cast<double>(r);
        }
    }
    return result;
}

}  // namespace

AlignedPrediction prediction_of_draws(int rank, const std::vector<std::vector<double>>& log_values, int draws,
                                      const Spectrum& measured, double& chance) {
    AlignedPrediction out;
    out.rank = rank;
    out.draws = draws;
    std::vector<Spectrum> laws, halves[2];
    for (const auto& values : log_values) {
        laws.push_back(Spectrum::from_log_values(values));
        if (draws < 2) continue;
        const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
        halves[0].push_back(Spectrum::from_log_values({values.begin(), middle}));
        halves[1].push_back(Spectrum::from_log_values({middle, values.end()}));
    }
    out.law = mixture(laws);
    out.metrics = out.law.metrics();
    const double unit = root_mean_square(measured);
    out.distance = agreement(out.law, measured).wasserstein1 / unit;
    chance = draws > 1 ? by_chance(log_values, draws, out.law, unit) : 0;
    // Two halves differ by √2 of what each is off, and the whole is off by 1/√2 of that.
    if (draws > 1) out.error = agreement(mixture(halves[0]), mixture(halves[1])).wasserstein1 / (2 * unit);
    return out;
}

Network aligned_network(const layouts::Measurement& m, int rank) {
    Network network;
    network.streams = m.stack.streams;
    network.width = std::max(m.stack.width, 1);
    network.mixers = m.stack.mixers();
    network.mixer_name = m.stack.layout;
    AlignedBranch branch;
    const bool mix = reads_one_mix(m);
    const Eigen::MatrixXd no_vectors(network.size(), 0);
    for (std::size_t l = 0; l < m.branches.size(); ++l) {
        const layouts::MeasuredBranch& measured = m.branches[l];
        const auto count = std::min(static_cast<Eigen::Index>(rank), measured.core.count());
        branch.kept.push_back(first_of(measured.core, count));
        const Eigen::VectorXd rest = measured.core.values.tail(measured.core.count() - count);
        branch.rest.emplace_back(rest.begin(), rest.end());
        branch.weights.push_back(measured.weights);
        if (!mix) continue;
        branch.pre.push_back(m.stack.connections[l].pre);
        branch.post.push_back(m.stack.connections[l].post);
        // Mixers that do not depend on the input have no derivative, and no vectors that would tell its size.
        branch.derivative.push_back(measured.derivative.count() > 0 ? measured.derivative
                                                                    : Triplets{Eigen::VectorXd(0), no_vectors, no_vectors});
    }
    network.branch = std::move(branch);
    check(network);
    return network;
}

Alignment align(const std::vector<layouts::Measurement>& as_measured, const Spectrum& measured,
                const AlignmentOptions& options) {
    Alignment result;
    std::vector<layouts::Measurement> measurements;
    for (const auto& one : as_measured) {
        auto split = without_common_part(one);
        if (measurements.empty()) result.common = std::move(split.common);
        measurements.push_back(std::move(split.measurement));
    }
    result.explain = options.explain;
    result.width = static_cast<int>(measurements.front().branches.front().core.count());
    std::vector<int> ranks;
    if (options.rank)
        ranks = {0, std::min(*options.rank, result.width)};
    else
        for (int r = 0; r < 2 * result.width; r = r == 0 ? 1 : 2 * r) ranks.push_back(std::min(r, result.width));
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    for (const int rank : ranks) {
        if (options.before_rank) options.before_rank(rank);
        double chance = 0;
        result.by_rank.push_back(drawn(measurements, rank, measured, options, chance));
        result.explain = std::max(options.explain, chance);
        if (result.best().distance > result.explain) continue;
        if (!result.rank) result.rank = rank;
        if (!options.rank) break;
    }
    const int found = result.best().rank;
    result.overlaps = overlaps(measurements.front(), std::max(1, found));
    constexpr int few = 10;
    result.leading = leading_triplets(as_measured.front(), few);
    const Spectrum first = Spectrum::from_log_values([&] {
        std::vector<double> values;
        for (const double s : measurements.front().singular_values) values.push_back(std::log(s));
        std::sort(values.begin(), values.end());
        return values;
    }());
    if (options.stored > 0) result.network = aligned_network(measurements.front(), options.stored);
    if (found > 0) result.theory = solved(measurements.front(), found, first, options);
    return result;
}

}  // namespace spectra::validation
