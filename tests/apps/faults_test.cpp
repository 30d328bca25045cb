#include "h5/file.hpp"
#include "support/needs_program.hpp"
#include "support/process.hpp"
#include "support/same_file.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <functional>
#include <iterator>
#include <ostream>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

/// What is promised where things go wrong (docs/reliability.md): runs that are killed at any moment, and disks, memory and
/// programs that fail.
namespace spectra {
namespace {

namespace fs = std::filesystem;
using testing::content;
using testing::ProcessOptions;
using testing::ProcessResult;
using testing::TemporaryFolder;
using Words = std::vector<std::string>;

ProcessResult run(Words words, const fs::path& folder, ProcessOptions options = {}) {
    words.insert(words.begin(), SPECTRA_BINARY);
    options.folder = folder;
    options.environment.emplace_back("OMP_NUM_THREADS", "2");
    options.environment.emplace_back("OPENBLAS_NUM_THREADS", "2");
    return testing::run_process(words, options);
}

std::ptrdiff_t lines(const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
}

bool hidden(const fs::path& path) {
    return path.filename().string().starts_with('.');
}

/// Every file below the folder, relative to it; the temporary ones of runs that were killed left out.
std::set<std::string> files_of(const fs::path& folder, bool with_hidden = false) {
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
        if (entry.is_regular_file() && (with_hidden || !hidden(entry.path())))
            names.insert(fs::relative(entry.path(), folder).string());
    return names;
}

/// A training's state, or the one before it.
bool is_checkpoint(const std::string& name) {
    return name.find(".ckpt") != name.npos;
}

/// Reads all of a group; throws where it cannot.
void read_all(const h5::File& file, const std::string& group) {
    for (const auto& name : file.children(group)) {
        const std::string path = group.empty() ? name : group + "/" + name;
        h5::Shape shape;
        if (file.is_group(path)) {
            read_all(file, path);
        } else if (name == "summary") {
            static_cast<void>(file.read_texts(path, file.columns(path).front()));
        } else {
            static_cast<void>(file.read_doubles(path, shape));
        }
    }
}

/// No file is cut short: result files are read through, the others have the end of their format.
void expect_whole(const fs::path& folder) {
    for (const auto& name : files_of(folder)) {
        const auto path = folder / name;
        const std::string text = content(path);
        const auto ends_in = [&](const std::string& end) {
            return text.substr(text.size() - std::min<std::size_t>(text.size(), 64)).find(end) != text.npos;
        };
        if (name.ends_with(".h5")) {
            EXPECT_NO_THROW(read_all(h5::File::open_read(path), "")) << name;
        } else if (name.ends_with(".json")) {
            EXPECT_TRUE(nlohmann::json::accept(text)) << name;
        } else if (name.ends_with(".svg")) {
            EXPECT_TRUE(ends_in("</svg>")) << name;
        } else if (name.ends_with(".png")) {
            EXPECT_TRUE(ends_in("IEND")) << name;
        } else {
            EXPECT_FALSE(text.empty()) << name;
            EXPECT_TRUE(is_checkpoint(name) || text.ends_with('\n')) << name;
        }
    }
}

/// The same files with the same contents, times and command lines apart.
void expect_same_folder(const fs::path& one, const fs::path& other) {
    const auto names = files_of(one, true);
    ASSERT_EQ(names, files_of(other, true)) << "nothing is missing, and nothing is left behind";
    for (const auto& name : names) {
        SCOPED_TRACE(name);
        if (is_checkpoint(name)) continue;  // what it holds is in the result file
        if (!name.ends_with(".h5")) {
            EXPECT_EQ(content(one / name), content(other / name));
            continue;
        }
        const auto a = h5::File::open_read(one / name), b = h5::File::open_read(other / name);
        testing::expect_same(a, "", b, "", {"created", "seconds", "steps_per_second", "command", "evaluation_seconds"});
        if (!a.exists("summary")) continue;
        for (const auto& column : a.columns("summary")) {
            if (column == "name" || column == "mixer" || column == "branch" || column == "activation")
                EXPECT_EQ(a.read_texts("summary", column), b.read_texts("summary", column)) << column;
            else
                EXPECT_EQ(a.read_column("summary", column), b.read_column("summary", column)) << column;
        }
    }
}

/// A command that is killed. `finished` counts what must never become less.
struct Command {
    std::string name;
    Words words;  ///< the command, and the same again to go on
    std::function<long(const fs::path&)> finished;
    bool torch = false;
};

void PrintTo(const Command& command, std::ostream* out) {
    *out << command.name;
}

long there(const fs::path& path) {
    return fs::exists(path) ? 1 : 0;
}

long finished_networks(const fs::path& folder) {
    constexpr long all = 1000;
    if (fs::exists(folder / "grid.h5")) return all;
    long count = 0;
    for (const auto& name : files_of(folder))
        count += name.starts_with("grid.parts/") && !name.ends_with(".unfinished.h5") ? 1 : 0;
    return count;
}

std::vector<Command> commands() {
    const auto words = [](const std::string& line) {
        std::istringstream in(line);
        return Words(std::istream_iterator<std::string>(in), {});
    };
    return {
        {"Analysis",
         words(
             "--mixer bistochastic --depth 6 --width 10 --samples 600 --plot svg --checkpoint 0.02 --resume --out a"),
         [](const fs::path& folder) {
             if (!fs::exists(folder / "a.h5")) return 0L;
             const auto file = h5::File::open_read(folder / "a.h5");
             return static_cast<long>(file.integer_attribute("montecarlo", "samples").value_or(0));
         }},
        {"Compare",
         words(
             "compare --mixers bistochastic,cayley --depths 2,5 --width 5 --samples 20 --plot svg --out grid"),
         finished_networks},
        {"Sweep",
         words(
             "sweep --mixers bistochastic,cayley --depths 3,6 --seeds 1:2 --width 5 --samples 20 --out grid"),
         finished_networks},
        {"Validate",
         {"validate", SPECTRA_DATA_DIR "/layouts/edelta_mhc.pt", "--plot", "svg", "--out", "v"},
         [](const fs::path& folder) { return there(folder / "v.h5"); }},
        {"Reproduce",
         {"reproduce", "C9", "C13", "C64", "--claims", SPECTRA_DATA_DIR "/claims", "--record", "."},
         [](const fs::path& folder) { return static_cast<long>(files_of(folder).size()); }},
        {"Train",
         words(
             "train copy --layers 1 --channels 16 --samples 16 --steps 6 --batch 4 --log-every 3 --threads 1 --plot svg "
             "--resume --out t"),
         [](const fs::path& folder) { return there(folder / "t.ckpt") + there(folder / "t.h5"); }, true},
    };
}

class Killed : public ::testing::TestWithParam<Command> {
protected:
    /// Twice at random moments, then to the end: as if never killed.
    static void at_random_moments(int count) {
        const Command& command = GetParam();
        if (command.torch && !fs::exists(fs::path(SPECTRA_BINARY).parent_path() / "spectra-torch"))
            GTEST_SKIP() << "not run: there is no spectra-torch";
        const TemporaryFolder whole;
        const auto uninterrupted = run(command.words, whole.path());
        ASSERT_LE(uninterrupted.status, 1) << uninterrupted.err;
        expect_whole(whole.path());
        std::mt19937 random(11);
        int kills = 0;
        // A run may end before its moment has come, where the machine has become faster.
        for (int attempt = 0; kills < count && attempt < 3 * count; ++attempt) {
            SCOPED_TRACE("attempt " + std::to_string(attempt));
            const TemporaryFolder folder;
            long before = 0;
            for (int again = 0; again < 2; ++again) {
                ProcessOptions options;
                options.interrupt_after = std::uniform_real_distribution(0.0, uninterrupted.seconds)(random);
                options.interrupt_by = SIGKILL;
                kills += run(command.words, folder.path(), options).status == 128 + SIGKILL ? 1 : 0;
                expect_whole(folder.path());
                const long now = command.finished(folder.path());
                EXPECT_GE(now, before) << "what is finished is never lost";
                before = now;
            }
            const auto last = run(command.words, folder.path());
            EXPECT_EQ(last.status, uninterrupted.status) << last.err;
            expect_same_folder(whole.path(), folder.path());
            if (HasFailure()) return;
        }
        EXPECT_GE(kills, count);
        RecordProperty("kills", kills);
    }
};

TEST_P(Killed, IsAsIfNeverKilled) {
    at_random_moments(2);
}

// ctest -C Full -L full
TEST_P(Killed, DISABLED_IsAsIfNeverKilledAtAHundredMoments) {
    at_random_moments(100);
}

INSTANTIATE_TEST_SUITE_P(All, Killed, ::testing::ValuesIn(commands()),
                         [](const auto& command) { return command.param.name; });

const Words small{"--mixer",   "cayley", "--depth", "3",     "--width", "5",
                  "--samples", "20",     "--quiet", "--out", "a"};

Words with(Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

/// Runs the program in a file system of its own, with the options of mount; what it leaves there is copied to `kept`.
/// Its status is 125 where file systems cannot be mounted.
ProcessResult run_mounted(const std::string& options, const Words& words, const fs::path& kept) {
    const TemporaryFolder place;
    Words all{
        "unshare",
        "--mount",
        "sh",
        "-c",
        "mount -t tmpfs -o \"$1\" none \"$2\" || exit 125; cd \"$2\"; kept=$3; shift 3; \"$@\"; status=$?; "
        "cp -a . \"$kept\"; exit $status",
        "sh",
        options,
        place.path().string(),
        kept.string(),
        SPECTRA_BINARY};
    return testing::run_process(with(all, words));
}

#define NEEDS_MOUNT(result)                               \
    if ((result).status == 125 || (result).status == 127) \
    GTEST_SKIP() << "not run: mounting a file system needs root"

TEST(Faults, AFullDiskLeavesWholeFilesOnly) {
    SPECTRA_NEEDS_GNUPLOT();
    int failed = 0, without_figure = 0;
    for (const std::string size : {"16k", "64k", "128k", "200k", "1m"}) {
        SCOPED_TRACE(size);
        const TemporaryFolder kept;
        const auto result = run_mounted("size=" + size, small, kept.path());
        NEEDS_MOUNT(result);
        expect_whole(kept.path());
        EXPECT_EQ(files_of(kept.path()), files_of(kept.path(), true)) << "no temporary file stays";
        EXPECT_LE(lines(result.err), 1) << result.err;
        if (result.status == 3) {
            EXPECT_NE(result.err.find("a.h5: cannot be written: No space left on device"), std::string::npos)
                << result.err;
            EXPECT_EQ(kept.entries(), 0u);
            ++failed;
        } else {
            EXPECT_EQ(result.status, 0);
            EXPECT_TRUE(fs::exists(kept.path() / "a.h5"));
            if (fs::exists(kept.path() / "a.png")) continue;
            EXPECT_NE(result.err.find("a.png"), std::string::npos) << result.err;
            ++without_figure;
        }
    }
    EXPECT_GE(failed, 1);
    EXPECT_GE(without_figure, 1) << "no size had room for the result but not for its figure";
}

TEST(Faults, AReadOnlyFolderIsRefusedBeforeAnythingIsComputed) {
    for (const Words& words : {small, Words{"compare", "--mixers", "cayley", "--depths", "2", "--out", "a"},
                               Words{"sweep", "--mixers", "cayley", "--depths", "2", "--out", "a"},
                               Words{"validate", SPECTRA_DATA_DIR "/layouts/edelta_mhc.pt", "--out", "a"}}) {
        const TemporaryFolder kept;
        const auto result = run_mounted("ro", words, kept.path());
        NEEDS_MOUNT(result);
        EXPECT_EQ(result.status, 2) << result.err;
        EXPECT_EQ(lines(result.err), 1) << result.err;
        EXPECT_NE(result.err.find("cannot write to this folder (Read-only file system)"), std::string::npos)
            << result.err;
        EXPECT_EQ(kept.entries(), 0u);
    }
}

TEST(Faults, AFolderThatVanishesIsNamed) {
    const TemporaryFolder folder;
    fs::create_directory(folder.path() / "out");
    ProcessOptions options;
    options.interrupt_when = [&] {
        std::error_code ignored;
        if (fs::exists(folder.path() / "out/a.h5", ignored))
            fs::rename(folder.path() / "out", folder.path() / "gone");
        return false;
    };
    const auto result = run(
        {"--mixer", "cayley", "--depth", "3", "--theory", "none", "--plot", "none", "--samples", "1000000000",
         "--keep", "histogram", "--checkpoint", "0.01", "--force", "--quiet", "--out", "out/a"},
        folder.path(), options);
    EXPECT_EQ(result.status, 3) << result.err;
    EXPECT_EQ(lines(result.err), 1) << result.err;
    EXPECT_NE(result.err.find("out/a.h5: cannot be written: No such file or directory"), std::string::npos)
        << result.err;
    expect_whole(folder.path());
}

TEST(Faults, NoEnvironmentIsNeeded) {
    const TemporaryFolder folder;
    const auto result = testing::run_process(
        with({"env", "-i", SPECTRA_BINARY}, with(small, {"--plot", "none"})), {.folder = folder.path()});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(files_of(folder.path(), true), std::set<std::string>{"a.h5"});
}

/// `sh -c` with a limit on the address space, and on the time: a library that waits for memory would wait for ever.
ProcessResult run_limited(int kilobytes, const Words& words, const fs::path& folder) {
    Words all{
        "timeout",     "60", "sh", "-c", "ulimit -v $1; shift; exec \"$@\"", "sh", std::to_string(kilobytes),
        SPECTRA_BINARY};
    ProcessOptions options;
    options.folder = folder;
    options.environment = {{"OMP_NUM_THREADS", "2"}, {"OPENBLAS_NUM_THREADS", "2"}};
    return testing::run_process(with(all, words), options);
}

TEST(Faults, MemoryLimitsOfTenSizes) {
    int done = 0, refused = 0;
    for (const int megabytes : {100, 120, 140, 160, 200, 240, 300, 400, 700, 2000}) {
        SCOPED_TRACE(megabytes);
        const TemporaryFolder folder;
        const auto result = run_limited(1000 * megabytes, with(small, {"--plot", "none"}), folder.path());
        if (result.status == 0) {
            ++done;
            EXPECT_EQ(files_of(folder.path(), true), std::set<std::string>{"a.h5"});
            expect_whole(folder.path());
            continue;
        }
        if (result.status == 127) continue;  // the system cannot load the libraries
        ++refused;
        EXPECT_EQ(result.status, 3) << result.err;
        EXPECT_EQ(lines(result.err), 1) << result.err;
        EXPECT_NE(result.err.find("memory"), std::string::npos) << result.err;
        EXPECT_EQ(folder.entries(), 0u);
    }
    EXPECT_GE(done, 1);
    EXPECT_GE(refused, 1);
}

TEST(Faults, ASimulationLargerThanTheMemoryLimitIsRefused) {
    const TemporaryFolder folder;
    const auto result = run_limited(1'000'000,
                                    {"--mixer", "cayley", "--depth", "3", "--width", "1000", "--samples", "1",
                                     "--method", "dense", "--theory", "none", "--plot", "none", "--out", "a"},
                                    folder.path());
    EXPECT_EQ(result.status, 2) << result.err;
    EXPECT_EQ(lines(result.err), 1) << result.err;
    EXPECT_NE(result.err.find("the memory limit (ulimit -v) leaves"), std::string::npos) << result.err;
    EXPECT_EQ(folder.entries(), 0u);
}

TEST(Faults, AClockThatJumpsChangesNothing) {
    SPECTRA_NEEDS_PROGRAM("faketime");
    const TemporaryFolder now, then;
    const Words words{"--mixer", "cayley", "--depth",      "3",    "--width", "5", "--samples", "200",
                      "--plot",  "none",   "--checkpoint", "0.01", "--out",   "a"};
    ASSERT_EQ(run(words, now.path()).status, 0);
    for (const std::string clock : {"-10y", "+50y x1000", "2038-01-19 03:14:05 x3"}) {
        SCOPED_TRACE(clock);
        ProcessOptions options;
        options.folder = then.path();
        options.environment = {{"FAKETIME_DONT_FAKE_MONOTONIC", "1"}};
        const auto result =
            testing::run_process(with({"faketime", "-f", clock, SPECTRA_BINARY}, words), options);
        EXPECT_EQ(result.status, 0) << result.err;
        expect_same_folder(now.path(), then.path());
    }
}

// Takes as long as gnuplot is waited for: ctest -C Full -L full. Gnuplot.ThatDoesNotFinishIsEnded is the quick one.
TEST(Faults, DISABLED_GnuplotThatHangsCostsTheFigureOnly) {
    const TemporaryFolder folder, programs;
    const auto fake = programs.write("gnuplot", "#!/bin/sh\nexec sleep 100000\n");
    fs::permissions(fake, fs::perms::owner_all);
    ProcessOptions options;
    options.environment.emplace_back("PATH", programs.path().string() + ":/usr/bin:/bin");
    const auto result = run(small, folder.path(), options);
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(lines(result.err), 1) << result.err;
    EXPECT_NE(result.err.find("gnuplot did not finish within"), std::string::npos) << result.err;
    EXPECT_EQ(files_of(folder.path(), true), std::set<std::string>{"a.h5"});
}

}  // namespace
}  // namespace spectra
