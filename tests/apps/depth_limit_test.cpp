#include "study/growing_network.hpp"

#include "h5/file.hpp"
#include "support/expect_refused.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

/// The commands that answer questions of design: depth-limit, --sensitivity, --average.
namespace spectra {
namespace {

using study::GrowingNetwork;
using nlohmann::json;
using testing::TemporaryFolder;
using Words = std::vector<std::string>;

study::Request request_for(const std::string& mixer) {
    study::Request request;
    request.mixer = mixer;
    return request;
}

TEST(GrowingNetwork, BeginsWithTheLayersOfAShallowerOne) {
    study::Request request = request_for("bistochastic");
    request.branch = "hyper-connection";
    GrowingNetwork network(request);
    const Network deep = network.at(100), shallow = network.at(3);
    ASSERT_EQ(deep.depth(), 100);
    ASSERT_EQ(shallow.depth(), 3);
    for (std::size_t l = 0; l < 3; ++l) {
        EXPECT_EQ(deep.mixers[l], shallow.mixers[l]);
        EXPECT_EQ(std::get<HyperConnectionBranch>(deep.branch).pre[l],
                  std::get<HyperConnectionBranch>(shallow.branch).pre[l]);
    }
    EXPECT_NE(deep.mixers[0], deep.mixers[1]);
    const Network other = network.at(3, 1);
    EXPECT_NE(other.mixers[0], shallow.mixers[0]);
    EXPECT_EQ(network.at(3).mixers, shallow.mixers) << "draw 0 again";
}

TEST(GrowingNetwork, NoiseIsTotalOrPerLayer) {
    study::Request request = request_for("cayley");
    EXPECT_DOUBLE_EQ(sigma2(GrowingNetwork(request).at(20))[0], 0.05 / 20);
    EXPECT_EQ(GrowingNetwork(request).title(), "cayley, n = 4, Lσ² = 0.05, seed 1");
    request.sigma2 = std::vector<double>{0.01};
    EXPECT_DOUBLE_EQ(sigma2(GrowingNetwork(request).at(20))[7], 0.01);
    EXPECT_EQ(GrowingNetwork(request).title(), "cayley, n = 4, σ² = 0.01, seed 1");
}

TEST(GrowingNetwork, EndsWhereAFileDoes) {
    const TemporaryFolder folder;
    folder.write("one.csv", "1,0\n0,1\n");
    folder.write("two.csv", "1,0\n0,1\n\n0,2\n1,0\n");
    folder.write("model.json", R"({"streams": 1, "depth": 3, "mixers": [[[1]], [[2]], [[3]]],
                                   "noise": {"kind": "isotropic", "sigma2": [0.1, 0.2, 0.3]}})");
    const study::Request one = request_for((folder.path() / "one.csv").string());
    EXPECT_EQ(GrowingNetwork(one).max_depth(), max_depth);
    EXPECT_EQ(GrowingNetwork(one).at(7).depth(), 7);
    const study::Request two = request_for((folder.path() / "two.csv").string());
    GrowingNetwork pair(two);
    EXPECT_EQ(pair.max_depth(), 2);
    EXPECT_EQ(pair.at(2).mixers[1](0, 1), 2);
    study::Request model;
    model.model = (folder.path() / "model.json").string();
    GrowingNetwork own(model);
    EXPECT_EQ(own.max_depth(), 3);
    EXPECT_EQ(sigma2(own.at(2)), (std::vector<double>{0.1, 0.2}));
    study::Request tied = request_for("orthogonal");
    tied.branch = "tied";
    EXPECT_EQ(GrowingNetwork(tied).max_depth(), 32);
}

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
    const auto file = h5::File::open_read(folder_.path() / "spectra-depth-limit-spectral-sphere.h5");
    h5::Shape shape;
    const auto share = file.read_doubles("depth_limit/share", shape);
    const auto limit = file.integer_attribute("depth_limit", "limit").value();
    EXPECT_GE(share[static_cast<std::size_t>(limit - 1)], 0.9);
    EXPECT_LT(share[static_cast<std::size_t>(limit)], 0.9);
    EXPECT_EQ(file.read_doubles("depth_limit/draws", shape).size(), 4U);
    const auto info = run({"info", "spectra-depth-limit-spectral-sphere.h5"});
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

}  // namespace
}  // namespace spectra
