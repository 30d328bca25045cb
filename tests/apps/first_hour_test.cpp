#include "support/process.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

/// What a new user meets: words that follow the numbers, and answers that fit what was typed.
namespace spectra {
namespace {

using Words = std::vector<std::string>;

class FirstHour : public ::testing::Test {
protected:
    testing::ProcessResult run(Words words) const {
        words.insert(words.begin(), SPECTRA_BINARY);
        testing::ProcessOptions options;
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

}  // namespace
}  // namespace spectra
