// Tied weights of a recursive model (docs/validation.md): the law by its distribution function, as `validate` solves it,
// against its density, in one run.
//
//     tied_bench [DEPTH]     24 connections in 4 sets of weights, n = 4

#include "dyson/law/theory.hpp"
#include "support/aligned_networks.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace {

using namespace spectra;

/// Connections as they are measured: mixers near the identity, no two alike, pre and post of all streams.
Network recursive(int depth) {
    constexpr int n = 4, sets = 4;
    std::mt19937 random(1);
    std::uniform_real_distribution<double> uniform;
    Network network;
    network.streams = n;
    network.width = 64;
    TiedBranch branch;
    for (int l = 0; l < depth; ++l) {
        network.mixers.emplace_back(Eigen::MatrixXd::Identity(n, n) +
                                    0.03 * tests::random_matrix(n, n, random));
        branch.weights.push_back(l % sets);
        branch.sigma2.push_back(0.02 + 0.02 * uniform(random));
        branch.pre.emplace_back(Eigen::VectorXd::NullaryExpr(n, [&] { return 0.2 + 0.1 * uniform(random); }));
        branch.post.emplace_back(
            Eigen::VectorXd::NullaryExpr(n, [&] { return 0.7 + 0.6 * uniform(random); }));
    }
    network.branch = std::move(branch);
    return network;
}

}  // namespace

int main(int argc, char** argv) {
    const int depth = argc > 1 ? std::atoi(argv[1]) : 24;
    const Network network = recursive(depth);
    dyson::Theory laws[2];
    for (const bool counting : {true, false}) {
        dyson::Options options;
        options.counting = counting;
        auto& law = laws[counting ? 0 : 1];
        law = dyson::solve(network, dyson::Method::operator_valued, options);
        std::printf("%d connections, %s: %.1f s, %ld Newton steps, %d points; %s\n", depth,
                    counting ? "distribution function" : "density", law.summary.seconds,
                    law.summary.newton_steps, law.summary.points, law.summary.message.c_str());
        std::fflush(stdout);
    }
    const double rms = std::sqrt(laws[1].summary.mean_square_exact);
    const double distance = agreement(laws[0].law, laws[1].law).wasserstein1 / rms;
    const double ratio = laws[1].summary.seconds / laws[0].summary.seconds;
    std::printf("ratio %.1f, W1 between the two %.1e of the root mean square\n", ratio, distance);
    return laws[0].summary.certified && ratio > 2 && distance < 2e-3 ? 0 : 1;
}
