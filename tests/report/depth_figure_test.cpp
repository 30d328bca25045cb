#include "report/depth_figure.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace spectra::report {
namespace {

/// Shares that fall to 0.5 at the last depth; it fails.
DepthReport falling(int deepest) {
    DepthReport report;
    report.title = "cayley, n = 4";
    report.keep = 0.9;
    report.above = 0.1;
    for (int depth = 1; depth <= deepest; ++depth)
        report.limit.points.push_back({depth, depth < deepest ? 0.95 : 0.5, true});
    report.limit.depth = deepest - 1;
    report.limit.failed = report.limit.certified = true;
    return report;
}

TEST(DepthFigure, ShowsTheSharesAndMarksTheLimit) {
    const auto figure = depth_figure(falling(5));
    ASSERT_EQ(figure.panels.size(), 1u);
    const auto& panel = figure.panels.front();
    EXPECT_EQ(panel.x.scale, plot::Scale::whole);
    ASSERT_EQ(panel.series.size(), 4u) << "share to keep, line, points, limit";
    EXPECT_EQ(panel.series[0].y, (std::vector<double>{0.9, 0.9}));
    EXPECT_EQ(panel.series[1].x, (std::vector<double>{1, 2, 3, 4, 5}));
    EXPECT_EQ(panel.series[1].y.back(), 0.5);
    EXPECT_EQ(panel.series[3].x, (std::vector<double>{4, 4})) << "the last depth that keeps the share";
    ASSERT_EQ(panel.annotations.size(), 1u);
    EXPECT_EQ(panel.annotations[0].text, "limit: 4 layers");
    EXPECT_EQ(figure.caption.back(), "every depth certified (5 depths)");
}

TEST(DepthFigure, SaysWhereNoDepthIsEnough) {
    const auto panel = depth_figure(falling(1)).panels.front();
    EXPECT_EQ(panel.series.size(), 3u) << "no limit to mark";
    EXPECT_EQ(panel.annotations.at(0).text, "no depth keeps it");
}

TEST(DepthFigure, DeepNetworksHaveALogarithmicAxis) {
    const auto panel = depth_figure(falling(200)).panels.front();
    EXPECT_EQ(panel.x.scale, plot::Scale::logarithmic);
    EXPECT_DOUBLE_EQ(panel.series[1].x.back(), std::log10(200.0));
    EXPECT_GT(panel.x.max, panel.series[1].x.back());
}

TEST(DepthFigure, LeavesOutWhatIsNotCertifiedAndSaysSo) {
    auto report = falling(5);
    report.limit.points[2].certified = false;
    const auto figure = depth_figure(report);
    EXPECT_TRUE(std::isnan(figure.panels[0].series[1].y[2]));
    EXPECT_EQ(figure.caption.back(), "1 of 5 depths NOT certified, left out");
}

TEST(DepthFigure, OtherDrawsAreLinesBehindAndALimitThatIsNotReachedIsSaid) {
    auto report = falling(5);
    report.limit.failed = false;
    report.draws = {falling(3).limit, falling(7).limit};
    const auto panel = depth_figure(report).panels.front();
    ASSERT_EQ(panel.series.size(), 6u);
    EXPECT_EQ(panel.series[0].label, "other draws of the mixers");
    EXPECT_EQ(panel.series[1].label, "") << "once in the legend";
    EXPECT_GT(panel.x.max, 7);
    EXPECT_EQ(panel.annotations[0].text, "at least 4 layers");
}

}  // namespace
}  // namespace spectra::report
