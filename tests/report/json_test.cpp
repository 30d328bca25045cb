#include "report/json.hpp"

#include "report/example_report.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace spectra::report {
namespace {

using nlohmann::json;

TEST(ReportJson, HasThePromisedKeys) {
    const Report report = tests::isometric_report();
    const json object = json::parse(to_json(report));
    for (const char* key : {"network", "theory", "montecarlo", "metrics", "agreement", "files"}) {
        EXPECT_TRUE(object.contains(key)) << key;
    }
    EXPECT_FALSE(object.contains("green"));
    EXPECT_EQ(object["network"]["mixer"], "bistochastic");
    EXPECT_EQ(object["network"]["depth"], 3);
    EXPECT_EQ(object["theory"]["ov"]["certified"], true);
    EXPECT_EQ(object["theory"]["ov"]["points"], 100);
    EXPECT_EQ(object["theory"]["scalar"]["support"][0][1].get<double>(), std::exp(std::log(1.303)));
    EXPECT_EQ(object["montecarlo"]["samples"], 20);
    EXPECT_EQ(object["files"], json::array({"example.h5", "example.png"}));
    // Read back exactly.
    EXPECT_EQ(object["metrics"]["scalar"]["mean_square"].get<double>(), report.metrics[1].second.mean_square);
    EXPECT_EQ(object["agreement"]["ov_montecarlo"]["wasserstein1"].get<double>(),
              report.agreement[1].second.wasserstein1);
}

TEST(ReportJson, InfinityAndNanAreNull) {
    Report report = tests::atomic_report();
    report.theories[0].summary.mean_square_exact = std::nan("");
    const json object = json::parse(to_json(report));
    EXPECT_TRUE(object["metrics"]["ov"]["log_mean"].is_null());
    EXPECT_TRUE(object["theory"]["ov"]["log_mean"].is_null());
    EXPECT_TRUE(object["theory"]["ov"]["mean_square_exact"].is_null());
    EXPECT_EQ(object["theory"]["ov"]["atoms"][0], json::array({0.0, 0.25}));
}

TEST(ReportJson, GreenHasAllDigits) {
    Report report;
    report.network = tests::example_network(1);
    const std::complex<double> g(-1.0 / 3, 0.1 + 0.2);
    report.green = dyson::Green{{{0.3, 0.05}}, {g}, {1e-16}, {3}, {1}, {0}};
    const json object = json::parse(to_json(report));
    EXPECT_EQ(object["green"]["g"][0][0].get<double>(), g.real());
    EXPECT_EQ(object["green"]["g"][0][1].get<double>(), g.imag());
    EXPECT_EQ(object["green"]["omega"][0], json::array({0.3, 0.05}));
    EXPECT_EQ(object["green"]["certified"], json::array({true}));
    EXPECT_TRUE(object["montecarlo"].is_null());
    EXPECT_TRUE(object["theory"].empty());
}

TEST(ReportJson, BytesThatAreNotUtf8DoNotBreakIt) {
    Report report = tests::atomic_report();
    report.files = {"caf\xe9.h5"};
    EXPECT_TRUE(json::accept(to_json(report)));
}

}  // namespace
}  // namespace spectra::report
