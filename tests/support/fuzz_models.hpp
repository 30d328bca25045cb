#pragma once

#include "dyson/equations/site_draws.hpp"
#include "mixers/gaussian.hpp"
#include "mixers/orthogonal.hpp"
#include "network/connection.hpp"
#include "network/network.hpp"
#include "random/stream.hpp"

#include <Eigen/SVD>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace spectra::tests {

/// A network drawn from its index alone: the same on every machine.
struct FuzzModel {
    std::uint32_t index = 0;
    Network network;
    std::string name;  ///< one line: branch, mixers, sizes, noise
};

/// Draws networks as users might give them, and worse: n 1–8, L 1–40 (tied 1–8), every branch in turn,
/// total noise Lσ² log-uniform in 1e-12 … 10 and sometimes uneven over the layers (some layers then have
/// none), mixers of every family and beyond: Gaussian of norm 1e-2 … 10, of smallest singular value down to
/// 1e-12, exactly singular, zero, one for all layers, or of a different kind in every layer.
class FuzzModels {
public:
    explicit FuzzModels(std::uint64_t seed = 1) : seed_(seed) {}

    static constexpr std::uint32_t branches = 7;
    static constexpr std::uint32_t activations = 9;

    FuzzModel operator()(std::uint32_t index) const {
        random::Stream stream(seed_, random::Purpose::test, 0, index);
        const std::uint32_t kind = index % branches;
        const bool tied = kind >= 5;
        FuzzModel model;
        model.index = index;
        Network& network = model.network;
        network.streams = 1 + below(stream, 8);
        const int deepest = tied ? 8 : 40;
        const int depth = std::min(deepest, static_cast<int>(log_uniform(stream, 1, deepest + 1)));
        const std::string mixers = draw_mixers(stream, network, depth);
        const double total = log_uniform(stream, 1e-12, 10);
        const std::vector<double> noise = spread(stream, total, static_cast<std::size_t>(depth));
        const std::string branch = draw_branch(stream, index, network, noise);
        char sizes[80];
        std::snprintf(sizes, sizeof sizes, ", n %d, L %d, noise %.1e", network.streams, depth, total);
        model.name = branch + ", " + mixers + sizes;
        return model;
    }

private:
    static int below(random::Stream& stream, int bound) { return static_cast<int>(stream.uniform() * bound); }
    static bool chance(random::Stream& stream, double probability) { return stream.uniform() < probability; }
    static double log_uniform(random::Stream& stream, double low, double high) {
        return std::exp(std::lerp(std::log(low), std::log(high), stream.uniform()));
    }

    // ---- noise ---------------------------------------------------------------------------------

    /// σ_l² with the given sum: equal, or over four decades with some of them zero.
    static std::vector<double> spread(random::Stream& stream, double total, std::size_t depth) {
        std::vector<double> weight(depth, 1.0);
        if (chance(stream, 0.4)) {
            for (double& w : weight) w = log_uniform(stream, 1e-4, 1);
            if (depth > 1 && chance(stream, 0.25))
                for (std::size_t l = 1; l < depth; ++l)
                    if (chance(stream, 0.3)) weight[l] = 0;
        }
        double sum = 0;
        for (const double w : weight) sum += w;
        for (double& w : weight) w *= total / sum;
        return weight;
    }

    // ---- mixers --------------------------------------------------------------------------------

    static Mixer gaussian_of_norm(random::Stream& stream, int n, double norm) {
        const Mixer a = mixers::standard_normal(n, n, stream);
        return a * (norm / a.jacobiSvd().singularValues()(0));
    }

    /// U diag(s) Vᵀ, s from 1 down to `smallest`.
    static Mixer with_smallest(random::Stream& stream, int n, double smallest) {
        Eigen::VectorXd s(n);
        for (int i = 0; i < n; ++i) s(i) = log_uniform(stream, 0.1, 1);
        s(n - 1) = smallest;
        return mixers::draw_orthogonal(n, stream) * s.asDiagonal() *
               mixers::draw_orthogonal(n, stream).transpose();
    }

    /// Kinds beyond the families: 0 Gaussian, 1 near-singular, 2 singular, 3 zero.
    static Mixer draw_mixer(random::Stream& stream, int kind, int n) {
        const auto& families = mixers::all_families();
        const int count = static_cast<int>(families.size());
        switch (kind - count) {
            case 0:
                return gaussian_of_norm(stream, n, log_uniform(stream, 1e-2, 10));
            case 1:
                return with_smallest(stream, n, log_uniform(stream, 1e-12, 1e-2));
            case 2: {  // a row of zeros in an orthogonal basis: singular exactly, or to rounding
                Mixer a = gaussian_of_norm(stream, n, 1);
                a.row(below(stream, n)).setZero();
                return chance(stream, 0.5) ? a : Mixer(mixers::draw_orthogonal(n, stream) * a);
            }
            case 3:
                return Mixer::Zero(n, n);
            default:
                break;
        }
        mixers::Recipe recipe;
        recipe.family = families[static_cast<std::size_t>(kind)];
        recipe.logit_scale = log_uniform(stream, 0.1, 5);
        if (chance(stream, 0.5)) recipe.cayley_iterations.reset();
        recipe.gate = stream.uniform();
        recipe.beta = 2 * stream.uniform();
        recipe.rank = 1 + below(stream, n);
        return mixers::draw(recipe, n, stream);
    }

