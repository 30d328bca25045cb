#include "study/compare.hpp"

#include "weightfile/tensor_file.hpp"
#include "dyson/law/theory.hpp"
#include "h5/file.hpp"
#include "support/needs_program.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"
#include "layouts/layouts.hpp"
#include "validation/prediction.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

/// The command compare: a grid as figures and a ranked table.
namespace spectra {
namespace {

using nlohmann::json;
using testing::content;
using testing::TemporaryFolder;
using Words = std::vector<std::string>;

TEST(CompareRequest, IsTheGridOfTheFirstFigureByDefault) {
    const auto points = study::grid_points(study::CompareRequest().grid);
    ASSERT_EQ(points.size(), 18u);
    EXPECT_EQ(points.front().name, "identity-L1-noise0.05-seed1");
    EXPECT_EQ(points.back().name, "gaussian-L10-noise0.05-seed1");
    for (const auto& point : points) EXPECT_EQ(point.request.samples, 250);
}

class CompareProgram : public ::testing::Test {
protected:
    testing::ProcessResult run(Words words, testing::ProcessOptions options = {}) const {
        words.insert(words.begin(), SPECTRA_BINARY);
        options.folder = folder_.path();
        return testing::run_process(words, options);
    }
    testing::ProcessResult compare(const Words& words, const testing::ProcessOptions& options = {}) const {
        Words all{"compare", "--out", "grid"};
        all.insert(all.end(), words.begin(), words.end());
        return run(all, options);
    }
    std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
    std::size_t lines(const std::string& text) const {
        return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    }

