#include "dyson/ask/mixer_average.hpp"

#include "support/networks.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace spectra::dyson {
namespace {

using tests::make_network;

Network scaled_noise(int draw) {
    // A = 0: a quarter circle of radius 2σ, so E s² = σ².
    return make_network(Mixer::Zero(2, 2), 1, 1, 0.1 * (1 + draw));
}

TEST(Average, IsOfTheDraws) {
    const Average found = average(scaled_noise, 3);
    EXPECT_EQ(found.draws, 3);
    EXPECT_EQ(found.certified, 3);
    EXPECT_NEAR(found.mean.mean_square, 0.2, 1e-9);
    EXPECT_NEAR(found.deviation.mean_square, 0.1, 1e-9);
    EXPECT_NEAR(found.mean.largest, (std::sqrt(0.1) + std::sqrt(0.2) + std::sqrt(0.3)) * 2 / 3, 1e-8);

    double mass = found.mass_below_range;
    const double width = found.log_s[1] - found.log_s[0];
    for (const double density : found.density_log_mean) mass += density * width;
    EXPECT_NEAR(mass, 1, 1e-7);
    EXPECT_LE(found.mass_below_range, 1e-3);
}

/// Cell by cell the plain average of the laws' own densities, where these are smooth.
TEST(Average, DensityIsTheMeanOfDensities) {
    std::vector<Spectrum> laws;
    for (const int k : {0, 1, 2}) laws.push_back(solve(scaled_noise(k), Method::operator_valued).law);
    const Average found = average(laws);
    for (std::size_t c = 40; c < 200; c += 20) {
        double mean = 0, square = 0;
        for (const Spectrum& law : laws) {
            const double density = law.density_log(found.log_s[c]);
            mean += density / 3;
            square += density * density / 2;
        }
        if (mean > 0.4) continue;  // next to an edge a cell sees its slope
        EXPECT_NEAR(found.density_log_mean[c], mean, 2e-3 * mean) << c;
        EXPECT_NEAR(found.density_log_deviation[c], std::sqrt(square - 1.5 * mean * mean), 5e-3 * mean) << c;
    }
}

TEST(Average, KnowsAtomsAndIdenticalDraws) {
    const auto noiseless = [](int) { return make_network(Mixer::Identity(2, 2), 2, 1, 0.0); };
    const Average found = average(noiseless, 2);
    EXPECT_EQ(found.mean.window, 1);
    EXPECT_EQ(found.deviation.window, 0);
    double mass = 0;
    for (const double density : found.density_log_mean) mass += density * (found.log_s[1] - found.log_s[0]);
    EXPECT_NEAR(mass, 1, 1e-9);
}

TEST(Average, StopsWhereItIsTold) {
    const Average found = average(scaled_noise, 10, {}, [](int draw) { return draw < 2; });
    EXPECT_EQ(found.draws, 2);
    EXPECT_EQ(found.requested, 10);
    EXPECT_NEAR(found.mean.mean_square, 0.15, 1e-9);
}

}  // namespace
}  // namespace spectra::dyson