    static std::string kind_name(int kind) {
        const auto& families = mixers::all_families();
        const int count = static_cast<int>(families.size());
        if (kind < count) return std::string(mixers::name(families[static_cast<std::size_t>(kind)]));
        const char* const beyond[] = {"Gaussian of norm to 10", "near-singular", "singular", "zero"};
        return beyond[kind - count];
    }

    static std::string draw_mixers(random::Stream& stream, Network& network, int depth) {
        const int kinds = static_cast<int>(mixers::all_families().size()) + 4;
        const int kind = below(stream, kinds);
        const double way = stream.uniform();
        const bool shared = way<0.3, mixed = way> 0.85;
        for (int l = 0; l < depth; ++l)
            network.mixers.push_back(
                shared && l > 0 ? network.mixers.front()
                                : draw_mixer(stream, mixed ? below(stream, kinds) : kind, network.streams));
        if (mixed) return "mixed mixers";
        return kind_name(kind) + (shared && depth > 1 ? " (shared)" : "");
    }

    // ---- branches ------------------------------------------------------------------------------

    std::string draw_branch(random::Stream& stream, std::uint32_t index, Network& network,
                            const std::vector<double>& noise) const {
        switch (index % branches) {
            case 0:
                network.branch = IsotropicBranch{noise};
                return "isotropic";
            case 1:
                network.branch = IsotropicBranch{{}, draw_law(stream, noise)};
                return "isotropic with a law";
            case 2:
                return draw_activation(stream, index / branches % activations, network, noise);
            case 3: {
                const Connections ways = draw_ways(stream, index, network);
                network.branch = HyperConnectionBranch{noise, ways.pre, ways.post};
                return "hyper-connection";
            }
            case 4: {
                const Connections ways = draw_ways(stream, index, network);
                network.branch = HyperConnectionBranch{{}, ways.pre, ways.post, draw_law(stream, noise)};
                return "hyper-connection with a law";
            }
            case 5:
                network.branch = tied_branch(noise.size(), noise.front());
                return "tied";
            default: {
                const Connections ways = draw_ways(stream, index, network);
                network.branch =
                    tied_branch(noise.size(), noise.front(), ways.pre.front(), ways.post.front());
                return "tied hyper-connection";
            }
        }
    }

    /// Singular values with the given mean squares: one to six of them, one set or one a layer, sometimes a
    /// zero or a repeated value among them.
    static BranchLaw draw_law(random::Stream& stream, const std::vector<double>& noise) {
        const bool zero = chance(stream, 0.15), repeated = chance(stream, 0.15);
        const bool one_set = chance(stream, 0.3);
        BranchLaw law;
        for (std::size_t l = 0; l < (one_set ? 1 : noise.size()); ++l) {
            std::vector<double> t(static_cast<std::size_t>(1 + below(stream, 6)));
            for (double& value : t) value = 0.05 + stream.uniform();
            if (zero && t.size() > 1) t[0] = 0;
            if (repeated && t.size() > 2) t[2] = t[1];
            double sum = 0;
            for (const double value : t) sum += value * value;
            for (double& value : t) value *= std::sqrt(noise[l] * static_cast<double>(t.size()) / sum);
            law.push_back(std::move(t));
        }
        return law;
    }

    static std::string draw_activation(random::Stream& stream, std::uint32_t kind, Network& network,
                                       const std::vector<double>& noise) {
        ActivationBranch branch;
        branch.activation.kind = static_cast<ActivationKind>(kind);
        branch.activation.probability = stream.uniform();
        for (const double sigma2 : noise) {
            branch.preactivation_variance.push_back(log_uniform(stream, 0.01, 10));
            const double slope2 = mean_derivative2(branch.activation, branch.preactivation_variance.back());
            branch.sigma_w2.push_back(sigma2 / std::max(1e-3, slope2));
        }
        const std::string name = branch.activation.kind == ActivationKind::bernoulli
                                     ? "bernoulli"
                                     : spectra::name(branch.activation);
        network.branch = std::move(branch);
        return name;
    }

    /// As drawn for users, means, or N(0, 1) of either sign.
    Connections draw_ways(random::Stream& stream, std::uint32_t index, const Network& network) const {
        const int n = network.streams;
        Connections ways = draw_connections(n, network.depth(), chance(stream, 0.3), seed_ + index);
        const double way = stream.uniform();
        for (std::size_t l = 0; l < ways.pre.size() && way < 0.5; ++l) {
            ways.pre[l] = way < 0.2 ? Eigen::VectorXd::Constant(n, 1.0 / n)
                                    : Eigen::VectorXd(mixers::standard_normal(n, 1, stream));
            ways.post[l] =
                way < 0.2 ? Eigen::VectorXd::Ones(n) : Eigen::VectorXd(mixers::standard_normal(n, 1, stream));
        }
        return ways;
    }

    std::uint64_t seed_;
};

/// Time of one evaluation of the equation, roughly, in n³ block operations: decides what a test can afford.
inline double fuzz_cost(const Network& network) {
    const double n = network.streams, depth = network.depth();
    if (std::holds_alternative<TiedBranch>(network.branch)) return std::pow(2 * n * depth, 3) / 10;
    double draws = 1;
    if (std::holds_alternative<ActivationBranch>(network.branch))
        draws = static_cast<double>(dyson::site_draws(network).draws.size());
    return depth * draws * (n * n * n + 20);
}

}  // namespace spectra::tests
