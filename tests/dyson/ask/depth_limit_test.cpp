#include "dyson/ask/depth_limit.hpp"

#include "dyson/law/potential.hpp"
#include "dyson/law/theory.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace spectra::dyson {
namespace {

using mixers::Family;
using tests::draw_network;
using tests::make_network;

/// a^L ≥ 0.1 keeps everything: without noise the answer is known.
TEST(DepthLimit, OfAScalarIsALogarithm) {
    for (const double a : {0.5, 0.9, 0.99, 0.999}) {
        const auto network_of = [a](int depth) {
            return make_network(Mixer::Constant(1, 1, a), depth, 1, 0.0);
        };
        DepthLimitOptions options;
        options.max_depth = 5000;
        const DepthLimit limit = depth_limit(network_of, options);
        EXPECT_EQ(limit.depth, static_cast<int>(std::log(0.1) / std::log(a))) << a;
        EXPECT_TRUE(limit.failed && limit.certified);
        EXPECT_TRUE(limit.again.empty());
        EXPECT_LE(limit.points.size(), 100U);
    }
}

/// Against whole laws, depth by depth.
TEST(DepthLimit, IsTheFirstDepthWhoseLawFails) {
    for (const Family family : {Family::spectral_sphere, Family::gaussian, Family::cayley_hybrid}) {
        const auto network_of = [family](int depth) { return draw_network(family, 4, depth, 1, 0.2); };
        const DepthLimit limit = depth_limit(network_of, {.keep = 0.8, .max_depth = 100});
        ASSERT_TRUE(limit.failed && limit.certified) << mixers::name(family);
        for (int depth = 1; depth <= std::min(limit.depth + 1, 4); ++depth) {
            const Theory theory = solve(network_of(depth), Method::operator_valued);
            const double share = 1 - theory.law.cdf(std::log(0.1));
            EXPECT_NEAR(limit.points[static_cast<std::size_t>(depth - 1)].share, share, 1e-6);
            EXPECT_EQ(share >= 0.8, depth <= limit.depth) << mixers::name(family) << ", L = " << depth;
        }
    }
}

TEST(DepthLimit, BisectsBeyondSixtyFour) {
    // Fixed noise a layer: identity mixers lose their spectrum slowly.
    const auto network_of = [](int depth) { return make_network(Mixer::Identity(2, 2), depth, 1, 0.01); };
    const DepthLimit limit = depth_limit(network_of);
    ASSERT_TRUE(limit.failed && limit.certified);
    const auto share = [&](int depth) { return 1 - mass_below(network_of(depth), {std::log(0.1)})[0].mass; };
    EXPECT_GT(limit.depth, 128);
    EXPECT_GE(share(limit.depth), 0.9);
    EXPECT_LT(share(limit.depth + 1), 0.9);
    EXPECT_LT(limit.points.size(), 80U);
}

TEST(DepthLimit, SaysWhereNothingFails) {
    const auto network_of = [](int depth) { return draw_network(Family::orthogonal, 2, depth, 1, 0.05); };
    const DepthLimit limit = depth_limit(network_of, {.max_depth = 150});
    EXPECT_FALSE(limit.failed);
    EXPECT_TRUE(limit.certified);
    EXPECT_EQ(limit.depth, 150);
    EXPECT_EQ(limit.points.back().depth, 150);
}

/// A network whose third layer collapses and whose fourth brings everything back.
TEST(DepthLimit, SaysWhereTheShareReturns) {
    const auto network_of = [](int depth) {
        std::vector<Mixer> mixers(static_cast<std::size_t>(depth), Mixer::Identity(2, 2));
        if (depth > 2) mixers[2] *= 0.01;
        if (depth > 3) mixers[3] *= 100;
        return make_network(mixers, 1, std::vector<double>(mixers.size(), 1e-4));
    };
    const DepthLimit limit = depth_limit(network_of, {.max_depth = 12});
    EXPECT_EQ(limit.depth, 2);
    EXPECT_EQ(limit.again, (std::vector<int>{4, 6, 12}));
}

TEST(DepthLimit, OneLayerMayFail) {
    const auto network_of = [](int depth) { return make_network(Mixer::Zero(2, 2), depth, 1, 1e-4); };
    const DepthLimit limit = depth_limit(network_of, {.max_depth = 3});
    EXPECT_EQ(limit.depth, 0);
    EXPECT_TRUE(limit.failed && limit.certified);
}

TEST(DepthLimit, StopsWhereItIsTold) {
    const auto network_of = [](int depth) { return draw_network(Family::orthogonal, 2, depth, 1, 0.05); };
    DepthLimitOptions options;
    options.proceed = [](int depth) { return depth < 5; };
    const DepthLimit limit = depth_limit(network_of, options);
    EXPECT_TRUE(limit.stopped);
    EXPECT_FALSE(limit.certified || limit.failed);
    EXPECT_EQ(limit.depth, 4);
}

}  // namespace
}  // namespace spectra::dyson
