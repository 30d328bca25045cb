#include "dyson/law/contour.hpp"

#include "dyson/equations/aligned.hpp"
#include "dyson/exact/support_bounds.hpp"
#include "dyson/law/potential.hpp"
#include "support/aligned_networks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace spectra::dyson {
namespace {

struct Moments {
    double mass = 0, mean = 0, spread = 0;
};

/// The plain way: F counted at many points between two gaps, and its moments by parts.
Moments counted(const Network& network, double lower, double upper) {
    constexpr int cells = 400;
    std::vector<double> places;
    for (int k = 0; k <= cells; ++k)
        places.push_back(std::log(std::lerp(lower, upper, static_cast<double>(k) / cells)));
    const auto counts = mass_below(network, places);
    Moments found;
    double first = 0, second = 0;
    for (int k = 0; k < cells; ++k) {
        const auto i = static_cast<std::size_t>(k);
        const double s = 0.5 * (std::exp(places[i]) + std::exp(places[i + 1]));
        const double mass = counts[i + 1].mass - counts[i].mass;
        found.mass += mass;
        first += mass * s;
        second += mass * s * s;
    }
    found.mean = first / found.mass;
    found.spread = std::sqrt(second / found.mass - found.mean * found.mean);
    return found;
}

// One triplet that all layers share: one value above everything else.
TEST(Contour, FindsTheBandThatCountingFinds) {
    const Network network = tests::aligned_network({.streams = 1, .width = 24, .depth = 3, .rank = 1});
    const double upper = std::exp(support_bounds(network).log_upper);
    Tracker tracker(make_aligned(network), std::log(upper), {std::log(upper)});
    // Between it and the next: half of all points there have one value above.
    double lower = upper;
    while (std::lround((1 - mass_below(network, {std::log(lower)}).front().mass) * network.size()) < 1)
        lower *= 0.95;
    lower *= 0.85;
    const double top = 1.2 * lower / 0.85;
    const Moments plain = counted(network, lower, top);
    ASSERT_NEAR(plain.mass * network.size(), 1, 1e-3);
    const Solution near = tracker.solve(std::log(top), 1e-3);
    ASSERT_TRUE(near.ok());
    const Solution far = tracker.solve(std::log(lower), 1e-3);
    const Inside found = inside(tracker, lower, top, far, near);
    ASSERT_TRUE(found.solved);
    EXPECT_NEAR(found.mass, plain.mass, 0.02 * plain.mass);
    EXPECT_NEAR(found.mean, plain.mean, 1e-3 * plain.mean);
    EXPECT_LT(found.spread, 0.1 * (top - lower));
}

// Points by themselves, weighted as the trapezoidal rule weights them.
TEST(Contour, WhatIsOutsideCountsByItsDistance) {
    Outside far(9, 11);
    far.add(20, 1);
    EXPECT_LT(std::abs(far.moments()[0]), 1e-9);
    Outside centre(9, 11);
    centre.add(10, 0.5);
    EXPECT_NEAR(centre.moments()[0], 0.5, 1e-9);
    Outside end(9, 11);
    end.add(11, 0.5);
    EXPECT_NEAR(end.moments()[0], 0.25, 1e-9);
    EXPECT_NEAR(end.moments()[1], 0.25, 1e-9);
}

}  // namespace
}  // namespace spectra::dyson
