#include "report/wording.hpp"

#include "base/text.hpp"

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

}  // namespace
}  // namespace spectra::report
