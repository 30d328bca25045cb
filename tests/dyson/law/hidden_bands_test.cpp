#include "dyson/law/theory.hpp"
#include "support/fuzz_checks.hpp"
#include "support/fuzz_models.hpp"

#include <gtest/gtest.h>

namespace spectra::dyson {
namespace {

constexpr std::uint64_t seed = 1;

Theory solved(const Network& network) {
    Options options;
    options.points = 100;
    options.threads = 2;
    return solve(network, Method::operator_valued, options);
}

/// Random networks whose laws have bands that no noiseless singular value marks (217), or that rounding hides in double
/// precision (34). Points that are solved one by one, from far away, must lie on the law.
TEST(HiddenBands, AreFound) {
    for (const std::uint32_t index : {34U, 217U}) {
        const auto model = tests::FuzzModels(seed)(index);
        const Theory theory = solved(model.network);
        EXPECT_TRUE(theory.summary.certified) << model.name << ": " << theory.summary.message;
        const Green points = green(model.network, tests::fuzz_points(model.network, index, 8, seed));
        EXPECT_EQ(tests::differs_from_law(points, theory.law), "") << model.name;
    }
}

/// One of three streams passes e^−200 alone.
TEST(HiddenBands, AreCountedWhereTheyAreBelowAnythingThatCounts) {
    const auto model = tests::FuzzModels(seed)(220);
    const Theory theory = solved(model.network);
    ASSERT_TRUE(theory.summary.certified) << model.name << ": " << theory.summary.message;
    ASSERT_TRUE(theory.summary.unresolved);
    EXPECT_NEAR(theory.summary.unresolved->mass, 1.0 / 3, 1e-7);
    EXPECT_LT(theory.summary.unresolved->log_below, -41.5);
    EXPECT_NEAR(theory.law.mass(), 1, 1e-7);
}

}  // namespace
}  // namespace spectra::dyson
