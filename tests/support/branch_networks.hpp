#pragma once

#include "network/connection.hpp"
#include "support/networks.hpp"

#include <ostream>
#include <string>
#include <vector>

namespace spectra::tests {

struct BranchNetwork {
    std::string name;
    Network network;
};

/// What GoogleTest prints of it.
inline void PrintTo(const BranchNetwork& one, std::ostream* out) {
    *out << one.name;
}

/// One small network of every branch, every layer different from the others.
inline std::vector<BranchNetwork> branch_networks() {
    const auto network = [](mixers::Family family, int n, int depth, Branch branch) {
        Network result = draw_network(family, n, depth, 1, 0.0);
        result.branch = std::move(branch);
        return result;
    };
    using mixers::Family;
    const auto ways = draw_connections(3, 3, false, 5);
    const BranchLaw law{{0.1, 0.3, 0.5}, {0.2, 0.2, 0.6}, {0.05, 0.4, 0.45}};
    const ActivationBranch relu{{0.3, 0.2, 0.4}, activation_from_name("relu"), {}};
    const ActivationBranch gelu{{0.3, 0.2}, activation_from_name("gelu"), {1.0, 0.5}};
    return {
        {"isotropic", network(Family::gaussian, 2, 3, IsotropicBranch{{0.2, 0.05, 0.4}})},
        {"isotropic_partly_noiseless", network(Family::bistochastic, 3, 3, IsotropicBranch{{0.2, 0.0, 0.1}})},
        {"isotropic_law", network(Family::gaussian, 2, 3, IsotropicBranch{{}, law})},
        {"relu", network(Family::cayley, 2, 3, relu)},
        {"gelu", network(Family::gaussian, 1, 2, gelu)},
        {"hyper_connection",
         network(Family::bistochastic, 3, 3, HyperConnectionBranch{{0.3, 0.1, 0.2}, ways.pre, ways.post})},
        {"hyper_connection_law",
         network(Family::bistochastic, 3, 3, HyperConnectionBranch{{}, ways.pre, ways.post, law})},
        {"tied", network(Family::gaussian, 2, 3, tied_branch(3, 0.2))},
        {"tied_hyper_connection",
         network(Family::orthogonal, 3, 3, tied_branch(3, 0.2, ways.pre[0], ways.post[0]))},
        {"tied_by_turns",
         network(Family::gaussian, 2, 4, TiedBranch{{0.2, 0.1, 0.3, 0.05}, {}, {}, {1, 0, 1, 0}})},
        {"tied_hyper_connection_by_turns",
         network(Family::bistochastic, 3, 3, TiedBranch{{0.3, 0.1, 0.2}, ways.pre, ways.post, {0, 1, 0}})},
    };
}

}  // namespace spectra::tests
