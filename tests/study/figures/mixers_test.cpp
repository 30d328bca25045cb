#include "study/figure.hpp"

#include "h5/file.hpp"
#include "plot/layout.hpp"
#include "study/build_network.hpp"
#include "study/figures/drawn.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <Eigen/SVD>

#include <cmath>

/// Figures of mixers: heat maps, entries, and products of trained models.
namespace spectra::study {
namespace {

using testing::TemporaryFolder;

std::vector<Mixer> mixers_of(const std::string& family, int depth, int streams = 4) {
    Request request;
    request.mixer = family;
    request.depth = depth;
    request.streams = streams;
    return describe_network(request).network.mixers;
}

/// A file with mixers at several inputs, as spectra validate writes it.
std::string write_validation(const std::filesystem::path& path,
                             const std::vector<std::vector<Mixer>>& inputs) {
    auto file = h5::File::create(path);
    std::vector<double> entries;
    for (const auto& mixers : inputs)
        for (const auto& a : mixers)
            for (Eigen::Index i = 0; i < a.rows(); ++i)
                for (Eigen::Index j = 0; j < a.cols(); ++j) entries.push_back(a(i, j));
    const auto n = static_cast<std::size_t>(inputs[0][0].rows());
    const std::size_t one = inputs[0].size() * n * n;
    file.write("trained/mixers", std::span(entries).first(one), {inputs[0].size(), n, n});
    if (inputs.size() > 1)
        file.write("trained/mixers_by_input", entries, {inputs.size(), inputs[0].size(), n, n});
    file.close();
    return path.string();
}

void expect_matrix(const plot::Panel& panel, const Mixer& a) {
    const auto& cells = panel.series.at(0);
    ASSERT_EQ(cells.mark, plot::Mark::cells);
    ASSERT_EQ(cells.value.size(), static_cast<std::size_t>(a.size()));
    for (std::size_t k = 0; k < cells.value.size(); ++k)
        EXPECT_NEAR(cells.value[k],
                    a(static_cast<Eigen::Index>(cells.y[k]) - 1, static_cast<Eigen::Index>(cells.x[k]) - 1),
                    1e-15);
}

TEST(MixersFigure, ShowsTheFirstTheMiddleAndTheLastAndTheirProduct) {
    FigureRequest request;
    request.mixers = {"bistochastic", "spectral-sphere"};
    request.max_depth = 5;
    const auto drawing = drawn("mixers", request);
    const auto& panels = drawing.figure.panels;
    ASSERT_EQ(panels.size(), 8u);
    for (std::size_t m = 0; m < 2; ++m) {
        const auto mixers = mixers_of(request.mixers[m], 5);
        expect_matrix(panels[4 * m], mixers[0]);
        expect_matrix(panels[4 * m + 1], mixers[2]);
        expect_matrix(panels[4 * m + 2], mixers[4]);
        const Mixer product = mixers[4] * mixers[3] * mixers[2] * mixers[1] * mixers[0];
        expect_matrix(panels[4 * m + 3], product);
        EXPECT_NEAR(number(drawing, request.mixers[m] + ": product, largest column sum"), 1, 1e-12);
        // Sums are written beside the rows, then below the columns.
        const auto& sums = panels[4 * m + 3].series.at(1);
        ASSERT_EQ(sums.texts, std::vector<std::string>(8, "1.00"));
        EXPECT_EQ(sums.x[3], 5);
        EXPECT_EQ(sums.y[4], 5);
    }
    EXPECT_EQ(panels[0].series[0].scale.limit, 1);  // entries of both families are at most 1, to rounding
}

TEST(MixersFigure, ReadsTheFirstInputOfAValidation) {
    const TemporaryFolder folder;
    Mixer large = Mixer::Identity(3, 3);
    large(0, 2) = -2.371;
    const auto other = mixers_of("bistochastic", 2, 3);
    FigureRequest request;
    request.files = {write_validation(folder.path() / "hc.h5", {{large, other[0]}, other})};
    auto drawing = drawn("mixers", request);
    ASSERT_EQ(drawing.figure.panels.size(), 3u);  // the first is the middle one
    expect_matrix(drawing.figure.panels[0], large);
    expect_matrix(drawing.figure.panels[2], other[0] * large);
    const auto& cells = drawing.figure.panels[0].series[0];
    EXPECT_EQ(cells.texts[2], "−2.37");
    EXPECT_NEAR(cells.scale.limit, 2.38, 1e-12);
    EXPECT_NE(drawing.figure.caption[0].find("2 inputs, shown at the first"), std::string::npos);

    request.depths = {2};
    drawing = drawn("mixers", request);
    ASSERT_EQ(drawing.figure.panels.size(), 2u);
    expect_matrix(drawing.figure.panels[0], other[0]);
    request.depths = {3};
    EXPECT_THROW(drawn("mixers", request), std::invalid_argument);
    request.depths.clear();
    request.given = {"streams"};
    EXPECT_THROW(drawn("mixers", request), std::invalid_argument);
}

TEST(MixersFigure, RefusesFilesWithoutUsableMixers) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "a.h5";
    FigureRequest request;
    request.files = {path.string()};
    {
        auto file = h5::File::create(path);
        file.write("training/step", {1});
        file.close();
    }
    for (const char* const name : {"mixers", "entries", "composite"})
        EXPECT_THROW(drawn(name, request), std::invalid_argument) << name;
    for (const auto& [entries, shape] : {std::pair{std::vector<double>(6, 1.0), h5::Shape{1, 2, 3}},
                                         {std::vector<double>{1, NAN, 0, 1}, h5::Shape{1, 2, 2}}}) {
        auto file = h5::File::create(path);
        file.write("trained/mixers", entries, shape);
        file.close();
        EXPECT_THROW(drawn("entries", request), std::invalid_argument);
    }
}

// At a column's width pairs of matrices stand side by side, and every entry is written in its cell.
TEST(MixersFigure, FitsAColumnWithItsNumbers) {
    for (const int streams : {2, 4, 8}) {
        FigureRequest request;
        request.streams = streams;
        auto figure = drawn("mixers", request).figure;
        plot::fit_column(figure);
        const auto layout = plot::lay_out(figure);
        EXPECT_EQ(layout.width, plot::column_width);
        const auto cells = static_cast<std::size_t>(streams * (streams + 2));
        for (std::size_t k = 0; k < figure.panels.size(); ++k) {
            const auto& placed = layout.panels[k];
            EXPECT_NEAR(placed.box.width(), placed.box.height(), 1e-9);
            ASSERT_EQ(placed.notes.size(), cells);
            for (std::size_t a = 0; a < cells; ++a) {
                const auto box = plot::extent(placed.notes[a]);
                EXPECT_GE(placed.notes[a].size, 4);
                EXPECT_TRUE(box.left >= placed.box.left && box.right <= placed.box.right);
                for (std::size_t b = 0; b < a; ++b) {
                    const auto other = plot::extent(placed.notes[b]);
                    EXPECT_FALSE(box.left < other.right && other.left < box.right && box.bottom < other.top &&
                                 other.bottom < box.top)
                        << placed.notes[a].text << " | " << placed.notes[b].text;
                }
            }
        }
        EXPECT_GT(layout.panels[1].box.left, layout.panels[0].box.right);
        EXPECT_GT(layout.panels[0].box.bottom, layout.panels[2].box.top);
    }
}

TEST(MixersFigure, ItsFileHasTheEntries) {
    const TemporaryFolder folder;
    FigureRequest request;
    request.mixers = {"bistochastic"};
    const auto drawing = drawn("mixers", request);
    write_figure_file("mixers", drawing, {}, folder.path() / "a.h5");
    const auto file = h5::File::open_read(folder.path() / "a.h5");
    h5::Shape shape;
    const auto values = file.read_doubles("figure/panel-1/entry-of-the-matrix/value", shape);
    const auto a = mixers_of("bistochastic", 1)[0];
    for (Eigen::Index i = 0; i < 4; ++i)  // row after row
        for (Eigen::Index j = 0; j < 4; ++j) EXPECT_EQ(values[static_cast<std::size_t>(4 * i + j)], a(i, j));
    EXPECT_EQ(file.string_attribute("figure/panel-1/entry-of-the-matrix", "mark"), "cells");
}

TEST(EntriesFigure, CountsTheEntriesOfAllInputs) {
    const TemporaryFolder folder;
    Mixer a(2, 2), b(2, 2);
    a << 1, 0, 0.02, 0.98;  // bins 1.00 (twice) and 0.00 (twice)
    b << -0.3, 1.3, 1.3, -0.3;
    FigureRequest request;
    request.files = {write_validation(folder.path() / "a.h5", {{a}, {b}})};
    const auto drawing = drawn("entries", request);
    EXPECT_NEAR(number(drawing, "a: share below −0.01"), 0.25, 1e-15);
    EXPECT_NEAR(number(drawing, "a: share > 0.05 from 0 and 1"), 0.5, 1e-15);
    const auto& curve = drawing.figure.panels.at(0).series.at(0);
    std::vector<double> finite_x, finite_y;
    for (std::size_t k = 0; k < curve.x.size(); ++k)
        if (std::isfinite(curve.y[k]))
            finite_x.push_back(curve.x[k]), finite_y.push_back(std::pow(10, curve.y[k]));
    ASSERT_EQ(finite_x.size(), 8u);
    const std::vector<double> expected{-0.325, -0.275, -0.025, 0.025, 0.975, 1.025, 1.275, 1.325};
    for (std::size_t k = 0; k < 8; ++k) {
        EXPECT_NEAR(finite_x[k], expected[k], 1e-12);
        EXPECT_NEAR(finite_y[k], 0.25, 1e-12);
    }
    EXPECT_EQ(curve.x.size(), 11u);  // and three interruptions
}

TEST(CompositeFigure, OfFilesHasSumsAndTheNormOverInputs) {
    const TemporaryFolder folder;
    const auto first = mixers_of("gaussian", 3, 3), second = mixers_of("spectral-sphere", 3, 3);
    FigureRequest request;
    request.files = {write_validation(folder.path() / "a.h5", {first, second})};
    const auto drawing = drawn("composite", request);
    const auto& panels = drawing.figure.panels;
    ASSERT_EQ(panels.size(), 3u);
    Mixer one = Mixer::Identity(3, 3), two = one;
    for (std::size_t l = 0; l < 3; ++l) {
        one = first[l] * one;
        two = second[l] * two;
        const double a = Eigen::JacobiSVD<Mixer>(one).singularValues()(0),
                     b = Eigen::JacobiSVD<Mixer>(two).singularValues()(0);
        const double mean = (a + b) / 2, deviation = std::abs(a - b) / std::sqrt(2.0);
        EXPECT_NEAR(panels[2].series[1].y[l], mean, 1e-12);
        EXPECT_NEAR(panels[2].series[0].y[l], mean + deviation, 1e-12);
        EXPECT_NEAR(panels[2].series[0].lower[l], mean - deviation, 1e-12);
        const auto least = [](const Mixer& x) {
            return std::min(x.rowwise().sum().minCoeff(), x.colwise().sum().minCoeff());
        };
        const auto most = [](const Mixer& x) {
            return std::max(x.rowwise().sum().maxCoeff(), x.colwise().sum().maxCoeff());
        };
        EXPECT_NEAR(panels[0].series[0].y[l], std::min(least(first[l]), least(second[l])), 1e-12);
        EXPECT_NEAR(panels[0].series[1].y[l], std::max(most(first[l]), most(second[l])), 1e-12);
        EXPECT_NEAR(panels[1].series[0].y[l], std::min(least(one), least(two)), 1e-12);
        EXPECT_NEAR(panels[1].series[1].y[l], std::max(most(one), most(two)), 1e-12);
    }
}

}  // namespace
}  // namespace spectra::study
