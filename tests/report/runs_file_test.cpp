#include "report/runs_file.hpp"

#include "h5/file.hpp"
#include "report/example_report.hpp"
#include "spectrum/metrics.hpp"
#include "report/result_file.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace spectra::report {
namespace {

using spectra::testing::content;
using spectra::testing::TemporaryFolder;

class RunsFile : public ::testing::Test {
protected:
    StoredRun store(const std::string& name, Report report) const {
        const auto path = folder_.path() / (name + ".part");
        report.provenance.description = "how " + name + " was made";
        write_result_file(report, path);
        return {name, path};
    }

    /// One in agreement, one without simulation, one that is not certified.
    std::vector<StoredRun> three() const {
        Report theory = tests::isometric_report();
        theory.simulation.reset();
        compare(theory);
        Report doubtful = tests::collapsed_report();
        doubtful.theories[1].summary.certified = false;
        return {store("good", tests::isometric_report()), store("no,\"simulation\"", theory),
                store("doubtful", doubtful)};
    }

    RunsReport written(const std::vector<StoredRun>& stored) const {
        RunsReport report;
        report.provenance = tests::example_provenance();
        write_runs_file(report, stored, path());
        return report;
    }

    std::filesystem::path path() const { return folder_.path() / "all.h5"; }

    TemporaryFolder folder_;
};

TEST_F(RunsFile, HoldsEveryRunAsAFileOfItsOwnWould) {
    const auto stored = three();
    written(stored);
    const h5::File all = h5::File::open_read(path());
    EXPECT_EQ(all.string_attribute("", "format"), "jacobian-spectra");
    EXPECT_EQ(all.children(""), (std::vector<std::string>{"runs", "summary"}));
    for (const auto& run : stored) {
        const h5::File own = h5::File::open_read(run.file);
        const std::string group = "runs/" + run.name;
        EXPECT_EQ(all.attributes(group), own.attributes(""));
        EXPECT_EQ(all.children(group), own.children(""));
        h5::Shape shape;
        EXPECT_EQ(all.read_doubles(group + "/theory/ov/density", shape),
                  own.read_doubles("theory/ov/density", shape));
        EXPECT_EQ(all.string_attribute(group + "/network", "title"),
                  own.string_attribute("network", "title"));
        EXPECT_EQ(all.unsigned_attribute(group, "seed"), tests::example_provenance().seed);
    }
    EXPECT_TRUE(is_result_file(path()));
    EXPECT_NE(describe_result_file(path()).find("3 networks"), std::string::npos);
}

TEST_F(RunsFile, SummaryIsWhatTheReportsSay) {
    const auto stored = three();
    const auto report = written(stored);
    const Report good = tests::isometric_report();
    const h5::File file = h5::File::open_read(path());
    EXPECT_EQ(file.read_texts("summary", "name"),
              (std::vector<std::string>{"good", "no,\"simulation\"", "doubtful"}));
    EXPECT_EQ(file.read_column("summary", "certified"), (std::vector<double>{1, 1, 0}));
    EXPECT_EQ(report.runs[2].doubts, std::vector<std::string>{"scalar"});
    EXPECT_EQ(file.read_column("summary", "depth"), (std::vector<double>{3, 3, 10}));
    EXPECT_EQ(file.read_column("summary", "noise"), (std::vector<double>{0.05, 0.05, 0.05}));
    EXPECT_EQ(file.read_column("summary", "samples"), (std::vector<double>{20, 0, 100}));
    EXPECT_EQ(report.runs[0].seed, good.provenance.seed);
    for (const auto& [source, metrics] : good.metrics)
        for (const auto& metric : metric_names)
            EXPECT_EQ(file.read_column("summary", name(source) + "_" + metric.name)[0], metrics.*metric.member)
                << name(source) << ' ' << metric.name;
    for (const auto& [pair, agreement] : good.agreement)
        EXPECT_EQ(file.read_column("summary", name(pair) + "_wasserstein1")[0], agreement.wasserstein1)
            << name(pair);
    EXPECT_TRUE(std::isnan(file.read_column("summary", "montecarlo_window")[1])) << "not simulated";
    EXPECT_TRUE(std::isnan(file.read_column("summary", "ov_montecarlo_wasserstein1")[1]));
    const auto columns = file.columns("summary");
    EXPECT_EQ(columns[0], "name");
    const auto at = [&](const std::string& name) {
        return std::find(columns.begin(), columns.end(), name) - columns.begin();
    };
    EXPECT_LT(at("ov_window"), at("scalar_window"));
    EXPECT_LT(at("scalar_window"), at("montecarlo_window"));
}

TEST_F(RunsFile, TakesRunsOverFromAnEarlierFileEvenOfItsOwnName) {
    const auto stored = three();
    written(stored);
    const std::string before = content(path());
    std::vector<StoredRun> again;
    for (const auto& run : stored) again.push_back({run.name, path(), "runs/" + run.name});
    EXPECT_EQ(stored_description(again[0]), "how good was made");
    written(again);
    EXPECT_EQ(content(path()), before) << "equal results are equal files";
    const auto order = written({again[2], again[0]});
    EXPECT_EQ(order.runs[0].name, "doubtful");
    EXPECT_EQ(h5::File::open_read(path()).children("runs").size(), 2u);
}

TEST_F(RunsFile, DescriptionsAreThoseStoredOrNone) {
    const auto good = store("good", tests::isometric_report());
    EXPECT_EQ(stored_description(good), "how good was made");
    EXPECT_EQ(stored_description({"good", good.file, "runs/good"}), std::nullopt) << "no such group";
    EXPECT_EQ(stored_description({"x", folder_.path() / "absent"}), std::nullopt);
    EXPECT_EQ(stored_description({"x", folder_.path()}), std::nullopt);
    EXPECT_EQ(stored_description({"x", folder_.write("text", "not HDF5")}), std::nullopt);
    const std::string bytes = content(good.file);
    EXPECT_EQ(stored_description({"x", folder_.write("half", bytes.substr(0, bytes.size() / 2))}),
              std::nullopt);
    write_result_file(tests::isometric_report(), folder_.path() / "plain");
    EXPECT_EQ(stored_description({"x", folder_.path() / "plain"}), std::nullopt) << "not kept";
}

TEST_F(RunsFile, FailuresLeaveTheEarlierFile) {
    const auto stored = three();
    written(stored);
    const std::string before = content(path());
    RunsReport report;
    EXPECT_THROW(write_runs_file(report, {stored[0], {"absent", folder_.path() / "absent"}}, path()),
                 std::exception);
    EXPECT_EQ(content(path()), before);
    EXPECT_EQ(folder_.entries(), 4u);
}

TEST_F(RunsFile, CsvQuotesNamesAndKeepsDigits) {
    const auto report = written(three());
    const std::string csv = summary_csv(report);
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 4);
    EXPECT_NE(csv.find("\n\"no,\"\"simulation\"\"\",bistochastic,"), std::string::npos) << csv;
    const std::string line = csv.substr(csv.find("\ngood,"));
    EXPECT_NE(line.find(fmt::format(",{},", tests::isometric_report().metrics[0].second.mean_square)),
              std::string::npos)
        << line;
}

