#include "h5/file.hpp"
#include "options.hpp"
#include "support/needs_program.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <complex>
#include <fstream>
#include <nlohmann/json.hpp>

/// The program as users meet it: words in; text, files and an exit status out.
namespace spectra {
namespace {

using nlohmann::json;
using testing::ProcessOptions;
using testing::ProcessResult;
using testing::TemporaryFolder;
using Words = std::vector<std::string>;

class Cli : public ::testing::Test {
protected:
    ProcessResult run(Words words, ProcessOptions options = {}) const {
        words.insert(words.begin(), SPECTRA_BINARY);
        options.folder = folder_.path();
        return testing::run_process(words, options);
    }

    /// A small run that draws nothing: `words` come on top.
    ProcessResult run_small(const Words& words, const ProcessOptions& options = {}) const {
        Words all{"--mixer", "orthogonal", "--depth", "2",        "--streams", "2",      "--width",
                  "4",       "--samples",  "3",       "--theory", "none",      "--plot", "none"};
        all.insert(all.end(), words.begin(), words.end());
        return run(all, options);
    }

    /// Exit 2, one line on standard error that holds every fragment, nothing else said or written.
    void refused(const Words& words, const Words& fragments) const {
        const auto before = folder_.entries();
        const auto result = run(words);
        std::string command;
        for (const auto& word : words) command += word + " ";
        SCOPED_TRACE(command + "-> " + result.err);
        EXPECT_EQ(result.status, 2);
        EXPECT_TRUE(result.out.empty()) << result.out;
        EXPECT_TRUE(result.err.starts_with("spectra: "));
        EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1);
        EXPECT_TRUE(result.err.ends_with('\n'));
        for (const auto& fragment : fragments)
            EXPECT_NE(result.err.find(fragment), std::string::npos) << "missing: " << fragment;
        EXPECT_EQ(folder_.entries(), before) << "something was written";
    }

    bool exists(const std::string& name) const { return std::filesystem::exists(folder_.path() / name); }

    std::string content(const std::string& name) const { return testing::content(folder_.path() / name); }

