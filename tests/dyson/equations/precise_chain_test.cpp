#include "dyson/equations/precise_chain.hpp"

#include "dyson/equations/chain.hpp"
#include "dyson/equations/precise_tied.hpp"
#include "dyson/equations/tied.hpp"
#include "support/branch_networks.hpp"

#include <gtest/gtest.h>

namespace spectra::dyson {
namespace {

bool is_tied(const Network& network) {
    return std::holds_alternative<TiedBranch>(network.branch);
}

std::unique_ptr<Equation> precise(const Network& network, Digits digits) {
    return is_tied(network) ? make_precise_tied(network, digits) : make_precise_chain(network, digits);
}

/// Where rounding hides nothing, all take the same step from a point beside the solution: up to its square, because steps of
/// laws and of tied weights are linearised otherwise.
TEST(PreciseChain, TakesTheStepsOfTheChain) {
    int seen = 0;
    for (const auto& [name, network] : tests::branch_networks()) {
        if (std::holds_alternative<AlignedBranch>(network.branch)) continue;
        ++seen;
        const auto plain = is_tied(network) ? make_tied(network) : make_chain(network);
        const auto shorter = precise(network, Digits::thirty_two),
                   longer = precise(network, Digits::hundred_and_twenty);
        const Frequency omega{0.3, {1.0, 0.5}};
        Unknowns m = plain->far(omega), step, other;
        for (int k = 0; k < 60; ++k) {
            ASSERT_TRUE(plain->newton_step(omega, m, step)) << name;
            m = plain->moved(m, step, std::min(1.0, 0.5 / step.cwiseAbs().maxCoeff()));
        }
        ASSERT_LT(step.cwiseAbs().maxCoeff(), 1e-10) << name;
        m *= 1 + 1e-6;
        ASSERT_TRUE(plain->newton_step(omega, m, step) && longer->newton_step(omega, m, other)) << name;
        EXPECT_LT((step - other).cwiseAbs().maxCoeff(), 1e-10) << name;
        ASSERT_TRUE(shorter->newton_step(omega, m, step)) << name;
        EXPECT_LT((step - other).cwiseAbs().maxCoeff(), 1e-15) << name;
        EXPECT_LT(std::abs(shorter->scaled_green(omega, m) - longer->scaled_green(omega, m)), 1e-14) << name;
    }
    EXPECT_GE(seen, 9);
}

}  // namespace
}  // namespace spectra::dyson
