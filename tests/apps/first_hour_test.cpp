#include "support/process.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

/// What a new user meets: words that follow the numbers, and answers that fit what was typed.
namespace spectra {
namespace {

using Words = std::vector<std::string>;

class FirstHour : public ::testing::Test {
protected:
    testing::ProcessResult run(Words words, testing::ProcessOptions options = {}) const {
        words.insert(words.begin(), SPECTRA_BINARY);
        options.folder = folder_.path();
        return testing::run_process(words, options);
    }

    testing::TemporaryFolder folder_;
};

bool has(const std::string& text, const std::string& words) {
    return text.find(words) != std::string::npos;
}

TEST_F(FirstHour, WordsFollowNumbers) {
    const auto identity = run({"--mixer", "identity", "--samples", "0", "--theory", "ov", "--plot", "none"});
    EXPECT_EQ(identity.status, 0) << identity.err;
    EXPECT_TRUE(has(identity.out, "Gradients pass 10 layers nearly evenly")) << identity.out;
    const auto file = folder_.write("smaller.csv", "0.9,0\n0,0.9\n");
    const auto smaller =
        run({"--mixer", file.string(), "--samples", "0", "--theory", "ov", "--plot", "none", "--noise", "0.01"});
    EXPECT_TRUE(has(smaller.out, "Gradients shrink evenly, to 0.35 times their size, over 10 layers")) << smaller.out;
}

TEST_F(FirstHour, AMistypedMixerOfAGridIsNamedAsItWasTyped) {
    const auto result = run({"compare", "--mixers", "caley,orthogonal"});
    EXPECT_EQ(result.status, 2);
    EXPECT_TRUE(has(result.err, "spectra: --mixers 'caley': no such mixer or file; did you mean 'cayley'?"))
        << result.err;
}

TEST_F(FirstHour, ADeviceThatCannotBeHadIsNoSuccess) {
    const auto result = run({"--mixer", "cayley", "--depth", "2", "--samples", "2", "--device", "cuda", "--plot", "none"});
    if (has(result.out, "cuda:")) {
        EXPECT_EQ(result.status, 0) << "there is a GPU";
    } else {
        EXPECT_EQ(result.status, 3);
        EXPECT_TRUE(has(result.err, "no GPU is used")) << result.err;
    }
}

TEST_F(FirstHour, QuietValidationPrintsNothing) {
    const auto result = run({"validate", SPECTRA_DATA_DIR "/layouts/edelta_jpmhc.pt", "--quiet", "--plot", "none"});
    EXPECT_EQ(result.out, "") << result.err;
    const auto strict = run({"validate", SPECTRA_DATA_DIR "/layouts/edelta_jpmhc.pt", "--quiet", "--plot", "none",
                             "--require", "largest<=0.5"});
    EXPECT_EQ(strict.status, 1);
    EXPECT_EQ(strict.out, "");
    EXPECT_TRUE(has(strict.err, "FAIL: largest is")) << strict.err;
}

TEST_F(FirstHour, AShareBelowWhatIsKeptIsShownBelowIt) {
    const auto result = run({"depth-limit", "--mixer", "bistochastic", "--keep", "0.9", "--max-depth", "40"});
    const auto end = result.out.find("Up to");
    const std::string table = result.out.substr(0, end);
    const auto failing = table.rfind("0.9000\n");
    EXPECT_EQ(failing, std::string::npos) << result.out;
}

TEST_F(FirstHour, AProbeTellsWhetherTorchIsNeededAndDoesNothing) {
    testing::ProcessOptions options;
    options.folder = folder_.path();
    options.environment = {{"SPECTRA_TORCH", "probe"}};
    const auto status = [&](Words words) {
        words.insert(words.begin(), SPECTRA_BINARY);
        return testing::run_process(words, options).status;
    };
    EXPECT_EQ(status({"train", "gyroscope"}), 78);
    EXPECT_EQ(status({"train", "--help"}), 0);
    EXPECT_EQ(status({"train", "giroscope"}), 2);
    EXPECT_EQ(status({"validate", "--help"}), 0);
    const std::string trained = SPECTRA_DATA_DIR "/layouts/spectra_cayley.ckpt";
    EXPECT_EQ(status({"validate", trained}), 78);
    EXPECT_EQ(status({"validate", trained, "--list"}), 0);
    EXPECT_NE(status({"validate", trained, "--at", "zero", "--plot", "none"}), 78);
    EXPECT_NE(status({"validate", SPECTRA_DATA_DIR "/layouts/edelta_jpmhc.pt", "--plot", "none"}), 78);
    EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(FirstHour, ADefaultNameCarriesWhatIsNotDefault) {
    const auto result = run({"--mixer", "cayley", "--depth", "3", "--samples", "0", "--noise", "5e-1", "--theory", "ov",
                             "--seed", "1", "--plot", "none"});
    EXPECT_EQ(result.status, 0) << result.err;
    // The seed is the default, and the number is spelt in one way.
    EXPECT_TRUE(std::filesystem::exists(folder_.path() / "spectra-cayley-L3-noise0.5-theoryov-samples0.h5"))
        << result.out;
}

TEST_F(FirstHour, AResultOfOtherOptionsIsNeverReplacedUnasked) {
    const Words words{"--mixer", "cayley", "--depth", "3", "--samples", "0", "--theory", "ov", "--out", "run"};
    const auto with = [&](Words more) {
        more.insert(more.begin(), words.begin(), words.end());
        return run(more);
    };
    ASSERT_EQ(with({"--plot", "none"}).status, 0);
    folder_.write("run.png", "its figure");
    EXPECT_EQ(with({"--plot", "none", "--noise", "0.05"}).status, 0) << "the default, spelt out, is the same run";
    const auto before = testing::content(folder_.path() / "run.h5");
    const auto refused = with({"--noise", "0.5", "--plot", "none"});
    EXPECT_EQ(refused.status, 2);
    EXPECT_TRUE(has(refused.err, "--out: run.h5: holds another result (--noise default there, 0.5 here); use another "
                                 "--out, or --force to replace it"))
        << refused.err;
    EXPECT_EQ(testing::content(folder_.path() / "run.h5"), before);
    EXPECT_TRUE(std::filesystem::exists(folder_.path() / "run.png"));
    // A figure of the replaced result does not stay beside the new one.
    EXPECT_EQ(with({"--noise", "0.5", "--plot", "none", "--force"}).status, 0);
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "run.png"));
}

TEST_F(FirstHour, AGridMayGrowButNotDropNetworks) {
    const auto sweep = [&](Words more) {
        more.insert(more.begin(), {"sweep", "--mixers", "cayley", "--samples", "0", "--theory", "ov", "--out", "grid"});
        return run(more);
    };
    ASSERT_EQ(sweep({"--depths", "1,2"}).status, 0);
    EXPECT_EQ(sweep({"--depths", "1,2,3"}).status, 0);
    const auto refused = sweep({"--depths", "1,3"});
    EXPECT_EQ(refused.status, 2);
    EXPECT_TRUE(has(refused.err, "holds cayley-L2")) << refused.err;
    EXPECT_TRUE(has(refused.err, "which this grid does not have")) << refused.err;
    const auto other = sweep({"--depths", "1,2,3", "--logit-scale", "2"});
    EXPECT_EQ(other.status, 2);
    EXPECT_TRUE(has(other.err, "--logit-scale default there, 2 here")) << other.err;
    EXPECT_EQ(sweep({"--depths", "1", "--force"}).status, 0);
}

TEST_F(FirstHour, AHopelessRunIsRefusedWithItsTime) {
    const auto result = run({"--mixer", "cayley", "--width", "100000", "--theory", "none", "--keep", "histogram",
                             "--device", "cpu"});
    EXPECT_EQ(result.status, 2);
    EXPECT_TRUE(has(result.err, " days on this machine; fewer --samples or a smaller --width take less")) << result.err;
}

TEST_F(FirstHour, ALongRunIsAnnounced) {
    testing::ProcessOptions options;
    options.interrupt_after = 0.5;
    const auto result = run({"--mixer", "cayley", "--width", "1000", "--samples", "2000", "--theory", "none",
                             "--device", "cpu", "--keep", "histogram"},
                            options);
    EXPECT_TRUE(has(result.err, "this will take about ")) << result.err;
    EXPECT_EQ(result.status, 130);
}

TEST_F(FirstHour, AnInterruptedTheoryStopsAtItsNextStep) {
    testing::ProcessOptions options;
    options.interrupt_after = 1.5;
    const auto result = run({"--mixer", "bistochastic", "--depth", "3000", "--samples", "0"}, options);
    EXPECT_EQ(result.status, 130);
    EXPECT_TRUE(has(result.err, "spectra: stopping; a second Ctrl-C stops at once")) << result.err;
    EXPECT_FALSE(has(result.err, "in the middle of a step")) << result.err;
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "spectra-bistochastic-L3000-samples0.h5"));
}

TEST_F(FirstHour, TheoryIsKeptWhereTheFirstSampleNeverEnds) {
    testing::ProcessOptions options;
    options.interrupt_after = 2.5;
    // One matrix of 4096 rows: minutes.
    const auto result = run({"--mixer", "cayley", "--depth", "4", "--width", "1024", "--theory", "ov", "--plot", "none",
                             "--device", "cpu", "--threads", "1"},
                            options);
    EXPECT_EQ(result.status, 130);
    EXPECT_TRUE(has(result.err, "theory is solved")) << result.err;
    EXPECT_TRUE(has(run({"info", "spectra-cayley-L4-width1024-theoryov.h5"}).out, "theory ov")) << result.err;
}

}  // namespace
}  // namespace spectra
