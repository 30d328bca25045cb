#include "report/html_page.hpp"

#include "h5/file.hpp"
#include "report/example_report.hpp"
#include "report/html_bundle.hpp"
#include "report/html_data.hpp"
#include "report/result_file.hpp"
#include "report/runs_file.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace spectra::report {
namespace {

using nlohmann::json;

class HtmlPage : public ::testing::Test {
protected:
    std::filesystem::path write(const Report& report, const std::string& name = "example.h5") const {
        const auto path = folder_.path() / name;
        write_result_file(report, path);
        return path;
    }
    /// A result file with nothing but what `more` adds.
    template <class More>
    std::filesystem::path write_bare(const More& more) const {
        const auto path = folder_.path() / "bare.h5";
        auto file = h5::File::create(path);
        write_provenance(file, tests::example_provenance());
        more(file);
        file.close();
        return path;
    }
    json data(const std::filesystem::path& path) const { return json::parse(page_data({path}))["files"][0]; }

    testing::TemporaryFolder folder_;
};

TEST(ScriptSafe, LeavesNothingThatEndsOrBeginsAnElement) {
    const std::string hostile = "</script><script>alert(1)</script><!-- & \xE2\x80\xA8\xE2\x80\xA9 ü '\"";
    const std::string text = json(hostile).dump(), safe = script_safe(text);
    EXPECT_EQ(safe.find_first_of("<>&"), std::string::npos) << safe;
    EXPECT_EQ(safe.find("\xE2\x80\xA8"), std::string::npos);
    EXPECT_EQ(safe.find("\xE2\x80\xA9"), std::string::npos);
    EXPECT_EQ(json::parse(safe), json(hostile)) << "and means the same";
}

TEST(ScriptSafe, KeepsPlainTextAsItIs) {
    EXPECT_EQ(script_safe("{\"s\":[1,2.5],\"σ²\":\"ov\"}"), "{\"s\":[1,2.5],\"σ²\":\"ov\"}");
    EXPECT_EQ(html_safe("a<b>&\"c\""), "a&lt;b&gt;&amp;&quot;c&quot;");
}

TEST_F(HtmlPage, HasTheNumbersOfTheFile) {
    const Report report = tests::isometric_report();
    const auto file = data(write(report));
    EXPECT_EQ(file["kind"], "analysis");
    EXPECT_EQ(file["name"], "example.h5");
    EXPECT_EQ(file["provenance"]["seed"], "18446744073709551614") << "more than a double holds";
    EXPECT_EQ(file["provenance"]["command"], report.provenance.command);
    const auto& run = file["run"];
    for (const auto& [source, metrics] : report.metrics) {
        EXPECT_EQ(run["metrics"][name(source)]["window"].get<double>(), metrics.window);
        EXPECT_EQ(run["metrics"][name(source)]["effective_rank"].get<double>(), metrics.effective_rank);
    }
    for (const auto& [pair, agreement] : report.agreement)
        EXPECT_EQ(run["agreement"][name(pair)]["wasserstein1"].get<double>(), agreement.wasserstein1);
    const Density& law = report.theories[0].law.density();
    const auto& theory = run["theory"]["ov"];
    ASSERT_EQ(theory["log_s"].size(), law.log_s.size());
    for (std::size_t k = 0; k < law.log_s.size(); ++k) {
        // Nine digits.
        EXPECT_NEAR(theory["log_s"][k].get<double>(), law.log_s[k], 5e-9 * std::abs(law.log_s[k]));
        EXPECT_NEAR(theory["density_log"][k].get<double>(), law.density_log[k], 5e-9 * law.density_log[k]);
        EXPECT_NEAR(theory["cumulative"][k].get<double>(), law.cumulative[k], 5e-9);
    }
    EXPECT_EQ(theory["certificate"], "certified");
    EXPECT_EQ(theory["attributes"]["certified"], 1);
    const auto& values = run["simulation"]["log_values"];
    const auto& expected = report.simulation->law.log_values();
    ASSERT_EQ(values.size(), expected.size());
    EXPECT_TRUE(run["simulation"]["exact"]);
    for (std::size_t k = 0; k < expected.size(); k += 97)
        EXPECT_NEAR(values[k].get<double>(), expected[k], 5e-8 * std::abs(expected[k]));
    EXPECT_EQ(run["network"]["mixers"]["shape"], json::array({3, 4, 4}));
    EXPECT_EQ(run["network"]["mixers"]["data"][3].get<double>(), 0.25);
}

TEST_F(HtmlPage, HasEveryDigitOfTheTripletsThatMoveTheLargestValue) {
    Report report = tests::isometric_report();
    report.largest_by_triplet = {0.75, {{2, 0, 1.0 / 3, 0.1 + 0.2}, {0, 1, 2.5, -1.0 / 7}}, true};
    const auto run = data(write(report))["run"];
    const auto& largest = run["largest_by_triplet"];
    EXPECT_EQ(largest["attributes"]["log_s"], 0.75);
    EXPECT_EQ(largest["attributes"]["certified"], 1);
    EXPECT_EQ(largest["layer"]["data"], json::array({3.0, 1.0}));
    EXPECT_EQ(largest["triplet"]["data"], json::array({1.0, 2.0}));
    EXPECT_EQ(largest["value"]["data"], json::array({1.0 / 3, 2.5}));
    EXPECT_EQ(largest["elasticity"]["data"], json::array({0.1 + 0.2, -1.0 / 7}));
    EXPECT_FALSE(run.contains("sensitivity")) << "of metrics there is none";
}

TEST_F(HtmlPage, SaysTheSentencesOfTheTerminal) {
    const auto run = data(write(tests::collapsed_report()))["run"];
    EXPECT_EQ(run["answer"].get<std::string>().substr(0, 31), "Most gradient directions vanish")
        << run["answer"];
    EXPECT_EQ(run["agreement"]["ov_montecarlo"]["closeness"], "agree");
    EXPECT_EQ(run["agreement"]["ov_scalar"]["closeness"], "differ");
    EXPECT_NE(run["agreement"]["ov_scalar"]["words"].get<std::string>().find("differ: W1 = "),
              std::string::npos);
}

TEST_F(HtmlPage, CountsZerosAndKeepsAtoms) {
    const auto run = data(write(tests::atomic_report()))["run"];
    EXPECT_TRUE(run["metrics"]["ov"]["log_mean"].is_null());
    EXPECT_TRUE(run["theory"]["ov"]["atoms"][0][0].is_null()) << "ln 0";
    EXPECT_EQ(run["theory"]["ov"]["atoms"][0][1], 0.25);
    const auto& simulation = run["simulation"];
    EXPECT_EQ(simulation["zeros"].get<std::size_t>() + simulation["log_values"].size(), 2000U);
    EXPECT_NEAR(simulation["zeros"].get<double>(), 500, 1);
}

TEST_F(HtmlPage, ManyValuesBecomeQuantiles) {
    Report report = tests::isometric_report();
    report.simulation = tests::simulation_of(report.theories[0].law, 300, report.network.size());
    compare(report);
    const auto simulation = data(write(report))["run"]["simulation"];
    EXPECT_FALSE(simulation["exact"]);
    EXPECT_EQ(simulation["log_values"].size(), 16384U);
    EXPECT_NEAR(simulation["log_values"][8191].get<double>(), report.simulation->law.log_quantile(0.5), 1e-3);
}

TEST_F(HtmlPage, AGridKeepsItsOrderAndThinsItsCurves) {
    std::vector<StoredRun> stored;
    for (int k = 0; k < 10; ++k) {
        Report report = tests::isometric_report();
        report.network.mixer_name = "mixer" + std::to_string(9 - k);
        const std::string name = "net" + std::to_string(9 - k);
        stored.push_back({name, write(report, name + ".h5")});
    }
    RunsReport report;
    report.provenance = tests::example_provenance();
    write_runs_file(report, stored, folder_.path() / "grid.h5");
    const auto file = data(folder_.path() / "grid.h5");
    EXPECT_EQ(file["kind"], "runs");
    ASSERT_EQ(file["runs"].size(), 10U);
    EXPECT_EQ(file["runs"][0]["name"], "net9");
    EXPECT_EQ(file["runs"][0]["network"]["attributes"]["mixer"], "mixer9");
    EXPECT_EQ(file["runs"][0]["simulation"]["log_values"].size(), 128U);
    EXPECT_EQ(file["runs"][3]["metrics"]["ov"]["window"].get<double>(),
              report.runs[3].metrics[0].second.window);
}

TEST_F(HtmlPage, HostileTextStaysDataAndIsCut) {
    const std::string tag = "</script><script>alert(1)</script>", bomb(std::size_t{900} << 10, '<');
    const auto path = write_bare([&](h5::File& file) {
        file.make_group("figure");
        file.write_attribute("figure", "title", tag);
        file.write_attribute("figure", "caption", bomb);
        file.write_attribute("figure", tag, 1.5);
        file.make_group("figure/panel-1/" + std::string("a\"b<c>"));
        file.make_group("training/diagnostics");
        file.write_attribute("training", "task", "\x1b[31m\xff");
    });
    const std::string page = html_page({path});
    EXPECT_LT(page.size(), html_bundle_script().size() + html_bundle_style().size() + 60000);
    EXPECT_EQ(page.find("alert(1)</script>"), std::string::npos);
    const auto begin = page.find("id=\"data\">"), end = page.find("</script>", begin);
    EXPECT_EQ(page.substr(begin + 10, end - begin - 10).find_first_of("<>&"), std::string::npos);
    const auto figure = data(path)["figure"];
    EXPECT_EQ(figure["attributes"]["title"], tag) << "as text";
    EXPECT_LT(figure["attributes"]["caption"].get<std::string>().size(), 4100U);
}

TEST_F(HtmlPage, LargeDatasetsAreCutToTheirFirstRows) {
    const auto path = write_bare([&](h5::File& file) {
        file.write("trained/mixers", std::vector<double>(16 * 9000, 0.25), {9000, 4, 4});
        file.write_attribute("trained", "verdict", "PASS");
    });
    const auto mixers = data(path)["trained"]["mixers"];
    EXPECT_EQ(mixers["of"], 9000);
    EXPECT_EQ(mixers["shape"], json::array({2500, 4, 4}));
    EXPECT_EQ(mixers["data"].size(), 40000U);
}

TEST_F(HtmlPage, AValidationHasItsAlignment) {
    const auto path = write_bare([&](h5::File& file) {
        file.make_group("trained/alignment");
        file.write_attribute("trained", "verdict", "PASS");
        file.write_attribute("trained/alignment", "explain", 0.02);
        file.write_attribute("trained/alignment", "rank", 4);
        file.write("trained/alignment/ranks", std::vector<double>{0, 1, 2, 4}, {4});
        file.write("trained/alignment/distances", std::vector<double>{0.05, 0.04, 0.03, 0.0125}, {4});
        file.write("trained/alignment/overlaps", std::vector<double>{0, 0, 0.75, 0}, {1, 2, 2});
    });
    const auto alignment = data(path)["trained"]["alignment"];
    EXPECT_EQ(alignment["attributes"]["rank"], 4);
    EXPECT_EQ(alignment["distances"]["data"][3].get<double>(), 0.0125);
    EXPECT_EQ(alignment["overlaps"]["shape"], json::array({1, 2, 2}));
    EXPECT_EQ(alignment["overlaps"]["data"][2].get<double>(), 0.75);
    EXPECT_FALSE(alignment.contains("largest")) << "what the file does not have";
}

TEST_F(HtmlPage, IsOneFileUnderAPolicyThatForbidsEveryRequest) {
    const std::string page = html_page({write(tests::isometric_report())});
    EXPECT_TRUE(page.starts_with("<!doctype html>"));
    EXPECT_NE(page.find("content=\"default-src 'none'; script-src 'sha256-"), std::string::npos);
    EXPECT_NE(page.find("<title>example.h5 – spectra</title>"), std::string::npos);
    for (const char* loads : {" src=", "<link", "<img", "<iframe", "@import", "url(http"})
        EXPECT_EQ(page.find(loads), std::string::npos) << loads;
    EXPECT_LT(page.size(), 700000U);
}

TEST_F(HtmlPage, IsRecognisedByTheNamesOfItsResults) {
    const auto result = write(tests::isometric_report());
    const auto page = folder_.path() / "page.html";
    write_html_page({result}, page);
    EXPECT_TRUE(is_page_of(page, {result}));
    EXPECT_FALSE(is_page_of(page, {folder_.path() / "other.h5"}));
    EXPECT_FALSE(is_page_of(folder_.path() / "none.html", {result}));
    std::ofstream(page) << "mine";
    EXPECT_FALSE(is_page_of(page, {result}));
}

TEST_F(HtmlPage, RefusesFilesThatAreNoResults) {
    const auto path = folder_.path() / "text.h5";
    std::ofstream(path) << "text";
    EXPECT_THROW(html_page({path}), std::invalid_argument);
    EXPECT_THROW(html_page({folder_.path() / "none.h5"}), std::invalid_argument);
}

TEST(HtmlBundle, CanStandInItsElements) {
    EXPECT_EQ(html_bundle_script().find("</script"), std::string::npos);
    EXPECT_EQ(html_bundle_style().find("</style"), std::string::npos);
    EXPECT_TRUE(html_bundle_script().starts_with("/* Charts: uPlot, Copyright"));
    EXPECT_TRUE(html_bundle_policy().starts_with("default-src 'none'; "));
    EXPECT_EQ(html_bundle_policy().find("unsafe"), std::string::npos);
}

}  // namespace
}  // namespace spectra::report
