#include "montecarlo/run/histogram.hpp"

#include "base/special_values.hpp"
#include "random/stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <vector>

namespace {

using spectra::infinity;
using spectra::montecarlo::Counts;
using spectra::montecarlo::LinearHistogram;
using spectra::montecarlo::LogHistogram;

TEST(LogHistogram, CountsBetweenMultiplesOfTheWidth) {
    LogHistogram histogram(0);
    const std::vector<double> values = {-infinity, -53, -0.01, 0, 0.001, 1.0 / 128, 2.9 / 128, 13};
    histogram.add(values);
    const auto counts = histogram.counts();
    EXPECT_EQ(counts.below, 2);
    EXPECT_EQ(counts.above, 1);
    EXPECT_EQ(counts.edges,
              (std::vector<double>{-2.0 / 128, -1.0 / 128, 0, 1.0 / 128, 2.0 / 128, 3.0 / 128}));
    EXPECT_EQ(counts.counts, (std::vector<double>{1, 0, 2, 1, 1}));
    EXPECT_EQ(counts.count_squares, (std::vector<double>{1, 0, 4, 1, 1}));
    EXPECT_EQ(counts.cumulative_squares, (std::vector<double>{4, 9, 9, 25, 36, 49}));
    EXPECT_EQ(histogram.total(), 8U);
}

TEST(LogHistogram, RangeFollowsTheScale) {
    LogHistogram histogram(2 * -1000.3);
    histogram.add(std::vector<double>{-1040, -1000, -1000, 0});
    const auto counts = histogram.counts();
    EXPECT_EQ(counts.above, 1);
    EXPECT_EQ(counts.below, 0);
    EXPECT_EQ(counts.edges.front(), -1040);
    EXPECT_EQ(counts.counts.front(), 1);
    EXPECT_EQ(counts.counts.back(), 2);
}

TEST(LogHistogram, NothingInside) {
    LogHistogram histogram(-infinity);
    EXPECT_EQ(histogram.counts().counts, std::vector<double>{0});
    histogram.add(std::vector<double>{-infinity, -infinity});
    EXPECT_EQ(histogram.counts().below, 2);
    EXPECT_EQ(histogram.counts().edges.size(), 2U);
}

TEST(LinearHistogram, CountsBetweenMultiplesOfTheWidth) {
    LinearHistogram histogram(2 * std::log(1.9));  // nearest power of two: 2
    histogram.add(std::vector<double>{-infinity, std::log(0.5 / 64), std::log(1.5 / 64), std::log(33.0)});
    const auto counts = histogram.counts();
    EXPECT_EQ(counts.edges, (std::vector<double>{0, 1.0 / 64, 2.0 / 64}));
    EXPECT_EQ(counts.counts, (std::vector<double>{2, 1}));
    EXPECT_EQ(counts.below, 0);
    EXPECT_EQ(counts.above, 1);
}

/// Samples of a law that varies from one to the next, some values out of range.
std::vector<std::vector<double>> samples_of_values(int samples, int size) {
    std::vector<std::vector<double>> out;
    for (int k = 0; k < samples; ++k) {
        spectra::random::Stream stream(5, spectra::random::Purpose::test, 0, static_cast<std::uint32_t>(k));
        const double shift = 0.1 * stream.normal();
        auto& values = out.emplace_back();
        for (int i = 0; i < size; ++i) values.push_back(shift + 0.2 * stream.normal());
        if (k % 3 == 0) values[0] = -infinity;
        if (k % 4 == 0) values[1] = 20;
        std::sort(values.begin(), values.end());
    }
    return out;
}

/// Sums of squares by their definition: every sample is counted alone.
template <class Histogram>
void expect_squares(double log_mean_square) {
    const auto samples = samples_of_values(7, 12);
    Histogram all(log_mean_square);
    for (const auto& sample : samples) all.add(sample);
    const Counts counts = all.counts();
    for (std::size_t b = 0; b + 1 < counts.edges.size(); ++b) {
        double sum = 0, squares = 0;
        for (const auto& sample : samples) {
            Histogram one(log_mean_square);
            one.add(sample);
            const Counts own = one.counts();
            const auto at = std::find(own.edges.begin(), own.edges.end(), counts.edges[b]);
            const auto k = static_cast<std::size_t>(at - own.edges.begin());
            const double count = k < own.counts.size() ? own.counts[k] : 0;
            sum += count;
            squares += count * count;
        }
        EXPECT_EQ(counts.counts[b], sum);
        EXPECT_EQ(counts.count_squares[b], squares);
    }
}

TEST(LogHistogram, SquaresAreOfEverySample) {
    expect_squares<LogHistogram>(0);
    const auto samples = samples_of_values(7, 12);
    LogHistogram all(0);
    for (const auto& sample : samples) all.add(sample);
    const Counts counts = all.counts();
    for (std::size_t e = 0; e < counts.edges.size(); ++e) {
        double squares = 0;
        for (const auto& sample : samples) {
            const double below = static_cast<double>(
                std::lower_bound(sample.begin(), sample.end(), counts.edges[e]) - sample.begin());
            squares += below * below;
        }
        EXPECT_EQ(counts.cumulative_squares[e], squares);
    }
}

TEST(LinearHistogram, SquaresAreOfEverySample) {
    expect_squares<LinearHistogram>(0);
}

template <class Histogram>
void expect_continuation(double log_mean_square) {
    const auto samples = samples_of_values(9, 5);
    Histogram reference(log_mean_square);
    for (const auto& sample : samples) reference.add(sample);
    Histogram first(log_mean_square);
    for (std::size_t k = 0; k < samples.size(); ++k) {
        Histogram second(log_mean_square);
        second.restore(first.counts());
        for (std::size_t j = k; j < samples.size(); ++j) second.add(samples[j]);
        EXPECT_EQ(second.counts(), reference.counts()) << k;
        first.add(samples[k]);
    }
}

TEST(LogHistogram, GoesOnFromItsCounts) {
    expect_continuation<LogHistogram>(0);
    expect_continuation<LogHistogram>(2000);
}

TEST(LinearHistogram, GoesOnFromItsCounts) {
    expect_continuation<LinearHistogram>(0);
    expect_continuation<LinearHistogram>(5000);
    expect_continuation<LinearHistogram>(-5000);
}

TEST(LogHistogram, RefusesCountsOfAnother) {
    LogHistogram histogram(0);
    histogram.add(std::vector<double>{0.1, 0.2});
    const auto good = histogram.counts();
    const auto refuses = [&](auto change) {
        Counts counts = good;
        change(counts);
        EXPECT_THROW(LogHistogram(0).restore(counts), std::invalid_argument);
    };
    EXPECT_NO_THROW(LogHistogram(0).restore(good));
    EXPECT_THROW(LogHistogram(2000).restore(good), std::invalid_argument);
    refuses([](Counts& counts) { counts = {}; });
    refuses([](Counts& counts) { counts.edges.pop_back(); });
    refuses([](Counts& counts) { counts.edges[0] += 1e-3; });
    refuses([](Counts& counts) { counts.counts[0] = 0.5; });
    refuses([](Counts& counts) { counts.counts[0] = -1; });
    refuses([](Counts& counts) { counts.count_squares.clear(); });
    refuses([](Counts& counts) { counts.cumulative_squares[1] = -1; });
    refuses([](Counts& counts) { counts.below = std::nan(""); });
}

TEST(LogHistogram, Wasserstein1ErrorIsTheDistanceToExpect) {
    // Uniform s on (0, 1), values of a sample independent: F is off by a normal number of variance
    // F(1 − F)/(S N), of mean size √(2/π) of its root; ∫ √(s(1 − s)) ds = π/8.
    constexpr int samples = 400, size = 25;
    LogHistogram histogram(std::log(1.0 / 3));
    for (int k = 0; k < samples; ++k) {
        spectra::random::Stream stream(7, spectra::random::Purpose::test, 0, static_cast<std::uint32_t>(k));
        std::vector<double> values;
        for (int i = 0; i < size; ++i) values.push_back(std::log(stream.uniform()));
        std::sort(values.begin(), values.end());
        histogram.add(values);
    }
    const double exact = std::sqrt(2 / std::numbers::pi) * std::numbers::pi / 8 /
                         std::sqrt(static_cast<double>(samples * size)) * std::sqrt(3.0);
    EXPECT_NEAR(histogram.wasserstein1_error(samples, size, 0.5 * std::log(1.0 / 3)), exact, 0.05 * exact);
    EXPECT_EQ(histogram.wasserstein1_error(1, size, 0), 0);
    // Values that do not vary between samples have none.
    LogHistogram still(0);
    for (int k = 0; k < 5; ++k) still.add(std::vector<double>{-1, 0, 1});
    EXPECT_EQ(still.wasserstein1_error(5, 3, 0), 0);
}

}  // namespace
