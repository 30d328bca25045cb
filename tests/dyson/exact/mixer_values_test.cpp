#include "dyson/exact/mixer_values.hpp"

#include "support/networks.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace spectra::dyson {
namespace {

TEST(MixerValues, OfAProductKeepRelativeAccuracy) {
    // U_l D V_lᵀ with matching rotations multiply to known values, 60 layers deep: 1, 1e-60, 1e-300.
    const int depth = 60;
    std::vector<Mixer> mixers;
    Mixer rotation = Mixer::Identity(3, 3);
    for (int l = 0; l < depth; ++l) {
        random::Stream stream(5, random::Purpose::test, static_cast<std::uint32_t>(l));
        mixers::Recipe recipe;
        recipe.family = mixers::Family::orthogonal;
        const Mixer next = mixers::draw(recipe, 3, stream);
        mixers.push_back(next * Eigen::Vector3d(1, 0.1, 1e-5).asDiagonal() * rotation.transpose());
        rotation = next;
    }
    const auto values = log_singular_values_of_product(mixers);
    EXPECT_NEAR(values[0], 0, 1e-12);
    EXPECT_NEAR(values[1], depth * std::log(0.1), 1e-10);
    EXPECT_NEAR(values[2], depth * std::log(1e-5), 1e-9);
}

TEST(MixerValues, OfLayersAreThoseOfEachMixer) {
    const Mixer a = Eigen::Vector2d(3, -0.5).asDiagonal(), b = Eigen::Vector2d(0, 2).asDiagonal();
    const auto values = layer_singular_values(tests::make_network({a, a, b}, 1, {0, 0, 0}));
    ASSERT_EQ(values.size(), 3u);
    EXPECT_DOUBLE_EQ(values[1](0), 3);
    EXPECT_DOUBLE_EQ(values[1](1), 0.5);
    EXPECT_DOUBLE_EQ(values[2](0), 2);
    EXPECT_EQ(values[2](1), 0);
}

}  // namespace
}  // namespace spectra::dyson
