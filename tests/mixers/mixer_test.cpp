#include "mixers/mixer.hpp"

#include "mixers/defects.hpp"
#include "mixers/draws.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace spectra::mixers {
namespace {

using testing::recipe_of;
using testing::sizes;
using testing::stream_of;

/// The message of the std::invalid_argument that `action` throws; empty where it throws none.
std::string complaint(const std::function<void()>& action) {
    try {
        action();
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return {};
}

TEST(Mixer, FamiliesHaveTheNamesUsersType) {
    const std::vector<std::string> expected{"identity",      "bistochastic",    "orthogonal", "cayley",
                                            "cayley-hybrid", "spectral-sphere", "grassmann",  "permutation",
                                            "householder",   "gaussian"};
    std::vector<std::string> found;
    for (const Family family : all_families()) {
        found.emplace_back(name(family));
        EXPECT_EQ(find_family(name(family)), family);
    }
    EXPECT_EQ(found, expected);
    for (const char* wrong : {"", "Cayley", "cayley_hybrid", "cayle", "cayley "})
        EXPECT_FALSE(find_family(wrong).has_value()) << wrong;
}

TEST(Mixer, EveryFamilyDrawsAtEverySize) {
    for (const Family family : all_families()) {
        for (const int n : sizes) {
            random::Stream stream = stream_of(0, n);
            const Mixer a = draw(recipe_of(family), n, stream);
            EXPECT_EQ(a.rows(), n);
            EXPECT_EQ(a.cols(), n);
            EXPECT_TRUE(a.allFinite()) << name(family) << ' ' << n;
        }
    }
    random::Stream stream = stream_of(0);
    EXPECT_EQ(identity_distance(draw(Recipe{}, 5, stream)), 0.0);
}

TEST(Mixer, OneStreamIsWhatTheFamilySays) {
    const auto one = [](Family family) {
        random::Stream stream = stream_of(0);
        return draw(recipe_of(family), 1, stream)(0, 0);
    };
    for (const Family family : {Family::identity, Family::bistochastic, Family::cayley,
                                Family::spectral_sphere, Family::grassmann, Family::permutation})
        EXPECT_DOUBLE_EQ(one(family), 1.0) << name(family);
    EXPECT_DOUBLE_EQ(std::abs(one(Family::orthogonal)), 1.0);
    EXPECT_DOUBLE_EQ(one(Family::householder), 0.0);  // β = 1
}

TEST(Mixer, SameSeedSameMixers) {
    for (const Family family : all_families()) {
        const auto first = draw_layers(recipe_of(family), 4, 6, false, 17, 2);
        EXPECT_EQ(first, draw_layers(recipe_of(family), 4, 6, false, 17, 2)) << name(family);
        // Depth does not change the layers below it.
        const auto shallow = draw_layers(recipe_of(family), 4, 3, false, 17, 2);
        EXPECT_TRUE(std::equal(shallow.begin(), shallow.end(), first.begin()));
    }
}

TEST(Mixer, LayersSeedsAndSamplesDiffer) {
    for (const Family family : all_families()) {
        if (family == Family::identity) continue;
        const Recipe recipe = recipe_of(family);
        std::vector<Mixer> all = draw_layers(recipe, 4, 4, false, 1, 0);
        for (const auto& [seed, sample] : std::vector<std::pair<std::uint64_t, std::uint32_t>>{
                 {1, 1}, {2, 0}, {1ULL << 32U, 0}, {(1ULL << 32U) + 1, 0}}) {
            for (const Mixer& a : draw_layers(recipe, 4, 4, false, seed, sample)) all.push_back(a);
        }
        ASSERT_EQ(all.size(), 20U);
        for (std::size_t i = 0; i < all.size(); ++i)
            for (std::size_t j = 0; j < i; ++j)
                EXPECT_GT((all[i] - all[j]).cwiseAbs().maxCoeff(), 1e-6)
                    << name(family) << ' ' << i << ' ' << j;
    }
}

TEST(Mixer, SharedLayersAreTheFirst) {
    for (const Family family : all_families()) {
        const auto shared = draw_layers(recipe_of(family), 3, 5, true, 9);
        const auto separate = draw_layers(recipe_of(family), 3, 5, false, 9);
        ASSERT_EQ(shared.size(), 5U);
        for (const Mixer& a : shared) EXPECT_EQ(a, separate.front());
    }
    EXPECT_TRUE(draw_layers(Recipe{}, 3, 0, true, 9).empty());
    EXPECT_TRUE(draw_layers(Recipe{}, 3, 0, false, 9).empty());
}

TEST(Mixer, LayersReadTheirOwnStream) {
    const Recipe recipe = recipe_of(Family::gaussian);
    const auto layers = draw_layers(recipe, 3, 4, false, 21, 6);
    for (std::uint32_t l = 0; l < 4; ++l) {
        random::Stream stream(21, random::Purpose::mixer, l, 6);
        EXPECT_EQ(layers[l], draw(recipe, 3, stream));
    }
}

TEST(Mixer, CheckNamesTheField) {
    struct Case {
        Family family;
        std::function<void(Recipe&)> spoil;
        std::string begins;
    };
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    const std::vector<Case> cases{
        {Family::grassmann, [](Recipe& r) { r.rank = 9; }, "`rank` 9: must be 0 to 4"},
        {Family::grassmann, [](Recipe& r) { r.rank = -1; }, "`rank` -1: must be 0 to 4"},
        {Family::cayley_hybrid, [](Recipe& r) { r.gate = 1.5; }, "`gate` 1.5: must be 0 to 1"},
        {Family::cayley_hybrid, [](Recipe& r) { r.gate = -0.1; }, "`gate` -0.1:"},
        {Family::cayley_hybrid, [nan](Recipe& r) { r.gate = nan; }, "`gate` nan:"},
        {Family::cayley_hybrid, [infinity](Recipe& r) { r.beta = infinity; }, "`beta` inf:"},
        {Family::householder, [nan](Recipe& r) { r.beta = nan; }, "`beta` nan:"},
        {Family::bistochastic, [](Recipe& r) { r.logit_scale = -1; }, "`logit_scale` -1:"},
        {Family::bistochastic, [infinity](Recipe& r) { r.logit_scale = infinity; }, "`logit_scale` inf:"},
        {Family::bistochastic, [](Recipe& r) { r.sinkhorn_iterations = 0; }, "`sinkhorn_iterations` 0:"},
        {Family::cayley, [nan](Recipe& r) { r.logit_scale = nan; }, "`logit_scale` nan:"},
        {Family::cayley, [](Recipe& r) { r.cayley_step = 0; }, "`cayley_step` 0:"},
        {Family::cayley, [](Recipe& r) { r.cayley_step = -0.1; }, "`cayley_step` -0.1:"},
        {Family::cayley, [infinity](Recipe& r) { r.cayley_step = infinity; }, "`cayley_step` inf:"},
        {Family::cayley, [](Recipe& r) { r.cayley_iterations = 0; }, "`cayley_iterations` 0:"},
        {Family::permutation, [](Recipe& r) { r.permutations = 0; }, "`permutations` 0:"},
        {Family::permutation, [](Recipe& r) { r.permutations = 1000000000; }, "`permutations` 1000000000:"},
    };
    for (const Case& c : cases) {
        Recipe recipe = recipe_of(c.family);
        EXPECT_EQ(complaint([&] { check(recipe, 4); }), "");
        c.spoil(recipe);
        const std::string message = complaint([&] { check(recipe, 4); });
        EXPECT_EQ(message.rfind(c.begins, 0), 0U) << message;
        EXPECT_EQ(message.find('\n'), std::string::npos);
        EXPECT_NE(message.find("must be"), std::string::npos) << message;
        EXPECT_EQ(complaint([&] { draw_layers(recipe, 4, 2, false, 1); }), message);
        // A family that does not read the field does not mind.
        Recipe other = recipe;
        other.family = Family::orthogonal;
        EXPECT_EQ(complaint([&] { check(other, 4); }), "");
    }
    for (const Family family : all_families())
        for (const int n : {0, -3})
            EXPECT_EQ(complaint([&] { check(recipe_of(family), n); }).rfind("`streams`", 0), 0U);
}

TEST(Mixer, CheckAcceptsTheEnds) {
    Recipe recipe;
    recipe.logit_scale = 0;
    recipe.gate = 0;
    recipe.beta = -3;
    recipe.rank = 4;
    recipe.permutations = 1;
    recipe.cayley_iterations = 1;
    recipe.sinkhorn_iterations = 1;
    for (const Family family : all_families()) {
        recipe.family = family;
        EXPECT_NO_THROW(check(recipe, 4)) << name(family);
    }
    recipe.family = Family::bistochastic;
    recipe.sinkhorn_iterations.reset();
    random::Stream stream = stream_of(0);
    EXPECT_LE((draw(recipe, 4, stream).array() - 0.25).abs().maxCoeff(), 1e-15);
}

TEST(Mixer, OverflowIsAComplaintNotANan) {
    struct Case {
        Family family;
        std::function<void(Recipe&)> spoil;
        std::string begins;
    };
    const std::vector<Case> cases{
        {Family::bistochastic, [](Recipe& r) { r.logit_scale = 1e308; }, "`logit_scale` 1e+308:"},
        {Family::cayley, [](Recipe& r) { r.cayley_step = 1e200; },
         "`logit_scale` 1 with a Cayley step of 1e+200:"},
        {Family::cayley,
         [](Recipe& r) {
             r.cayley_step = 1e200;
             r.cayley_iterations.reset();
         },
         "`logit_scale` 1 with a Cayley step of 1e+200:"},
    };
    for (const Case& c : cases) {
        Recipe recipe = recipe_of(c.family);
        c.spoil(recipe);
        const std::string message = complaint([&] { draw_layers(recipe, 4, 1, false, 1); });
        EXPECT_EQ(message.rfind(c.begins, 0), 0U) << message;
        EXPECT_EQ(message.find('\n'), std::string::npos);
    }
}

}  // namespace
}  // namespace spectra::mixers
