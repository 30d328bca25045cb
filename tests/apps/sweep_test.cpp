#include "h5/file.hpp"
#include "report/result_file.hpp"
#include "support/process.hpp"
#include "support/same_file.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

/// The command sweep: a grid of networks, each as the program gives it alone, whatever happens on the way.
namespace spectra {
namespace {

using nlohmann::json;
using testing::TemporaryFolder;
using Words = std::vector<std::string>;

using testing::expect_same;

class SweepProgram : public ::testing::Test {
protected:
    testing::ProcessResult run(Words words, testing::ProcessOptions options = {}) const {
        words.insert(words.begin(), SPECTRA_BINARY);
        options.folder = folder_.path();
        return testing::run_process(words, options);
    }

    testing::ProcessResult sweep(const Words& words, const testing::ProcessOptions& options = {}) const {
        Words all{"sweep", "--width", "5", "--out", "grid"};
        all.insert(all.end(), words.begin(), words.end());
        return run(all, options);
    }

    void refused(const Words& words, const Words& fragments) const {
        const auto before = folder_.entries();
        const auto result = sweep(words);
        SCOPED_TRACE(result.err);
        EXPECT_EQ(result.status, 2);
        EXPECT_TRUE(result.out.empty()) << result.out;
        EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1);
        for (const auto& fragment : fragments)
            EXPECT_NE(result.err.find(fragment), std::string::npos) << "missing: " << fragment;
        EXPECT_EQ(folder_.entries(), before) << "something was written";
    }

    std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
    h5::File open(const std::string& name) const { return h5::File::open_read(path(name)); }

    std::size_t parts() const {
        std::error_code ignored;
        std::size_t count = 0;
        for (const auto& entry : std::filesystem::directory_iterator(path("grid.parts"), ignored)) {
            const std::string name = entry.path().filename().string();
            count += name.starts_with('.') || name.ends_with(".unfinished.h5") ? 0 : 1;
        }
        return count;
    }

    /// Starts the command and kills it as soon as `count` networks are finished; how many there are then.
    std::size_t kill_after(const Words& words, std::size_t count) const {
        Words all{SPECTRA_BINARY, "sweep", "--width", "5", "--out", "grid"};
        all.insert(all.end(), words.begin(), words.end());
        std::vector<char*> arguments;
        for (auto& word : all) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        const pid_t child = fork();
        if (child == 0) {
            if (chdir(folder_.path().c_str()) == 0) execv(arguments[0], arguments.data());
            _exit(127);
        }
        int status = 0;
        while (parts() < count && waitpid(child, &status, WNOHANG) == 0)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        return parts();
    }

