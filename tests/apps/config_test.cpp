#include "base/shell.hpp"
#include "h5/file.hpp"
#include "support/process.hpp"
#include "support/same_file.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

/// --config FILE.toml, and the file that a result gives back.
namespace spectra {
namespace {

using testing::expect_same;
using Words = std::vector<std::string>;

TEST(ShellLine, WordsComeBack) {
    const Words words{"spectra", "--mixer", "a b.csv", "it's", "", "--omega=0.3+0.05i", "back\\slash", "'"};
    EXPECT_EQ(shell_words(shell_line(words)), words);
    EXPECT_EQ(shell_line({"spectra", "--depth", "3"}), "spectra --depth 3");
}

class Config : public ::testing::Test {
protected:
    testing::ProcessResult run(Words words) const {
        words.insert(words.begin(), SPECTRA_BINARY);
        return testing::run_process(words, {.folder = folder_.path()});
    }
    void succeeds(const Words& words) const {
        const auto result = run(words);
        EXPECT_EQ(result.status, 0) << result.err;
    }
    void refused(const std::string& toml, Words words, const Words& fragments) const {
        folder_.write("bad.toml", toml);
        words.insert(words.end(), {"--config", "bad.toml"});
        const auto result = run(words);
        EXPECT_EQ(result.status, 2) << result.err;
        for (const auto& fragment : fragments)
            EXPECT_NE(result.err.find(fragment), std::string::npos) << fragment << " is not in " << result.err;
        EXPECT_EQ(folder_.entries(), 1u) << "something was written";
    }
    h5::File open(const std::string& name) const { return h5::File::open_read(folder_.path() / name); }

    /// The options that made `file`, as spectra info prints them, in `name`.
    std::string store_config(const std::string& file, const std::string& name) const {
        const auto result = run({"info", "--config", file});
        EXPECT_EQ(result.status, 0) << result.err;
        folder_.write(name, result.out);
        return result.out;
    }

    testing::TemporaryFolder folder_;
};

TEST_F(Config, OptionsOfTheCommandLineWin) {
    folder_.write("run.toml", "mixer = \"cayley\"\ndepth = 3\nnoise = 0.2\nlogit_scale = 2\n"
                              "samples = 0\ntheory = [\"ov\"]\nplot = \"none\"\nquiet = true\n");
    succeeds({"--config", "run.toml", "--depth", "5", "--out", "a"});
    const auto file = open("a.h5");
    EXPECT_EQ(file.integer_attribute("network", "depth"), 5);
    EXPECT_EQ(file.string_attribute("network", "mixer"), "cayley");
    h5::Shape shape;
    EXPECT_NEAR(file.read_doubles("network/sigma2", shape).front(), 0.04, 1e-15);
    EXPECT_EQ(file.children("theory"), Words{"ov"});
    EXPECT_EQ(file.string_attribute("", "command"),
              "spectra --mixer=cayley --noise=0.2 --logit-scale=2 --samples=0 --theory=ov --plot=none --quiet "
              "--depth 5 --out a")
        << "what is stored needs no other file";
}

TEST_F(Config, AnAnalysisGivesItselfBack) {
    succeeds({"--mixer", "bistochastic", "--depth", "3", "--logit-scale", "0.5", "--noise=0.3", "--seed", "7",
              "--samples", "4", "--width", "3", "--omega", "0.3+0.05i,1+0.1i", "--sensitivity", "--plot", "none",
              "--out", "a", "--quiet"});
    const std::string toml = store_config("a.h5", "a.toml");
    EXPECT_NE(toml.find("mixer = \"bistochastic\"\ndepth = 3\nlogit-scale = 0.5\nnoise = 0.3\nseed = 7\n"),
              std::string::npos)
        << toml;
    EXPECT_NE(toml.find("sensitivity = true\n"), std::string::npos) << toml;
    EXPECT_EQ(toml.find("out"), std::string::npos) << "where it was written made no difference: " << toml;
    succeeds({"--config", "a.toml", "--out", "b", "--quiet"});
    expect_same(open("a.h5"), "", open("b.h5"), "");
}

TEST_F(Config, ASweepAndADepthLimitGiveThemselvesBack) {
    succeeds({"sweep", "--mixers", "identity,cayley", "--depths", "2,3", "--samples", "0", "--theory", "ov", "--out",
              "a", "--quiet"});
    EXPECT_NE(store_config("a.h5", "a.toml").find("[sweep]\nmixers = \"identity,cayley\"\ndepths = \"2,3\"\n"),
              std::string::npos);
    succeeds({"sweep", "--config", "a.toml", "--out", "b", "--quiet"});
    expect_same(open("a.h5"), "", open("b.h5"), "");

    succeeds({"depth-limit", "--mixer", "bistochastic", "--max-depth", "4", "--plot", "none", "--out", "c", "--quiet"});
    EXPECT_NE(store_config("c.h5", "c.toml").find("[depth-limit]\nmixer = \"bistochastic\"\nmax-depth = 4\n"),
              std::string::npos);
    succeeds({"depth-limit", "--config", "c.toml", "--out", "d", "--quiet"});
    expect_same(open("c.h5"), "", open("d.h5"), "");
}

TEST_F(Config, RefusesWhatIsNoOption) {
    refused("mixer = \"cayley\"\ndepht = 3\n", {}, {"bad.toml: line 2", "unknown key 'depht'", "'depth'"});
    refused("mixer = \"cayley\"\nconfig = \"x\"\n", {}, {"unknown key 'config'"});
    refused("mixer = \"cayley\"\ndepth = \"three\"\n", {}, {"--depth 'three'"});
    refused("mixer = true\n", {}, {"'mixer' must be a text"});
    refused("mixer = \"cayley\"\nsensitivity = 1\n", {}, {"'sensitivity' must be true or false"});
    refused("mixer = cayley\n", {}, {"line 1", "quotes"});
    refused("[swep]\nmixers = \"cayley\"\n", {"sweep"}, {"unknown table 'swep'", "'sweep'"});
    refused("[sweep]\nmixers = \"cayley\"\n", {}, {"no options for analysing", "spectra sweep"});
    refused("mixers = \"fixed\"\n", {"sweep"}, {"no options for sweep", "below a line [sweep]"});
    refused("", {"compare"}, {"[compare]"});
    const auto missing = run({"--config", "none.toml"});
    EXPECT_EQ(missing.status, 2);
    EXPECT_NE(missing.err.find("none.toml"), std::string::npos) << missing.err;
}

TEST_F(Config, AFileOfAnotherCommandHasNone) {
    {
        auto file = h5::File::create(folder_.path() / "t.h5");
        file.write_attribute("", "format", std::string("jacobian-spectra"));
        file.write_attribute("", "format_version", std::int64_t{1});
        file.write_attribute("", "command", std::string("spectra train gyroscope"));
        file.close();
    }
    const auto result = run({"info", "--config", "t.h5"});
    EXPECT_EQ(result.status, 2);
    EXPECT_NE(result.err.find("'spectra train gyroscope'"), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("sweep"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace spectra
