#include "validation/prediction.hpp"

#include "base/parallel.hpp"
#include "dyson/law/cdf_law.hpp"
#include "validation/measured_kind.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

namespace spectra::validation {

namespace {

/// Quantiles that represent a law in a mixture: metrics are off by at most 1e-4.
constexpr std::size_t quantiles = 8192;

/// Layers with tied weights from which the density takes tens of seconds.
constexpr int counted_tied_depth = 12;

Network with_mixers(const layouts::Stack& stack) {
    Network network;
    network.streams = stack.streams;
    network.width = std::max(stack.width, 1);
    network.mixers = stack.mixers();
    network.mixer_name = stack.layout;
    return network;
}

template <class Get>
auto of_branches(const layouts::Measurement& m, Get get) {
    std::vector<std::decay_t<decltype(get(m.branches.front()))>> values;
    for (const auto& branch : m.branches) values.push_back(get(branch));
    return values;
}

template <class Get>
std::vector<Eigen::VectorXd> of_connections(const layouts::Stack& stack, Get get) {
    std::vector<Eigen::VectorXd> values;
    for (const auto& connection : stack.connections) values.push_back(get(connection));
    return values;
}

auto pre_of(const layouts::Stack& stack) {
    return of_connections(stack, [](const auto& c) { return c.pre; });
}
auto post_of(const layouts::Stack& stack) {
    return of_connections(stack, [](const auto& c) { return c.post; });
}

Branch tied(const layouts::Measurement& m) {
    TiedBranch branch;
    branch.weights = of_branches(m, [](const auto& b) { return b.weights; });
    const bool mix = reads_one_mix(m);
    branch.sigma2 = of_branches(m, [&](const auto& b) { return mix ? b.core_variance : b.variance; });
    if (mix) {
        branch.pre = pre_of(m.stack);
        branch.post = post_of(m.stack);
    }
    return branch;
}

Branch full(const layouts::Measurement& m) {
    if (shares_weights(m)) return tied(m);
    const auto law = of_branches(m, [](const auto& b) { return b.core_values; });
    if (!reads_one_mix(m)) return IsotropicBranch{{}, law};
    return HyperConnectionBranch{{}, pre_of(m.stack), post_of(m.stack), law};
}

std::string title_of(const layouts::Stack& stack, const std::string& branch) {
    return fmt::format("{}, {} connections, n = {}, {}", stack.layout, stack.depth(), stack.streams, branch);
}

}  // namespace

std::string name(Part part) {
    return part == Part::mixers ? "mixers" : part == Part::isotropic ? "isotropic" : "full";
}

Network network_of(const layouts::Measurement& m, Part part) {
    auto network = with_mixers(m.stack);
    switch (part) {
        case Part::mixers:
            network.branch = IsotropicBranch{std::vector<double>(network.mixers.size(), 0.0)};
            network.title = title_of(m.stack, "mixers alone");
            break;
        case Part::isotropic:
            network.branch = IsotropicBranch{of_branches(m, [](const auto& b) { return b.variance; })};
            network.title = title_of(m.stack, "isotropic branches of the measured variances");
            break;
        case Part::full:
            network.branch = full(m);
            network.title = title_of(m.stack, "branches as measured");
    }
    check(network);
    return network;
}

Network network_of(const layouts::Stack& stack, double noise) {
    auto network = with_mixers(stack);
    const std::vector<double> sigma2(network.mixers.size(), noise / static_cast<double>(stack.depth()));
    const bool mix = std::all_of(stack.connections.begin(), stack.connections.end(), [](const auto& c) {
        return c.pre.size() > 0 && c.post.size() > 0 && !c.separate_outputs;
    });
    network.branch = mix ? Branch(HyperConnectionBranch{sigma2, pre_of(stack), post_of(stack)})
                         : Branch(IsotropicBranch{sigma2});
    network.title =
        title_of(stack, fmt::format("{} branches, Lσ² = {:.4g}", branch_name(network.branch), noise));
    check(network);
    return network;
}

Network layer_of(const Network& network, std::size_t layer) {
    auto one = network;
    one.mixers = {network.mixers.at(layer)};
    const auto variance = sigma2(network)[layer];
    const auto law = branch_law(network, layer);
    const BranchLaw laws = law.empty() ? BranchLaw{} : BranchLaw{law};
    const std::vector<double> variances = law.empty() ? std::vector<double>{variance} : std::vector<double>{};
    if (const auto* hyper = std::get_if<HyperConnectionBranch>(&network.branch))
        one.branch = HyperConnectionBranch{variances, {hyper->pre[layer]}, {hyper->post[layer]}, laws};
    else if (const auto* tied = std::get_if<TiedBranch>(&network.branch); tied && tied->hyper_connection())
        one.branch = HyperConnectionBranch{variances, {tied->pre[layer]}, {tied->post[layer]}};
    else
        one.branch = IsotropicBranch{variances, laws};
    return one;
}

Spectrum mixture(const std::vector<Spectrum>& laws) {
    if (laws.size() == 1) return laws.front();
    const auto each = std::max<std::size_t>(quantiles / std::max<std::size_t>(laws.size(), 1), 1024);
    std::vector<double> values;
    for (const auto& law : laws)
        for (std::size_t k = 0; k < each; ++k)
            values.push_back(
                law.log_quantile((static_cast<double>(k) + 0.5) / static_cast<double>(each) * law.mass()));
    return Spectrum::from_log_values(std::move(values));
}

Prediction predict(Part part, std::vector<Network> networks, int threads) {
    Prediction p;
    p.part = part;
    p.networks = std::move(networks);
    p.theories.resize(p.networks.size());
    const int available = threads_or_all(threads);
    const int teams = std::min(available, static_cast<int>(p.networks.size()));
    dyson::Options options;
    options.threads = std::max(1, available / std::max(teams, 1));
    std::vector<std::string> failures(p.networks.size());
    std::vector<dyson::CountedLaw> counted(p.networks.size());
    parallel_for(p.networks.size(), teams, [&](std::size_t k) {
        try {
            dyson::check(p.networks[k], dyson::Method::operator_valued);
            dyson::Options how = options;
            how.counting = std::holds_alternative<TiedBranch>(p.networks[k].branch) &&
                           p.networks[k].depth() >= counted_tied_depth;
            p.theories[k] = dyson::solve(p.networks[k], dyson::Method::operator_valued, how);
            if (!p.theories[k].summary.certified) counted[k] = dyson::count_law(p.networks[k]);
        } catch (const std::exception& error) {
            failures[k] = error.what();
        }
    });
    std::vector<Spectrum> laws;
    p.certificate = {true, "certified"};
    const auto doubt = [&](const Certificate& other) {
        if (p.certificate.certified) p.certificate = other;
    };
    for (std::size_t k = 0; k < p.networks.size(); ++k) {
        const auto& summary = p.theories[k].summary;
        if (counted[k].certified) {
            p.counted_error = std::max(p.counted_error.value_or(0), counted[k].error);
            laws.push_back(counted[k].law);
            continue;
        }
        if (!failures[k].empty())
            doubt({false, failures[k]});
        else if (!summary.certified)
            doubt(summary);
        if (!p.theories[k].law.empty()) laws.push_back(p.theories[k].law);
    }
    if (laws.empty()) return p;
    p.law = mixture(laws);
    p.metrics = p.law.metrics();
    return p;
}

}  // namespace spectra::validation