    TemporaryFolder folder_;
};

// Bad input

TEST_F(Cli, RefusesUnknownMixersWithTheNearestName) {
    refused(
        {"--mixer", "cayly"},
        {"--mixer 'cayly': no such mixer or file; did you mean 'cayley'? (accepted: identity, bistochastic"});
    refused({"--mixer", "sinkhorn"}, {"no such mixer or file; accepted: identity"});
    refused({"--mixer", "none.csv"}, {"--mixer 'none.csv': no such file"});
    refused({"--mixer", ""}, {"--mixer ''"});
    refused({"--mixer", "two\nlines"}, {"two\\u000alines"});
}

TEST_F(Cli, RefusesMatrixFilesThatHoldNone) {
    folder_.write("ragged.csv", "1,2\n3\n");
    folder_.write("wide.csv", "1,2,3\n4,5,6\n");
    folder_.write("nan.csv", "1,2\n3,nan\n");
    folder_.write("inf.json", "[[1, 2], [3, Infinity]]");
    folder_.write("text.h5", "not HDF5");
    folder_.write("empty.csv", "");
    refused({"--mixer", "ragged.csv"}, {"ragged.csv", "row 2"});
    refused({"--mixer", "wide.csv"}, {"wide.csv", "2×3"});
    refused({"--mixer", "nan.csv"}, {"nan.csv", "row 2, column 2", "finite"});
    refused({"--mixer", "inf.json"}, {"inf.json", "finite"});
    refused({"--mixer", "text.h5"}, {"text.h5", "not an HDF5 file"});
    refused({"--mixer", "empty.csv"}, {"empty.csv", "empty"});
    refused({"--mixer", "."}, {"folder"});
    refused({"info", "text.h5"}, {"text.h5", "not an HDF5 file"});
    refused({"info", "none.h5"}, {"none.h5", "no such file"});
    refused({"info"}, {"info", "FILE.h5"});
}

TEST_F(Cli, RefusesNumbersOutOfRange) {
    const auto with = [](const std::string& option, const std::string& value) {
        return Words{"--mixer", "cayley", option, value};
    };
    for (const char* bad : {"0", "1000000000", "-1", "1.5", "ten", "99999999999999999999999", ""})
        refused(with("--depth", bad), {"--depth", "must be an integer from 1 to 1000000"});
    for (const char* bad : {"0", "513"}) refused(with("--streams", bad), {"--streams", "1 to 512"});
    for (const char* bad : {"0", "100001"}) refused(with("--width", bad), {"--width", "1 to 100000"});
    for (const char* bad : {"-0.1", "nan", "inf", "x"})
        refused(with("--noise", bad), {"--noise", "must be"});
    for (const char* bad : {"-0.1", "0.1,-0.1", "nan", ","})
        refused(with("--sigma2", bad), {"--sigma2", "must be"});
    refused(with("--sigma2", "0.1,0.2"), {"--sigma2 has 2 values for depth 10"});
    for (const char* bad : {"-0.1", "nan", "x", ""})
        refused({"--mixer", "cayley", "--branch", "activation", "--preactivation-variance", bad},
                {"--preactivation-variance", "must be"});
    for (const char* bad : {"-1", "4294967296", "1e3"})
        refused(with("--samples", bad), {"--samples", "0 to"});
    for (const char* bad : {"0", "-1", "nan", "small"}) refused(with("--eta", bad), {"--eta", "auto"});
    for (const char* bad : {"2:1:10", "1:1:10", "0:1:1", "0:1:10:log", "0:1", "a:b:c"})
        refused(with("--grid", bad), {"--grid", bad});
    for (const char* bad : {"0.3", "0.3-0.1i", "x"}) refused(with("--omega", bad), {"--omega"});
    refused(with("--seed", "-1"), {"--seed"});
    refused(with("--threads", "0"), {"--threads"});
    refused(with("--cayley-iterations", "exat"), {"--cayley-iterations"});
    refused(with("--logit-scale", "-1"), {"--logit-scale"});
    refused({"--mixer", "grassmann", "--rank", "9"}, {"--rank"});
    refused({"--mixer", "cayley-hybrid", "--gate", "1.5"}, {"--gate"});
}

TEST_F(Cli, RefusesUnknownWords) {
    const auto with = [](const std::string& option, const std::string& value) {
        return Words{"--mixer", "cayley", option, value};
    };
    refused(with("--draws", "shard"), {"--draws 'shard'", "did you mean 'shared'?"});
    refused(with("--theory", "scaler"), {"--theory", "did you mean 'scalar'?"});
    refused(with("--theory", "ov,none"), {"--theory", "'none' cannot be combined"});
    refused(with("--branch", "isotropc"), {"--branch", "did you mean 'isotropic'?"});
    refused(with("--branch", "hyper"), {"--branch", "did you mean 'hyper-connection'?"});
    refused({"--mixer", "cayley", "--branch", "activation", "--activation", "relo"},
            {"--activation", "did you mean 'relu'?"});
    refused({"--mixer", "cayley", "--branch", "activation", "--activation", "bernoulli"},
            {"--activation 'bernoulli'", "accepted: linear, relu"});
    for (const char* option : {"--pre", "--post"})
        for (const char* bad : {"median", "1,x", "", "1,,2", "1,nan"})
            refused({"--mixer", "cayley", "--branch", "hyper-connection", option, bad},
                    {option, "must be drawn, mean"});
    refused(with("--mixers", "redrwan"), {"--mixers", "did you mean 'redrawn'?"});
    refused(with("--keep", "all"), {"--keep", "accepted: histogram, values"});
    refused(with("--device", "tpu"), {"--device", "accepted: auto, cpu, cuda"});
    refused(with("--precision", "f16"), {"--precision", "accepted: f64, f32"});
    refused({"--mixer", "identity", "--device", "cpu", "--precision", "f32"},
            {"--precision f32", "--device cpu"});
    refused(with("--plot", "jpg"), {"--plot", "accepted: png, svg, pdf, html, none"});
    refused(with("--detph", "3"), {"'--detph': no such option; did you mean '--depth'?"});
    refused(with("--detph=3", "3"), {"did you mean '--depth'?"});
    refused({"inof", "x.h5"}, {"'inof': no such command; did you mean 'info'?"});
    refused({"cayley"}, {"'cayley': no such command; did you mean '--mixer cayley'?"});
    refused({"completion", "fish"}, {"fish", "accepted: bash, zsh"});
    refused({"completion", "zhs"}, {"did you mean 'zsh'?"});
    refused({"completion"}, {"accepted: bash, zsh"});
    refused({"info", "a.h5", "b.h5"}, {"b.h5"});
    refused({"info", "a.h5", "--frobnicate"}, {"--frobnicate"});
    refused({"--mixer"}, {"--mixer: requires a value"});
    refused({"--mixer", "cayley", "--depth", "3", "--depth", "4"}, {"--depth: given more than once"});
    refused({"--depth", "3"}, {"--mixer", "--model"});
}

TEST_F(Cli, RefusesOptionsThatContradict) {
    folder_.write("one.csv", "1,0\n0,1\n");
    folder_.write("three.csv", "1,0\n0,1\n\n1,0\n0,1\n\n1,0\n0,1\n");
    folder_.write("case.json", R"({"streams": 1, "depth": 1, "mixers": [[[1]]],
                                   "noise": {"kind": "isotropic", "sigma2": [0.1]}})");
    const Words cayley{"--mixer", "cayley"};
    const auto with = [](Words words, const Words& more) {
        words.insert(words.end(), more.begin(), more.end());
        return words;
    };
    refused(with(cayley, {"--noise", "0.1", "--sigma2", "0.1"}), {"--noise", "--sigma2"});
    refused(with(cayley, {"--gate", "0.5"}), {"--mixer cayley", "--gate", "cayley-hybrid"});
    refused({"--mixer", "bistochastic", "--gate", "0.5"}, {"--mixer bistochastic", "--gate"});
    refused({"--mixer", "identity", "--logit-scale", "2"}, {"--logit-scale", "bistochastic, cayley"});
    for (const Words& other : {Words{"--mixer", "cayley"},
                               {"--depth", "1"},
                               {"--streams", "1"},
                               {"--noise", "0.1"},
                               {"--sigma2", "0.1"},
                               {"--beta", "1"},
                               {"--draws", "shared"},
                               {"--mixers", "redrawn"},
                               {"--branch", "isotropic"},
                               {"--activation", "relu"},
                               {"--preactivation-variance", "1"},
                               {"--branch-law", "law.json"},
                               {"--pre", "mean"},
                               {"--post", "mean"}})
        refused(with({"--model", "case.json"}, other), {"--model", other[0]});
    refused({"--mixer", "one.csv", "--mixers", "redrawn"}, {"one.csv", "--mixers redrawn"});
    refused({"--mixer", "one.csv", "--draws", "shared"}, {"one.csv", "--draws"});
    refused({"--mixer", "one.csv", "--rank", "1"}, {"one.csv", "--rank"});
    refused({"--mixer", "one.csv", "--streams", "3"}, {"--streams 3", "2×2"});
    refused({"--mixer", "three.csv", "--depth", "4"}, {"--depth 4", "3 layers"});
    refused(with(cayley, {"--theory", "none", "--samples", "0"}), {"nothing"});
    refused(with(cayley, {"--theory", "none", "--grid", "0:1:5"}), {"--grid"});
    refused({"--depth", "3", "info", "x.h5"}, {"--depth", "info"});
}

