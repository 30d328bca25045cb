#include "report/branch_fields.hpp"

#include <algorithm>

namespace spectra::report {

namespace {

std::vector<double> list(const Eigen::VectorXd& vector) {
    return {vector.begin(), vector.end()};
}

std::vector<std::vector<double>> lists(const std::vector<Eigen::VectorXd>& vectors) {
    std::vector<std::vector<double>> result;
    result.reserve(vectors.size());
    for (const auto& vector : vectors) result.push_back(list(vector));
    return result;
}

void add(BranchFields& fields, const IsotropicBranch& branch) {
    fields.branch_singular_values = branch.law;
}

void add(BranchFields& fields, const ActivationBranch& branch) {
    fields.activation = name(branch.activation);
    if (branch.activation.kind == ActivationKind::bernoulli)
        fields.activation_probability = branch.activation.probability;
    fields.sigma_w2 = branch.sigma_w2;
    fields.preactivation_variance = branch.preactivation_variance;
}

void add(BranchFields& fields, const HyperConnectionBranch& branch) {
    fields.pre = lists(branch.pre);
    fields.post = lists(branch.post);
    fields.branch_singular_values = branch.law;
}

void add(BranchFields& fields, const AlignedBranch& branch) {
    fields.pre = lists(branch.pre);
    fields.post = lists(branch.post);
    fields.branch_singular_values = branch.rest;
}

void add(BranchFields& fields, const TiedBranch& branch) {
    fields.pre = lists(branch.pre);
    fields.post = lists(branch.post);
    const auto& sets = branch.weights;
    const bool one = std::all_of(sets.begin(), sets.end(), [&](int set) { return set == sets.front(); });
    if (!one) fields.weights = sets;
}

}  // namespace

BranchFields branch_fields(const Network& network) {
    BranchFields fields;
    fields.branch = branch_name(network.branch);
    fields.sigma2 = sigma2(network);
    std::visit([&](const auto& branch) { add(fields, branch); }, network.branch);
    return fields;
}

}  // namespace spectra::report
