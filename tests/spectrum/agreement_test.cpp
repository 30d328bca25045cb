#include "base/special_values.hpp"
#include "laws.hpp"
#include "random/stream.hpp"
#include "spectrum/spectrum.hpp"
#include "support/epsilon.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <vector>

namespace {

using spectra::agreement;
using spectra::Density;
using spectra::infinity;
using spectra::Spectrum;
using namespace spectra::tests;

std::vector<double> random_values(std::size_t count, std::uint32_t layer, double shift, double scale) {
    spectra::random::Stream stream(7, spectra::random::Purpose::test, layer);
    std::vector<double> values(count);
    for (double& x : values) x = shift + scale * stream.normal();
    return values;
}

/// ∫ |F_a^{-1}(u) − F_b^{-1}(u)| du, by coupling equal masses: |a|·|b| copies.
double coupling(std::vector<double> a, std::vector<double> b, bool in_log) {
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    double sum = 0;
    const std::size_t copies = a.size() * b.size();
    for (std::size_t k = 0; k < copies; ++k) {
        const double x = a[k / b.size()];
        const double y = b[k / a.size()];
        sum += in_log ? std::abs(x - y) : std::abs(std::exp(x) - std::exp(y));
    }
    return sum / static_cast<double>(copies);
}

TEST(Agreement, EmptyLawsHaveNoDistance) {
    EXPECT_TRUE(std::isnan(agreement(Spectrum(), point_mass(0)).wasserstein1));
    EXPECT_TRUE(std::isnan(agreement(point_mass(0), Spectrum()).kolmogorov_smirnov));
}

TEST(Agreement, SameLawIsAtDistanceZero) {
    for (const auto& law : {quarter_circle(400), uniform_law(1, 2, 100), point_mass(-1000),
                            Spectrum::from_log_values({1, 2, 2, 3})}) {
        const auto out = agreement(law, law);
        EXPECT_EQ(out.wasserstein1, 0);
        EXPECT_EQ(out.wasserstein1_log, 0);
        EXPECT_EQ(out.kolmogorov_smirnov, 0);
        EXPECT_EQ(out.left_out, 0U);
    }
}

TEST(Agreement, PointMasses) {
    const auto out = agreement(point_mass(0), point_mass(std::log(3.0)));
    EXPECT_NEAR(out.wasserstein1, 2, 8 * epsilon);
    EXPECT_NEAR(out.wasserstein1_log, std::log(3.0), 8 * epsilon);
    EXPECT_EQ(out.kolmogorov_smirnov, 1);
}

TEST(Agreement, ValuesBesideAnAtomByRoundingBelongToIt) {
    Density law;
    law.atoms = {{0.0, 0.5}, {1.0, 0.5}};
    const Spectrum values = Spectrum::from_log_values({-2e-15, 3e-15, 1 - 1e-14, 1 + 1e-14});
    const auto found = agreement(Spectrum::from_density(law), values);
    EXPECT_LT(found.kolmogorov_smirnov, 1e-12);
    EXPECT_LT(found.wasserstein1, 1e-12);
    // A value that is really elsewhere stays there.
    const Spectrum apart = Spectrum::from_log_values({-1e-8, 0, 1, 1});
    EXPECT_NEAR(agreement(Spectrum::from_density(law), apart).kolmogorov_smirnov, 0.25, 1e-12);
}

TEST(Agreement, ShiftedLawsAreTheShiftApart) {
    // [1, 2] and [1.3, 2.3] uniform in s: quantiles differ by 0.3 everywhere.
    const auto out = agreement(uniform_law(1, 2, 400), uniform_law(1.3, 2.3, 400));
    EXPECT_NEAR(out.wasserstein1, 0.3, 1e-8);
    EXPECT_NEAR(out.kolmogorov_smirnov, 0.3, 1e-8);
}

TEST(Agreement, ScaledLawsAreTheLogOfTheFactorApart) {
    for (const double shift : {1e-3, 0.1, 2.0}) {
        const auto out = agreement(quarter_circle(400), shifted_quarter_circle(400, shift));
        EXPECT_NEAR(out.wasserstein1_log, shift, 1e-6) << shift;
        EXPECT_NEAR(out.wasserstein1 / (std::expm1(shift) * 8 / (3 * std::numbers::pi)), 1, 1e-6) << shift;
    }
    const auto far = agreement(shifted_quarter_circle(400, -1000), shifted_quarter_circle(400, -1001));
    EXPECT_NEAR(far.wasserstein1_log, 1, 1e-6);
    EXPECT_EQ(far.wasserstein1, 0);
    const auto wide = agreement(quarter_circle(400), shifted_quarter_circle(400, -1000));
    EXPECT_NEAR(wide.wasserstein1_log, 1000, 1e-3);
    EXPECT_NEAR(wide.wasserstein1, 8 / (3 * std::numbers::pi), 1e-6);
    EXPECT_NEAR(wide.kolmogorov_smirnov, 1, 1e-4);
}

TEST(Agreement, IsSymmetric) {
    const auto values = Spectrum::from_log_values(random_values(1000, 1, -0.3, 0.6), -3);
    const auto law = quarter_circle(300);
    const auto one = agreement(values, law);
    const auto other = agreement(law, values);
    EXPECT_NEAR(one.wasserstein1, other.wasserstein1, 1e-13);
    EXPECT_NEAR(one.wasserstein1_log, other.wasserstein1_log, 1e-13);
    EXPECT_EQ(one.kolmogorov_smirnov, other.kolmogorov_smirnov);
    EXPECT_EQ(one.left_out, other.left_out);
}

TEST(Agreement, TwoSetsOfValuesAgainstCoupling) {
    for (const std::size_t count : {1U, 2U, 37U, 128U}) {
        const auto a = random_values(count, 1, 0, 1);
        const auto b = random_values(53, 2, 0.2, 1.5);
        const auto out = agreement(Spectrum::from_log_values(a), Spectrum::from_log_values(b));
        EXPECT_NEAR(out.wasserstein1, coupling(a, b, false), 1e-12 * static_cast<double>(count + 53));
        EXPECT_NEAR(out.wasserstein1_log, coupling(a, b, true), 1e-13 * static_cast<double>(count + 53));
        const auto law_a = Spectrum::from_log_values(a);
        const auto law_b = Spectrum::from_log_values(b);
        double sup = 0;
        for (const auto* values : {&a, &b}) {
            for (const double x : *values) {
                sup = std::max(sup, std::abs(law_a.cdf(x) - law_b.cdf(x)));
                sup = std::max(sup, std::abs(law_a.cdf(x, true) - law_b.cdf(x, true)));
            }
        }
        EXPECT_NEAR(out.kolmogorov_smirnov, sup, 4 * epsilon);
    }
}

TEST(Agreement, ValuesAgainstADensity) {
    // One value at s = 1 against the uniform law on [0, 2] … on [1, 2]: W1 = E|s − 1| = 1/2.
    const auto out = agreement(Spectrum::from_log_values({0}), uniform_law(1, 2, 200));
    EXPECT_NEAR(out.wasserstein1, 0.5, 1e-9);
    EXPECT_NEAR(out.wasserstein1_log, 2 * std::numbers::ln2 - 1, 1e-9);
    EXPECT_NEAR(out.kolmogorov_smirnov, 1, 1e-12);
    // At the median the steps cross the density: E|s − 3/2| = 1/4 and the supremum is 1/2.
    const auto median = agreement(Spectrum::from_log_values({std::log(1.5)}), uniform_law(1, 2, 200));
    EXPECT_NEAR(median.wasserstein1, 0.25, 1e-9);
    EXPECT_NEAR(median.kolmogorov_smirnov, 0.5, 1e-9);
    // Quantiles at (k + 1/2)/n: the known n/(4 n²) and 1/(2n).
    std::vector<double> values;
    for (int k = 0; k < 50; ++k) values.push_back(std::log(1 + (k + 0.5) / 50));
    const auto fine = agreement(Spectrum::from_log_values(values), uniform_law(1, 2, 200));
    EXPECT_NEAR(fine.wasserstein1, 1.0 / 200, 1e-9);
    EXPECT_NEAR(fine.kolmogorov_smirnov, 1.0 / 100, 1e-9);
}

TEST(Agreement, CrossingDensities) {
    // Uniform on [1, 2] and on [1.2, 1.8]: |F_a − F_b| is two triangles of base 1/2 and height 0.2,
    // and the supremum lies at the kinks s = 1.2, 1.8.
    const auto out = agreement(uniform_law(1, 2, 400), uniform_law(1.2, 1.8, 400));
    EXPECT_NEAR(out.wasserstein1, 0.1, 1e-8);
    EXPECT_NEAR(out.kolmogorov_smirnov, 0.2, 1e-8);
}

TEST(Agreement, InteriorPeakIsFound) {
    // Quarter circle against its double: the supremum is where the densities cross, inside a piece.
    const auto out = agreement(quarter_circle(60), shifted_quarter_circle(60, std::numbers::ln2));
    double sup = 0;
    for (double s = 0; s <= 2; s += 1e-5) {
        sup = std::max(sup, quarter_circle_cdf(s) - quarter_circle_cdf(0.5 * s));
    }
    EXPECT_NEAR(out.kolmogorov_smirnov, sup, 2e-4);
}

TEST(Agreement, FloorLimitsTheLogDistanceOnly) {
    // Half of the values are rounding at e^{−37}; the law has them at zero.
    Density density;
    density.atoms = {{-infinity, 0.5}, {0, 0.5}};
    const auto theory = Spectrum::from_density(density);
    const auto values = Spectrum::from_log_values({-37, -36.5, 0, 0}, -30);
    const auto out = agreement(theory, values);
    EXPECT_EQ(out.log_floor, -30);
    EXPECT_EQ(out.left_out, 2U);
    EXPECT_EQ(out.wasserstein1_log, 0);
    EXPECT_EQ(out.kolmogorov_smirnov, 0);
    EXPECT_NEAR(out.wasserstein1, 0.25 * (std::exp(-37) + std::exp(-36.5)), 1e-20);
    // Mass missing below the floor is seen above it.
    const auto full = agreement(point_mass(0), values);
    EXPECT_NEAR(full.wasserstein1_log, 15, 1e-12);
    EXPECT_EQ(full.kolmogorov_smirnov, 0.5);
}

TEST(Agreement, ZerosWithoutAFloor) {
    const auto zeros = Spectrum::from_log_values({-infinity, 0});
    Density density;
    density.atoms = {{-infinity, 0.5}, {0, 0.5}};
    const auto same = agreement(zeros, Spectrum::from_density(density));
    EXPECT_EQ(same.wasserstein1, 0);
    EXPECT_EQ(same.wasserstein1_log, 0);
    EXPECT_EQ(same.kolmogorov_smirnov, 0);
    EXPECT_EQ(same.left_out, 1U);
    // Different masses at zero: over the finite range, and finite.
    const auto other = agreement(zeros, Spectrum::from_log_values({-2, 0}));
    EXPECT_NEAR(other.wasserstein1, 0.5 * std::exp(-2), 4 * epsilon);
    EXPECT_EQ(other.wasserstein1_log, 0);
    EXPECT_EQ(other.kolmogorov_smirnov, 0.5);
    EXPECT_EQ(other.log_floor, -2);
    EXPECT_EQ(other.left_out, 1U);
    const auto both =
        agreement(Spectrum::from_log_values({-infinity}), Spectrum::from_log_values({-infinity}));
    EXPECT_EQ(both.wasserstein1, 0);
    EXPECT_EQ(both.wasserstein1_log, 0);
    EXPECT_EQ(both.kolmogorov_smirnov, 0);
}

TEST(Agreement, HardEdgeTails) {
    // F = e^{t x} on x < 0 for t = 0.01 and 0.02: ∫ |F_a − F_b| dx = 1/t_a − 1/t_b = 50.
    const auto out = agreement(power_law(0.01, -1, 100), power_law(0.02, -1, 100));
    EXPECT_NEAR(out.wasserstein1_log, 50, 1e-6);
    EXPECT_EQ(out.log_floor, -infinity);
    EXPECT_NEAR(out.kolmogorov_smirnov, 0.25, 1e-6);  // at e^{t x} = 1/2 of the smaller exponent
}

TEST(Agreement, HistogramAgainstValues) {
    const auto values = random_values(5000, 3, -1, 0.5);
    const double width = 1.0 / 128;
    std::vector<double> edges;
    std::vector<double> counts(128 * 10, 0.0);
    for (std::size_t k = 0; k <= counts.size(); ++k) edges.push_back(-6 + width * static_cast<double>(k));
    for (const double x : values) counts[static_cast<std::size_t>((x + 6) / width)] += 1;
    const auto out =
        agreement(Spectrum::from_log_values(values, -2), Spectrum::from_histogram(edges, counts, 0, 0));
    EXPECT_LT(out.wasserstein1_log, width / 2);
    EXPECT_LT(out.kolmogorov_smirnov, 0.02);
    EXPECT_GT(out.left_out, 100U);
}

TEST(Agreement, ManyValuesAreFast) {
    const auto law = quarter_circle(400);
    std::vector<double> values(1000000);
    for (std::size_t k = 0; k < values.size(); ++k) {
        // Rational in k, so that the test spends its time in the distance.
        values[k] = std::log(2 * (static_cast<double>(k) + 0.5) / static_cast<double>(values.size()));
    }
    const auto uniform = Spectrum::from_log_values(values);
    const auto begin = std::chrono::steady_clock::now();
    const auto out = agreement(uniform, law);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    // E over u of the quantiles' distance, ∫ |F(s) − s/2| ds = E over the quarter circle: 1 − 8/(3π).
    EXPECT_NEAR(out.wasserstein1, 1 - 8 / (3 * std::numbers::pi), 2e-6);
    EXPECT_LT(took.count(), 5.0);
}

}  // namespace
