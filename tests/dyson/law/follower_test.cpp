#include "dyson/law/theory.hpp"

#include "mixers/mixer.hpp"
#include "spectrum/metrics.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <tuple>

namespace spectra::dyson {
namespace {

/// A network whose parameters move.
struct Moving {
    mixers::Family family = mixers::Family::bistochastic;
    int streams = 3, depth = 4;
    double noise = 0.1, gate = 0.7, beta = 1, logit_scale = 1;

    Network network() const {
        mixers::Recipe recipe;
        recipe.family = family;
        recipe.gate = gate;
        recipe.beta = beta;
        recipe.logit_scale = logit_scale;
        Network network;
        network.streams = streams;
        network.mixers = mixers::draw_layers(recipe, streams, depth, false, 3);
        network.branch = IsotropicBranch{std::vector<double>(static_cast<std::size_t>(depth), noise / depth)};
        return network;
    }
};

void expect_same_law(const Theory& warm, const Theory& cold, const std::string& words) {
    constexpr double tolerance = 1e-9;
    EXPECT_EQ(warm.summary.certified, cold.summary.certified) << words << ": " << warm.summary.message;
    const Metrics found = warm.law.metrics(), expected = cold.law.metrics();
    for (const auto& metric : metric_names) {
        const double x = found.*metric.member, y = expected.*metric.member;
        if (x == y) continue;
        EXPECT_NEAR(x, y, tolerance * std::max(1.0, std::abs(y))) << words << ": " << metric.name;
    }
    // How finely a panel is cut depends on the last Newton step of its points, and so on where they started.
    if (warm.curve.size() != cold.curve.size()) return;
    double largest = 1;
    for (const double density : cold.curve.density_log) largest = std::max(largest, density);
    for (std::size_t k = 0; k < cold.curve.size(); ++k) {
        ASSERT_NEAR(warm.curve.log_s[k], cold.curve.log_s[k], tolerance * (1 + std::abs(cold.curve.log_s[k])))
            << words;
        // Rounding is magnified next to an edge, where the density is a square root.
        ASSERT_NEAR(warm.curve.density_log[k], cold.curve.density_log[k], 100 * tolerance * largest) << words;
    }
}

TEST(Follower, FiftySmallStepsGiveTheLawOfAColdStartInFewerPasses) {
    std::mt19937_64 random(5);
    const auto uniform = [&](double least, double most) {
        return least + (most - least) * static_cast<double>(random() >> 11) * 0x1p-53;
    };
    long warm_passes = 0, cold_passes = 0;
    int steps = 0;
    for (const auto family :
         {mixers::Family::bistochastic, mixers::Family::cayley, mixers::Family::cayley_hybrid,
          mixers::Family::householder, mixers::Family::permutation}) {
        for (const Method method : {Method::operator_valued, Method::scalar}) {
            Moving at;
            at.family = family;
            at.noise = uniform(0.02, 0.5);
            Options coarse, fine;
            coarse.points = 60;
            coarse.tolerance = 1e-3;
            fine.points = 100;
            Follower first, whole;
            first.solve(at.network(), method, coarse);
            whole.solve(at.network(), method, fine);
            for (int k = 0; k < 5; ++k, ++steps) {
                at.noise *= std::exp(uniform(-0.25, 0.25));
                at.gate += uniform(-0.02, 0.02);
                at.beta *= std::exp(uniform(-0.05, 0.05));
                at.logit_scale *= std::exp(uniform(-0.05, 0.05));
                const Network network = at.network();
                const std::string words =
                    std::string(mixers::name(family)) + ", " + name(method) + ", step " + std::to_string(k);
                warm_passes += first.solve(network, method, coarse).summary.passes;
                cold_passes += solve(network, method, coarse).summary.passes;
                expect_same_law(whole.solve(network, method, fine), solve(network, method, fine), words);
            }
        }
    }
    EXPECT_EQ(steps, 50);
    EXPECT_LT(static_cast<double>(warm_passes), 0.9 * static_cast<double>(cold_passes));
    RecordProperty("warm_over_cold",
                   std::to_string(static_cast<double>(warm_passes) / static_cast<double>(cold_passes)));
}

TEST(Follower, AnotherShapeOrALargeStepIsSolvedAnew) {
    Follower follower;
    Moving at;
    for (const auto& [depth, noise, streams] :
         {std::tuple{4, 0.1, 3}, {7, 0.1, 3}, {7, 30.0, 3}, {7, 1e-3, 3}, {7, 1e-3, 5}}) {
        at.depth = depth;
        at.noise = noise;
        at.streams = streams;
        const Network network = at.network();
        expect_same_law(follower.solve(network, Method::operator_valued),
                        solve(network, Method::operator_valued),
                        std::to_string(depth) + " layers, noise " + std::to_string(noise));
        EXPECT_TRUE(follower.has_law());
    }
    // A law of atoms has no bands.
    at.noise = 0;
    EXPECT_TRUE(follower.solve(at.network(), Method::operator_valued).summary.certified);
    EXPECT_FALSE(follower.has_law());
}

}  // namespace
}  // namespace spectra::dyson