TEST_F(Cli, RefusesBranchOptionsThatDoNotApply) {
    folder_.write("law.json", "[1, 2]");
    const auto both = [&](const Words& more, const Words& fragments) {
        Words words{"--mixer", "cayley"};
        words.insert(words.end(), more.begin(), more.end());
        refused(words, fragments);
    };
    both({"--activation", "relu"},
         {"--branch isotropic (the default)", "--activation", "--branch activation"});
    both({"--branch", "tied", "--activation", "relu"}, {"--branch tied", "--activation"});
    both({"--branch", "tied", "--preactivation-variance", "1"},
         {"--branch tied", "--preactivation-variance"});
    both({"--branch", "isotropic", "--pre", "mean"},
         {"--branch isotropic cannot be combined with --pre", "hyper-connection, tied"});
    both({"--branch", "activation", "--post", "mean"}, {"--branch activation cannot be combined with --post"});
    both({"--branch", "activation", "--branch-law", "law.json"},
         {"--branch activation cannot be combined with --branch-law"});
    both({"--branch", "tied", "--branch-law", "law.json"}, {"--branch-law", "isotropic, hyper-connection"});
    both({"--branch-law", "law.json", "--noise", "1"}, {"--branch-law cannot be combined with --noise", "variance"});
    both({"--branch-law", "law.json", "--sigma2", "1"}, {"--branch-law cannot be combined with --sigma2", "variance"});
    both({"--branch-law", "none.json"}, {"none.json", "no such file"});
    both({"--branch", "hyper-connection", "--pre", "1,2"}, {"--pre has 2 values for 4 streams"});
}

