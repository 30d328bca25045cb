#include "h5/file.hpp"
#include "support/needs_program.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <fstream>

/// The commands that answer questions of design: depth-limit, --sensitivity, --average.
namespace spectra {
namespace {

using nlohmann::json;
using testing::TemporaryFolder;
using Words = std::vector<std::string>;

class Design : public ::testing::Test {
protected:
    testing::ProcessResult run(Words words) const {
        words.insert(words.begin(), SPECTRA_BINARY);
        return testing::run_process(words, {.folder = folder_.path()});
    }

    void refused(const Words& words, const Words& fragments) const {
        const auto result = run(words);
        EXPECT_EQ(result.status, 2) << result.err;
        EXPECT_TRUE(result.out.empty()) << result.out;
        for (const auto& fragment : fragments)
            EXPECT_NE(result.err.find(fragment), std::string::npos)
                << fragment << " is not in " << result.err;
        EXPECT_EQ(folder_.entries(), 0U) << "something was written";
    }

    TemporaryFolder folder_;
};

TEST_F(Design, DepthLimitRefusesWhatItCannotSearch) {
    const auto with = [](const Words& more) {
        Words words{"depth-limit", "--mixer", "cayley"};
        words.insert(words.end(), more.begin(), more.end());
        return words;
    };
    for (const char* bad : {"0", "1.5", "-1", "nan", "most"}) refused(with({"--keep", bad}), {"--keep", bad});
    for (const char* bad : {"0", "-0.1", "x"}) refused(with({"--above", bad}), {"--above", bad});
    for (const char* bad : {"0", "2000000"}) refused(with({"--max-depth", bad}), {"--max-depth"});
    refused(with({"--average", "1"}), {"--average", "2 to"});
    refused(with({"--sigma2", "0.1,0.2"}), {"--sigma2 has 2 values", "must be one"});
    refused(with({"--depth", "3"}), {"--depth", "no such option"});
    refused(with({"--branch", "tied", "--max-depth", "33"}), {"--max-depth 33", "at most 32"});
    refused({"--mixer", "cayley", "depth-limit"}, {"--mixer", "spectra depth-limit --mixer"});
    refused({"depth-limit"}, {"no network"});
    refused({"--mixer", "cayley", "--sensitivity", "--theory", "scalar"}, {"--sensitivity", "ov"});
    refused({"--mixer", "cayley", "--average", "3", "--theory", "none"}, {"--average", "ov"});
}

TEST_F(Design, DepthLimitAnswersAndWrites) {
    const auto result =
        run({"depth-limit", "--mixer", "spectral-sphere", "--max-depth", "30", "--average", "4"});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_NE(result.out.find("keep at least 90.0 % of the singular values at or above 0.1"),
              std::string::npos)
        << result.out;
    EXPECT_NE(result.out.find("Over 4 draws"), std::string::npos) << result.out;
    const auto file = h5::File::open_read(folder_.path() / "spectra-depth-limit-spectral-sphere-max-depth30-average4.h5");
    h5::Shape shape;
    const auto share = file.read_doubles("depth_limit/share", shape);
    const auto limit = file.integer_attribute("depth_limit", "limit").value();
    EXPECT_GE(share[static_cast<std::size_t>(limit - 1)], 0.9);
    EXPECT_LT(share[static_cast<std::size_t>(limit)], 0.9);
    EXPECT_EQ(file.read_doubles("depth_limit/draws", shape).size(), 4U);
    const auto info = run({"info", "spectra-depth-limit-spectral-sphere-max-depth30-average4.h5"});
    EXPECT_NE(info.out.find("depth limit"), std::string::npos) << info.out;
}

TEST_F(Design, DepthLimitInJson) {
    const auto result =
        run({"depth-limit", "--mixer", "identity", "--sigma2", "0.1", "--keep", "0.95", "--json"});
    EXPECT_EQ(result.status, 0) << result.err;
    const json root = json::parse(result.out);
    const auto& answer = root["depth_limit"];
    EXPECT_TRUE(answer["certified"] && answer["reached"]);
    const int limit = answer["limit"];
    EXPECT_GT(limit, 1);
    for (const auto& point : answer["points"])
        EXPECT_EQ(point["share"] >= 0.95, point["depth"] <= limit) << point;
}

TEST_F(Design, SensitivitiesAndAverageAreReported) {
    const auto result = run({"--mixer", "bistochastic", "--depth", "3", "--noise", "0.3", "--samples", "0",
                             "--plot", "none", "--sensitivity", "--average", "3", "--out", "run", "--json"});
    EXPECT_EQ(result.status, 0) << result.err;
    const json ov = json::parse(result.out)["theory"]["ov"];
    for (const char* metric : {"mean_square", "log_mean", "window", "collapsed"}) {
        EXPECT_EQ(ov["sensitivity"][metric]["sigma2"].size(), 3U) << metric;
        EXPECT_EQ(ov["sensitivity"][metric]["mixers"][2][3].size(), 4U) << metric;
    }
    EXPECT_EQ(ov["average"]["draws"], 3);
    EXPECT_GT(ov["average"]["std"]["mean_square"], 0);
    const auto file = h5::File::open_read(folder_.path() / "run.h5");
    h5::Shape shape;
    const auto mixers = file.read_doubles("theory/ov/sensitivity/window/mixers", shape);
    EXPECT_EQ(shape, (h5::Shape{3, 4, 4}));
    EXPECT_EQ(mixers[5], ov["sensitivity"]["window"]["mixers"][0][1][1].get<double>());
    EXPECT_EQ(file.read_doubles("theory/ov/average/density_log_std", shape).size(),
              file.read_doubles("theory/ov/average/log_s", shape).size());
    EXPECT_EQ(file.double_attribute("theory/ov/average/mean", "window"),
              ov["average"]["mean"]["window"].get<double>());

    const auto page = run({"--mixer", "bistochastic", "--depth", "3", "--noise", "0.3", "--samples", "0",
                           "--plot", "none", "--sensitivity", "--average", "3", "--out", "run"});
    EXPECT_NE(page.out.find("change of"), std::string::npos) << page.out;
    EXPECT_NE(page.out.find("3 draws of the mixers"), std::string::npos) << page.out;
}

TEST_F(Design, SensitivityNamesTheTripletsToShrink) {
    std::ifstream golden(SPECTRA_DATA_DIR "/golden/aligned.json");
    std::ofstream(folder_.path() / "model.json") << json::parse(golden)["cases"][0];
    const Words words{"--model", "model.json",    "--samples", "0",  "--plot",
                      "none",    "--sensitivity", "--out",     "run"};
    auto as_json = words;
    as_json.emplace_back("--json");
    const auto result = run(as_json);
    EXPECT_EQ(result.status, 0) << result.err;
    const json largest = json::parse(result.out)["theory"]["ov"]["sensitivity"]["largest"];
    EXPECT_EQ(largest["certified"], true);
    EXPECT_EQ(largest["triplets"].size(), 8U) << largest;
    EXPECT_GE(largest["triplets"][0]["elasticity"], largest["triplets"][1]["elasticity"]);
    const auto file = h5::File::open_read(folder_.path() / "run.h5");
    h5::Shape shape;
    const auto elasticities = file.read_doubles("theory/ov/sensitivity/largest/elasticity", shape);
    ASSERT_EQ(elasticities.size(), 8U);
    EXPECT_EQ(elasticities[0], largest["triplets"][0]["elasticity"].get<double>());
    const auto page = run(words);
    EXPECT_NE(page.out.find("shrinking one triplet by 10 % lowers the largest value"), std::string::npos)
        << page.out;
}

TEST_F(Design, DepthLimitDrawsItsFigureAndDoesNotDependOnThreads) {
    SPECTRA_NEEDS_GNUPLOT();
    Words words{"depth-limit", "--mixer", "bistochastic", "--max-depth", "6", "--average", "3", "--json"};
    const auto with = [&](const Words& more) {
        Words all = words;
        all.insert(all.end(), more.begin(), more.end());
        return run(all);
    };
    const auto one = with({"--threads", "1", "--out", "one", "--plot", "svg"});
    const auto two = with({"--threads", "2", "--out", "two", "--plot", "none"});
    ASSERT_EQ(one.status, 0) << one.err;
    ASSERT_EQ(two.status, 0) << two.err;
    EXPECT_EQ(json::parse(one.out)["files"], (json{"one.h5", "one.svg"}));
    EXPECT_EQ(json::parse(two.out)["files"], json{"two.h5"});
    const std::string drawn = testing::content(folder_.path() / "one.svg");
    for (const char* const words_in_it : {"depth L", "share to keep: 0.9", "limit: 1 layer"})
        EXPECT_NE(drawn.find(words_in_it), std::string::npos) << words_in_it;
    h5::Shape shape;
    const auto draws = [&](const char* name) {
        return h5::File::open_read(folder_.path() / name).read_doubles("depth_limit/draws", shape);
    };
    EXPECT_EQ(draws("one.h5"), draws("two.h5"));
    EXPECT_EQ(draws("one.h5").size(), 3u);
}

}  // namespace
}  // namespace spectra
