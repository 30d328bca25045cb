#include "train/cost.hpp"

#include "h5/file.hpp"
#include "options.hpp"
#include "support/needs_program.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <map>

/// What models cost, against counts by hand.
namespace spectra::train {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

study::CostRequest parsed(const std::string& words) {
    CLI::App app;
    study::CostRequest request;
    cli::add_options(app, request);
    app.parse(words + " --device cpu --runs 1 --plot none");
    check_conflicts(request);
    return request;
}

CostReport cost_of(const std::string& words) {
    const testing::TemporaryFolder folder;
    auto request = parsed(words);
    request.out = folder.path() / "cost";
    study::Observer silent;
    return cost(request, "spectra cost", silent);
}

// Table 8 of JPmHC, and table 15: numbers per matrix.
TEST(Cost, JpmhcModulesHaveThePrintedParameters) {
    const auto report =
        cost_of("--modules sinkhorn,cayley,grassmann,permutation --width 512 --batch 1 --context 2");
    const std::map<std::string, std::pair<int64_t, int64_t>> printed{{"sinkhorn module", {49'188, 16}},
                                                                     {"cayley module", {102'400, 16}},
                                                                     {"grassmann module", {32'796, 8}},
                                                                     {"permutation module", {28'694, 6}}};
    ASSERT_EQ(report.models.size(), 4U);
    for (const auto& model : report.models) {
        EXPECT_EQ(model.find("connection")->parameters, printed.at(model.name).first) << model.name;
        EXPECT_EQ(model.find("mixer")->parameters, printed.at(model.name).second) << model.name;
        EXPECT_EQ(model.find("model"), nullptr);
    }
}

TEST(Cost, ABlockOfGptCostsWhatItsShapesSay) {
    constexpr int64_t p = 12, batch = 3, steps = 5, tokens = batch * steps, heads = 4;
    const auto report = cost_of("--architecture gpt --width 12 --layers 2 --batch 3 --context 5");
    const auto& model = report.models.at(0);
    EXPECT_EQ(model.streams, 1);
    const auto& mlp = *model.find("mlp");
    EXPECT_EQ(mlp.parameters, 8 * p * p + p);
    EXPECT_EQ(mlp.forward.product_flops, tokens * 2 * 8 * p * p);
    EXPECT_EQ(mlp.forward.other_flops, tokens * (7 * p + 4 * p));  // norm and GELU
    EXPECT_EQ(mlp.backward.product_flops, 2 * mlp.forward.product_flops);
    EXPECT_EQ(mlp.backward.other_flops, tokens * (12 * p + 4 * p));
    // The input, mean and deviation of the norm, its value, the argument and the value of GELU.
    EXPECT_EQ(mlp.kept_bytes, 4 * tokens * (p + 2 + p + 4 * p + 4 * p));
    const auto& attention = *model.find("attention");
    EXPECT_EQ(attention.parameters, 4 * p * p + p);
    EXPECT_EQ(attention.forward.product_flops, tokens * (2 * 4 * p * p + 4 * steps * p))
        << heads << " heads share p";
    const auto& connection = *model.find("connection");
    EXPECT_EQ(connection.parameters, 0);
    EXPECT_EQ(connection.forward.flops(), tokens * p);
    EXPECT_EQ(connection.forward.operations, 1);
    EXPECT_EQ(connection.nodes, 1);
    EXPECT_EQ(connection.kept_bytes, 0);
}

// A model is its blocks and the products with the table of tokens.
TEST(Cost, PartsAddUpToTheModel) {
    for (const auto* name : {"gpt", "mgt", "shc", "jpmhc", "hc"}) {
        const auto report = cost_of(
            std::string("--width 8 --layers 2 --batch 2 --context 4 --streams 3 --architecture ") + name);
        const auto& model = report.models.at(0);
        const double read_out = 2.0 * 2 * 4 * 8 * static_cast<double>(model.streams) * 256;
        const auto product = [&](const char* part) { return model.find(part)->forward.product_flops; };
        EXPECT_EQ(product("model"),
                  2 * (product("attention") + product("mlp") + 2 * product("connection")) + read_out)
            << name;
        EXPECT_GE(product("connection"), model.find("mixer") == nullptr ? 0.0 : product("mixer")) << name;
    }
}

// sHC's figure 7: (n − 1)² raw numbers against n!.
TEST(Cost, AllPermutationsGrowAsAFactorial) {
    const auto report =
        cost_of("--architecture shc,mhc-lite --streams 2:5 --width 4 --layers 1 --batch 1 --context 2");
    ASSERT_EQ(report.models.size(), 8U);
    for (int n = 2, factorial = 2; n <= 5; factorial *= ++n) {
        EXPECT_EQ(report.models[static_cast<std::size_t>(n - 2)].find("mixer")->parameters,
                  (n - 1) * (n - 1));
        EXPECT_EQ(report.models[static_cast<std::size_t>(n + 2)].find("mixer")->parameters, factorial);
    }
}

TEST(Cost, WhatCannotBeMadeIsRefusedForItself) {
    const auto report = cost_of(
        "--architecture mhc,mhc-lite --streams 3,9 --width 6 --layers 1 --batch 1 --context 2 --permutations 5");
    ASSERT_EQ(report.models.size(), 4U);
    EXPECT_EQ(report.models[0].refused, "");
    EXPECT_NE(report.models[1].refused.find("6 channels cannot be split into 9 streams"), std::string::npos);
    EXPECT_EQ(report.models[2].refused, "");
    EXPECT_EQ(report.models[3].refused, "") << "5 of 9! permutations";
    const auto page = cost_page(report, 100, false, true);
    EXPECT_NE(page.find("mhc, n = 9: refused: 6 channels"), std::string::npos) << page;
    const auto all =
        cost_of("--architecture mhc-lite --streams 9,2 --width 2 --layers 1 --batch 1 --context 2");
    EXPECT_NE(all.models[0].refused.find("permutations"), std::string::npos);
    EXPECT_THROW(cost_of("--architecture mhc-lite --streams 9 --width 2"), std::invalid_argument);
}

TEST(Cost, RefusesWhatHasNoModel) {
    for (const auto* words :
         {"", "--architecture resnet", "--architecture shc --beta-scale 2", "--modules cayley --norm post",
          "--mixer cayley --streams 0", "--mixer cayley --width 0"})
        EXPECT_THROW(parsed(words), std::invalid_argument) << words;
    parsed("--architecture shc,mgt --beta-scale 2");
}

TEST(CostProgram, WritesATableAFigureAndJson) {
    SPECTRA_NEEDS_GNUPLOT();
    const testing::TemporaryFolder folder;
    const Words words{SPECTRA_BINARY, "cost", "--architecture", "shc,mhc-lite",
                      "--streams",    "2,9",  "--width",        "4",
                      "--layers",     "1",    "--batch",        "1",
                      "--context",    "2",    "--runs",         "2",
                      "--threads",    "1",    "--device",       "cpu",
                      "--out",        "small"};
    auto asked = words;
    asked.emplace_back("--json");
    const auto result = testing::run_process(asked, {.folder = folder.path()});
    ASSERT_EQ(result.status, 0) << result.err;
    const auto object = json::parse(result.out);
    EXPECT_EQ(object.at("files"), json({"small.h5", "small.png"}));
    EXPECT_EQ(object.at("device"), "cpu, 1 thread");
    ASSERT_EQ(object.at("models").size(), 4U);
    EXPECT_TRUE(object.at("models")[3].contains("refused")) << "9! permutations";
    for (const auto& [column, number] : object.at("models")[0].at("parts").at("connection").items())
        EXPECT_TRUE(object.at("sources").contains(column)) << column;
    EXPECT_NE(object.at("sources").at("forward_seconds").get<std::string>().find("median of 2 runs"),
              std::string::npos);

    const auto file = h5::File::open_read(folder.path() / "small.h5");
    const auto parts = file.read_texts("cost", "part");
    const auto flops = file.read_column("cost", "forward_flops");
    ASSERT_EQ(parts.size(), 3U * 5 + 1);
    EXPECT_EQ(parts.front(), "connection");
    EXPECT_EQ(flops.front(), object["models"][0]["parts"]["connection"]["forward_flops"].get<double>());
    EXPECT_EQ(parts.back(), "");
    EXPECT_NE(file.read_texts("cost", "refused").back().find("permutations"), std::string::npos);
    EXPECT_EQ(file.string_attribute("cost", "source_nodes"), "counted in the graph of one pass");
    EXPECT_EQ(testing::run_process(words, {.folder = folder.path()}).status, 0) << "replaces its own result";
}

}  // namespace
}  // namespace spectra::train