    TemporaryFolder folder_;
};

TEST_F(SweepProgram, GivesWhatTheProgramGivesForEachNetwork) {
    const auto result = sweep({"--mixers", "cayley,orthogonal", "--depths", "1,3", "--branches",
                               "isotropic,tied", "--cayley-step", "0.3", "--seeds", "2:3", "--samples", "4"});
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_NE(result.out.find("orthogonal-tied-p5-L3-noise0.05-seed3"), std::string::npos);
    EXPECT_NE(result.out.find("wrote grid.h5\nwrote grid.csv\n"), std::string::npos) << result.out;
    EXPECT_FALSE(std::filesystem::exists(path("grid.parts")));
    const auto all = open("grid.h5");
    EXPECT_EQ(all.string_attribute("", "format"), "jacobian-spectra");
    EXPECT_EQ(all.children("runs").size(), 16u);
    struct Network {
        std::string name;
        Words words;
    };
    for (const auto& [name, words] :
         {Network{"cayley-p5-L3-noise0.05-seed3",
                  {"--mixer", "cayley", "--depth", "3", "--seed", "3", "--cayley-step", "0.3"}},
          Network{"orthogonal-tied-p5-L1-noise0.05-seed2",
                  {"--mixer", "orthogonal", "--depth", "1", "--seed", "2", "--branch", "tied"}}}) {
        Words command{"--width", "5", "--samples", "4", "--out", "alone", "--plot", "none", "--force"};
        command.insert(command.end(), words.begin(), words.end());
        ASSERT_EQ(run(command).status, 0);
        const auto alone = open("alone.h5");
        const std::string group = "runs/" + name;
        ASSERT_TRUE(all.is_group(group)) << name;
        EXPECT_EQ(all.unsigned_attribute(group, "seed"), alone.unsigned_attribute("", "seed"));
        for (const auto& part : alone.children("")) expect_same(all, group + "/" + part, alone, part);
    }
}

TEST_F(SweepProgram, SummaryHasARowANetwork) {
    const auto result = sweep({"--mixers", "bistochastic,orthogonal", "--depths", "3,10", "--noises",
                               "0.05,0.2", "--samples", "3", "--json"});
    ASSERT_EQ(result.status, 0) << result.err;
    const json answer = json::parse(result.out);
    ASSERT_EQ(answer["runs"].size(), 8u);
    EXPECT_EQ(answer["files"], (json{"grid.h5", "grid.csv"}));
    const auto file = open("grid.h5");
    const auto rows = file.read_texts("summary", "name");
    ASSERT_EQ(rows.size(), 8u);
    const auto noise = file.read_column("summary", "noise"),
               window = file.read_column("summary", "ov_window"),
               distance = file.read_column("summary", "ov_montecarlo_wasserstein1");
    for (std::size_t k = 0; k < rows.size(); ++k) {
        const auto& row = answer["runs"][k];
        EXPECT_EQ(row["name"], rows[k]);
        EXPECT_EQ(noise[k], k % 2 == 0 ? 0.05 : 0.2) << "the same at every depth";
        const std::string metrics = "runs/" + rows[k] + "/metrics/";
        EXPECT_EQ(window[k], file.double_attribute(metrics + "ov", "window"));
        EXPECT_EQ(row["metrics"]["ov"]["window"], window[k]);
        EXPECT_EQ(distance[k], file.double_attribute(metrics + "agreement", "ov_montecarlo_wasserstein1"));
        EXPECT_EQ(row["agreement"]["ov_montecarlo"]["wasserstein1"], distance[k]);
        EXPECT_EQ(row["certified"], true);
    }
    EXPECT_EQ(file.read_column("summary", "depth"), (std::vector<double>{3, 3, 10, 10, 3, 3, 10, 10}));
    EXPECT_EQ(file.read_column("summary", "samples"), std::vector<double>(8, 3));
    std::ifstream csv(path("grid.csv"));
    std::string line;
    std::getline(csv, line);
    EXPECT_TRUE(line.starts_with("name,mixer,branch,activation,depth,streams,width,noise,seed,certified,"))
        << line;
    std::size_t lines = 0;
    while (std::getline(csv, line)) EXPECT_TRUE(line.starts_with(rows[lines++] + ","));
    EXPECT_EQ(lines, 8u);
}

TEST_F(SweepProgram, GoesOnAfterAKill) {
    const Words words{"--mixers", "bistochastic,cayley", "--depths", "5,10", "--seeds",
                      "1:2",      "--samples",           "20"};
    ASSERT_EQ(sweep(words).status, 0);
    std::filesystem::rename(path("grid.h5"), path("whole.h5"));
    std::filesystem::remove(path("grid.csv"));

    const std::size_t kept = kill_after(words, 2);
    ASSERT_GE(kept, 2u);
    ASSERT_LT(kept, 8u) << "killed too late to tell";
    EXPECT_FALSE(std::filesystem::exists(path("grid.h5")));
    const auto seconds = [&](const h5::File& file, const std::string& group) {
        return file.double_attribute(group + "theory/ov", "seconds");
    };
    const std::string first = "bistochastic-p5-L5-noise0.05-seed1";
    const auto spent = seconds(open("grid.parts/" + first + ".h5"), "");
    const auto result = sweep(words);
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_FALSE(std::filesystem::exists(path("grid.parts")));
    const auto file = open("grid.h5");
    EXPECT_EQ(seconds(file, "runs/" + first + "/"), spent) << "computed again";
    expect_same(open("whole.h5"), "", file, "");
    for (const auto& column : file.columns("summary")) {
        if (column == "name" || column == "mixer" || column == "branch" || column == "activation") {
            EXPECT_EQ(file.read_texts("summary", column), open("whole.h5").read_texts("summary", column));
        } else {
            EXPECT_EQ(file.read_column("summary", column), open("whole.h5").read_column("summary", column));
        }
    }
}

TEST_F(SweepProgram, KeepsWhatIsDoneWhenInterrupted) {
    testing::ProcessOptions options;
    options.interrupt_when = [&] { return parts() > 0; };
    const Words words{"--mixers", "bistochastic", "--depths", "10", "--seeds", "1:500", "--samples", "20"};
    const auto result = sweep(words, options);
    EXPECT_EQ(result.status, 130) << result.err;
    EXPECT_NE(result.err.find("of 500 networks are kept; rerun the same command"), std::string::npos)
        << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 2) << result.err;
    EXPECT_TRUE(result.out.empty()) << result.out;
    EXPECT_GT(parts(), 0u);
    EXPECT_FALSE(std::filesystem::exists(path("grid.h5")));
}

