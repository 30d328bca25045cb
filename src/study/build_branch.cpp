#include "study/build_branch.hpp"

#include "network/branch_law_file.hpp"
#include "network/connection.hpp"
#include "network/mean_field.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace spectra::study {

namespace {

using Vectors = std::vector<Eigen::VectorXd>;

/// One value for all layers, or one per layer.
std::vector<double> per_layer(const char* option, const std::vector<double>& values, int depth) {
    const auto layers = static_cast<std::size_t>(depth);
    if (values.size() == 1) return std::vector<double>(layers, values.front());
    if (values.size() != layers)
        throw std::invalid_argument(fmt::format(
            "{} has {} values for depth {}; must be one, or one per layer", option, values.size(), depth));
    return values;
}

/// --sigma2, or the share of --noise.
std::vector<double> variances(const Request& request, int depth) {
    if (request.sigma2) return per_layer("`sigma2`", *request.sigma2, depth);
    return std::vector<double>(static_cast<std::size_t>(depth),
                               request.noise_or_default() / depth);
}

/// --branch-law or the variances of a Gaussian.
template <typename HasLaw>
void set_law(const Request& request, int depth, HasLaw& branch) {
    if (!request.branch_law) {
        branch.sigma2 = variances(request, depth);
        return;
    }
    branch.law = read_branch_law(*request.branch_law);
    if (branch.law.size() != 1 && branch.law.size() != static_cast<std::size_t>(depth))
        throw std::invalid_argument(
            fmt::format("`branch_law` {}: {} sets for depth {}; must be one, or one per layer",
                        *request.branch_law, branch.law.size(), depth));
}

ActivationBranch activation_branch(const Request& request, const Network& network) {
    const int depth = network.depth();
    ActivationBranch branch;
    branch.activation = activation_from_name(request.activation.value_or(default_activation));
    auto& q = branch.preactivation_variance;
    if (request.preactivation_variance)
        q = per_layer("`preactivation_variance`", *request.preactivation_variance, depth);

    branch.sigma_w2 = variances(request, depth);
    const bool propagate = q.empty() && depends_on_variance(branch.activation);
    if (request.sigma2) {
        if (propagate) q = propagated_variances(network.mixers, branch.sigma_w2, branch.activation);
    } else if (propagate) {
        auto weights = tuned_weights(network.mixers, branch.sigma_w2, branch.activation);
        branch.sigma_w2 = std::move(weights.sigma_w2);
        q = std::move(weights.preactivation_variance);
    } else {
        for (std::size_t l = 0; l < branch.sigma_w2.size(); ++l)
            branch.sigma_w2[l] /= mean_derivative2(branch.activation, q.empty() ? 0 : q[l]);
    }
    return branch;
}

/// One vector per layer; `mean` is each entry of the choice of that name.
Vectors stream_weights(const char* option, const std::optional<StreamWeights>& asked, Vectors drawn,
                       int streams, double mean) {
    const StreamWeights weights = asked.value_or(StreamWeights{});
    if (weights.choice == StreamWeights::Choice::drawn) return drawn;
    const std::size_t layers = drawn.size();
    if (weights.choice == StreamWeights::Choice::mean)
        return Vectors(layers, Eigen::VectorXd::Constant(streams, mean));
    if (weights.values.size() != weights.layers * static_cast<std::size_t>(streams))
        throw std::invalid_argument(
            fmt::format("{} has {} values for {} streams; must be one per stream, mean or drawn", option,
                        weights.values.size() / weights.layers, streams));
    if (weights.layers != 1 && weights.layers != layers)
        throw std::invalid_argument(fmt::format("{} has {} rows for {} layers; must be one, or one per layer", option,
                                                weights.layers, layers));
    Vectors given;
    for (std::size_t l = 0; l < layers; ++l)
        given.emplace_back(Eigen::Map<const Eigen::VectorXd>(
            weights.values.data() + (weights.layers == 1 ? 0 : l * static_cast<std::size_t>(streams)), streams));
    return given;
}

Connections connections(const Request& request, const Network& network, int layers) {
    const int n = network.streams;
    auto drawn = draw_connections(n, layers, request.shared_draws.value_or(false), request.seed);
    return {stream_weights("`pre`", request.pre, std::move(drawn.pre), n, 1.0 / n),
            stream_weights("`post`", request.post, std::move(drawn.post), n, 1.0)};
}

HyperConnectionBranch hyper_connection_branch(const Request& request, const Network& network) {
    HyperConnectionBranch branch;
    set_law(request, network.depth(), branch);
    auto weights = connections(request, network, network.depth());
    branch.pre = std::move(weights.pre);
    branch.post = std::move(weights.post);
    return branch;
}

TiedBranch tied_branch(const Request& request, const Network& network) {
    if (request.sigma2 && request.sigma2->size() != 1)
        throw std::invalid_argument(
            fmt::format("`sigma2` has {} values, but tied layers share one branch; must be one",
                        request.sigma2->size()));
    const double sigma2 = variances(request, network.depth()).front();
    if (!request.pre && !request.post) return spectra::tied_branch(network.mixers.size(), sigma2);
    const auto weights = connections(request, network, 1);
    return spectra::tied_branch(network.mixers.size(), sigma2, weights.pre.front(), weights.post.front());
}

}  // namespace

Branch describe_branch(const Request& request, const Network& network) {
    const std::string name = request.branch_or_default();
    if (name == "activation") return activation_branch(request, network);
    if (name == "hyper-connection") return hyper_connection_branch(request, network);
    if (name == "tied") return tied_branch(request, network);
    IsotropicBranch branch;
    set_law(request, network.depth(), branch);
    return branch;
}

bool draws_stream_weights(const Request& request) {
    const auto drawn = [](const std::optional<StreamWeights>& weights) {
        return !weights || weights->choice == StreamWeights::Choice::drawn;
    };
    return request.branch == "hyper-connection" && (drawn(request.pre) || drawn(request.post));
}

std::string branch_words(const Branch& branch) {
    const auto law = [](const BranchLaw& values) {
        return values.empty() ? "" : " of given singular values";
    };
    if (const auto* isotropic = std::get_if<IsotropicBranch>(&branch))
        return isotropic->law.empty() ? "" : std::string("isotropic") + law(isotropic->law);
    if (const auto* hyper = std::get_if<HyperConnectionBranch>(&branch))
        return std::string("hyper-connection") + law(hyper->law);
    if (const auto* tied = std::get_if<TiedBranch>(&branch))
        return tied->hyper_connection() ? "tied hyper-connection" : "tied";
    if (std::holds_alternative<AlignedBranch>(branch)) return "aligned";
    return "activation " + name(std::get<ActivationBranch>(branch).activation);
}

}  // namespace spectra::study
