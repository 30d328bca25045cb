#include "report/density_figure.hpp"

#include "report/density_notes.hpp"
#include "report/example_report.hpp"

#include <gtest/gtest.h>

namespace spectra::report {
namespace {

using namespace plot;

const Series* find(const Panel& panel, const std::string& label) {
    for (const auto& series : panel.series) {
        if (series.label.starts_with(label)) return &series;
    }
    return nullptr;
}

/// Area under a histogram or a line of a panel; a line's gaps count as nothing.
double area(const Series& series) {
    double sum = 0;
    for (std::size_t k = 0; k + 1 < series.x.size(); ++k) {
        const double width = series.x[k + 1] - series.x[k];
        const double height =
            series.mark == Mark::filled_steps ? series.y[k] : 0.5 * (series.y[k] + series.y[k + 1]);
        if (std::isfinite(height)) sum += width * height;
    }
    return sum;
}

TEST(DensityFigure, EverythingDrawnHasMassOne) {
    const Figure figure = density_figure(tests::isometric_report());
    ASSERT_EQ(figure.panels.size(), 2u);
    for (const auto& panel : figure.panels) {
        const double unit = panel.x.scale == Scale::linear ? 1 : std::numbers::ln10;
        for (const char* label : {"simulation", "operator-valued", "scalar"}) {
            const Series* series = find(panel, label);
            ASSERT_TRUE(series) << label;
            EXPECT_NEAR(area(*series) * unit, 1, 1e-3) << label;  // trapezoids of 100 points
            for (const double y : series->y) {
                if (std::isfinite(y)) {
                    EXPECT_LE(y, panel.y.max);
                }
            }
        }
    }
}

TEST(DensityFigure, NamesNetworkAndSources) {
    Report report = tests::isometric_report();
    report.theories[1].summary.certified = false;
    report.theories[1].summary.uncertified = 3;
    const Figure figure = density_figure(report);
    EXPECT_NE(figure.title.find(report.network.title), std::string::npos);
    std::string caption;
    for (const auto& line : figure.caption) caption += line + "\n";
    EXPECT_NE(caption.find("simulation: 20 samples, N = 100"), std::string::npos) << caption;
    EXPECT_NE(caption.find("operator-valued theory: 100 points, certified"), std::string::npos) << caption;
    EXPECT_NE(caption.find("3 of 100 points NOT certified"), std::string::npos) << caption;
    EXPECT_EQ(figure.panels[0].x.label, "singular value s");
    EXPECT_EQ(figure.panels[0].y.label, "density ρ(s)");
    EXPECT_EQ(figure.panels[1].y.label, "density per unit ln s");
}

TEST(DensityFigure, CurvesEndInZeroAndDoNotCrossGaps) {
    const Figure figure = density_figure(tests::collapsed_report());
    const Panel& panel = figure.panels[1];
    const Series* line = find(panel, "operator-valued");
    ASSERT_TRUE(line);
    const auto breaks = std::count_if(line->y.begin(), line->y.end(), [](double y) { return std::isnan(y); });
    EXPECT_EQ(breaks, 3);
    for (std::size_t k = 0; k < line->y.size(); ++k) {
        if (!std::isnan(line->y[k])) continue;
        EXPECT_EQ(line->y[k - 1], 0);
        if (k + 1 < line->y.size()) {
            EXPECT_EQ(line->y[k + 1], 0);
        }
    }
    EXPECT_NEAR(line->x.front(), std::log10(1e-5), 1e-12);
}

TEST(DensityFigure, CollapsedMassDoesNotFlattenTheRest) {
    const Figure figure = density_figure(tests::collapsed_report());
    const Panel& panel = figure.panels[0];
    // The band around 1 is 0.53 high, the collapsed ones above 1000.
    EXPECT_LT(panel.y.max, 2);
    EXPECT_GT(panel.y.max, 0.53);
    ASSERT_FALSE(panel.annotations.empty());
    EXPECT_EQ(panel.annotations.front().text, "cut: 75.0 % of the singular values lie below 0.032");
}

TEST(DensityFigure, SaysWhereTheMassIsThatNoLineShows) {
    // Three quarters far below the smallest double, as of a thousand bistochastic layers.
    Density density;
    tests::add_band(density, -2010, -1990, 100, [](double) { return 0.75 / 20; });
    tests::add_band(density, std::log(0.8), std::log(1.2), 100, [](double) { return 0.25 / std::log(1.5); });
    Report report = tests::isometric_report();
    report.theories = {tests::theory_of(dyson::Method::operator_valued, Spectrum::from_density(density))};
    report.simulation.reset();
    const Figure figure = density_figure(report);
    ASSERT_EQ(figure.panels[0].annotations.size(), 1u);
    EXPECT_EQ(figure.panels[0].annotations[0].text, "75.0 % of the singular values lie below 1e-864");
    EXPECT_LT(figure.panels[0].annotations[0].x, 0.1 * figure.panels[0].x.max);
    // Over all scales: each band or peak has its share.
    std::string notes;
    for (const auto& note : figure.panels[1].annotations) notes += note.text + "; ";
    EXPECT_EQ(notes, "mass 0.25, cut; 75 %; ");
}

TEST(DensityFigure, TellsThatTwoCurvesAreOne) {
    Report report = tests::isometric_report();
    report.theories[1] = tests::theory_of(dyson::Method::scalar, report.theories[0].law);
    report.agreement.clear();
    compare(report);
    const auto notes = density_figure(report).panels[0].annotations;
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_EQ(notes[0].text, "both theories coincide");
    EXPECT_NEAR(notes[0].x, 1, 0.05);
    const auto others = density_figure(tests::collapsed_report());
    for (const auto& note : others.panels[0].annotations)
        EXPECT_EQ(note.text.find("coincide"), std::string::npos) << note.text;
}

TEST(DensityFigure, AtomsAloneKeepTheNameOfTheirTheory) {
    // Four atoms, three of them too close to zero to be told apart over s.
    Density density;
    for (const double place : {1e-10, 1e-7, 1e-5, 1.0}) density.atoms.push_back({std::log(place), 0.25});
    Report report = tests::isometric_report();
    report.theories = {tests::theory_of(dyson::Method::operator_valued, Spectrum::from_density(density))};
    report.simulation.reset();
    const Figure figure = density_figure(report);
    for (const auto& panel : figure.panels) {
        EXPECT_TRUE(find(panel, "operator-valued theory (atoms)"));
        EXPECT_EQ(panel.right.label, "mass of an atom");
        for (const auto& series : panel.series) EXPECT_TRUE(series.on_right);
        const bool linear = panel.x.scale == Scale::linear;
        ASSERT_EQ(panel.series.size(), linear ? 4u : 8u);  // stems with discs
        EXPECT_EQ(panel.series[0].y, std::vector<double>{linear ? 0.75 : 0.25});
        EXPECT_EQ(panel.series.back().y, std::vector<double>{0.25});
    }
    ASSERT_EQ(figure.panels[0].annotations.size(), 2u);
    EXPECT_EQ(figure.panels[0].annotations[0].text, "3 atoms, mass 0.75");
    EXPECT_EQ(figure.panels[0].annotations[1].text, "mass 0.25");
    ASSERT_EQ(figure.panels[1].annotations.size(), 1u);
    EXPECT_EQ(figure.panels[1].annotations[0].text, "4 × mass 0.25");
}

TEST(DensityFigure, APeakTooNarrowToBeSeenDoesNotFlattenTheRest) {
    Report report = tests::isometric_report();
    report.theories = {tests::theory_of(dyson::Method::operator_valued,
                                        tests::semicircles({{1, 0.5, 0.9}, {1.6, 1e-7, 0.1}}))};
    report.simulation.reset();
    const Panel panel = density_figure(report).panels[0];
    // A band 1.15 high and a peak of 6e5, a tenth of the mass.
    EXPECT_GT(panel.y.max, 1.15);
    EXPECT_LT(panel.y.max, 1.4);
    ASSERT_EQ(panel.annotations.size(), 1U);
    EXPECT_EQ(panel.annotations[0].text, "mass 0.1, cut");

    // Beside collapsed mass.
    report.theories = {
        tests::theory_of(dyson::Method::operator_valued,
                         tests::semicircles({{1e-4, 5e-5, 0.4}, {1, 0.5, 0.5}, {1.6, 1e-7, 0.1}}))};
    const Panel both = density_figure(report).panels[0];
    EXPECT_GT(both.y.max, 0.63);
    EXPECT_LT(both.y.max, 0.8);
    ASSERT_EQ(both.annotations.size(), 2U);
    EXPECT_EQ(both.annotations[0].text, "cut: 40.0 % of the singular values lie below 0.00015");
    EXPECT_EQ(both.annotations[1].text, "mass 0.1, cut");
}

TEST(DensityFigure, MassThatIsCutIsThatOfTheLaw) {
    const auto theory = tests::theory_of(dyson::Method::operator_valued,
                                         tests::semicircles({{1, 0.5, 0.9}, {1.6, 1e-7, 0.1}}));
    Panel panel;
    panel.x = {"", Scale::linear, 0, 2};
    note_peaks(panel, theory.law, {{1.59, 1.61, 1.4, 6e5}});  // 1.4 by a line through too few points
    ASSERT_EQ(panel.annotations.size(), 1U);
    EXPECT_EQ(panel.annotations[0].text, "mass 0.1, cut");
}

TEST(DensityFigure, AtomsAreImpulsesWithTheirMass) {
    const Figure figure = density_figure(tests::atomic_report());
    for (const auto& panel : figure.panels) {
        std::size_t impulses = 0;
        for (const auto& series : panel.series) impulses += series.mark == Mark::impulses;
        EXPECT_EQ(impulses, panel.x.scale == Scale::linear ? 2u : 1u);  // ln 0 is on no axis
        EXPECT_EQ(panel.annotations.size(), 2u);
        for (const auto& note : panel.annotations) EXPECT_NE(note.text.find("mass 0.25"), std::string::npos);
    }
    // Zeros and atoms neither widen the logarithmic frame nor raise the panels.
    EXPECT_GT(figure.panels[1].x.min, -1);
    EXPECT_LT(figure.panels[0].y.max, 1.5);
}

TEST(DensityFigure, SmoothedCurveIsDrawnWhereItWasAskedFor) {
    Report report = tests::isometric_report();
    auto& theory = report.theories[0];
    theory.eta = 0.1;
    theory.curve.log_s = {-0.5, 0, 0.5};
    theory.curve.density_log = {0.5, 1, 0.5};
    const Figure figure = density_figure(report);
    const Series* line = find(figure.panels[1], "operator-valued");
    ASSERT_TRUE(line);
    EXPECT_EQ(line->y, theory.curve.density_log);
    EXPECT_NE(figure.caption.front().find("smoothed at η = 0.1"), std::string::npos);
}

TEST(DensityFigure, DrawsWhatThereIs) {
    Report report;
    report.network = tests::example_network(1);
    EXPECT_EQ(density_figure(report).panels.size(), 2u);
    report.simulation = tests::isometric_report().simulation;
    EXPECT_EQ(density_figure(report).panels[0].series.size(), 1u);
    // All singular values zero, and one far beyond the doubles.
    for (const double place : {-std::numeric_limits<double>::infinity(), -2000.0}) {
        Report single;
        single.network = tests::example_network(1);
        single.theories = {tests::theory_of(dyson::Method::operator_valued, tests::point_mass(place))};
        single.simulation = tests::simulation_of(single.theories[0].law, 2, 100);
        for (const auto& panel : density_figure(single).panels) {
            EXPECT_LT(panel.x.min, panel.x.max);
            EXPECT_LT(panel.y.min, panel.y.max);
            EXPECT_TRUE(std::isfinite(panel.x.min + panel.x.max + panel.y.max));
        }
    }
}

}  // namespace
}  // namespace spectra::report
