#include "mixers/mixer.hpp"
#include "validation/validation.hpp"

#include <gtest/gtest.h>

// Where the branches are assumed, no mixers can be expected to do better than the identity.
namespace spectra::validation {
namespace {

Validation validated(const std::vector<Mixer>& mixers, double noise) {
    layouts::Stack stack;
    stack.streams = static_cast<int>(mixers.front().rows());
    for (const auto& mixer : mixers) stack.connections.push_back({"", mixer, {}, {}});
    Validation v;
    add_stacks(v, {stack}, noise, 1);
    conclude(v, requirements_for(v));
    return v;
}

TEST(IdentityAsYardstick, PassesAtAnyNoise) {
    for (const double noise : {0.01, 0.05, 0.5, 2.0}) {
        const auto v = validated(std::vector<Mixer>(8, Mixer::Identity(4, 4)), noise);
        EXPECT_TRUE(v.verdict.pass) << noise << ": " << (v.verdict.reasons.empty() ? "" : v.verdict.reasons.front());
        ASSERT_TRUE(v.identity);
        EXPECT_NEAR(v.identity->window, v.predicted()->metrics.window, 1e-6);
    }
}

TEST(IdentityAsYardstick, CollapsingMixersFailAndBothNumbersAreGiven) {
    mixers::Recipe recipe;
    recipe.family = mixers::Family::bistochastic;
    const auto v = validated(mixers::draw_layers(recipe, 4, 8, false, 1), 0.05);
    EXPECT_FALSE(v.verdict.pass);
    ASSERT_FALSE(v.verdict.reasons.empty());
    EXPECT_NE(v.verdict.reasons.front().find("of the identity's 0.8893"), std::string::npos)
        << v.verdict.reasons.front();
}

TEST(IdentityAsYardstick, IsNotForMeasuredValues) {
    auto v = validated(std::vector<Mixer>(8, Mixer::Identity(4, 4)), 2.0);
    add_values(v, {{-0.1, 0.0, 0.1}}, "", double_resolution);
    EXPECT_EQ(requirements_for(v).front().threshold, 0.9);
}

}  // namespace
}  // namespace spectra::validation