TEST_F(RunsFile, JsonHasEveryRunAndWhatFailed) {
    auto report = written(three());
    report.failed.push_back({"lost", "out of memory"});
    report.files = {"all.h5"};
    const auto object = nlohmann::json::parse(to_json(report));
    ASSERT_EQ(object["runs"].size(), 3u);
    EXPECT_EQ(object["runs"][0]["metrics"]["ov"]["window"],
              tests::isometric_report().metrics[0].second.window);
    EXPECT_EQ(object["runs"][2]["uncertified"], nlohmann::json{"scalar"});
    EXPECT_EQ(object["failed"][0]["reason"], "out of memory");
    EXPECT_EQ(object["files"], nlohmann::json{"all.h5"});
}

TEST_F(RunsFile, PageKeepsToItsWidth) {
    const auto report = written(three());
    for (const int columns : {80, 100}) {
        const std::string page = terminal_page(report, columns, false, false);
        std::size_t begin = 0;
        for (std::size_t end; (end = page.find('\n', begin)) != std::string::npos; begin = end + 1)
            EXPECT_LE(end - begin, static_cast<std::size_t>(columns)) << page;
        EXPECT_NE(page.find("doubtful"), std::string::npos);
        EXPECT_NE(page.find("!: not certified"), std::string::npos);
        EXPECT_EQ(page.find('\033'), std::string::npos);
    }
    EXPECT_NE(terminal_page(report, 80, false, false, 2).find("and 1 more"), std::string::npos);
}

}  // namespace
}  // namespace spectra::report
