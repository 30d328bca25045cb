#include "mixers/gate_regulariser.hpp"

#include <gtest/gtest.h>

namespace spectra::mixers {
namespace {

TEST(GateRegularisers, AreSymmetricWithTheirSlopes) {
    for (const auto& f : gate_regularisers) {
        SCOPED_TRACE(f.name);
        EXPECT_NEAR(f.value(0), 0, 1e-15);
        EXPECT_NEAR(f.value(1), 0, 1e-15);
        EXPECT_NEAR(f.value(0.5), 1, 1e-15);
        EXPECT_NEAR(f.slope(0.5), 0, 1e-15);
        for (const double x : {0.05, 0.2, 0.45, 0.7}) {
            EXPECT_NEAR(f.value(x), f.value(1 - x), 1e-15);
            EXPECT_NEAR(f.slope(x), -f.slope(1 - x), 1e-13);
            constexpr double h = 1e-6;
            EXPECT_NEAR(f.slope(x), (f.value(x + h) - f.value(x - h)) / (2 * h), 1e-8);
        }
    }
    EXPECT_EQ(gate_regularisers[3].slope(0), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace spectra::mixers
