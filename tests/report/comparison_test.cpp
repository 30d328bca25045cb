#include "report/comparison.hpp"

#include "h5/file.hpp"
#include "report/density_figure.hpp"
#include "report/example_report.hpp"
#include "report/result_file.hpp"
#include "report/runs_file.hpp"
#include "report/stored_report.hpp"
#include "support/expect_refused.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace spectra::report {
namespace {

using spectra::testing::expect_refused;
using spectra::testing::TemporaryFolder;

montecarlo::ExpectedDistance example_expected() {
    return {{0.001, 0.0002}, {0.002, 0.0003}, {0.003, 0.0004}, {12, 6}, {40, 160}};
}

TEST(StoredReport, DrawsAsTheReportItself) {
    const TemporaryFolder folder;
    for (auto report : {tests::isometric_report(), tests::collapsed_report(), tests::atomic_report()}) {
        SCOPED_TRACE(report.network.title);
        report.expected = example_expected();
        const auto path = folder.path() / "a.h5";
        write_result_file(report, path);
        const Report read = read_result_file(path);
        EXPECT_EQ(read.provenance.command, report.provenance.command);
        EXPECT_EQ(read.provenance.git, report.provenance.git);
        EXPECT_EQ(read.network.title, report.network.title);
        EXPECT_EQ(read.network.mixers, report.network.mixers);
        EXPECT_EQ(read.network.size(), report.network.size());
        EXPECT_EQ(read.provenance.seed, report.provenance.seed);
        ASSERT_TRUE(read.expected);
        EXPECT_EQ(read.expected->wasserstein1.mean, 0.001);
        EXPECT_EQ(read.expected->kolmogorov_smirnov.deviation, 0.0004);
        const plot::Figure before = density_figure(report), after = density_figure(read);
        EXPECT_EQ(after.title, before.title);
        EXPECT_EQ(after.caption, before.caption);
        ASSERT_EQ(after.panels.size(), before.panels.size());
        for (std::size_t k = 0; k < before.panels.size(); ++k) {
            EXPECT_EQ(after.panels[k].y.max, before.panels[k].y.max);
            ASSERT_EQ(after.panels[k].series.size(), before.panels[k].series.size());
            for (std::size_t i = 0; i < before.panels[k].series.size(); ++i) {
                EXPECT_EQ(after.panels[k].series[i].label, before.panels[k].series[i].label);
                EXPECT_EQ(after.panels[k].series[i].x, before.panels[k].series[i].x);
            }
        }
    }
}

TEST(StoredReport, KeepsASmoothedCurveAndItsLaw) {
    const TemporaryFolder folder;
    Report report = tests::isometric_report();
    report.theories[0].eta = 0.1;
    report.theories[0].curve = {};
    report.theories[0].curve.log_s = {-0.5, 0, 0.5};
    report.theories[0].curve.density_log = {0.5, 1, 0.5};
    report.theories[0].curve.omega.resize(3);
    report.theories[0].curve.g.resize(3);
    report.theories[0].curve.residual.resize(3);
    report.theories[0].curve.iterations.resize(3);
    report.theories[0].curve.certified.resize(3);
    const auto path = folder.path() / "a.h5";
    write_result_file(report, path);
    const Report read = read_report({"a", path});
    EXPECT_EQ(read.theories[0].eta, 0.1);
    EXPECT_EQ(read.theories[0].curve.density_log, report.theories[0].curve.density_log);
    EXPECT_EQ(read.theories[0].law.density().log_s, report.theories[0].law.density().log_s);
}

TEST(StoredReport, RefusesLawsThatAreNoneByTheFileTheyAreIn) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "a.h5";
    const auto write = [&](const std::string& dataset, const std::vector<double>& values, const h5::Shape& shape) {
        h5::File file = h5::File::create(path);
        write_provenance(file, {});
        file.write_attribute("", "seed", 1U);
        file.write("network/sigma2", {0.1});
        file.write_attribute("network", "streams", 1);
        file.write(dataset, values, shape);
        file.close();
    };
    write("theory/ov/log_s", {1, 0}, {2});
    expect_refused([&] { read_report({"a", path}); }, {path.string() + ": theory/ov: Spectrum: "});
    write("network/mixers", {std::nan("")}, {1, 1, 1});
    expect_refused([&] { read_report({"a", path}); }, {path.string() + ": network/mixers", "not finite"});
}

