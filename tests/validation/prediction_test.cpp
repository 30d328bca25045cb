#include "validation/prediction.hpp"

#include "support/measured_stack.hpp"
#include "mixers/defects.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace spectra::validation {
namespace {

using spectra::testing::measured_stack;

std::vector<Mixer> drawn(mixers::Family family, int depth) {
    mixers::Recipe recipe;
    recipe.family = family;
    return mixers::draw_layers(recipe, 4, depth, false, 7);
}

Spectrum law_of(const std::vector<double>& values) {
    std::vector<double> logs;
    for (const double v : values) logs.push_back(std::log(v));
    return Spectrum::from_log_values(logs);
}

double distance(const layouts::Measurement& m, Part part) {
    const auto p = predict(part, {network_of(m, part)}, 1);
    EXPECT_TRUE(p.certificate.certified) << p.certificate.message;
    return agreement(p.law, law_of(m.singular_values)).wasserstein1;
}

// The full prediction knows pre, post and the branches' singular values; the parts know less, and are further
// off where that matters.
TEST(Prediction, OfMixesReadByTheBranch) {
    for (const auto family : {mixers::Family::bistochastic, mixers::Family::orthogonal}) {
        const auto m = measured_stack(drawn(family, 6), 80, 0.5, true, 3);
        const double full = distance(m, Part::full);
        EXPECT_LT(full, 0.01);
        EXPECT_GT(distance(m, Part::mixers), 3 * full);
        EXPECT_GT(distance(m, Part::isotropic), 2 * full);
    }
}

TEST(Prediction, OfBranchesWithoutStructure) {
    const auto m = measured_stack(drawn(mixers::Family::cayley_hybrid, 6), 40, 0.3, false, 5);
    EXPECT_LT(distance(m, Part::full), 0.01);
    EXPECT_LT(distance(m, Part::isotropic), 0.012);
}

// Weights used again: independent branches of the same laws would be far off.
TEST(Prediction, OfSharedWeights) {
    const auto m = measured_stack(drawn(mixers::Family::orthogonal, 8), 64, 0.5, true, 11, 2);
    EXPECT_LT(distance(m, Part::full), 0.015);
    auto unshared = m;
    for (std::size_t l = 0; l < unshared.branches.size(); ++l)
        unshared.branches[l].weights = static_cast<int>(l);
    EXPECT_GT(distance(unshared, Part::full), 2 * distance(m, Part::full));
}

TEST(Prediction, OfMixersAloneIsTheirProduct) {
    const auto m = measured_stack(drawn(mixers::Family::bistochastic, 3), 8, 0.5, true, 3);
    const auto p = predict(Part::mixers, {network_of(m, Part::mixers)}, 1);
    Mixer product = Mixer::Identity(4, 4);
    for (const auto& c : m.stack.connections) product = (c.mixer * product).eval();
    const auto values = mixers::singular_values(product);
    EXPECT_NEAR(p.metrics.largest, values(0), 1e-9);
    EXPECT_NEAR(p.metrics.smallest, values(3), 1e-9);
    EXPECT_NEAR(p.metrics.mean_square, values.squaredNorm() / 4, 1e-9);
}

TEST(Prediction, OneConnectionAsANetworkOfItsOwn) {
    for (const bool mix : {true, false}) {
        for (const int sets : {0, 2}) {
            const auto m = measured_stack(drawn(mixers::Family::bistochastic, 4), 60, 0.6, mix, 2, sets);
            const auto network = network_of(m, Part::full);
            for (const std::size_t l : {0U, 3U}) {
                const auto p = predict(Part::full, {layer_of(network, l)}, 1);
                EXPECT_TRUE(p.certificate.certified) << p.certificate.message;
                EXPECT_LT(agreement(p.law, law_of(m.branches[l].values)).wasserstein1, 0.012)
                    << mix << sets << l;
            }
        }
    }
}

// Close to orthogonal, one layer: bands of a fifth of the mass that are 1e-4 wide. The search for them fails,
// the count does not.
TEST(Prediction, OfALawWhoseBandsAreNotFoundIsCounted) {
    Network network;
    network.streams = 4;
    Mixer mixer(4, 4);
    mixer << 0.995307, -0.0703901, -0.0148264, 0.0638525, 0.0696165, 0.996552, -0.0442628, 0.00294483,
        0.032966, 0.0414011, 0.969237, -0.238256, -0.0576066, 0.0120626, 0.239557, 0.968561;
    network.mixers.push_back(mixer);
    const Eigen::Vector4d pre(0.461865, 0.884231, 0.198338, 0.691079),
        post(0.945228, 0.992233, 1.33608, 0.617296);
    HyperConnectionBranch branch;
    branch.sigma2.push_back(0.05);
    branch.pre.emplace_back(pre);
    branch.post.emplace_back(post);
    network.branch = branch;
    const auto p = predict(Part::full, {network}, 1);
    EXPECT_TRUE(p.certificate.certified) << p.certificate.message;
    ASSERT_TRUE(p.counted_error);
    EXPECT_LT(*p.counted_error, 1e-4);
    EXPECT_NEAR(p.law.mass(), 1, 1e-6);
    EXPECT_NEAR(p.metrics.mean_square, p.theories.front().summary.mean_square_exact, 1e-3);
}

TEST(Prediction, SeveralInputsInEqualShares) {
    const auto a = measured_stack(drawn(mixers::Family::orthogonal, 2), 10, 0.2, false, 1);
    const auto b = measured_stack(drawn(mixers::Family::gaussian, 2), 10, 0.2, false, 2);
    const auto both =
        predict(Part::isotropic, {network_of(a, Part::isotropic), network_of(b, Part::isotropic)}, 2);
    const auto first = predict(Part::isotropic, {network_of(a, Part::isotropic)}, 1);
    const auto second = predict(Part::isotropic, {network_of(b, Part::isotropic)}, 1);
    EXPECT_NEAR(both.metrics.window, (first.metrics.window + second.metrics.window) / 2, 5e-4);
    EXPECT_NEAR(both.metrics.mean_square, (first.metrics.mean_square + second.metrics.mean_square) / 2,
                2e-3 * both.metrics.mean_square);
    EXPECT_EQ(both.theories.size(), 2U);
}

// A file's mixers: the noise is what was assumed, between pre and post where it has them.
TEST(Prediction, OfAFilesMixers) {
    auto stack = measured_stack(drawn(mixers::Family::bistochastic, 4), 10, 0.2, true, 1).stack;
    const auto hyper = network_of(stack, 0.1);
    EXPECT_EQ(branch_name(hyper.branch), "hyper-connection");
    EXPECT_DOUBLE_EQ(sigma2(hyper)[2], 0.025);
    for (auto& c : stack.connections) c.pre = c.post = Eigen::VectorXd();
    EXPECT_EQ(branch_name(network_of(stack, 0.1).branch), "isotropic");
}

}  // namespace
}  // namespace spectra::validation
