#include "h5/file.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <random>

/// Simulations that are stopped, killed and continued.
namespace spectra {
namespace {

using testing::TemporaryFolder;
using Words = std::vector<std::string>;

class Resume : public ::testing::Test {
protected:
    testing::ProcessResult run(Words words, testing::ProcessOptions options = {}) const {
        words.insert(words.begin(), SPECTRA_BINARY);
        options.folder = folder_.path();
        return testing::run_process(words, options);
    }

    /// Kills it so many seconds after its start; false where it has ended by then.
    bool killed(const Words& words, double seconds) const {
        testing::ProcessOptions options;
        options.interrupt_after = seconds;
        options.interrupt_by = SIGKILL;
        return run(words, options).status == 128 + SIGKILL;
    }

    h5::File open(const std::string& name) const { return h5::File::open_read(folder_.path() / name); }

    std::int64_t samples(const std::string& name) const {
        if (!std::filesystem::exists(folder_.path() / name)) return 0;
        return open(name).integer_attribute("montecarlo", "samples").value_or(0);
    }

    /// All of /montecarlo but the time it took, to the last bit.
    void expect_same(const std::string& one, const std::string& other) const {
        const auto a = open(one), b = open(other);
        expect_same(a, b, "montecarlo");
    }

    TemporaryFolder folder_;

private:
    static void expect_same(const h5::File& a, const h5::File& b, const std::string& group) {
        ASSERT_EQ(a.children(group), b.children(group));
        for (const auto& name : a.children(group)) {
            const std::string path = group + "/" + name;
            if (a.is_group(path)) {
                expect_same(a, b, path);
                continue;
            }
            h5::Shape here, there;
            const auto left = a.read_doubles(path, here), right = b.read_doubles(path, there);
            EXPECT_EQ(here, there) << path;
            EXPECT_EQ(left, right) << path;
        }
        ASSERT_EQ(a.attributes(group), b.attributes(group));
        for (const auto& name : a.attributes(group)) {
            if (name == "seconds") continue;
            EXPECT_EQ(a.double_attribute(group, name), b.double_attribute(group, name)) << name;
            EXPECT_EQ(a.string_attribute(group, name), b.string_attribute(group, name)) << name;
        }
    }
};

const Words network{"--mixer",  "bistochastic", "--depth",   "8",   "--width", "10",
                    "--theory", "none",         "--samples", "600", "--plot",  "none"};

Words with(const Words& more) {
    Words out = network;
    out.insert(out.end(), more.begin(), more.end());
    return out;
}

TEST_F(Resume, KilledAtTenRandomMomentsIsAsIfNeverKilled) {
    for (const std::string keep : {"values", "histogram"}) {
        ASSERT_EQ(run(with({"--keep", keep, "--out", "whole-" + keep, "--threads", "2"})).status, 0);
        std::mt19937 random(7);
        int kills = 0;
        std::int64_t before = 0;
        for (int attempt = 0; attempt < 10; ++attempt) {
            kills += killed(with({"--keep", keep, "--out", keep, "--resume", "--checkpoint", "0.01"}),
                            std::uniform_real_distribution(0.02, 0.25)(random));
            const auto now = samples(keep + ".h5");
            EXPECT_GE(now, before) << "what was written is never lost";
            before = now;
        }
        EXPECT_GE(kills, 1);
        const auto last = run(with({"--keep", keep, "--out", keep, "--resume", "--threads", "1"}));
        EXPECT_EQ(last.status, 0) << last.err;
        expect_same("whole-" + keep + ".h5", keep + ".h5");
    }
}

TEST_F(Resume, MoreSamplesAreAddedToThoseThatAreThere) {
    ASSERT_EQ(run(with({"--out", "whole"})).status, 0);
    auto fewer = network;
    *std::find(fewer.begin(), fewer.end(), "600") = "250";
    fewer.insert(fewer.end(), {"--out", "part"});
    ASSERT_EQ(run(fewer).status, 0);
    ASSERT_EQ(run(with({"--out", "part", "--resume"})).status, 0);
    expect_same("whole.h5", "part.h5");
}

TEST_F(Resume, RefusesOtherSamples) {
    ASSERT_EQ(run(with({"--out", "part"})).status, 0);
    const auto refused = [&](const Words& more, const std::string& why) {
        const auto result = run(with(more));
        EXPECT_EQ(result.status, 2);
        EXPECT_NE(result.err.find(why), std::string::npos) << result.err;
    };
    refused({"--out", "part", "--resume", "--seed", "2"}, "(--seed default there, 2 here)");
    refused({"--out", "part", "--resume", "--noise", "0.1"}, "(--noise default there, 0.1 here)");
    // By force the samples themselves are compared.
    refused({"--out", "part", "--resume", "--seed", "2", "--force"}, "seed is 2; in the saved samples it is 1");
    folder_.write("other.h5", "not HDF5");
    refused({"--out", "other", "--resume", "--force"}, "other.h5");
}

TEST_F(Resume, StopsAtTheErrorAskedFor) {
    const auto result = run({"--mixer", "cayley", "--depth", "3", "--width", "10", "--theory", "none",
                             "--plot", "none", "--until-error", "0.004", "--out", "e"});
    ASSERT_EQ(result.status, 0) << result.err;
    const auto file = open("e.h5");
    EXPECT_EQ(file.integer_attribute("montecarlo", "converged"), 1);
    EXPECT_LT(file.integer_attribute("montecarlo", "samples"), 10'000);
    for (const char* name : {"error_mean_square", "error_window", "error_collapsed", "error_wasserstein1"})
        EXPECT_LE(*file.double_attribute("montecarlo", name), 0.004) << name;
}

// Drawing so many mixers takes seconds. What an earlier run wrote is not replaced by nothing.
TEST_F(Resume, AnInterruptionBeforeAnythingIsComputedChangesNothing) {
    const Words words{"--mixer", "bistochastic", "--samples", "2", "--plot", "none", "--out", "run"};
    Words first = words, second = words;
    first.insert(first.end(), {"--depth", "2", "--quiet"});
    ASSERT_EQ(run(first).status, 0);
    const auto before = testing::content(folder_.path() / "run.h5");
    second.insert(second.end(), {"--depth", "3000", "--force"});  // theory takes a minute
    testing::ProcessOptions options;
    options.interrupt_after = 1.0;
    const auto result = run(second, options);
    EXPECT_EQ(result.status, 130) << result.err;
    EXPECT_NE(result.err.find("files are unchanged"), std::string::npos) << result.err;
    EXPECT_EQ(testing::content(folder_.path() / "run.h5"), before);
}

TEST_F(Resume, NamesTheOptionThatDiffersAndBothValues) {
    const auto with = [&](const Words& more) {
        Words words{"--mixer", "cayley", "--depth", "2", "--width", "2", "--samples", "4", "--theory", "none",
                    "--plot",  "none",   "--out",   "a", "--quiet"};
        words.insert(words.end(), more.begin(), more.end());
        return run(words);
    };
    ASSERT_EQ(with({"--seed", "3"}).status, 0);
    const auto refused = [&](const Words& more, const std::string& what) {
        Words words = more;
        words.emplace_back("--resume");
        const auto result = with(words);
        EXPECT_EQ(result.status, 2);
        EXPECT_NE(result.err.find("a.h5: holds another result (" + what), std::string::npos) << result.err;
    };
    refused({"--seed", "3", "--noise", "0.5"}, "--noise default there, 0.5 here)");
    refused({"--seed", "4"}, "--seed 3 there, 4 here)");
    refused({"--logit-scale=2"}, "--logit-scale default there, 2 here; --seed 3 there, default here)");
    refused({"--seed", "3", "--sigma2", "0.1"}, "--sigma2 default there, 0.1 here)");
    EXPECT_EQ(with({"--seed", "3", "--noise", "0.05", "--resume"}).status, 0) << "the default, spelled out";
}

}  // namespace
}  // namespace spectra