/// Found before anything is computed; simulation has no such limit.
TEST_F(Cli, RefusesTiedBranchesTooLargeForTheTheory) {
    folder_.write("deep.json", R"({"streams": 1, "depth": 129, "mixers": [[1]],
                                   "noise": {"kind": "tied", "sigma2": 0.1}})");
    refused({"--mixer", "cayley", "--branch", "tied", "--depth", "33"},
            {"tied", "L·n is 132", "at most 128", "--theory none"});
    refused({"--mixer", "cayley", "--branch", "tied", "--depth", "33", "--theory", "none", "--omega", "1i"},
            {"at most 128", "--omega"});
    refused({"--model", "deep.json"}, {"L·n is 129", "at most 128"});
}

TEST_F(Cli, RefusesModelFilesByKey) {
    folder_.write("typo.json", R"({"streams": 1, "detph": 1})");
    folder_.write("bound.json", R"({"streams": 1, "depth": 1, "mixers": [[[1]]],
                                   "noise": {"kind": "bound", "sigma2": 0.1}})");
    folder_.write("tied.json", R"({"streams": 1, "depth": 1, "mixers": [[[1]]],
                                   "noise": {"kind": "tied", "sigma2": [0.1, 0.2]}})");
    folder_.write("cut.json", R"({"streams": 1, "depth": 1, "mixers": [[[1)");
    refused({"--model", "typo.json"}, {"typo.json", "unknown key 'detph'"});
    refused({"--model", "bound.json"}, {"bound.json", "'bound'", "must be one of isotropic, activation"});
    refused({"--model", "tied.json"}, {"tied.json", "sigma2", "expected one number"});
    refused({"--model", "cut.json"}, {"cut.json", "not JSON"});
    refused({"--model", "none.json"}, {"none.json", "no such file"});
}

TEST_F(Cli, RefusesWhatDoesNotFitInMemory) {
    refused({"--mixer", "identity", "--streams", "512", "--width", "100000"},
            {"the simulation would need", "iB"});
    refused({"--mixer", "identity", "--streams", "512", "--depth", "1000000"},
            {"the mixers would need", "iB"});
}