TEST_F(SweepProgram, GoesOnWithinANetwork) {
    const Words words{"--mixers", "cayley", "--depths", "20",        "--samples", "4000",
                      "--theory", "none",   "--keep",   "histogram", "--threads", "1"};
    testing::ProcessOptions options;
    options.interrupt_after = 0.2;
    ASSERT_EQ(sweep(words, options).status, 130);
    const std::string name = "cayley-p5-L20-noise0.05-seed1";
    {
        const auto file = open("grid.parts/" + name + ".unfinished.h5");
        const auto samples = file.integer_attribute("montecarlo", "samples");
        ASSERT_TRUE(samples);
        ASSERT_GT(*samples, 0);
        ASSERT_LT(*samples, 4000) << "interrupted too late to tell";
    }
    ASSERT_EQ(sweep(words).status, 0);
    EXPECT_FALSE(std::filesystem::exists(path("grid.parts")));
    std::filesystem::rename(path("grid.h5"), path("twice.h5"));
    std::filesystem::remove(path("grid.csv"));
    ASSERT_EQ(sweep(words).status, 0);
    expect_same(open("twice.h5"), "", open("grid.h5"), "");
}

TEST_F(SweepProgram, TakesOverOnlyWhatIsTheSame) {
    folder_.write("own.csv", "1,0\n0,1\n");
    const auto created = [&](const std::string& name) {
        return open("grid.h5").double_attribute("runs/" + name + "/theory/ov", "seconds");
    };
    const std::string own = "own-p5-L3-noise0.05-seed1", drawn = "cayley-p5-L3-noise0.05-seed1";
    const Words words{"--mixers", "own.csv,cayley", "--depths", "3"};
    const auto with = [&](const Words& more) {
        Words all = words;
        all.insert(all.end(), more.begin(), more.end());
        return all;
    };
    ASSERT_EQ(sweep(with({"--samples", "3"})).status, 0);
    const auto first_own = created(own), first_drawn = created(drawn);
    // A larger grid, another number of threads: nothing is computed again.
    ASSERT_EQ(sweep(with({"--samples", "3", "--seeds", "1,2", "--threads", "1", "--quiet"})).status, 0);
    EXPECT_EQ(created(own), first_own);
    EXPECT_EQ(created(drawn), first_drawn);
    EXPECT_EQ(open("grid.h5").children("runs").size(), 4u);
    // Other matrices under the same name.
    folder_.write("own.csv", "1,0\n0,0.5\n");
    ASSERT_EQ(sweep(with({"--samples", "3", "--force"})).status, 0);
    EXPECT_NE(created(own), first_own);
    EXPECT_EQ(created(drawn), first_drawn);
    h5::Shape shape;
    EXPECT_EQ(open("grid.h5").read_doubles("runs/" + own + "/network/mixers", shape)[3], 0.5);
    // Other options.
    ASSERT_EQ(sweep(with({"--samples", "4", "--force"})).status, 0);
    EXPECT_NE(created(drawn), first_drawn);
    EXPECT_EQ(open("grid.h5").integer_attribute("runs/" + drawn + "/montecarlo", "samples"), 4);
    // Points of a file that changes.
    folder_.write("points.txt", "0.5+0.1i\n");
    ASSERT_EQ(sweep(with({"--samples", "0", "--omega", "points.txt", "--force"})).status, 0);
    folder_.write("points.txt", "0.7+0.1i\n");
    ASSERT_EQ(sweep(with({"--samples", "0", "--omega", "points.txt"})).status, 0);
    EXPECT_EQ(open("grid.h5").read_doubles("runs/" + drawn + "/green/omega", shape)[0], 0.7);
}

