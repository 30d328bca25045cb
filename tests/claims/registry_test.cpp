#include "claims/registry.hpp"

#include "claims/ledger.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace spectra::claims {
namespace {

Claim stored(const std::string& id) {
    for (auto& claim : ledger())
        if (claim.id == id) return claim;
    throw std::out_of_range(id);
}

/// Claims of a tenth of a second; `spectra reproduce` (ctest -C Full -L full) computes all.
class QuickClaims : public ::testing::TestWithParam<std::string> {};

TEST_P(QuickClaims, AgreeWithTheLedger) {
    const auto outcome = find_quick(GetParam())->compute();
    for (const auto& line : differences(stored(GetParam()), outcome))
        ADD_FAILURE() << GetParam() << ": " << line;
}

std::vector<std::string> cheap_claims() {
    std::vector<std::string> out;
    for (const auto& claim : quick_claims())
        if (claim.seconds < 0.5) out.emplace_back(claim.id);
    return out;
}

INSTANTIATE_TEST_SUITE_P(All, QuickClaims, ::testing::ValuesIn(cheap_claims()),
                         [](const auto& which) { return which.param; });

TEST(Differences, AreFoundInVerdictsAndNumbers) {
    Claim claim;
    claim.verdict = Verdict::holds;
    claim.numbers = {{"mass", 1, 0.01, {}, {}},
                     {"seconds", 3, std::numeric_limits<double>::infinity(), {}, {}}};
    Outcome outcome{Verdict::holds, {{"mass", 1.005, 0, {}, {}}, {"seconds", 7, 0, {}, {}}}};
    EXPECT_TRUE(differences(claim, outcome).empty()) << "within the stored tolerance; times are not compared";
    outcome.numbers[0].value = 1.02;
    EXPECT_EQ(differences(claim, outcome).size(), 1U);
    outcome.numbers[0].value = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(differences(claim, outcome).size(), 1U) << "NaN agrees with nothing";
    outcome.numbers[1].value = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(differences(claim, outcome).size(), 2U);
    outcome.verdict = Verdict::refuted;
    EXPECT_EQ(differences(claim, outcome).size(), 3U);
    outcome.numbers.pop_back();
    EXPECT_NE(differences(claim, outcome)[1].find("numbers: stored 2, found 1"), std::string::npos);
    outcome.numbers[0].name = "weight";
    EXPECT_NE(differences(claim, outcome)[2].find("weight"), std::string::npos);
}

}  // namespace
}  // namespace spectra::claims