TEST_F(Cli, RefusesOutputsThatCannotBeWritten) {
    const Words cayley{"--mixer", "cayley", "--out"};
    const auto out = [&](const std::string& stem) {
        Words words = cayley;
        words.push_back(stem);
        return words;
    };
    refused(out("/proc/result"), {"--out", "/proc", "cannot write"});
    refused(out("none/result"), {"--out", "none: no such folder"});
    folder_.write("file", "");
    refused(out("file/result"), {"--out", "file: no such folder"});
    for (const char* bad : {"", ".", "..", "/", "here/"}) refused(out(bad), {"--out"});
    std::filesystem::create_directory(folder_.path() / "closed");
    std::filesystem::create_directory(folder_.path() / "taken.h5");
    refused(out("taken"), {"taken.h5", "folder"});
    if (geteuid() != 0) {
        std::filesystem::permissions(folder_.path() / "closed",
                                     std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
        refused(out("closed/result"), {"--out", "closed", "cannot write"});
    }
}

TEST_F(Cli, ReplacesItsOwnFilesAndOthersOnlyByForce) {
    folder_.write("mine.h5", "somebody's work");
    refused({"--mixer", "orthogonal", "--out", "mine"}, {"mine.h5", "not a result file", "--force"});
    EXPECT_EQ(content("mine.h5"), "somebody's work");
    EXPECT_EQ(run_small({"--out", "mine", "--force"}).status, 0);
    const auto first = content("mine.h5");
    EXPECT_TRUE(first.starts_with("\x89HDF"));
    EXPECT_EQ(run_small({"--out", "mine"}).status, 0) << "its own is replaced";
    EXPECT_EQ(run_small({"--out", "mine", "--seed", "2"}).status, 2) << "a result of another seed is not";
    EXPECT_EQ(run_small({"--out", "mine", "--seed", "2", "--force"}).status, 0);
    EXPECT_NE(content("mine.h5"), first);

    folder_.write("figure.png", "somebody's picture");
    refused({"--mixer", "orthogonal", "--out", "figure"}, {"figure.png", "--force"});
    EXPECT_EQ(content("figure.png"), "somebody's picture");
}

// Pages

TEST_F(Cli, HelpAllMentionsEveryOptionAndTeaches) {
    const auto result = run({"--help-all"});
    EXPECT_EQ(result.status, 0);
    EXPECT_TRUE(result.err.empty()) << result.err;
    CLI::App app;
    study::Request request;
    cli::add_options(app, request);
    app.set_help_flag();
    const auto options = app.get_options();
    EXPECT_GT(options.size(), 25U);
    for (const auto* option : options)
        EXPECT_NE(result.out.find("  --" + option->get_lnames().front()), std::string::npos)
            << option->get_name();
    for (const char* word : {"info FILE.h5", "completion bash|zsh", "--version", "Examples:", "Exit status:",
                             "130", "[default: 0.05]", "[default: 10]", "spectral-sphere"})
        EXPECT_NE(result.out.find(word), std::string::npos) << word;
    std::size_t begin = 0;
    for (auto end = result.out.find('\n'); end != std::string::npos; end = result.out.find('\n', begin)) {
        const auto line = result.out.substr(begin, end - begin);
        const auto bytes_in = std::count_if(line.begin(), line.end(), [](char c) {
            return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
        });
        EXPECT_LE(line.size() - static_cast<std::size_t>(bytes_in), 100U) << line;
        EXPECT_FALSE(line.ends_with(' ')) << line;
        begin = end + 1;
    }
    const auto sub = run({"info", "--help"});
    EXPECT_EQ(sub.status, 0);
    EXPECT_NE(sub.out.find("spectra info FILE.h5"), std::string::npos);
}

/// Processor time of the fastest of ten, which other programs on the machine do not change much. It is 10 ms on one
/// machine and 20 on another; loading CUDA's libraries would add 50 or more, and Torch's half a second.
TEST_F(Cli, HelpTakesMilliseconds) {
    double fastest = 1;
    for (int k = 0; k < 10; ++k) fastest = std::min(fastest, run({"--help"}).processor_seconds);
    EXPECT_LT(fastest, 0.045);
}

TEST_F(Cli, VersionNamesCommitAndFeatures) {
    const auto result = run({"--version"});
    EXPECT_EQ(result.status, 0);
    EXPECT_TRUE(result.out.starts_with("spectra ")) << result.out;
    EXPECT_NE(result.out.find('('), std::string::npos);
    EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 2);
}

TEST_F(Cli, CompletionScriptsOfferEveryOption) {
    CLI::App app;
    study::Request request;
    cli::add_options(app, request);
    for (const char* shell : {"bash", "zsh"}) {
        const auto result = run({"completion", shell});
        EXPECT_EQ(result.status, 0);
        for (const auto* option : app.get_options())
            EXPECT_NE(result.out.find("--" + option->get_lnames().front()), std::string::npos)
                << shell << " " << option->get_name();
        for (const char* word : {"cayley-hybrid", "redrawn", "info", "completion"})
            EXPECT_NE(result.out.find(word), std::string::npos) << shell << " " << word;
    }
}

