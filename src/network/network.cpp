#include "network/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

namespace spectra {

namespace {

template <typename... Fs>
struct Overloaded : Fs... {
    using Fs::operator()...;
};
template <typename... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

[[noreturn]] void refuse_network(const std::string& what) {
    throw std::invalid_argument("network: " + what);
}

void check_range(const char* what, std::size_t value, int largest) {
    if (value < 1 || value > static_cast<std::size_t>(largest))
        refuse_network(fmt::format("{} is {}; must be 1 to {}", what, value, largest));
}

void check_mixer(const Mixer& mixer, int streams, std::size_t layer) {
    if (mixer.rows() != streams || mixer.cols() != streams)
        refuse_network(fmt::format("the mixer of layer {} is {}×{}; must be {}×{}", layer, mixer.rows(),
                                   mixer.cols(), streams, streams));
    for (Eigen::Index i = 0; i < mixer.rows(); ++i)
        for (Eigen::Index j = 0; j < mixer.cols(); ++j)
            if (!std::isfinite(mixer(i, j)))
                refuse_network(
                    fmt::format("the mixer of layer {}, row {}, column {} is {}; must be a finite number",
                                layer, i + 1, j + 1, mixer(i, j)));
}

/// One value per layer, each finite and ≥ 0.
void check_variances(const char* what, const std::vector<double>& values, std::size_t depth) {
    if (values.size() != depth)
        refuse_network(fmt::format("{} has {} values for {} layers; expected one per layer", what,
                                   values.size(), depth));
    for (std::size_t l = 0; l < depth; ++l)
        if (!std::isfinite(values[l]) || values[l] < 0)
            refuse_network(
                fmt::format("{} of layer {} is {}; must be a finite number ≥ 0", what, l + 1, values[l]));
}

double mean_of_squares(const std::vector<double>& values) {
    double sum = 0;
    for (const double t : values) sum += t * t;
    return sum / static_cast<double>(values.size());
}

/// Layers counted from 0.
const std::vector<double>& set_of(const BranchLaw& law, std::size_t layer) {
    return law.size() == 1 ? law.front() : law[layer];
}

std::vector<double> variances_of(const std::vector<double>& given, const BranchLaw& law, std::size_t depth) {
    if (law.empty()) return given;
    std::vector<double> result(depth, mean_of_squares(law.front()));
    for (std::size_t l = 1; l < depth && law.size() > 1; ++l) result[l] = mean_of_squares(law[l]);
    return result;
}

std::vector<double> variances_of(const AlignedBranch& branch) {
    std::vector<double> result;
    for (std::size_t l = 0; l < branch.kept.size(); ++l) {
        double sum = branch.kept[l].values.squaredNorm();
        for (const double t : branch.rest[l]) sum += t * t;
        result.push_back(sum / static_cast<double>(branch.kept[l].left.rows()));
    }
    return result;
}

/// A Gaussian branch with given variances, or a branch with given singular values.
void check_law(const std::vector<double>& sigma2, const BranchLaw& law, std::size_t depth) {
    if (law.empty()) {
        check_variances("sigma2", sigma2, depth);
        return;
    }
    if (law.size() != 1 && law.size() != depth)
        refuse_network(
            fmt::format("the branch has {} sets of singular values for {} layers; expected one, or one per "
                        "layer",
                        law.size(), depth));
    for (std::size_t k = 0; k < law.size(); ++k) {
        const std::string which =
            law.size() == 1 ? "the branch" : fmt::format("the branch of layer {}", k + 1);
        if (law[k].empty())
            refuse_network(fmt::format("{} has no singular values; expected at least one", which));
        for (const double t : law[k])
            if (!std::isfinite(t) || t < 0)
                refuse_network(
                    fmt::format("{} has the singular value {}; must be a finite number ≥ 0", which, t));
        if (!std::isfinite(mean_of_squares(law[k])))
            refuse_network(fmt::format("{} has singular values that overflow when squared", which));
    }
    if (sigma2.empty()) return;
    check_variances("sigma2", sigma2, depth);
    for (std::size_t l = 0; l < depth; ++l)
        if (const double exact = mean_of_squares(set_of(law, l)); std::abs(sigma2[l] - exact) > 1e-9 * exact)
            refuse_network(fmt::format(
                "sigma2 of layer {} is {}, but the mean square of the branch's singular values is "
                "{}; give only one of the two",
                l + 1, sigma2[l], exact));
}

void check_connections(const char* what, const std::vector<Eigen::VectorXd>& values, int streams,
                       std::size_t depth) {
    if (values.size() != depth)
        refuse_network(fmt::format("{} has {} vectors for {} layers; expected one per layer", what,
                                   values.size(), depth));
    for (std::size_t l = 0; l < depth; ++l) {
        if (values[l].size() != streams)
            refuse_network(fmt::format("{} of layer {} has {} entries; expected one per stream ({})", what,
                                       l + 1, values[l].size(), streams));
        if (!values[l].allFinite())
            refuse_network(fmt::format("{} of layer {} has entries that are not finite", what, l + 1));
    }
}

/// `rows` entries per vector; orthonormal vectors if `orthonormal`.
void check_triplets(const char* what, std::size_t layer, const Triplets& triplets, int rows, bool orthonormal) {
    constexpr double slack = 1e-6;
    const auto where = [&] { return fmt::format("the {} of layer {}", what, layer + 1); };
    if (triplets.left.cols() != triplets.count() || triplets.right.cols() != triplets.count())
        refuse_network(
            fmt::format("{} have {} values, {} left and {} right vectors; expected as many of each", where(),
                        triplets.count(), triplets.left.cols(), triplets.right.cols()));
    if (triplets.left.rows() != rows || triplets.right.rows() != rows)
        refuse_network(fmt::format("{} have vectors of {} and {} entries; expected {}", where(),
                                   triplets.left.rows(), triplets.right.rows(), rows));
    if (!triplets.left.allFinite() || !triplets.right.allFinite() || !triplets.values.allFinite())
        refuse_network(fmt::format("{} are not all finite", where()));
    if (triplets.count() > 0 && triplets.values.minCoeff() < 0)
        refuse_network(fmt::format("{} have the value {}; must be ≥ 0", where(), triplets.values.minCoeff()));
    if (!orthonormal) return;
    for (const Eigen::MatrixXd* vectors : {&triplets.left, &triplets.right}) {
        const Eigen::MatrixXd gram = vectors->transpose() * *vectors;
        const double defect = (gram - Eigen::MatrixXd::Identity(gram.rows(), gram.cols())).cwiseAbs().sum();
        if (defect > slack)
            refuse_network(
                fmt::format("{} have {} vectors that are orthonormal only to {:.1g}; must be to {:.0g}",
                            where(), vectors == &triplets.left ? "left" : "right", defect, slack));
    }
}

void check_branch(const AlignedBranch& branch, const Network& network) {
    const std::size_t depth = network.mixers.size();
    if (branch.hyper_connection() || !branch.post.empty()) {
        check_connections("pre", branch.pre, network.streams, depth);
        check_connections("post", branch.post, network.streams, depth);
    }
    const int rows = branch.hyper_connection() ? network.width : network.size();
    const auto expect_one_per_layer = [&](const char* what, std::size_t count) {
        if (count != depth)
            refuse_network(
                fmt::format("{} has {} sets for {} layers; expected one per layer", what, count, depth));
    };
    expect_one_per_layer("triplets", branch.kept.size());
    expect_one_per_layer("singular_values", branch.rest.size());
    if (!branch.weights.empty()) expect_one_per_layer("weights", branch.weights.size());
    if (!branch.derivative.empty()) expect_one_per_layer("derivative", branch.derivative.size());
    for (std::size_t l = 0; l < depth; ++l) {
        check_triplets("triplets", l, branch.kept[l], rows, true);
        const auto free = static_cast<std::size_t>(std::max(Eigen::Index{0}, rows - branch.kept[l].count()));
        if (branch.rest[l].size() != free)
            refuse_network(fmt::format("layer {} has {} singular values beside {} triplets; expected {}",
                                       l + 1, branch.rest[l].size(), branch.kept[l].count(), free));
        for (const double t : branch.rest[l])
            if (!std::isfinite(t) || t < 0)
                refuse_network(fmt::format(
                    "the branch of layer {} has the singular value {}; must be a finite number ≥ 0", l + 1,
                    t));
        if (!branch.derivative.empty())
            check_triplets("derivative", l, branch.derivative[l], network.size(), false);
    }
}

void check_branch(const IsotropicBranch& branch, int, std::size_t depth) {
    check_law(branch.sigma2, branch.law, depth);
}

void check_branch(const ActivationBranch& branch, int, std::size_t depth) {
    check_variances("sigma_w2", branch.sigma_w2, depth);
    const double p = branch.activation.probability;
    if (branch.activation.kind == ActivationKind::bernoulli && !(p >= 0 && p <= 1))
        refuse_network(fmt::format("the probability of the bernoulli law is {}; must be from 0 to 1", p));
    if (depends_on_variance(branch.activation) || !branch.preactivation_variance.empty())
        check_variances("preactivation_variance", branch.preactivation_variance, depth);
}

void check_branch(const HyperConnectionBranch& branch, int streams, std::size_t depth) {
    check_law(branch.sigma2, branch.law, depth);
    check_connections("pre", branch.pre, streams, depth);
    check_connections("post", branch.post, streams, depth);
}

void check_branch(const TiedBranch& branch, int streams, std::size_t depth) {
    check_variances("sigma2", branch.sigma2, depth);
    if (!branch.weights.empty() && branch.weights.size() != depth)
        refuse_network(fmt::format("weights has {} values for {} layers; expected none, or one per layer",
                                   branch.weights.size(), depth));
    if (branch.pre.empty() && branch.post.empty()) return;
    check_connections("pre", branch.pre, streams, depth);
    check_connections("post", branch.post, streams, depth);
}

}  // namespace

TiedBranch tied_branch(std::size_t depth, double sigma2, const Eigen::VectorXd& pre,
                       const Eigen::VectorXd& post) {
    TiedBranch branch{std::vector<double>(depth, sigma2)};
    if (pre.size() > 0) branch.pre.assign(depth, pre);
    if (post.size() > 0) branch.post.assign(depth, post);
    return branch;
}

std::string branch_name(const Branch& branch) {
    return std::visit(Overloaded{[](const IsotropicBranch&) { return "isotropic"; },
                                 [](const ActivationBranch&) { return "activation"; },
                                 [](const HyperConnectionBranch&) { return "hyper-connection"; },
                                 [](const TiedBranch&) { return "tied"; },
                                 [](const AlignedBranch&) { return "aligned"; }},
                      branch);
}

std::vector<double> sigma2(const Network& network) {
    const std::size_t depth = network.mixers.size();
    const auto of_activation = [&](const ActivationBranch& branch) {
        const auto& q = branch.preactivation_variance;
        std::vector<double> result(depth);
        double slope = 1;
        for (std::size_t l = 0; l < depth; ++l) {
            if (l == 0 || (!q.empty() && q[l] != q[l - 1]))
                slope = mean_derivative2(branch.activation, q.empty() ? 0 : q[l]);
            result[l] = branch.sigma_w2[l] * slope;
        }
        return result;
    };
    return std::visit(Overloaded{[&](const IsotropicBranch& branch) {
                                     return variances_of(branch.sigma2, branch.law, depth);
                                 },
                                 of_activation,
                                 [&](const HyperConnectionBranch& branch) {
                                     return variances_of(branch.sigma2, branch.law, depth);
                                 },
                                 [](const TiedBranch& branch) { return branch.sigma2; },
                                 [](const AlignedBranch& branch) { return variances_of(branch); }},
                      network.branch);
}

std::vector<std::size_t> first_with_weights(const Network& network) {
    const auto* tied = std::get_if<TiedBranch>(&network.branch);
    const auto* aligned = std::get_if<AlignedBranch>(&network.branch);
    std::vector<std::size_t> first(network.mixers.size(), 0);
    if (tied != nullptr && tied->weights.empty()) return first;
    const std::vector<int> sets = tied != nullptr      ? tied->weights
                                  : aligned != nullptr ? aligned->weights
                                                       : std::vector<int>{};
    std::map<int, std::size_t> of_set;
    for (std::size_t l = 0; l < first.size(); ++l)
        first[l] = sets.empty() ? l : of_set.try_emplace(sets[l], l).first->second;
    return first;
}

bool noiseless(const Network& network) {
    const auto zero = [](double value) { return value == 0; };
    if (const auto* aligned = std::get_if<AlignedBranch>(&network.branch))
        return std::all_of(aligned->rest.begin(), aligned->rest.end(),
                           [&](const auto& set) { return std::all_of(set.begin(), set.end(), zero); });
    const auto all = sigma2(network);
    return std::all_of(all.begin(), all.end(), zero);
}

bool isotropic_gaussian(const Network& network) {
    const auto* branch = std::get_if<IsotropicBranch>(&network.branch);
    return branch != nullptr && branch->law.empty();
}

std::vector<double> branch_law(const Network& network, std::size_t layer) {
    const auto set = [&](const BranchLaw& law) {
        return law.empty() ? std::vector<double>() : set_of(law, layer);
    };
    return std::visit(Overloaded{[&](const IsotropicBranch& branch) { return set(branch.law); },
                                 [&](const HyperConnectionBranch& branch) { return set(branch.law); },
                                 [&](const AlignedBranch& branch) { return branch.rest[layer]; },
                                 [](const auto&) { return std::vector<double>(); }},
                      network.branch);
}

void check(const Network& network) {
    const auto as_size = [](int value) { return value < 0 ? 0 : static_cast<std::size_t>(value); };
    check_range("the number of streams", as_size(network.streams), max_streams);
    check_range("the width", as_size(network.width), max_width);
    check_range("the depth", network.mixers.size(), max_depth);
    for (std::size_t l = 0; l < network.mixers.size(); ++l)
        check_mixer(network.mixers[l], network.streams, l + 1);
    std::visit(Overloaded{[&](const AlignedBranch& branch) { check_branch(branch, network); },
                          [&](const auto& branch) {
                              check_branch(branch, network.streams, network.mixers.size());
                          }},
               network.branch);
}

}  // namespace spectra