TEST_F(SweepProgram, UncertifiedNetworksDoNotStopTheOthers) {
    const Words words{"--mixers", "bistochastic", "--depths", "3,1",     "--samples",
                      "0",        "--theory",     "none",     "--omega", "0.5+0.1i,0.2+1e-300i"};
    for (int turn = 0; turn < 2; ++turn) {  // also where all is taken over
        const auto result = sweep(words);
        EXPECT_EQ(result.status, 3);
        EXPECT_NE(result.err.find("2 of 2 networks are not certified: bistochastic-p5-L3-noise0.05-seed1 "
                                  "(green), bistochastic-p5-L1-noise0.05-seed1 (green)"),
                  std::string::npos)
            << result.err;
        EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
        EXPECT_EQ(open("grid.h5").read_column("summary", "certified"), (std::vector<double>{0, 0}));
    }
}

TEST_F(SweepProgram, RefusesBeforeAnythingIsComputed) {
    refused({}, {"sweep", "--mixers"});
    refused({"--mixers", "cayley,redrawn"}, {"'redrawn'", "--redrawn"});
    refused({"--mixers", "cayley,bistochastc"}, {"--mixers 'bistochastc'", "did you mean 'bistochastic'?"});
    refused({"--mixers", "cayley,"}, {"--mixers 'cayley,'"});
    refused({"--mixers", "cayley", "--depths", "1,0"}, {"--depths '0'", "1 to 1000000", "FIRST:LAST"});
    refused({"--mixers", "cayley", "--depths", "5:1"}, {"--depths '5:1'"});
    refused({"--mixers", "cayley", "--seeds", "0:4294967296"}, {"--seeds", "up to 100000 values"});
    refused({"--mixers", "cayley", "--noises", "0.1,-1"}, {"--noises", "'-1'"});
    refused({"--mixers", "cayley", "--noises", "0.1", "--sigma2", "0.1"}, {"--noise cannot be combined with --sigma2"});
    refused({"--mixers", "cayley", "--depths", "2,3", "--sigma2", "0.1,0.1"},
            {"cayley-p5-L3-seed1: --sigma2"});
    refused({"--mixers", "cayley", "--branches", "tide"}, {"--branches 'tide'", "did you mean 'tied'?"});
    refused({"--mixers", "cayley", "--gate", "0.5"}, {"--gate", "no network of the grid"});
    refused({"--mixers", "cayley", "--branches", "tied", "--theory", "ov,printed"}, {"printed"});
    refused({"--mixers", "cayley", "--model", "m.json"}, {"sweep: '--model': no such option"});
    refused({"--mixers", "cayley", "--mixer", "orthogonal"}, {"more than once"});
    folder_.write("grid.csv", "mine");
    refused({"--mixers", "cayley"}, {"grid.csv", "--force"});
    std::filesystem::remove(path("grid.csv"));
    folder_.write("grid.parts", "mine");
    refused({"--mixers", "cayley"}, {"grid.parts", "not a folder"});
}

TEST_F(SweepProgram, AFullDiskKeepsWhatIsDone) {
    testing::ProcessOptions options;
    const Words words{"--mixers", "cayley", "--depths", "1,2", "--samples", "2"};
    options.largest_file = 20'000;
    const auto result = sweep(words, options);
    EXPECT_EQ(result.status, 3);
    EXPECT_NE(result.err.find("cannot be written"), std::string::npos) << result.err;
    EXPECT_FALSE(std::filesystem::exists(path("grid.h5")));
    ASSERT_EQ(sweep(words).status, 0);
}

TEST_F(SweepProgram, InfoListsTheGridAndTheTable) {
    ASSERT_EQ(run({"sweep", "--mixers", "identity,cayley", "--depths", "3,2", "--noises", "0.05,0.1", "--seeds", "1:2",
                   "--theory", "ov", "--samples", "0", "--out", "g", "--quiet"})
                  .status,
              0);
    const auto info = run({"info", "g.h5"});
    ASSERT_EQ(info.status, 0) << info.err;
    for (const char* const line :
         {"16 networks", "  mixers        cayley, identity\n", "  depths        2, 3\n", "  noises        0.05, 0.1\n",
          "  seeds         1, 2\n", "  certified     16 of 16 networks\n", "cayley-L2-noise0.05-seed1 ", "in window",
          "and 6 more"})
        EXPECT_NE(info.out.find(line), std::string::npos) << line << " is not in\n" << info.out;
}

}  // namespace
}  // namespace spectra