TEST_F(Cli, BashCompletes) {
    const auto complete = [&](const std::string& words, int at) {
        const std::string script = "source <(" SPECTRA_BINARY " completion bash); COMP_WORDS=(" + words +
                                   "); COMP_CWORD=" + std::to_string(at) +
                                   "; _spectra; echo \"${COMPREPLY[*]}\"";
        return testing::run_process({"bash", "-c", script}, {.folder = folder_.path()}).out;
    };
    folder_.write("gamma.csv", "");
    EXPECT_EQ(complete("spectra --mixer cay", 2), "cayley cayley-hybrid\n");
    EXPECT_EQ(complete("spectra --mixer ga", 2), "gamma.csv gaussian\n");
    EXPECT_EQ(complete("spectra --draws sh", 2), "shared\n");
    EXPECT_EQ(complete("spectra --branch hy", 2), "hyper-connection\n");
    EXPECT_EQ(complete("spectra --activation l", 2), "linear leaky-relu\n");
    EXPECT_EQ(complete("spectra --pre m", 2), "mean\n");
    EXPECT_EQ(complete("spectra --branch-law ga", 2), "gamma.csv\n");
    EXPECT_EQ(complete("spectra --sin", 1), "--sinkhorn-iterations\n");
    EXPECT_EQ(complete("spectra --force --qu", 2), "--quiet\n") << "a flag takes no value";
    EXPECT_EQ(complete("spectra inf", 1), "info\n");
    EXPECT_EQ(complete("spectra info ga", 2), "gamma.csv\n");
    EXPECT_EQ(complete("spectra completion z", 2), "zsh\n");
}

// Runs

TEST_F(Cli, WritesResultAndFigureAndSaysSo) {
    const auto result = run({"--mixer", "cayley", "--depth", "2", "--samples", "5", "--plot", "none"});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_TRUE(result.err.empty()) << result.err;
    EXPECT_TRUE(exists("spectra-cayley-L2-samples5.h5"));
    EXPECT_EQ(folder_.entries(), 1U);
    EXPECT_NE(result.out.find("spectra-cayley-L2-samples5.h5"), std::string::npos);
    EXPECT_NE(result.out.find("cayley, L = 2, n = 4, p = 25, Lσ² = 0.05, seed 1"), std::string::npos)
        << result.out;
    EXPECT_EQ(result.out.find('\x1b'), std::string::npos) << "no colours into a pipe";

    const auto info = run({"info", "spectra-cayley-L2-samples5.h5"});
    EXPECT_EQ(info.status, 0) << info.err;
    EXPECT_NE(info.out.find("cayley"), std::string::npos);

    const auto file = h5::File::open_read(folder_.path() / "spectra-cayley-L2-samples5.h5");
    EXPECT_TRUE(file.exists("theory/ov") && file.exists("theory/scalar") && file.exists("montecarlo"));
    EXPECT_EQ(file.string_attribute("/", "command"),
              "spectra --mixer cayley --depth 2 --samples 5 --plot none");
}

TEST_F(Cli, DrawsTheFiguresAskedFor) {
    SPECTRA_NEEDS_GNUPLOT();
    const auto drawn =
        run({"--mixer", "orthogonal", "--depth", "2", "--samples", "3", "--plot", "png,svg", "--out", "a b"});
    EXPECT_EQ(drawn.status, 0) << drawn.err;
    EXPECT_TRUE(drawn.err.empty()) << drawn.err;
    EXPECT_TRUE(exists("a b.h5") && exists("a b.png") && exists("a b.svg"));
    EXPECT_EQ(folder_.entries(), 3U);
}

TEST_F(Cli, WithoutGnuplotTheRestStillWorks) {
    const auto result = run({"--mixer", "orthogonal", "--depth", "2", "--samples", "3", "--out", "a"},
                            {.environment = {{"PATH", "/nonexistent"}}});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_TRUE(exists("a.h5"));
    EXPECT_FALSE(exists("a.png"));
    EXPECT_TRUE(result.err.starts_with("spectra: warning: no figure")) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1);
}

