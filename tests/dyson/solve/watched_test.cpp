#include "dyson/solve/watched.hpp"

#include "base/stop.hpp"
#include "dyson/law/theory.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>

#include <atomic>

namespace spectra::dyson {
namespace {

TEST(Watched, EveryStepIsSeenAndNothingChanges) {
    const auto network = tests::draw_network(mixers::Family::bistochastic, 3, 4, 1, 0.05);
    std::atomic<long> steps{0};
    Options options;
    options.threads = 2;
    const auto plain = solve(network, Method::operator_valued, options);
    options.on_step = [&] { ++steps; };
    const auto seen = solve(network, Method::operator_valued, options);
    EXPECT_GE(steps, seen.summary.newton_steps) << "followed solutions take steps that are not counted";
    EXPECT_EQ(seen.curve.log_s, plain.curve.log_s);
    EXPECT_EQ(seen.curve.density_log, plain.curve.density_log);
    EXPECT_EQ(seen.summary.newton_steps, plain.summary.newton_steps);
    EXPECT_EQ(seen.summary.passes, plain.summary.passes);
}

TEST(Watched, WhatAStepThrowsEndsTheSolve) {
    const auto network = tests::draw_network(mixers::Family::orthogonal, 3, 4, 1, 0.05);
    for (const int threads : {1, 3}) {
        std::atomic<int> steps{0};
        Options options;
        options.threads = threads;
        options.on_step = [&] {
            if (++steps > 100) throw Stopped{};
        };
        EXPECT_THROW(solve(network, Method::operator_valued, options), Stopped);
        EXPECT_LT(steps, 200) << "no thread goes on";
        EXPECT_THROW(green(network, std::vector<Complex>(200, {1.0, 1e-3}), options), Stopped);
    }
}

TEST(Watched, AStepTakesTime) {
    const auto small = tests::draw_network(mixers::Family::orthogonal, 2, 2, 1, 0.05);
    EXPECT_GT(seconds_per_step(small, Method::operator_valued), 0);
    EXPECT_EQ(seconds_per_step(tests::make_network(Mixer::Zero(2, 2), 2, 1, 0), Method::operator_valued), 0);
}

}  // namespace
}  // namespace spectra::dyson
