#include "study/grid.hpp"

#include "support/expect_refused.hpp"

#include <gtest/gtest.h>

#include <set>

namespace spectra {
namespace {

using testing::expect_refused;
using Words = std::vector<std::string>;

study::SweepRequest grid(const std::vector<std::string>& mixers) {
    study::SweepRequest request;
    request.mixers = mixers;
    return request;
}

std::vector<std::string> names(const study::SweepRequest& request) {
    std::vector<std::string> all;
    for (const auto& point : study::grid_points(request)) all.push_back(point.name);
    return all;
}

TEST(Grid, HasEveryCombinationWithSeedsFastest) {
    auto request = grid({"cayley", "bistochastic"});
    request.depths = {2, 10};
    request.noises = {0.05, 0.2};
    request.seeds = {1, 7};
    const auto points = study::grid_points(request);
    ASSERT_EQ(points.size(), 16u);
    EXPECT_EQ(points[0].name, "cayley-L2-noise0.05-seed1");
    EXPECT_EQ(points[1].name, "cayley-L2-noise0.05-seed7");
    EXPECT_EQ(points[2].name, "cayley-L2-noise0.2-seed1");
    EXPECT_EQ(points[4].name, "cayley-L10-noise0.05-seed1");
    EXPECT_EQ(points[15].name, "bistochastic-L10-noise0.2-seed7");
    EXPECT_EQ(points[15].request.mixer, "bistochastic");
    EXPECT_EQ(points[15].request.depth, 10);
    EXPECT_EQ(points[15].request.noise, 0.2);
    EXPECT_EQ(points[15].request.seed, 7u);
}

TEST(Grid, NamesDependOnTheNetworkAlone) {
    EXPECT_EQ(names(grid({"cayley"})), Words{"cayley-L10-noise0.05-seed1"});
    auto request = grid({"cayley"});
    request.streams = {4, 8};
    request.widths = {25, 50};
    request.branches = {"isotropic", "tied"};
    const auto all = names(request);
    EXPECT_EQ(all.front(), "cayley-L10-noise0.05-seed1");
    EXPECT_EQ(all.back(), "cayley-tied-n8-p50-L10-noise0.05-seed1");
    EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 8u);
    auto own = grid({"cayley"});
    own.each.sigma2 = std::vector<double>{0.01};
    EXPECT_EQ(names(own), Words{"cayley-L10-seed1"});
    EXPECT_EQ(names(grid({"some where/my mixers.v2.csv"})), Words{"my_mixers.v2-noise0.05-seed1"});
}

TEST(Grid, RefusesTwoNetworksOfOneName) {
    expect_refused(
        [] {
            study::grid_points(grid({"a/x.csv", "b/x.csv"}));
        },
        {"a/x.csv", "b/x.csv", "x-noise0.05-seed1"});
    expect_refused([] { study::grid_points(grid({})); }, {"sweep", "`mixers`"});
    auto large = grid({"cayley"});
    for (int k = 1; k <= 400; ++k) {
        large.depths.push_back(k);
        large.widths.push_back(k);
    }
    expect_refused([&] { study::grid_points(large); }, {"100000"});
}

TEST(Grid, GivesAFieldToThoseThatUseIt) {
    auto request = grid({"cayley", "cayley-hybrid"});
    request.branches = {"isotropic", "activation"};
    request.each.recipe.gate = 0.5;
    request.each.family_fields = {"gate"};
    request.each.activation = "tanh";
    const auto points = study::grid_points(request);
    ASSERT_EQ(points.size(), 4u);
    EXPECT_EQ(points[0].unused, (Words{"gate", "activation"}));
    EXPECT_FALSE(points[0].request.activation);
    EXPECT_TRUE(points[0].request.family_fields.empty());
    EXPECT_EQ(points[1].unused, Words{"gate"});
    EXPECT_EQ(points[3].unused, Words{});
    EXPECT_EQ(points[3].request.activation, "tanh");
    request.mixers = {"cayley", "orthogonal"};
    expect_refused([&] { study::grid_points(request); }, {"`gate`", "no network of the grid"});
}

}  // namespace
}  // namespace spectra