TEST_F(Cli, JsonIsOneObject) {
    const auto good = run({"--mixer", "orthogonal", "--depth", "2", "--samples", "3", "--plot", "none",
                           "--json", "--out", "j"});
    ASSERT_EQ(good.status, 0) << good.err;
    const auto object = json::parse(good.out);
    for (const char* key : {"network", "theory", "montecarlo", "metrics", "agreement", "files"})
        EXPECT_TRUE(object.contains(key)) << key;
    EXPECT_EQ(object["files"], json({"j.h5"}));
    EXPECT_EQ(object["network"]["depth"], 2);
}

TEST_F(Cli, QuietSaysNothing) {
    const auto result = run_small({"--quiet", "--out", "q"});
    EXPECT_EQ(result.status, 0);
    EXPECT_TRUE(result.out.empty()) << result.out;
    EXPECT_TRUE(result.err.empty()) << result.err;
    EXPECT_TRUE(exists("q.h5"));
}

TEST_F(Cli, TheSameSeedGivesTheSameNumbersOnAnyNumberOfThreads) {
    ASSERT_EQ(run_small({"--out", "one", "--threads", "1"}).status, 0);
    ASSERT_EQ(run_small({"--out", "four.h5", "--threads", "4"}).status, 0);
    ASSERT_EQ(run_small({"--out", "other", "--seed", "2"}).status, 0);
    const auto values = [&](const std::string& name) {
        h5::Shape shape;
        return h5::File::open_read(folder_.path() / name)
            .read_doubles("montecarlo/log_singular_values", shape);
    };
    EXPECT_EQ(values("one.h5").size(), 3U * 8U);
    EXPECT_EQ(values("one.h5"), values("four.h5"));
    EXPECT_NE(values("one.h5"), values("other.h5"));
}

TEST_F(Cli, MixersComeFromFiles) {
    folder_.write("two.csv", "1,0.5\n0,1\n\n0,1\n1,0\n");
    folder_.write("one.json", "[[0, 1], [1, 0]]");
    const auto mixers = [&](const Words& words) {
        Words all{"--width", "3", "--samples", "2", "--theory", "none", "--plot", "none", "--out", "m", "--force"};
        all.insert(all.end(), words.begin(), words.end());
        const auto result = run(all);
        EXPECT_EQ(result.status, 0) << result.err;
        h5::Shape shape;
        const auto values =
            h5::File::open_read(folder_.path() / "m.h5").read_doubles("network/mixers", shape);
        return std::pair(shape, values);
    };
    EXPECT_EQ(mixers({"--mixer", "two.csv"}),
              std::pair(h5::Shape({2, 2, 2}), std::vector<double>({1, 0.5, 0, 1, 0, 1, 1, 0})));
    EXPECT_EQ(mixers({"--mixer", "two.csv", "--depth", "2", "--streams", "2"}).first, h5::Shape({2, 2, 2}));
    EXPECT_EQ(mixers({"--mixer", "one.json", "--depth", "3"}).first, h5::Shape({3, 2, 2}));
    EXPECT_EQ(mixers({"--mixer", "./one.json"}).first, h5::Shape({10, 2, 2}));
    const auto shared =
        mixers({"--mixer", "gaussian", "--depth", "2", "--streams", "1", "--draws", "shared"});
    EXPECT_EQ(shared.second[0], shared.second[1]);
    const auto independent = mixers({"--mixer", "gaussian", "--depth", "2", "--streams", "1"});
    EXPECT_NE(independent.second[0], independent.second[1]);
    EXPECT_EQ(independent.second[0], shared.second[0]);
}

TEST_F(Cli, NoiseIsSharedAmongLayers) {
    const auto variances = [&](const Words& words) {
        Words all{"--out", "n", "--force"};
        all.insert(all.end(), words.begin(), words.end());
        EXPECT_EQ(run_small(all).status, 0);
        h5::Shape shape;
        return h5::File::open_read(folder_.path() / "n.h5").read_doubles("network/sigma2", shape);
    };
    EXPECT_EQ(variances({}), (std::vector<double>{0.025, 0.025}));
    EXPECT_EQ(variances({"--noise", "0.5"}), (std::vector<double>{0.25, 0.25}));
    EXPECT_EQ(variances({"--sigma2", "0.5"}), (std::vector<double>{0.5, 0.5}));
    EXPECT_EQ(variances({"--sigma2", "0.5,0"}), (std::vector<double>{0.5, 0}));
}

