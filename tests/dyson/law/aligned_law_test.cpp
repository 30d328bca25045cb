#include "dyson/law/aligned_law.hpp"

#include "dyson/equations/aligned.hpp"
#include "dyson/equations/aligned_chain.hpp"
#include "dyson/exact/moments.hpp"
#include "dyson/exact/support_bounds.hpp"
#include "dyson/law/potential.hpp"
#include "support/aligned_networks.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace spectra::dyson {
namespace {

AlignedLaw law_of(const Network& network, int threads) {
    return solve_aligned(network, make_aligned(network), support_bounds(network).log_upper,
                         {.threads = threads});
}

// Places are solved just above the axis and corrected; on the axis, bands and gaps have conditions of their own.
TEST(AlignedLaw, CountsAreThoseOnTheAxis) {
    const Network network = tests::aligned_network({.streams = 2, .width = 12, .depth = 2, .rank = 2});
    const AlignedLaw law = law_of(network, 1);
    ASSERT_TRUE(law.certified) << law.message;
    const double rms = std::sqrt(mean_square(network));
    EXPECT_LT(law.error, 1e-3 * rms);
    EXPECT_NEAR(law.law.metrics().mean_square / (rms * rms), 1, 3e-3);
    std::vector<double> places;
    for (std::size_t k = 4; k + 1 < law.points.size(); k += 4)
        places.push_back(law.points[k].omega.log_scale);
    const auto exact = mass_below(network, places);
    int compared = 0;
    for (std::size_t k = 0; k < places.size(); ++k) {
        if (!exact[k].certified) continue;
        ++compared;
        EXPECT_NEAR(law.law.cdf(places[k]), exact[k].mass, 2e-5) << std::exp(places[k]);
    }
    EXPECT_GT(compared, 5);
}

TEST(AlignedLaw, DoesNotDependOnTheThreads) {
    // Large enough for estimated responses, which are corrected from step to step.
    const Network network = tests::aligned_network({.streams = 2, .width = 60, .depth = 4, .rank = 6});
    ASSERT_FALSE(AlignedChain(network).exact_response());
    const AlignedLaw one = law_of(network, 1), three = law_of(network, 3);
    ASSERT_EQ(one.points.size(), three.points.size());
    for (std::size_t k = 0; k < one.points.size(); ++k) {
        EXPECT_EQ(one.points[k].omega.log_scale, three.points[k].omega.log_scale);
        EXPECT_EQ(one.scaled_green[k], three.scaled_green[k])
            << std::abs(one.scaled_green[k] - three.scaled_green[k]);
    }
}

}  // namespace
}  // namespace spectra::dyson
