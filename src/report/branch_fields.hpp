#pragma once

#include "network/network.hpp"

#include <optional>
#include <string>
#include <vector>

namespace spectra::report {

/// A network's branch as named fields, the same in the result file and in JSON. Fields that do not apply are
/// empty.
struct BranchFields {
    std::string branch;
    std::string activation = "none";
    std::optional<double> activation_probability;  ///< bernoulli only
    std::vector<double> sigma2;                    ///< L
    std::vector<double> sigma_w2;                  ///< L, activation
    std::vector<double> preactivation_variance;    ///< L, activation
    std::vector<std::vector<double>> pre, post;    ///< L×n, hyper-connection, also tied
    std::vector<int> weights;                      ///< L, tied: the set of every layer, if there are several
    BranchLaw branch_singular_values;              ///< one set, or one per layer
};

BranchFields branch_fields(const Network& network);

}  // namespace spectra::report
