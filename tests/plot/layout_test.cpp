#include "plot/layout.hpp"

#include "report/density_figure.hpp"
#include "report/example_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

/// Where things are on the page: nothing overlaps, nothing leaves it, whatever is drawn.
namespace spectra::plot {
namespace {

using namespace report;

bool overlap(const Box& a, const Box& b) {
    return a.left < b.right && b.left < a.right && a.bottom < b.top && b.bottom < a.top;
}

bool inside(const Box& inner, const Box& outer) {
    return inner.left >= outer.left && inner.right <= outer.right && inner.bottom >= outer.bottom &&
           inner.top <= outer.top;
}

/// The boxes of the labels along a panel's axes.
std::vector<Box> tick_labels(const PlacedPanel& placed, const Panel& panel, double size) {
    std::vector<Box> boxes;
    const Box& box = placed.box;
    const double em = size * 25.4 / 72;
    for (const auto& tick : placed.x_ticks) {
        if (tick.label.empty()) continue;
        const double x =
            std::lerp(box.left, box.right, (tick.place - panel.x.min) / (panel.x.max - panel.x.min));
        const double half = 0.5 * text_width(tick.label, size);
        boxes.push_back({x - half, box.bottom - 0.9 - 1.2 * em, x + half, box.bottom - 0.9});
    }
    for (const auto& tick : placed.y_ticks) {
        if (tick.label.empty()) continue;
        const double y =
            std::lerp(box.bottom, box.top, (tick.place - panel.y.min) / (panel.y.max - panel.y.min));
        const double right = box.left - 0.9 - 0.2 * em;
        boxes.push_back({right - text_width(tick.label, size), y - 0.5 * em, right, y + 0.5 * em});
    }
    return boxes;
}

void expect_tidy(const Figure& figure) {
    const Layout layout = lay_out(figure);
    const Box page{0, 0, layout.width, layout.height};
    std::vector<std::pair<std::string, Box>> all;
    for (const auto& words : layout.words) all.emplace_back(words.text, extent(words));
    for (const auto& sample : layout.samples)
        all.emplace_back("sample of " + sample.series->label, sample.box);
    for (std::size_t k = 0; k < layout.panels.size(); ++k) {
        if (figure.panels[k].absent) continue;
        all.emplace_back("panel " + std::to_string(k), layout.panels[k].box);
        for (const auto& box : tick_labels(layout.panels[k], figure.panels[k], layout.font_size))
            all.emplace_back("tick of panel " + std::to_string(k), box);
        const auto& notes = layout.panels[k].notes;
        for (std::size_t a = 0; a < notes.size(); ++a) {
            EXPECT_TRUE(inside(extent(notes[a]), layout.panels[k].box)) << notes[a].text;
            for (std::size_t b = a + 1; b < notes.size(); ++b)
                EXPECT_FALSE(overlap(extent(notes[a]), extent(notes[b]))) << notes[a].text << " | " << notes[b].text;
        }
    }
    for (std::size_t a = 0; a < all.size(); ++a) {
        EXPECT_TRUE(inside(all[a].second, page)) << all[a].first;
        for (std::size_t b = a + 1; b < all.size(); ++b)
            EXPECT_FALSE(overlap(all[a].second, all[b].second)) << all[a].first << " | " << all[b].first;
    }
}

DensityGrid grid_of(const std::vector<Report>& reports, std::size_t rows, std::size_t columns) {
    DensityGrid grid;
    grid.title = "Jacobian, n = 4, p = 25, Lσ² = 0.05, seed 1, 500 samples";
    grid.caption = {"collapsed: share of singular values below 0.1"};
    for (std::size_t c = 0; c < columns; ++c) grid.columns.push_back("L = " + std::to_string(c + 1));
    for (std::size_t r = 0; r < rows; ++r) {
        grid.rows.push_back(r % 2 == 0 ? "spectral-sphere" : "bistochastic, hyper-connection, seed 123");
        for (std::size_t c = 0; c < columns; ++c)
            grid.cells.push_back((r + c) % 5 == 4 ? nullptr : &reports[(r + c) % reports.size()]);
    }
    return grid;
}

TEST(Layout, NothingOverlaps) {
    const std::vector<Report> reports{tests::isometric_report(), tests::collapsed_report(),
                                      tests::atomic_report()};
    for (const auto& report : reports) {
        SCOPED_TRACE(report.network.title);
        expect_tidy(density_figure(report));
    }
    for (const std::size_t rows : {1u, 3u, 6u, 24u})
        for (const std::size_t columns : {1u, 2u, 3u, 5u, 12u})
            for (const auto scale : {Scale::linear, Scale::logarithmic}) {
                SCOPED_TRACE(::testing::Message() << rows << " x " << columns);
                expect_tidy(density_grid(grid_of(reports, rows, columns), scale));
            }
}

TEST(Layout, NotesAreMovedApartAndBrokenIntoLines) {
    Figure figure;
    figure.panels.resize(2);
    for (const double x : {0.3, 0.32, 0.99})
        figure.panels[0].annotations.push_back({x, 0.5, "mass 0.25", false});
    figure.panels[0].annotations.push_back(
        {0.02, 1, "75.0 % of the singular values lie below 1e-496, far to the left of the axis", false});
    figure.panels[0].annotations.push_back({0.5, 0, "at the bottom", false, true});
    figure.panels[0].right = {"mass of an atom", Scale::linear, 0, 1};
    expect_tidy(figure);
    const Layout layout = lay_out(figure);
    EXPECT_GT(layout.panels[0].notes.size(), 5u);
    EXPECT_FALSE(layout.panels[0].right_ticks.empty());
    EXPECT_TRUE(layout.panels[1].right_ticks.empty());
}

TEST(Layout, TextIsLegibleWhereTheFigureIsShrunkToAColumn) {
    const auto smallest = [](const Figure& figure) {
        const Layout layout = lay_out(figure);
        double size = layout.font_size;
        for (const auto& words : layout.words) size = std::min(size, words.size);
        for (const auto& panel : layout.panels)
            for (const auto& note : panel.notes) size = std::min(size, note.size);
        return size * column_width / layout.width;
    };
    const std::vector<Report> reports{tests::isometric_report(), tests::collapsed_report()};
    Figure page = density_figure(reports[1]);
    EXPECT_GE(smallest(page), 5.9);
    fit_column(page);
    EXPECT_GE(smallest(page), 5.9);
    EXPECT_GE(smallest(density_grid(grid_of(reports, 2, 3), Scale::linear)), 5.9);
}

TEST(Layout, LongNamesOfFilesAreBroken) {
    const std::vector<Report> reports{tests::isometric_report()};
    DensityGrid grid = grid_of(reports, 3, 2);
    grid.rows = {"spectra_cayley.ckpt, hyper-connection, L = 24", "deepseek.safetensors, isotropic",
                 "averyveryverylongnamewithoutanyplacetobreakit"};
    const Figure figure = density_grid(grid, Scale::linear);
    expect_tidy(figure);
    std::string all;
    for (const auto& words : lay_out(figure).words)
        if (words.angle == 90) all += words.text;
    EXPECT_NE(all.find("averyveryverylongnamewithoutanyplacetobreakit"), std::string::npos) << all;
}

TEST(Layout, LabelsAreAtTheOuterPanelsOnly) {
    const std::vector<Report> reports{tests::isometric_report()};
    DensityGrid grid = grid_of(reports, 3, 3);
    grid.cells[8] = nullptr;  // the lower right corner: the one above it is the lowest then
    const Layout layout = lay_out(density_grid(grid, Scale::linear));
    const auto labels = [](const std::vector<Tick>& ticks) {
        return std::count_if(ticks.begin(), ticks.end(),
                             [](const Tick& tick) { return !tick.label.empty(); });
    };
    for (std::size_t k = 0; k < 9; ++k) {
        if (!grid.cells[k]) continue;
        const bool below = k + 3 < 9 && grid.cells[k + 3];
        EXPECT_EQ(labels(layout.panels[k].x_ticks) > 0, !below) << k;
        EXPECT_EQ(labels(layout.panels[k].y_ticks) > 0, k % 3 == 0) << k;
        EXPECT_FALSE(layout.panels[k].x_ticks.empty()) << k;
    }
    std::size_t names = 0;
    for (const auto& words : layout.words) names += words.text == "singular value s" ? 1 : 0;
    EXPECT_EQ(names, 1u);
}

TEST(Layout, PanelsOfAGridAreEqual) {
    const std::vector<Report> reports{tests::isometric_report(), tests::collapsed_report()};
    const Layout layout = lay_out(density_grid(grid_of(reports, 4, 3), Scale::logarithmic));
    EXPECT_EQ(layout.width, column_width);
    for (const auto& panel : layout.panels) {
        if (panel.box.width() == 0) continue;
        EXPECT_NEAR(panel.box.width(), layout.panels[0].box.width(), 1e-9);
        EXPECT_NEAR(panel.box.height(), layout.panels[0].box.height(), 1e-9);
    }
}

std::vector<std::string> labels_of(const Axis& axis, double length) {
    std::vector<std::string> labels;
    for (const auto& tick : axis_ticks(axis, length, 7, true, 2))
        if (!tick.label.empty()) labels.push_back(tick.label);
    return labels;
}

TEST(Ticks, AreRoundWithRealMinusSigns) {
    using Labels = std::vector<std::string>;
    EXPECT_EQ(labels_of({"", Scale::linear, 0, 1.6}, 22), (Labels{"0", "0.5", "1", "1.5"}));
    EXPECT_EQ(labels_of({"", Scale::linear, -1, 1}, 20), (Labels{"−1", "0", "1"}));
    EXPECT_EQ(labels_of({"", Scale::logarithmic, -15.5, 0.2}, 60), (Labels{"10⁻¹⁵", "10⁻¹⁰", "10⁻⁵", "1"}));
    EXPECT_EQ(labels_of({"", Scale::logarithmic, -940, 20}, 80),
              (Labels{"10⁻⁸⁰⁰", "10⁻⁶⁰⁰", "10⁻⁴⁰⁰", "10⁻²⁰⁰", "1"}));
    EXPECT_EQ(labels_of({"", Scale::logarithmic, 0, 3.2}, 40), (Labels{"1", "10", "100", "1000"}));
    EXPECT_EQ(labels_of({"", Scale::logarithmic, -0.31, 0.31}, 60), (Labels{"0.5", "1", "1.5", "2"}));
    EXPECT_EQ(labels_of({"", Scale::whole, 1, 4}, 80), (Labels{"1", "2", "3", "4"}));
    EXPECT_EQ(labels_of({"", Scale::whole, 0, 220}, 60), (Labels{"0", "50", "100", "150", "200"}));
    // An axis too short for two labels keeps one, and ticks.
    EXPECT_EQ(labels_of({"", Scale::linear, 0, 1e6}, 4).size(), 1u);
}

TEST(Ticks, LabelsNeverTouch) {
    for (const double span : {0.1, 0.5, 1.0, 2.0, 3.0, 10.0, 40.0, 300.0, 5000.0})
        for (const double length : {8.0, 21.0, 60.0, 150.0})
            for (const auto scale : {Scale::linear, Scale::logarithmic}) {
                const Axis axis{"", scale, -0.9 * span, 0.1 * span};
                double end = -1e9;
                for (const auto& tick : axis_ticks(axis, length, 7, true, 2)) {
                    const double at = (tick.place - axis.min) / (axis.max - axis.min) * length;
                    EXPECT_TRUE(at >= -1e-6 && at <= length + 1e-6);
                    if (tick.label.empty()) continue;
                    const double half = 0.5 * text_width(tick.label, 7);
                    EXPECT_GT(at - half, end + 0.5) << tick.label << " of " << span << " on " << length;
                    end = at + half;
                }
            }
}

}  // namespace
}  // namespace spectra::plot
