#include "report/wording.hpp"

#include "base/text.hpp"
#include "report/example_report.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace spectra::report {
namespace {

TEST(Wording, PercentIsNeverRoundedToAllOrNothing) {
    EXPECT_EQ(percent(0), "0 %");
    EXPECT_EQ(percent(1e-4), "under 0.1 %");
    EXPECT_EQ(percent(0.1234), "12.3 %");
    EXPECT_EQ(percent(0.9995), "over 99.9 %");
    EXPECT_EQ(percent(1 + 1e-9), "100 %");
    EXPECT_EQ(percent(std::nan("")), "an unknown share");
}

TEST(Wording, PowersOfTenBeyondDoubles) {
    EXPECT_EQ(power_of_ten(0), "1");
    EXPECT_EQ(power_of_ten(-2), "0.01");
    EXPECT_EQ(power_of_ten(-400 + std::log10(2.5)), "2.5e-400");
    EXPECT_EQ(power_of_ten(-4.0000001), "1e-4");
}

/// The place of what is only counted is not known: far off in ln s is no disagreement.
TEST(Wording, WhatRoundingHidesIsNotComparedInLogarithms) {
    Report report = tests::isometric_report();
    for (auto& [pair, agreement] : report.agreement) {
        agreement.wasserstein1 = 1e-4;
        agreement.wasserstein1_log = 41;
        agreement.kolmogorov_smirnov = 0.2;
    }
    for (const auto& compared : compared_words(report)) {
        EXPECT_EQ(compared.closeness, Closeness::differ) << compared.words;
        EXPECT_NE(compared.words.find("KS = 0.2"), std::string::npos) << compared.words;
    }
    ASSERT_EQ(report.theories.front().method, dyson::Method::operator_valued);
    report.theories.front().summary.unresolved = {0.25, -50};
    for (const auto& compared : compared_words(report)) {
        const bool hidden = compared.pair.first == Source::ov;
        EXPECT_EQ(compared.closeness, hidden ? Closeness::agree : Closeness::differ) << compared.words;
        EXPECT_EQ(
            compared.words.ends_with("singular value); what rounding hides cannot be compared in ln s."),
            hidden)
            << compared.words;
    }
}

}  // namespace
}  // namespace spectra::report