/// g of one stream, A = 1, no layers mixed: σ² → 0 leaves J = 1, so g = ω/(ω² − 1).
TEST_F(Cli, OmegaEvaluatesTheGreensFunction) {
    folder_.write("case.json", R"({"name": "one", "streams": 1, "depth": 1, "mixers": [[[1]]], "width": 3,
        "noise": {"kind": "isotropic", "sigma2": [1e-14]}, "omega": [[0.3, 0.2], [2, 0.5]]})");
    const Words words{"--model",   "case.json", "--omega", "case.json", "--theory", "none",
                      "--samples", "0",         "--plot",  "none",      "--out",    "g"};
    const auto result = run(words);
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_NE(result.out.find("0.3 + 0.2i"), std::string::npos) << result.out;
    h5::Shape shape;
    const auto g = h5::File::open_read(folder_.path() / "g.h5").read_doubles("green/g", shape);
    ASSERT_EQ(g.size(), 4U);
    const std::complex<double> points[] = {{0.3, 0.2}, {2, 0.5}};
    for (std::size_t k = 0; k < 2; ++k) {
        const auto expected = points[k] / (points[k] * points[k] - 1.0);
        EXPECT_NEAR(g[2 * k], expected.real(), 1e-10);
        EXPECT_NEAR(g[2 * k + 1], expected.imag(), 1e-10);
    }
}

TEST_F(Cli, EveryGoldenCaseIsReproduced) {
    std::ifstream file(SPECTRA_DATA_DIR "/golden/chain.json");
    const auto golden = json::parse(file);
    int cases = 0;
    for (const auto& entry : golden["cases"]) {
        const std::string name = entry["name"];
        ++cases;
        folder_.write("case.json", entry.dump());
        const auto result = run({"--model", "case.json", "--omega", "case.json", "--theory", "none",
                                 "--samples", "0", "--plot", "none", "--out", "golden", "--json"});
        ASSERT_EQ(result.status, 0) << name << ": " << result.err;
        const auto green = json::parse(result.out)["green"];
        ASSERT_EQ(green["g"].size(), entry["g"].size()) << name;
        for (std::size_t k = 0; k < entry["g"].size(); ++k) {
            const std::complex<double> found(green["g"][k][0].get<double>(), green["g"][k][1].get<double>());
            const std::complex<double> exact(entry["g"][k][0].get<double>(), entry["g"][k][1].get<double>());
            EXPECT_LT(std::abs(found - exact), 1e-8 * std::abs(exact)) << name << ", point " << k;
        }
    }
    EXPECT_EQ(cases, 71);
}

TEST_F(Cli, AnInterruptionKeepsFinishedSamples) {
    // More samples than any machine draws before it sees the signal; the file shows that some are done.
    const auto result = run({"--mixer", "orthogonal", "--theory", "none", "--plot", "none", "--samples",
                             "1000000000", "--checkpoint", "0.01", "--out", "i", "--json", "--force", "--quiet"},
                            {.interrupt_when = [&] { return exists("i.h5"); }});
    EXPECT_EQ(result.status, 130) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 2) << result.err;
    const auto object = json::parse(result.out);
    const long samples = object["montecarlo"]["samples"];
    EXPECT_GT(samples, 0);
    EXPECT_LT(samples, 1000000000);
    EXPECT_EQ(run({"info", "i.h5"}).status, 0);
}

TEST_F(Cli, AFullDiskLeavesTheEarlierFile) {
    ASSERT_EQ(run_small({"--out", "d"}).status, 0);
    const auto before = content("d.h5");
    const auto result = run_small({"--out", "d"}, {.largest_file = 512});
    EXPECT_EQ(result.status, 3) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_EQ(content("d.h5"), before);
    EXPECT_EQ(folder_.entries(), 1U) << "no temporary file stays";
}

TEST_F(Cli, AFullStandardOutputIsReported) {
    const auto result = run_small({"--out", "d"}, {.stdout_to = "/dev/full"});
    EXPECT_EQ(result.status, 3);
    EXPECT_NE(result.err.find("standard output"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace spectra
