#include "support/process.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// The program started several times by mpirun: what it writes is what one process writes.
namespace spectra {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

class Launched : public ::testing::Test {
protected:
    void SetUp() override {
        if (std::string(SPECTRA_MPIEXEC).empty()) GTEST_SKIP() << "built without MPI";
    }
    testing::ProcessResult run(int ranks, const Words& words) {
        Words all;
        if (ranks > 1) all = {SPECTRA_MPIEXEC, "-n", std::to_string(ranks)};
        all.push_back(SPECTRA_BINARY);
        all.insert(all.end(), words.begin(), words.end());
        testing::ProcessOptions options;
        options.folder = folder_.path();
        options.environment = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                               {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                               {"OMPI_MCA_rmaps_base_oversubscribe", "1"}};
        return testing::run_process(all, options);
    }
    testing::TemporaryFolder folder_;
};

TEST_F(Launched, PointsAreSplitOverRanks) {
    const Words words{
        "--mixer", "bistochastic", "--depth", "6",       "--theory",
        "none",    "--samples",    "0",       "--omega", "0.3+0.05i,1+0.01i,0.02+0.001i,2+1i,0.7+0.2i",
        "--json",  "--plot",       "none"};
    const auto one = run(1, words);
    ASSERT_EQ(one.status, 0) << one.err;
    const auto expected = json::parse(one.out)["green"];
    for (const int ranks : {2, 3, 7}) {
        const auto several = run(ranks, words);
        ASSERT_EQ(several.status, 0) << several.err;
        EXPECT_EQ(json::parse(several.out)["green"], expected) << ranks;
    }
}

TEST_F(Launched, PointsOfALawAreSplitOverRanks) {
    const Words words{"--mixer", "bistochastic", "--depth", "8",   "--theory", "ov,scalar", "--samples",
                      "0",       "--json",       "--plot",  "none"};
    const auto theories = [&](int ranks) {
        const auto result = run(ranks, words);
        EXPECT_EQ(result.status, 0) << result.err;
        auto out = json::parse(result.out);
        for (auto& theory : out["theory"]) {
            theory.erase("seconds");
            theory.erase("passes");  // other work than passes is counted by its time
        }
        return json{out["theory"], out["metrics"]};
    };
    const auto one = theories(1);
    ASSERT_FALSE(one[0].empty());
    for (const int ranks : {2, 3}) EXPECT_EQ(theories(ranks), one) << ranks;
}

// A training that torchrun has started may call the program for something else.
TEST(LaunchedByTorchrun, IsAloneUnlessItTrains) {
    const testing::TemporaryFolder folder;
    testing::ProcessOptions options;
    options.folder = folder.path();
    options.environment = {
        {"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "1"}};
    const auto result = testing::run_process(
        {SPECTRA_BINARY, "--mixer", "identity", "--depth", "1", "--samples", "0", "--plot", "none", "--json"},
        options);
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(json::parse(result.out)["network"]["mixer"], "identity");
}

TEST_F(Launched, PointsAndSamplesInOneRun) {
    const Words words{"--mixer",  "cayley", "--depth",   "3",  "--width", "6",
                      "--theory", "none",   "--samples", "20", "--omega", "1+0.1i,0.5+0.1i,2+0.1i",
                      "--json",   "--plot", "none"};
    const auto one = run(1, words), three = run(3, words);
    ASSERT_EQ(one.status, 0) << one.err;
    ASSERT_EQ(three.status, 0) << three.err;
    const auto a = json::parse(one.out), b = json::parse(three.out);
    EXPECT_EQ(a["green"], b["green"]);
    EXPECT_EQ(a["metrics"], b["metrics"]);
}

TEST_F(Launched, NetworksOfASweepAreSplitOverRanks) {
    const auto sweep = [&](int ranks, const std::string& out) {
        const auto outcome =
            run(ranks, {"sweep", "--mixers", "cayley,bistochastic", "--depths", "1,2", "--seeds", "1:2",
                        "--width", "5", "--samples", "8", "--out", out, "--quiet"});
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return testing::content(folder_.path() / (out + ".csv"));
    };
    const auto one = sweep(1, "one"), two = sweep(2, "two");
    EXPECT_EQ(one, two);
}

}  // namespace
}  // namespace spectra
