#include "validation/alignment.hpp"

#include "support/measured_stack.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace spectra::validation {
namespace {

using spectra::testing::measured_stack;

std::vector<Mixer> identities(int depth) {
    return std::vector<Mixer>(static_cast<std::size_t>(depth), Mixer::Identity(2, 2));
}

Spectrum law_of(const layouts::Measurement& m) {
    std::vector<double> logs;
    for (const double v : m.singular_values) logs.push_back(std::log(v));
    return Spectrum::from_log_values(logs);
}

TEST(Alignment, BranchesThatAreFreeNeedNone) {
    for (const bool mix : {true, false}) {
        const auto m = measured_stack(identities(5), mix ? 48 : 24, 0.4, mix, 3);
        const Alignment a = align({m}, law_of(m), {});
        EXPECT_GE(a.explain, 0.02);  // what one draw of this size is off
        ASSERT_TRUE(a.rank);
        EXPECT_EQ(*a.rank, 0);
        EXPECT_EQ(a.by_rank.size(), 1U);
        EXPECT_FALSE(a.theory);
    }
}

TEST(Alignment, TwoCommonDirectionsAreRankTwo) {
    const auto m = measured_stack(identities(5), 48, 0.4, true, 4, 0, 1.5);
    AlignmentOptions options;
    options.explain = 0.05;
    const Alignment a = align({m}, law_of(m), options);
    EXPECT_GT(a.by_rank.front().distance, options.explain);
    ASSERT_TRUE(a.rank);
    EXPECT_EQ(*a.rank, 2);
    EXPECT_GT(a.overlaps(4, 0), 5 * 2.0 / 48);
    ASSERT_TRUE(a.theory);
    EXPECT_TRUE(a.theory->certificate.certified) << a.theory->certificate.message;
    EXPECT_NEAR(a.theory->distance, a.best().distance, 0.005);
    EXPECT_NEAR(a.theory->metrics.largest / a.best().metrics.largest, 1, 0.05);
}

TEST(Alignment, EverythingKeptIsTheMeasurement) {
    for (const bool mix : {true, false}) {
        const auto m = measured_stack(identities(3), 12, 0.5, mix, 5, 0, 1);
        const int all = mix ? 12 : 24;
        const Alignment a = align({m}, law_of(m), {.rank = all, .stored = 3, .theory = false});
        ASSERT_TRUE(a.network);
        EXPECT_EQ(std::get<AlignedBranch>(a.network->branch).kept.front().count(), 3) << "what was to be stored";
        EXPECT_EQ(a.best().rank, all);
        EXPECT_LT(a.best().distance, 1e-10);
        EXPECT_NEAR(a.best().metrics.largest, m.singular_values.front(), 1e-8 * m.singular_values.front());
    }
}

// The branches of one set are the same matrix: keeping half of it with its vectors leaves a rest that is drawn once.
TEST(Alignment, SharedWeightsShareTheirRest) {
    const auto m = measured_stack(identities(4), 32, 0.4, true, 6, 1);
    const Network network = aligned_network(m, 4);
    EXPECT_EQ(first_with_weights(network), (std::vector<std::size_t>{0, 0, 0, 0}));
    const Alignment shared = align({m}, law_of(m), {.rank = 4, .theory = false});
    auto unshared = m;
    for (std::size_t l = 0; l < unshared.branches.size(); ++l) unshared.branches[l].weights = static_cast<int>(l);
    const Alignment independent = align({unshared}, law_of(m), {.rank = 4, .theory = false});
    EXPECT_LT(shared.by_rank.back().distance, independent.by_rank.back().distance);
}

}  // namespace
}  // namespace spectra::validation
