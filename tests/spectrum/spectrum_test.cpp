#include "spectrum/spectrum.hpp"

#include "base/special_values.hpp"
#include "laws.hpp"
#include "support/epsilon.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <stdexcept>
#include <vector>

namespace {

using spectra::Density;
using spectra::infinity;
using spectra::Spectrum;
using namespace spectra::tests;

TEST(Spectrum, EmptyLawHasNoMetrics) {
    const Spectrum law;
    EXPECT_TRUE(law.empty());
    EXPECT_TRUE(std::isnan(law.metrics().mean_square));
    EXPECT_TRUE(std::isnan(law.log_quantile(0.5)));
}

TEST(Spectrum, UniformLaw) {
    // s uniform on [1, 2].
    const auto law = uniform_law(1, 2, 400);
    const double ln2 = std::numbers::ln2;
    EXPECT_NEAR(law.mass(), 1, 1e-12);
    for (const double s : {1.0, 1.1, 1.37, 1.5, 1.99, 2.0}) {
        EXPECT_NEAR(law.cdf(std::log(s)), s - 1, 1e-9) << s;
        EXPECT_NEAR(law.log_quantile(s - 1), std::log(s), 1e-9) << s;
        EXPECT_NEAR(law.density_log(std::log(s)), s, 1e-4) << s;
    }
    EXPECT_EQ(law.cdf(-0.1), 0);
    EXPECT_EQ(law.density_log(-0.1), 0);
    EXPECT_EQ(law.density_log(0.8), 0);
    const auto m = law.metrics();
    EXPECT_NEAR(m.mean_square, 7.0 / 3.0, 1e-10);
    EXPECT_NEAR(m.log_mean, 2 * ln2 - 1, 1e-10);
    EXPECT_NEAR(m.window, 0.25, 1e-9);
    EXPECT_EQ(m.collapsed, 0);
    EXPECT_NEAR(m.smallest, 1, epsilon);
    EXPECT_NEAR(m.largest, 2, 4 * epsilon);
    // ∫ (s/μ) ln (s/μ) with μ = 3/2: [s²/2 ln s − s²/4]/μ − ln μ.
    EXPECT_NEAR(m.effective_rank, std::exp(-((2 * ln2 - 0.75) / 1.5 - std::log(1.5))), 1e-10);
}

TEST(Spectrum, QuarterCircle) {
    const auto law = quarter_circle(400);
    EXPECT_NEAR(law.mass(), 1, 1e-6);
    for (const double s : {1e-9, 1e-4, 0.1, 0.5, 1.0, 1.9, 1.999}) {
        const double exact = quarter_circle_cdf(s);
        EXPECT_NEAR(law.cdf(std::log(s)), exact, 1e-6) << s;
        EXPECT_NEAR(law.log_quantile(exact), std::log(s), 1e-6 + 2e-6 / law.density_log(std::log(s))) << s;
    }
    const auto m = law.metrics();
    EXPECT_NEAR(m.mean_square, 1, 1e-6);
    EXPECT_NEAR(m.log_mean, -0.5, 1e-6);
    EXPECT_NEAR(m.window, quarter_circle_cdf(1.25) - quarter_circle_cdf(0.75), 1e-6);
    EXPECT_NEAR(m.collapsed, quarter_circle_cdf(0.1), 1e-6);
    EXPECT_EQ(m.smallest, 0);
    EXPECT_NEAR(m.largest, 2, 4 * epsilon);
}

TEST(Spectrum, TailBelowTheRange) {
    for (const double t : {0.3, 1.0, 2.0}) {
        const auto law = power_law(t, -0.5, 200);
        EXPECT_NEAR(law.mass(), 1, 1e-10);
        for (const double x : {-300.0, -50.0, -3.0, -0.5, -0.2}) {
            EXPECT_NEAR(law.cdf(x), std::exp(t * x), 1e-9);
            EXPECT_NEAR(law.log_quantile(std::exp(t * x)), x, 1e-8) << t << " " << x;
            if (x < -1) {
                EXPECT_NEAR(law.density_log(x) / (t * std::exp(t * x)), 1, 1e-9);
            }
        }
        EXPECT_NEAR(law.expectation([](double x) { return x; }), -1 / t, 1e-8);
        EXPECT_NEAR(law.metrics().log_mean, -1 / t, 1e-8);
        EXPECT_EQ(law.metrics().smallest, 0);
        if (t >= 1) {
            EXPECT_NEAR(law.metrics().mean_square, t / (t + 2), 1e-4);
        }
    }
}

TEST(Spectrum, FirstNodeAboveTheBeginningOfTheRange) {
    // As with Gauss nodes: the weights cover [−1, 0], the first node lies inside, and there is an atom at
    // zero that F includes. F = ¼ + ¾ e^{t x}.
    const double t = 0.7;
    Density density;
    const int panels = 100;
    for (int k = 0; k < panels; ++k) {
        for (const double sign : {-1.0, 1.0}) {
            const double x = -1 + (k + 0.5 + sign * 0.5 / std::numbers::sqrt3) / panels;
            density.log_s.push_back(x);
            density.density_log.push_back(0.75 * t * std::exp(t * x));
            density.weight.push_back(0.5 / panels);
            density.cumulative.push_back(0.25 + 0.75 * std::exp(t * x));
        }
    }
    density.mass_below = 0.75 * std::exp(-t);
    density.tail_exponent = t;
    density.support = {{-infinity, 0}};
    density.atoms = {{-infinity, 0.25}};
    const auto law = Spectrum::from_density(density);
    EXPECT_NEAR(law.mass(), 1, 1e-9);
    EXPECT_NEAR(law.cdf(-0.5), 0.25 + 0.75 * std::exp(-0.5 * t), 1e-9);
    EXPECT_NEAR(law.cdf(-7), 0.25 + 0.75 * std::exp(-7 * t), 1e-9);
    EXPECT_EQ(law.cdf(-infinity), 0.25);
    EXPECT_NEAR(law.expectation([](double) { return 1; }), 1, 1e-9);
    EXPECT_NEAR(law.expectation([](double x) { return std::isfinite(x) ? x : 0; }), -0.75 / t, 1e-9);
    EXPECT_EQ(law.metrics().log_mean, -infinity);
}

TEST(Spectrum, GapsAreFlat) {
    Density density;
    add_band(density, -2, -1, 50, [](double x) { return 0.5 * 6 * (x + 2) * (-1 - x); });
    const double lower_mass = density.cumulative.back();
    add_band(density, 0, 1, 50, [](double x) { return 0.5 * 6 * x * (1 - x); });
    const auto law = Spectrum::from_density(density);
    const double level = law.cdf(-1);
    EXPECT_NEAR(level, 0.5, 1e-5);
    EXPECT_GE(level, lower_mass);
    for (const double x : {-0.999, -0.5, -1e-9}) EXPECT_EQ(law.cdf(x), level);
    EXPECT_EQ(law.density_log(-0.5), 0);
    EXPECT_NEAR(law.mass(), 1, 1e-6);
    // The smallest x with F(x) ≥ u is on the near side of the gap.
    EXPECT_LE(law.log_quantile(level), -1);
    EXPECT_GE(law.log_quantile(level + 1e-9), 0);
    EXPECT_EQ(law.log_quantile(0), -2);
    EXPECT_EQ(law.log_quantile(2), 1);
    double last = 0;
    for (double x = -2.1; x < 1.1; x += 1e-3) {
        EXPECT_GE(law.cdf(x), last);
        last = law.cdf(x);
    }
}

TEST(Spectrum, NeverDecreasesOnRoughGrids) {
    // Slopes that no monotone cubic could have, and a cumulative that falls by rounding.
    Density density;
    density.log_s = {0, 1, 2, 3};
    density.density_log = {5, 0, 9, 0.1};
    density.weight = {0, 0, 0, 0};
    density.cumulative = {0.1, 0.3, 0.3 - 1e-12, 0.9};
    const auto law = Spectrum::from_density(density);
    double last = 0;
    for (double x = -0.5; x < 3.5; x += 1e-3) {
        ASSERT_GE(law.cdf(x), last) << x;
        last = law.cdf(x);
    }
    EXPECT_EQ(last, 0.9);
}

TEST(Spectrum, Atoms) {
    Density density;
    density.atoms = {{std::log(2.0), 0.25}, {-infinity, 0.5}, {0, 0.25}};
    const auto law = Spectrum::from_density(density);
    EXPECT_FALSE(law.empty());
    EXPECT_EQ(law.cdf(-infinity), 0.5);
    EXPECT_EQ(law.cdf(-infinity, true), 0);
    EXPECT_EQ(law.cdf(0, true), 0.5);
    EXPECT_EQ(law.cdf(0), 0.75);
    EXPECT_EQ(law.mass(), 1);
    EXPECT_EQ(law.log_quantile(0.4), -infinity);
    EXPECT_NEAR(law.log_quantile(0.6), 0, 1e-300);
    EXPECT_NEAR(law.log_quantile(0.9), std::log(2.0), epsilon);
    const auto m = law.metrics();
    EXPECT_NEAR(m.mean_square, 0.25 + 1, 4 * epsilon);
    EXPECT_EQ(m.log_mean, -infinity);
    EXPECT_EQ(m.window, 0.25);
    EXPECT_EQ(m.collapsed, 0.5);
    EXPECT_EQ(m.smallest, 0);
    EXPECT_NEAR(m.largest, 2, 4 * epsilon);
    // μ = 3/4: ratios 0, 4/3, 8/3.
    const double entropy = 0.25 * (4.0 / 3 * std::log(4.0 / 3) + 8.0 / 3 * std::log(8.0 / 3));
    EXPECT_NEAR(m.effective_rank, std::exp(-entropy), 8 * epsilon);
}

TEST(Spectrum, AtomBesideABand) {
    Density density;
    add_band(density, 0, 1, 100, [](double x) { return 0.75 * 6 * x * (1 - x); });
    density.atoms = {{0.5, 0.25}};
    for (std::size_t k = 0; k < density.log_s.size(); ++k) {
        if (density.log_s[k] >= 0.5) density.cumulative[k] += 0.25;
    }
    const auto law = Spectrum::from_density(density);
    EXPECT_NEAR(law.mass(), 1, 1e-8);
    EXPECT_NEAR(law.cdf(0.5) - law.cdf(0.5, true), 0.25, 1e-15);
    EXPECT_NEAR(law.log_quantile(0.5), 0.5, 1e-15);
    EXPECT_NEAR(law.expectation([](double x) { return x; }), 0.5, 1e-8);
}

TEST(Spectrum, Isometry) {
    Density density;
    density.atoms = {{0, 1}};
    for (const auto& law :
         {Spectrum::from_density(density), Spectrum::from_log_values({0, 0, 0}), point_mass(-1000)}) {
        const auto m = law.metrics();
        EXPECT_NEAR(m.effective_rank, 1, 4 * epsilon);
    }
    EXPECT_EQ(Spectrum::from_log_values({0, 0, 0}).metrics().window, 1);
    EXPECT_EQ(Spectrum::from_log_values({0, 0, 0}).metrics().mean_square, 1);
}

TEST(Spectrum, WindowIsClosedAndCollapsedIsOpen) {
    const auto law =
        Spectrum::from_log_values({std::log(0.1), std::log(0.75), std::log(1.25), std::log(1.26)});
    EXPECT_EQ(law.metrics().window, 0.5);
    EXPECT_EQ(law.metrics().collapsed, 0);
    EXPECT_EQ(Spectrum::from_log_values({std::log(0.0999), 0}).metrics().collapsed, 0.5);
}

TEST(Spectrum, Values) {
    const auto law = Spectrum::from_log_values({3, 1, 2, 2}, 1.5);
    EXPECT_TRUE(law.is_empirical());
    EXPECT_EQ(law.cdf(0), 0);
    EXPECT_EQ(law.cdf(2), 0.75);
    EXPECT_EQ(law.cdf(2, true), 0.25);
    EXPECT_EQ(law.unresolved(), 1U);
    EXPECT_EQ(law.log_quantile(0), 1);
    EXPECT_EQ(law.log_quantile(0.25), 1);
    EXPECT_EQ(law.log_quantile(0.26), 2);
    EXPECT_EQ(law.log_quantile(0.75), 2);
    EXPECT_EQ(law.log_quantile(1), 3);
    EXPECT_EQ(law.log_quantile(1.1), 3);
    EXPECT_EQ(law.expectation([](double x) { return x; }), 2);
    EXPECT_THROW(Spectrum::from_log_values({0, infinity}), std::invalid_argument);
    EXPECT_THROW(Spectrum::from_log_values({0, std::nan("")}), std::invalid_argument);
}

TEST(Spectrum, QuantileOfEveryRankIsItsValue) {
    for (const int count : {1, 3, 7, 49, 1000}) {
        std::vector<double> values;
        for (int k = 0; k < count; ++k) values.push_back(k);
        const auto law = Spectrum::from_log_values(values);
        for (int k = 1; k <= count; ++k) {
            const double u = static_cast<double>(k) / count;
            EXPECT_EQ(law.log_quantile(u), k - 1);
            EXPECT_EQ(law.log_quantile(std::nextafter(u, 0.0)), k - 1);
        }
    }
}

TEST(Spectrum, ZerosAmongValues) {
    const auto m = Spectrum::from_log_values({-infinity, 0}).metrics();
    EXPECT_EQ(m.log_mean, -infinity);
    EXPECT_EQ(m.smallest, 0);
    EXPECT_EQ(m.mean_square, 0.5);
    EXPECT_EQ(m.collapsed, 0.5);
    EXPECT_NEAR(m.effective_rank, 0.5, 4 * epsilon);
    const auto nothing = Spectrum::from_log_values({-infinity, -infinity}).metrics();
    EXPECT_EQ(nothing.mean_square, 0);
    EXPECT_EQ(nothing.largest, 0);
    EXPECT_EQ(nothing.effective_rank, 0);
    EXPECT_EQ(nothing.collapsed, 1);
}

TEST(Spectrum, ScalesBeyondDouble) {
    // s = 1e-400·{1, 3}.
    const double x = -400 * std::numbers::ln10;
    const auto far = Spectrum::from_log_values({x, x + std::log(3.0)}).metrics();
    const auto near = Spectrum::from_log_values({0, std::log(3.0)}).metrics();
    EXPECT_EQ(far.mean_square, 0);
    EXPECT_NEAR(far.effective_rank, near.effective_rank, 1e-12);
    EXPECT_NEAR(far.log_mean, x + near.log_mean, 1e-12);
    EXPECT_EQ(far.collapsed, 1);
    // The same as a density.
    const auto law = shifted_quarter_circle(400, x);
    EXPECT_NEAR(law.metrics().log_mean, x - 0.5, 1e-6);
    EXPECT_NEAR(law.metrics().effective_rank, quarter_circle(400).metrics().effective_rank, 1e-9);
    EXPECT_NEAR(law.cdf(x), quarter_circle_cdf(1), 1e-6);
}

TEST(Spectrum, HistogramIsUniformInTheLog) {
    const auto law = Spectrum::from_histogram({0, 1, 2, 4}, {1, 0, 2}, 1, 1);
    EXPECT_EQ(law.mass(), 1);
    EXPECT_FALSE(law.is_empirical());
    EXPECT_EQ(law.cdf(-infinity), 0.2);
    EXPECT_NEAR(law.cdf(0.5), 0.3, 1e-15);
    EXPECT_NEAR(law.cdf(1.5), 0.4, 1e-15);
    EXPECT_NEAR(law.cdf(3), 0.6, 1e-15);
    EXPECT_NEAR(law.cdf(4, true), 0.8, 1e-15);
    EXPECT_NEAR(law.density_log(3), 0.2, 1e-15);
    EXPECT_EQ(law.density_log(1.5), 0);
    EXPECT_EQ(law.metrics().log_mean, -infinity);
    EXPECT_EQ(law.count_below(2), 2U);
    // Uniform on [0, 1] in ln s: E s² = (e² − 1)/2, up to the two Gauss nodes' eighth-order term.
    const auto one = Spectrum::from_histogram({0, 0.25, 0.5, 0.75, 1}, {1, 1, 1, 1}, 0, 0);
    EXPECT_NEAR(one.metrics().mean_square, (std::exp(2) - 1) / 2, 1e-4);
    EXPECT_NEAR(one.metrics().log_mean, 0.5, 1e-15);
    EXPECT_THROW(Spectrum::from_histogram({0, 0}, {1}, 0, 0), std::invalid_argument);
    EXPECT_THROW(Spectrum::from_histogram({0, 1}, {-1}, 0, 0), std::invalid_argument);
    EXPECT_TRUE(Spectrum::from_histogram({0, 1}, {0}, 0, 0).empty());
}

TEST(Spectrum, HistogramAgreesWithItsValues) {
    std::vector<double> values;
    const auto law = quarter_circle(400);
    const int count = 20000;
    for (int k = 0; k < count; ++k) values.push_back(law.log_quantile((k + 0.5) / count));
    std::vector<double> edges;
    std::vector<double> counts(128 * 20, 0.0);
    const double width = 1.0 / 128;
    for (std::size_t k = 0; k <= counts.size(); ++k) edges.push_back(-19 + width * static_cast<double>(k));
    for (const double x : values) counts[static_cast<std::size_t>((x + 19) / width)] += 1;
    const auto a = Spectrum::from_log_values(values).metrics();
    const auto b = Spectrum::from_histogram(edges, counts, 0, 0).metrics();
    EXPECT_NEAR(a.mean_square, b.mean_square, width * width);
    EXPECT_NEAR(a.log_mean, b.log_mean, width * width);
    EXPECT_NEAR(a.window, b.window, width * 0.02 + 1.0 / count);
    EXPECT_NEAR(a.collapsed, b.collapsed, width * 0.02 + 1.0 / count);
    EXPECT_NEAR(a.effective_rank, b.effective_rank, width * width);
    EXPECT_NEAR(std::log(a.largest / b.largest), 0, width);
}

TEST(Spectrum, DensityOfValues) {
    std::vector<double> values;
    const auto law = quarter_circle(400);
    for (int k = 0; k < 20000; ++k) values.push_back(law.log_quantile((k + 0.5) / 20000));
    const auto empirical = Spectrum::from_log_values(values);
    for (const double s : {0.2, 1.0, 1.7}) {
        EXPECT_NEAR(empirical.density_log(std::log(s)), law.density_log(std::log(s)), 0.02) << s;
    }
    EXPECT_GT(Spectrum::from_log_values({0, 0, 0}).density_log(0), 1);
}

TEST(Spectrum, RefusesWhatIsNotADensity) {
    Density density;
    density.log_s = {0, 1};
    density.density_log = {1, 1};
    density.weight = {0.5, 0.5};
    density.cumulative = {0};
    EXPECT_THROW(Spectrum::from_density(density), std::invalid_argument);
    density.cumulative = {0, 1};
    EXPECT_NO_THROW(Spectrum::from_density(density));
    density.log_s = {1, 1};
    EXPECT_THROW(Spectrum::from_density(density), std::invalid_argument);
    density.log_s = {0, std::nan("")};
    EXPECT_THROW(Spectrum::from_density(density), std::invalid_argument);
}

}  // namespace
