#include "h5/file.hpp"
#include "mixers/mixer.hpp"
#include "report/json.hpp"
#include "report/report.hpp"
#include "report/result_file.hpp"
#include "report/terminal.hpp"
#include "support/networks.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

/// Sensitivities, averages and depth limits as they are printed and written.
namespace spectra::report {
namespace {

using nlohmann::json;

Report design_report() {
    Report report;
    report.network = tests::draw_network(mixers::Family::bistochastic, 3, 2, 1, 0.4);
    report.network.title = "bistochastic, L = 2";
    report.theories.push_back(dyson::solve(report.network, dyson::Method::operator_valued));
    report.sensitivity = dyson::sensitivities(report.network);
    report.average = dyson::average({report.theories[0].law, report.theories[0].law});
    compare(report);
    return report;
}

DepthReport depth_report() {
    DepthReport report;
    report.title = "gaussian, n = 4, σ² = 0.05, seed 1";
    report.mixer_name = "gaussian";
    report.streams = 4;
    report.keep = 0.9;
    report.above = 0.1;
    report.max_depth = 100;
    report.limit.depth = 2;
    report.limit.failed = report.limit.certified = true;
    report.limit.points = {
        {1, 1.0, true}, {2, 0.95, true}, {3, 0.8999, true}, {4, 0.92, true}, {6, 0.2, true}};
    report.limit.again = {4};
    for (const int depth : {1, 2, 2, 7}) {
        report.draws.emplace_back();
        report.draws.back().depth = depth;
        report.draws.back().failed = true;
    }
    return report;
}

void expect_fits(const std::string& page, int columns) {
    std::size_t begin = 0;
    for (auto end = page.find('\n'); end != std::string::npos; end = page.find('\n', begin)) {
        const std::string line = page.substr(begin, end - begin);
        const auto width = std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
        EXPECT_LE(width, columns) << line;
        EXPECT_FALSE(line.ends_with(' ')) << line;
        begin = end + 1;
    }
}

TEST(Design, PagesKeepToTheirWidth) {
    const Report report = design_report();
    const DepthReport depth = depth_report();
    for (const int columns : {40, 60, 80, 100}) {
        expect_fits(terminal_page(report, columns, false, true), columns);
        expect_fits(terminal_page(depth, columns, false, true), columns);
    }
    for (const std::string& page :
         {terminal_page(report, 100, false, false), terminal_page(depth, 100, false, false)})
        EXPECT_TRUE(std::all_of(page.begin(), page.end(), [](char c) { return (c & 0x80) == 0; })) << page;
}

TEST(Design, TheSentenceSaysHowDeep) {
    const DepthReport depth = depth_report();
    const std::string page = terminal_page(depth, 200, false, true);
    EXPECT_NE(
        page.find("Up to 2 layers keep at least 90.0 % of the singular values at or above 0.1; with 3 layers "
                  "89.99 % are left."),
        std::string::npos)
        << page;
    EXPECT_NE(page.find("keep it again: L = 4"), std::string::npos) << page;
    EXPECT_NE(page.find("median 2; half lie in 1.75–3.25, all in 1–7"), std::string::npos) << page;
    DepthReport endless = depth;
    endless.limit.failed = false;
    endless.limit.depth = 6;
    EXPECT_NE(terminal_page(endless, 200, false, true).find("Every depth evaluated, up to 6 layers, keeps"),
              std::string::npos);
    DepthReport none = depth;
    none.limit.depth = 0;
    EXPECT_NE(terminal_page(none, 200, false, true).find("No depth keeps"), std::string::npos);
}

TEST(Design, QuantilesOfTheDraws) {
    const DepthReport depth = depth_report();
    EXPECT_EQ(limit_quantile(depth, 0), 1);
    EXPECT_EQ(limit_quantile(depth, 0.5), 2);
    EXPECT_EQ(limit_quantile(depth, 1), 7);
    const json root = json::parse(to_json(depth));
    EXPECT_EQ(root["draws"]["median"], 2);
    EXPECT_EQ(root["depth_limit"]["keeps_again"], json::array({4}));
    EXPECT_EQ(root["depth_limit"]["points"][2]["share"], 0.8999);
}

TEST(Design, FilesHoldWhatWasFound) {
    const testing::TemporaryFolder folder;
    const Report report = design_report();
    write_result_file(report, folder.path() / "a.h5");
    const auto a = h5::File::open_read(folder.path() / "a.h5");
    h5::Shape shape;
    EXPECT_EQ(a.read_doubles("theory/ov/sensitivity/mean_square/sigma2", shape),
              report.sensitivity->mean_square.sigma2);
    const auto mixers = a.read_doubles("theory/ov/sensitivity/log_mean/mixers", shape);
    EXPECT_EQ(mixers[9 + 3 + 2], report.sensitivity->log_mean.mixers[1](1, 2));
    EXPECT_EQ(a.read_doubles("theory/ov/average/density_log_mean", shape), report.average->density_log_mean);
    EXPECT_EQ(a.double_attribute("theory/ov/average/std", "window"), 0.0);
    const std::string page = describe_result_file(folder.path() / "a.h5");
    EXPECT_NE(page.find("sensitivities of"), std::string::npos) << page;
    EXPECT_NE(page.find("average over 2 draws"), std::string::npos) << page;

    write_result_file(depth_report(), folder.path() / "b.h5");
    EXPECT_TRUE(is_result_file(folder.path() / "b.h5"));
    EXPECT_NE(describe_result_file(folder.path() / "b.h5").find("2 layers keep a share of 0.9"),
              std::string::npos);
}

}  // namespace
}  // namespace spectra::report