    TemporaryFolder folder_;
};

const Words small{"--mixers", "bistochastic,orthogonal", "--depths", "1,3", "--width", "5", "--samples", "4"};

Words with(Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

TEST_F(CompareProgram, WritesOneFileTwoFiguresAndTables) {
    SPECTRA_NEEDS_GNUPLOT();
    const auto result = compare(with(small, {"--plot", "png,svg,pdf"}));
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_TRUE(result.err.empty()) << result.err;
    for (const char* name : {"grid.h5", "grid.png", "grid-log.png", "grid.svg", "grid-log.svg", "grid.pdf",
                             "grid-log.pdf", "grid.md", "grid.csv", "grid.tex"}) {
        EXPECT_TRUE(std::filesystem::exists(path(name))) << name;
        EXPECT_NE(result.out.find(std::string("wrote ") + name + "\n"), std::string::npos) << name;
    }
    EXPECT_EQ(folder_.entries(), 10u);
    const auto file = h5::File::open_read(path("grid.h5"));
    EXPECT_EQ(file.children("runs").size(), 4u);
    EXPECT_EQ(file.read_texts("summary", "name").size(), 4u);
    for (const char* name : {"grid.svg", "grid-log.svg"}) {
        const std::string svg = content(path(name));
        for (const char* words : {"L = 1", "L = 3", "bistochastic", "orthogonal", "simulation",
                                  "operator-valued", "scalar", "% collapsed", "n = 4, p = 5, Lσ² = 0.05"})
            EXPECT_NE(svg.find(words), std::string::npos) << words << " in " << name;
    }
    EXPECT_EQ(lines(content(path("grid.csv"))), 5u);
    EXPECT_TRUE(content(path("grid.csv")).starts_with("rank,mixer,depth,window,"))
        << content(path("grid.csv"));
    EXPECT_TRUE(content(path("grid.tex")).starts_with("\\begin{tabular}"));
    EXPECT_NE(content(path("grid.md")).find("| rank | mixer | L | in window |"), std::string::npos);
    EXPECT_NE(result.out.find("Ranked by the share"), std::string::npos) << result.out;
    EXPECT_LT(result.out.find("orthogonal"), result.out.find("bistochastic")) << result.out;
}

TEST_F(CompareProgram, AnotherPictureComputesNothing) {
    SPECTRA_NEEDS_GNUPLOT();
    ASSERT_EQ(compare(small).status, 0);
    const auto stamps = [&] {
        const auto file = h5::File::open_read(path("grid.h5"));
        std::map<std::string, std::pair<std::string, double>> all;
        for (const auto& name : file.children("runs"))
            all[name] = {file.string_attribute("runs/" + name, "created").value_or(""),
                         file.double_attribute("runs/" + name + "/theory/ov", "seconds").value_or(-1)};
        return all;
    };
    const auto first = stamps();
    const std::string colour = content(path("grid.png"));
    const auto again = compare(with(small, {"--palette", "grey", "--table", "none"}));
    ASSERT_EQ(again.status, 0) << again.err;
    EXPECT_EQ(stamps(), first);
    const std::string grey = content(path("grid.png"));
    EXPECT_NE(grey, colour);
    ASSERT_EQ(compare(with(small, {"--palette", "dark", "--table", "none"})).status, 0);
    EXPECT_NE(content(path("grid.png")), colour);
    EXPECT_NE(content(path("grid.png")), grey);
    // A depth more: the others are taken over.
    Words deeper = small;
    std::replace(deeper.begin(), deeper.end(), std::string("1,3"), std::string("1,3,4"));
    ASSERT_EQ(compare(with(deeper, {"--plot", "none", "--table", "none"})).status, 0);
    auto more = stamps();
    EXPECT_EQ(more.size(), 6u);
    for (const auto& [name, stamp] : first) EXPECT_EQ(more[name], stamp) << name;
    // What sweep has by default of the same names is another number of samples.
    ASSERT_EQ(
        run({"sweep", "--out", "other", "--mixers", "orthogonal", "--depths", "1", "--width", "3"}).status,
        0);
    ASSERT_EQ(run({"compare", "--out", "other", "--mixers", "orthogonal", "--depths", "1", "--width", "3",
                   "--plot", "none", "--force"})
                  .status,
              0);
    EXPECT_EQ(h5::File::open_read(path("other.h5"))
                  .integer_attribute("runs/orthogonal-p3-L1-noise0.05-seed1/montecarlo", "samples"),
              250);
}

TEST_F(CompareProgram, WithoutGnuplotEverythingElseIsThere) {
    const TemporaryFolder nothing;
    testing::ProcessOptions options;
    options.environment = {{"PATH", nothing.path().string()}};
    const auto result = compare(small, options);
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.err,
              "spectra: warning: no figure: gnuplot not found: install it to draw figures\n");
    EXPECT_EQ(folder_.entries(), 4u);
    EXPECT_NE(result.out.find("wrote grid.h5\nwrote grid.md\nwrote grid.csv\nwrote grid.tex\n"),
              std::string::npos)
        << result.out;
    const auto asked = compare(with(small, {"--plot", "none"}), options);
    EXPECT_EQ(asked.status, 0);
    EXPECT_TRUE(asked.err.empty()) << asked.err;
}

TEST_F(CompareProgram, ScalarTheoryLeavesTheSimulationAndTheChainDoesNot) {
    const auto result = compare({"--mixers", "identity,bistochastic,gaussian", "--depths", "1,2,10",
                                 "--samples", "60", "--plot", "none", "--table", "csv", "--json"});
    ASSERT_EQ(result.status, 0) << result.err;
    std::istringstream csv(content(path("grid.csv")));
    const auto cells = [](const std::string& line) {
        Words all;
        std::istringstream in(line);
        for (std::string cell; std::getline(in, cell, ',');) all.push_back(cell);
        return all;
    };
    std::string line;
    std::getline(csv, line);
    const Words names = cells(line);
    std::size_t networks = 0;
    while (std::getline(csv, line)) {
        SCOPED_TRACE(line);
        const Words row = cells(line);
        ASSERT_EQ(row.size(), names.size());
        const auto value = [&](const std::string& name) {
            return row[static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin())];
        };
        const double explained =
            std::stod(value("wasserstein1_expected")) + 4 * std::stod(value("wasserstein1_expected_std"));
        const double ov = std::stod(value("ov_montecarlo_wasserstein1"));
        const double scalar = std::stod(value("scalar_montecarlo_wasserstein1"));
        EXPECT_LT(ov, explained);
        const bool wrong = value("mixer") != "identity" && value("depth") != "1";
        if (wrong) {
            EXPECT_GT(scalar, 10 * explained);
        } else {
            EXPECT_NEAR(scalar, ov, 1e-6);  // one layer, or multiples of orthogonal mixers: exact too
        }
        ++networks;
    }
    EXPECT_EQ(networks, 9u);
    const json answer = json::parse(result.out);
    EXPECT_EQ(answer["runs"].size(), 9u);
    EXPECT_EQ(answer["files"], (json{"grid.h5", "grid.csv"}));
}

std::string layout(const std::string& name) {
    return std::string(SPECTRA_DATA_DIR) + "/layouts/" + name;
}

TEST_F(CompareProgram, CheckpointsAloneAreAGridOfTheirOwn) {
    SPECTRA_NEEDS_GNUPLOT();
    const Words files{"--checkpoints", layout("edelta_hybrid.pt") + "," + layout("deepseek.safetensors"),
                      "--samples", "20"};
    const auto result = compare(with(files, {"--plot", "svg", "--table", "csv"}));
    ASSERT_EQ(result.status, 0) << result.err;
    const std::string svg = content(path("grid.svg"));
    for (const char* words : {"own depth", "L = 2", "L = 4", "edelta", ".safetensors"})
        EXPECT_NE(svg.find(words), std::string::npos) << words;
    EXPECT_EQ(lines(content(path("grid.csv"))), 3u);

    // The network is that of the file by another way, and simulation agrees with theory.
    const auto stack = layouts::read_stack(weightfile::TensorFile::open(layout("deepseek.safetensors")));
    const auto expected = validation::network_of(stack, 0.05);
    const auto theory = dyson::solve(expected, dyson::Method::operator_valued);
    ASSERT_TRUE(theory.summary.certified);
    const auto file = h5::File::open_read(path("grid.h5"));
    const std::string group = "runs/deepseek-noise0.05-seed1";
    ASSERT_TRUE(file.is_group(group));
    const auto rank = file.double_attribute(group + "/metrics/ov", "effective_rank");
    ASSERT_TRUE(rank.has_value());
    EXPECT_NEAR(*rank, theory.law.metrics().effective_rank, 1e-6);
    h5::Shape shape;
    const auto mixers = file.read_doubles(group + "/network/mixers", shape);
    ASSERT_EQ(shape, (h5::Shape{4, 4, 4}));
    EXPECT_NEAR(mixers[1], expected.mixers[0](0, 1), 1e-15);
    EXPECT_LT(file.double_attribute(group + "/metrics/agreement", "ov_montecarlo_wasserstein1").value_or(1),
              0.02);

    // Taken over by what is in the file, whatever its place and name.
    const auto seconds = file.double_attribute(group + "/theory/ov", "seconds");
    std::filesystem::copy_file(layout("deepseek.safetensors"), path("deepseek.safetensors"));
    const Words copied{"--checkpoints", "deepseek.safetensors", "--samples", "20", "--plot", "none", "--force"};
    ASSERT_EQ(compare(copied).status, 0);
    EXPECT_EQ(h5::File::open_read(path("grid.h5")).double_attribute(group + "/theory/ov", "seconds"),
              seconds);
    std::filesystem::remove(path("deepseek.safetensors"));
    std::filesystem::copy_file(layout("mhc_lite.pt"), path("deepseek.safetensors"));
    ASSERT_EQ(compare(copied).status, 0);
    EXPECT_EQ(h5::File::open_read(path("grid.h5")).integer_attribute(group + "/network", "depth"), 2);
}

TEST_F(CompareProgram, CheckpointsStandBesideMixers) {
    const auto result =
        compare({"--mixers", "orthogonal", "--depths", "1,2", "--noises", "0.05,0.1", "--width", "5",
                 "--checkpoints", layout("mhc_lite.pt"), "--samples", "4", "--json"});
    ASSERT_EQ(result.status, 0) << result.err;
    const json runs = json::parse(result.out)["runs"];
    ASSERT_EQ(runs.size(), 6u);
    EXPECT_EQ(runs[5]["name"], "mhc_lite-p5-noise0.1-seed1");
    EXPECT_EQ(runs[5]["mixer"], "mhc_lite.pt");
    EXPECT_EQ(runs[5]["branch"], "hyper-connection");
    EXPECT_EQ(runs[5]["depth"], 2);
    EXPECT_NEAR(runs[5]["noise"], 0.1, 1e-12);
}

TEST_F(CompareProgram, RefusesBeforeAnythingIsComputed) {
    const auto refused = [&](const Words& words, const Words& fragments) {
        const auto before = folder_.entries();
        const auto result = compare(words);
        SCOPED_TRACE(result.err);
        EXPECT_EQ(result.status, 2);
        EXPECT_EQ(lines(result.err), 1u);
        for (const auto& fragment : fragments)
            EXPECT_NE(result.err.find(fragment), std::string::npos) << "missing: " << fragment;
        EXPECT_EQ(folder_.entries(), before);
    };
    refused({"--table", "html"}, {"--table 'html'", "md"});
    refused({"--palette", "rainbow"}, {"--palette 'rainbow'", "grey"});
    refused({"--mixers", "orthogonal", "--gate", "0.5"}, {"compare: --gate", "no network of the grid"});
    refused({"--checkpoints", "missing.pt"}, {"missing.pt", "no such file"});
    refused({"--checkpoints", layout("expected.json")}, {"expected.json"});
    refused({"--checkpoints", layout("mhc_lite.pt") + ","}, {"--checkpoints", "must be"});
    refused({"--checkpoints", layout("mhc_lite.pt"), "--gate", "0.5"}, {"--gate", "no network of the grid"});
    refused({"--model", "m.json"}, {"compare: '--model': no such option"});
    folder_.write("grid-log.png", "mine");
    refused(small, {"grid-log.png", "--force"});
}

TEST_F(CompareProgram, TooManyPanelsAreTableOnly) {
    const auto result = compare({"--mixers", "identity", "--depths", "1:13", "--samples", "0", "--theory",
                                 "scalar", "--table", "md"});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_NE(result.err.find("1 × 13 panels; must be at most 24 × 12"), std::string::npos) << result.err;
    EXPECT_EQ(folder_.entries(), 2u);
}

}  // namespace
}  // namespace spectra
