#include "report/report.hpp"

#include "report/example_report.hpp"

#include <gtest/gtest.h>

namespace spectra::report {
namespace {

std::vector<std::string> names(const auto& list) {
    std::vector<std::string> out;
    for (const auto& entry : list) out.push_back(name(entry.first));
    return out;
}

TEST(Compare, EverySourceAndEveryPair) {
    Report report = tests::isometric_report();
    compare(report);  // again: nothing doubles
    EXPECT_EQ(names(report.metrics), (std::vector<std::string>{"ov", "scalar", "montecarlo"}));
    EXPECT_EQ(names(report.agreement),
              (std::vector<std::string>{"ov_scalar", "ov_montecarlo", "scalar_montecarlo"}));
    // A semicircle of radius r around 1: mean square 1 + r²/4.
    EXPECT_NEAR(report.metrics[0].second.mean_square, 1 + 0.3 * 0.3 / 4, 1e-9);
    // Semicircles of radii r, r' around one centre: W1 = |r − r'| E|x|, E|x| = 4/(3π).
    EXPECT_NEAR(report.agreement[0].second.wasserstein1, 0.003 * 4 / (3 * std::numbers::pi), 1e-5);
}

TEST(Compare, SourcesThatAreNotThereAreLeftOut) {
    Report report = tests::isometric_report();
    report.simulation.reset();
    report.theories.emplace_back();  // nothing solved
    report.theories.erase(report.theories.begin());
    compare(report);
    EXPECT_EQ(names(report.metrics), std::vector<std::string>{"scalar"});
    EXPECT_TRUE(report.agreement.empty());
}

TEST(Compare, HistogramTakesTheSamplersMoments) {
    Report report = tests::isometric_report();
    auto& simulation = *report.simulation;
    simulation.law = Spectrum::from_histogram({-1, 0, 1}, {1000, 1000}, 0, 0);
    compare(report);
    EXPECT_EQ(report.metrics.back().second.mean_square, simulation.mean_square);
    EXPECT_EQ(report.metrics.back().second.largest, simulation.largest);
}

}  // namespace
}  // namespace spectra::report
