#include "dyson/equations/chain.hpp"
#include "mixers/mixer.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace spectra::dyson {
namespace {

/// Every kind of branch with one draw of the sites, on mixers that lose directions.
std::vector<std::pair<std::string, Network>> networks(int streams, int depth) {
    const Network isotropic = tests::draw_network(mixers::Family::bistochastic, streams, depth, 1, 0.3);
    const std::vector<double> sigma2 = std::get<IsotropicBranch>(isotropic.branch).sigma2;
    const BranchLaw law(static_cast<std::size_t>(depth), {0.1, 0.2, 0.25, 0.4});
    std::vector<Eigen::VectorXd> pre, post;
    for (int l = 0; l < depth; ++l) {
        pre.push_back(Eigen::VectorXd::LinSpaced(streams, 0.3, 0.9 + 0.05 * l));
        post.push_back(Eigen::VectorXd::LinSpaced(streams, 1.1 - 0.03 * l, 0.4));
    }
    std::vector<std::pair<std::string, Network>> result{{"isotropic", isotropic}};
    Network other = isotropic;
    other.branch = IsotropicBranch{{}, law};
    result.emplace_back("law", other);
    other.branch = HyperConnectionBranch{sigma2, pre, post, {}};
    result.emplace_back("hyper-connection", other);
    other.branch = HyperConnectionBranch{{}, pre, post, law};
    result.emplace_back("hyper-connection of a law", other);
    return result;
}

TEST(Embedding, NewtonStepsAreThoseOfTheDenseSolution) {
    for (const int streams : {1, 2, 3, 4, 5, 8}) {
        for (const int depth : {1, 2, 3, 9}) {
            for (const auto& [name, network] : networks(streams, depth)) {
                const auto dense = make_chain(network, LinearSolver::dense);
                const auto direct = make_chain(network, LinearSolver::direct);
                for (const Frequency omega :
                     {Frequency{0.2, {1.0, 0.4}}, {-1.0, {0.0, 1.0}}, {-3.0, {1.0, 0.2}}}) {
                    // Far from a solution on purpose: the linear equation is what is compared.
                    Unknowns m = dense->far(omega);
                    for (Eigen::Index i = 0; i < m.size(); ++i)
                        m(i) *= Complex(1 + 0.02 * static_cast<double>(i % 5),
                                        -0.03 * static_cast<double>(i % 3));
                    Unknowns expected, delta;
                    ASSERT_TRUE(dense->newton_step(omega, m, expected));
                    ASSERT_TRUE(direct->newton_step(omega, m, delta));
                    EXPECT_LT((delta - expected).cwiseAbs().maxCoeff(),
                              1e-10 * (1 + expected.cwiseAbs().maxCoeff()))
                        << name << ", n = " << streams << ", L = " << depth << ", ln s = " << omega.log_scale;
                }
            }
        }
    }
}

TEST(Embedding, AChordIsTheNewtonStepOfTheLastLinearisedEquation) {
    const Frequency omega{-1.0, {1.0, 0.3}};
    for (const LinearSolver solver : {LinearSolver::dense, LinearSolver::direct}) {
        for (const int streams : {1, 2, 4, 5, 8}) {
            for (const int depth : {1, 2, 9}) {
                for (const auto& [name, network] : networks(streams, depth)) {
                    const auto equation = make_chain(network, solver);
                    const Unknowns m = equation->far(omega);
                    Unknowns step, chord, moved_step;
                    EXPECT_FALSE(equation->chord_step(omega, m, chord)) << "before any Newton step";
                    ASSERT_TRUE(equation->newton_step(omega, m, step));
                    if (name.ends_with("law")) {
                        EXPECT_FALSE(equation->chord_step(omega, m, chord)) << name;
                        continue;
                    }
                    const double size = step.cwiseAbs().maxCoeff();
                    ASSERT_TRUE(equation->chord_step(omega, m, chord));
                    EXPECT_LT((chord - step).cwiseAbs().maxCoeff(), 1e-10 * (1 + size))
                        << name << ", n = " << streams << ", L = " << depth;
                    // Elsewhere the linearised equation differs as much as the unknowns.
                    const Unknowns moved = equation->moved(m, step, 1e-6 / size);
                    ASSERT_TRUE(equation->chord_step(omega, moved, chord));
                    ASSERT_TRUE(equation->newton_step(omega, moved, moved_step));
                    EXPECT_LT((chord - moved_step).cwiseAbs().maxCoeff(), 1e-3 * (1 + size))
                        << name << ", n = " << streams << ", L = " << depth;
                    EXPECT_GT((chord - step).cwiseAbs().maxCoeff(), 0.5e-6) << "not computed anew";
                }
            }
        }
    }
}

TEST(Embedding, WantsOneDrawOfTheSites) {
    Network network = tests::draw_network(mixers::Family::identity, 2, 2, 1, 0.1);
    network.branch = ActivationBranch{{0.1, 0.1}, activation_from_name("relu"), {1.0, 1.0}};
    EXPECT_THROW(make_chain(network, LinearSolver::direct), std::invalid_argument);
}

}  // namespace
}  // namespace spectra::dyson