std::vector<Compared> compared_example() {
    std::vector<Compared> all;
    const auto add = [&](const std::string& mixer, int depth, std::uint64_t seed, const Report& report) {
        Compared one;
        one.report = report;
        one.run.mixer = mixer;
        one.run.branch = "isotropic";
        one.run.activation = "none";
        one.run.depth = depth;
        one.run.streams = 4;
        one.run.width = 25;
        one.run.noise = 0.05;
        one.run.seed = seed;
        one.run.samples = 20;
        one.run.metrics = report.metrics;
        one.run.agreement = report.agreement;
        all.push_back(std::move(one));
    };
    Report judged = tests::isometric_report();
    judged.expected = example_expected();
    add("bistochastic", 10, 1, tests::collapsed_report());
    add("bistochastic", 3, 1, judged);
    add("folder/own.csv", 2, 1, tests::atomic_report());
    return all;
}

TEST(Comparison, GridHasARowAMixerAndAColumnADepth) {
    const auto compared = compared_example();
    const DensityGrid grid = comparison_grid(compared);
    EXPECT_EQ(grid.rows, (std::vector<std::string>{"bistochastic", "own.csv"}));
    EXPECT_EQ(grid.columns, (std::vector<std::string>{"L = 2", "L = 3", "L = 10"}));
    ASSERT_EQ(grid.cells.size(), 6u);
    EXPECT_EQ(grid.cells[0], nullptr);
    EXPECT_EQ(grid.cells[2], &compared[0].report);
    EXPECT_EQ(grid.cells[3], &compared[2].report);
    EXPECT_NE(grid.title.find("n = 4, p = 25, Lσ² = 0.05, seed 1, 20 samples"), std::string::npos)
        << grid.title;
    EXPECT_EQ(grid.title.find("isotropic"), std::string::npos);

    auto several = compared_example();
    several[1].run.seed = 7;
    EXPECT_EQ(comparison_grid(several).rows,
              (std::vector<std::string>{"bistochastic, seed 1", "bistochastic, seed 7", "own.csv, seed 1"}));
}

TEST(Comparison, NetworksOfFilesShareAColumnWhereEachHasADepthOfItsOwn) {
    auto compared = compared_example();
    compared.push_back(compared.back());
    compared.back().run.mixer = "b.ckpt";
    compared.back().run.depth = 24;
    const DensityGrid grid = comparison_grid(compared);
    EXPECT_EQ(grid.columns, (std::vector<std::string>{"L = 3", "L = 10", "own depth"}));
    EXPECT_EQ(grid.rows, (std::vector<std::string>{"bistochastic", "own.csv, L = 2", "b.ckpt, L = 24"}));
    ASSERT_EQ(grid.cells.size(), 9u);
    EXPECT_EQ(grid.cells[2], nullptr);
    EXPECT_EQ(grid.cells[5], &compared[2].report);
    EXPECT_EQ(grid.cells[8], &compared[3].report);
    // One depth of all of them, or one that families have, is a column like the others.
    compared.back().run.depth = 10;
    EXPECT_EQ(comparison_grid(compared).columns, (std::vector<std::string>{"L = 2", "L = 3", "L = 10"}));
}

TEST(Comparison, PanelsShareTheirScalesAndSayHowMuchCollapsed) {
    const auto compared = compared_example();
    const DensityGrid grid = comparison_grid(compared);
    for (const auto scale : {plot::Scale::linear, plot::Scale::logarithmic}) {
        const plot::Figure figure = density_grid(grid, scale);
        ASSERT_EQ(figure.panels.size(), 6u);
        EXPECT_TRUE(figure.panels[0].absent);
        EXPECT_EQ(figure.panels[1].heading, "0 % collapsed");
        EXPECT_EQ(figure.panels[2].heading, "75.0 % collapsed");
        EXPECT_EQ(figure.panels[1].y.max, figure.panels[2].y.max);
        EXPECT_EQ(figure.panels[1].x.max == figure.panels[2].x.max, scale == plot::Scale::linear);
        // Neither spikes next to zero nor a wrong theory flatten the rest.
        EXPECT_LT(figure.panels[1].y.max, 8);
        EXPECT_GT(figure.panels[1].y.max, 2.1);
    }
    auto doubtful = compared_example();
    doubtful[0].report.theories[1].summary.certified = false;
    EXPECT_EQ(density_grid(comparison_grid(doubtful), plot::Scale::linear).panels[2].heading, "75.0 % collapsed !");
}

TEST(Comparison, RowsThatOneScaleWouldFlattenHaveTheirOwn) {
    auto compared = compared_example();
    compared.front().report = tests::isometric_report();
    auto broad = compared.front();
    broad.run.mixer = "gaussian";
    broad.report = tests::isometric_report();
    broad.report.theories = {tests::theory_of(dyson::Method::operator_valued, tests::semicircles({{1.2, 1.1, 1}}))};
    broad.report.simulation.reset();
    broad.report.agreement.clear();
    compared = {compared.front(), broad};
    const plot::Figure figure = density_grid(comparison_grid(compared), plot::Scale::linear);
    ASSERT_EQ(figure.panels.size(), 2u);
    EXPECT_GT(figure.panels[0].y.max, 2 * figure.panels[1].y.max);
    EXPECT_GT(figure.panels[1].y.max, 0.58);  // the height of the semicircle
    EXPECT_LT(figure.panels[1].y.max, 1.2);
    EXPECT_EQ(figure.caption.back(), "the vertical scale differs between rows");
}

TEST(Comparison, TableIsRankedByTheWindow) {
    const Table table = ranked_table(compared_example());
    const auto numbers = [&](const std::string& name) {
        const auto found = std::find_if(table.columns.begin(), table.columns.end(),
                                        [&](const auto& column) { return column.name == name; });
        return found == table.columns.end() ? std::vector<double>()
                                            : std::get<std::vector<double>>(found->cells);
    };
    const auto window = numbers("window");
    ASSERT_EQ(window.size(), 3u);
    EXPECT_TRUE(std::is_sorted(window.rbegin(), window.rend()));
    EXPECT_EQ(numbers("rank"), (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(numbers("depth").front(), 3);
    EXPECT_EQ(numbers("wasserstein1_expected").front(), 0.001);
    EXPECT_TRUE(std::isnan(numbers("wasserstein1_expected").back()));
    EXPECT_GT(numbers("scalar_montecarlo_wasserstein1")[numbers("depth")[1] == 10 ? 1 : 2], 0.1);
    EXPECT_TRUE(numbers("seed").empty()) << "what is the same everywhere is said once";
    EXPECT_NE(table.notes.front().find("seed 1"), std::string::npos);
}

TEST(Comparison, GreysAreGrey) {
    const auto compared = compared_example();
    plot::Figure figure = density_grid(comparison_grid(compared), plot::Scale::linear);
    turn_grey(figure);
    for (const auto& panel : figure.panels)
        for (const auto& series : panel.series) {
            EXPECT_EQ(series.colour.substr(1, 2), series.colour.substr(3, 2));
            EXPECT_EQ(series.colour.substr(1, 2), series.colour.substr(5, 2));
        }
}

}  // namespace
}  // namespace spectra::report
