#include "weightfile/bytes.hpp"
#include "h5/file.hpp"
#include "support/needs_program.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

/// Files, folders and environments that someone else prepared (SECURITY.md). Every test here failed before its hole
/// was closed.
namespace spectra {
namespace {

using nlohmann::json;
using testing::ProcessOptions;
using testing::ProcessResult;
using testing::TemporaryFolder;
using Words = std::vector<std::string>;
namespace fs = std::filesystem;

class Security : public ::testing::Test {
protected:
    ProcessResult run(Words words, ProcessOptions options = {}) const {
        words.insert(words.begin(), SPECTRA_BINARY);
        options.folder = folder_.path();
        return testing::run_process(words, options);
    }
    /// A small analysis: `words` come on top.
    ProcessResult analyse(const Words& words, const ProcessOptions& options = {}) const {
        const std::vector<std::pair<std::string, std::string>> defaults{
            {"--mixer", "orthogonal"}, {"--depth", "2"},     {"--streams", "2"}, {"--width", "4"},
            {"--samples", "4"},        {"--theory", "none"}, {"--plot", "none"}, {"--out", "run"}};
        Words all = words;
        for (const auto& [name, value] : defaults)
            if (std::find(words.begin(), words.end(), name) == words.end()) all.insert(all.end(), {name, value});
        return run(all, options);
    }
    void refused(const ProcessResult& result, const std::string& why) const {
        EXPECT_EQ(result.status, 2) << result.out;
        EXPECT_NE(result.err.find(why), std::string::npos) << result.err;
        EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    }
    fs::path path(const std::string& name) const { return folder_.path() / name; }

    /// The result run.h5 with something changed.
    void tamper(const std::string& from, const std::string& to, const auto& change) const {
        const auto original = h5::File::open_read(path(from));
        h5::File copy = h5::File::create(path(to));
        for (const auto& name : original.children("")) copy.copy(original, name, name);
        for (const auto& name : original.attributes("")) {
            if (const auto text = original.string_attribute("", name))
                copy.write_attribute("", name, *text);
            else if (const auto number = original.integer_attribute("", name))
                copy.write_attribute("", name, *number);
        }
        change(copy);
        copy.close();
    }

    TemporaryFolder folder_;
};

// Libraries

/// What `readelf -d` says in lines of that tag.
Words dynamic_entries(const fs::path& file, const std::string& tag) {
    Words out;
    std::istringstream lines(testing::run_process({"readelf", "-dW", file.string()}).out);
    for (std::string line; std::getline(lines, line);) {
        const auto begin = line.find('['), end = line.rfind(']');
        if (line.find("(" + tag + ")") != std::string::npos && begin != std::string::npos && end != std::string::npos)
            out.push_back(line.substr(begin + 1, end - begin - 1));
    }
    return out;
}

std::vector<fs::path> built_programs_and_modules() {
    std::vector<fs::path> out;
    for (auto entry = fs::recursive_directory_iterator(SPECTRA_BUILD_DIR); entry != fs::recursive_directory_iterator();
         ++entry) {
        if (entry->path().filename() == "CMakeFiles") entry.disable_recursion_pending();
        if (!entry->is_regular_file() || entry->path().extension() == ".o") continue;
        char magic[4] = {};
        std::ifstream(entry->path(), std::ios::binary).read(magic, 4);
        if (std::string_view(magic, 4) == "\x7f" "ELF") out.push_back(entry->path());
    }
    return out;
}

TEST_F(Security, NoBuiltFileSearchesForLibrariesInARelativeFolder) {
    const auto files = built_programs_and_modules();
    EXPECT_GT(files.size(), 5u);
    for (const auto& file : files)
        for (const auto* const tag : {"RUNPATH", "RPATH"})
            for (const auto& entry : dynamic_entries(file, tag)) {
                std::istringstream elements(entry + ":");
                for (std::string element; std::getline(elements, element, ':');)
                    EXPECT_TRUE(element.starts_with('/') || element.starts_with("$ORIGIN"))
                        << file << ": [" << entry << "]";
            }
}

TEST_F(Security, LibrariesOfTheCurrentFolderAreNotLoaded) {
    Words names{"spectra_cuda.so", "spectra_mpi.so", "libcuda.so.1", "libmpi.so.40", "libgomp.so.1"};
    for (const auto& file : built_programs_and_modules()) {
        const auto needed = dynamic_entries(file, "NEEDED");
        names.insert(names.end(), needed.begin(), needed.end());
    }
    for (const auto& name : names) fs::copy_file(SPECTRA_FAKE_LIBRARY, path(name), fs::copy_options::skip_existing);
    ProcessOptions options;
    options.environment = {{"SPECTRA_FAKE_LIBRARY_MARK", path("loaded").string()}};
    EXPECT_EQ(run({"--version"}, options).status, 0);
    EXPECT_EQ(analyse({"--device", "auto"}, options).status, 0);
    options.environment.insert(options.environment.end(),
                               {{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}});
    analyse({"--out", "two"}, options);  // looks for the module of MPI
    analyse({"--out", "cuda", "--device", "cuda"}, options);
    EXPECT_FALSE(fs::exists(path("loaded")));
    // The mark is left where the loader is told to take it.
    options.environment.emplace_back("LD_PRELOAD", SPECTRA_FAKE_LIBRARY);
    run({"--version"}, options);
    EXPECT_TRUE(fs::exists(path("loaded")));
}

// Text

const std::string escapes = "\x1b]0;owned\x07\x1b[2J\u009b31m\u202egnp.txt\nforged line\r";

void expect_printable(const std::string& text) {
    for (const char* bad : {"\x1b", "\x07", "\r", "\u009b", "\u202e"})
        EXPECT_EQ(text.find(bad), std::string::npos) << text;
}

TEST_F(Security, TextOfFilesIsPrintedAsText) {
    ASSERT_EQ(analyse({}).status, 0);
    tamper("run.h5", "evil.h5", [](h5::File& file) {
        file.write_attribute("", "command", escapes);
        file.write_attribute("network", "title", escapes);
        file.write_attribute("network", "mixer", escapes);
        file.write_attribute("montecarlo", "device", escapes);
        file.make_group("metrics/" + std::string("\x1b[31mred"));
        file.make_group("theory/" + std::string("\x1b[31mred"));
    });
    const auto info = run({"info", "evil.h5"});
    EXPECT_EQ(info.status, 0) << info.err;
    expect_printable(info.out);
    EXPECT_NE(info.out.find("\\u001b]0;owned"), std::string::npos) << info.out;
    EXPECT_EQ(info.out.find("\nforged"), std::string::npos);
}

TEST_F(Security, NamesOfFilesArePrintedAsText) {
    const std::string name = "\x1b[31m\u202ename";
    const auto result = analyse({"--out", name});
    EXPECT_EQ(result.status, 0) << result.err;
    expect_printable(result.out);
    EXPECT_NE(result.out.find("wrote \\u001b[31m\\u202ename.h5"), std::string::npos) << result.out;
    const auto missing = run({"info", name + ".none"});
    refused(missing, "no such file");
    expect_printable(missing.err);
    // JSON is the same JSON.
    const auto object = json::parse(analyse({"--out", name, "--json"}).out);
    EXPECT_EQ(object["files"].front(), name + ".h5");
}

// HDF5

TEST_F(Security, ResultAndMixerFilesDoNotReachOthers) {
    folder_.write("secret", std::string(64, 's'));
    const auto make = [&](const std::string& name, const auto& content) {
        const hid_t file = H5Fcreate(path(name).c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        content(file);
        H5Fclose(file);
    };
    const hsize_t sizes[] = {2, 2};
    make("storage.h5", [&](hid_t file) {
        const hid_t creation = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(2, sizes, nullptr);
        H5Pset_external(creation, path("secret").c_str(), 0, 32);
        H5Dclose(H5Dcreate2(file, "mixers", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
        H5Sclose(space);
        H5Pclose(creation);
    });
    h5::File other = h5::File::create(path("other.h5"));
    other.write("mixers", std::vector<double>{1, 0, 0, 1}, {2, 2});
    other.close();
    make("link.h5", [&](hid_t file) {
        H5Lcreate_external("other.h5", "/mixers", file, "mixers", H5P_DEFAULT, H5P_DEFAULT);
    });
    make("virtual.h5", [&](hid_t file) {
        const hid_t creation = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(2, sizes, nullptr);
        H5Pset_virtual(creation, space, "other.h5", "/mixers", space);
        H5Dclose(H5Dcreate2(file, "mixers", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
        H5Sclose(space);
        H5Pclose(creation);
    });
    const auto use = [&](const std::string& name) {
        return run({"--mixer", name, "--depth", "2", "--samples", "0", "--plot", "none", "--out", "out"});
    };
    EXPECT_EQ(use("other.h5").status, 0);
    refused(use("storage.h5"), "stores its data in another file");
    refused(use("link.h5"), "an external link");
    refused(use("virtual.h5"), "a virtual dataset");
}

// Results that were changed

TEST_F(Security, TamperedResultsAreNotResumed) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    ASSERT_EQ(analyse({"--samples", "40"}).status, 0);
    ASSERT_EQ(analyse({"--samples", "40", "--keep", "histogram", "--out", "counts"}).status, 0);
    const auto resumed = [&](const std::string& from, const auto& change) {
        tamper(from + ".h5", "evil.h5", [&](h5::File& file) { change(file); });
        return analyse({"--out", "evil", "--resume", "--samples", "64", "--until-error", "0.9"});
    };
    const auto set = [](const char* name, auto value) {
        return [=](h5::File& file) { file.write_attribute("montecarlo", name, value); };
    };
    EXPECT_EQ(resumed("run", [](h5::File&) {}).status, 0);
    for (const std::string from : {"run", "counts"}) {
        SCOPED_TRACE(from);
        for (const auto* const name : {"mean_square_scaled", "mean_square_squares", "seconds"}) {
            refused(resumed(from, set(name, nan)), "damaged");
            refused(resumed(from, set(name, -1.0)), "damaged");
        }
        refused(resumed(from, set("samples", std::int64_t{1} << 33)), "cannot be resumed");
        refused(resumed(from, set("samples", std::int64_t{-1})), "cannot be resumed");
        refused(resumed(from, set("samples", std::int64_t{39})), "damaged");
    }
    refused(resumed("run", set("mean_square_scaled", 0.5)), "the mean square does not match the values");
    refused(resumed("counts", set("window_squares", std::uint64_t{0})), "squares");
}

TEST_F(Security, ATamperedNetworkOfASweepIsComputedAgain) {
    const Words sweep{"sweep",  "--mixers", "cayley",    "--depths", "1,2",    "--width", "4",
                      "--samples", "4",     "--theory",  "none",     "--out",  "grid",    "--quiet"};
    ASSERT_EQ(run(sweep).status, 0);
    const auto table = testing::content(path("grid.csv"));
    const auto name = h5::File::open_read(path("grid.h5")).children("runs").front();
    tamper("grid.h5", "evil.h5", [&](h5::File& file) {
        file.write_attribute("runs/" + name + "/metrics/montecarlo", "window", 7.0);
    });
    fs::rename(path("evil.h5"), path("grid.h5"));
    ASSERT_EQ(run(sweep).status, 0);
    EXPECT_EQ(testing::content(path("grid.csv")), table);
}

// Permissions and links

TEST_F(Security, PrivateResultsStayPrivate) {
    SPECTRA_NEEDS_GNUPLOT();
    ASSERT_EQ(analyse({"--plot", "svg"}).status, 0);
    for (const auto* const name : {"run.h5", "run.svg"}) fs::permissions(path(name), fs::perms(0600));
    ASSERT_EQ(analyse({"--plot", "svg", "--samples", "5", "--force"}).status, 0);
    for (const auto* const name : {"run.h5", "run.svg"})
        EXPECT_EQ(fs::status(path(name)).permissions(), fs::perms(0600)) << name;
}

TEST_F(Security, WhatALinkPointsToIsNotReplacedUnasked) {
    SPECTRA_NEEDS_GNUPLOT();
    ASSERT_EQ(analyse({"--plot", "svg"}).status, 0);
    folder_.write("precious", "mine");
    fs::remove(path("run.svg"));
    fs::create_symlink("precious", path("run.svg"));
    refused(analyse({"--plot", "svg"}), "run.svg: is a symbolic link");
    EXPECT_EQ(testing::content(path("precious")), "mine");
    fs::rename(path("run.h5"), path("other.h5"));
    fs::create_symlink("other.h5", path("run.h5"));
    refused(analyse({}), "run.h5: is a symbolic link");
    EXPECT_EQ(analyse({"--plot", "svg", "--force"}).status, 0);
    EXPECT_NE(testing::content(path("precious")), "mine");
}

// Memory

TEST_F(Security, FilesDoNotTakeMoreMemoryThanTheirPurposeNeeds) {
    constexpr std::size_t MiB = std::size_t{1} << 20;
    const auto expect_small = [&](const ProcessResult& result, const std::string& why) {
        refused(result, why);
        EXPECT_LT(result.peak_bytes, 700 * MiB) << why;
        EXPECT_LT(result.processor_seconds, 20) << why;
    };
    std::string zeros = "[0";
    while (zeros.size() < 60 * MiB) zeros += ",0";
    folder_.write("many.json", zeros + "]");
    expect_small(run({"--mixer", "many.json", "--depth", "2"}), "more than 4194304 values");
    folder_.write("large.csv", std::string(65 * MiB, '1'));
    expect_small(run({"--mixer", "large.csv", "--depth", "2"}), "larger than 64 MiB");
    folder_.write("twice.json", R"({"mixers": [[1]], "mixers": [[2]]})");
    expect_small(run({"--mixer", "twice.json", "--depth", "2"}), "duplicate key 'mixers'");

    // A safetensors header of very many tensors without a byte.
    std::string header = "{";
    for (int k = 0; header.size() < 81 * MiB; ++k)
        header += "\"" + std::to_string(k) + "\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]},";
    header.back() = '}';
    std::string length;
    for (int k = 0; k < 8; ++k) length += static_cast<char>(header.size() >> (8 * k));
    folder_.write("header.safetensors", length + header);
    expect_small(run({"validate", "header.safetensors"}), "header");

    // Two GiB that nobody wrote, in a file with a hole.
    h5::File small = h5::File::create(path("sparse.h5"));
    small.write("nothing", std::vector<double>{});
    small.close();
    const hid_t file = H5Fopen(path("sparse.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    const hsize_t sizes[] = {1 << 14, 1 << 14};
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(2, sizes, nullptr);
    H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    H5Dclose(H5Dcreate2(file, "mixers", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    H5Sclose(space);
    H5Pclose(creation);
    H5Fclose(file);
    expect_small(run({"--mixer", "sparse.h5", "--depth", "2"}), "too large to read");
}

// The environment

TEST_F(Security, ErrorsAreSeenWhateverALauncherLeftInTheEnvironment) {
    ProcessOptions options;
    options.environment = {{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}};
    auto result = run({"--mixr", "cayley"}, options);
    EXPECT_EQ(result.status, 2);
    EXPECT_NE(result.err.find("process 2 of 2: '--mixr': no such option"), std::string::npos) << result.err;
    result = analyse({}, options);
    EXPECT_EQ(result.status, 3);
    EXPECT_NE(result.err.find("2 tasks were started, but"), std::string::npos) << result.err;
}

// Signals

TEST_F(Security, ASecondSignalEndsTheProgram) {
    for (const int signal : {SIGTERM, SIGINT}) {
        ProcessOptions options;
        options.interrupt_after = 0.7;
        options.interrupt_again_after = 1.5;
        options.interrupt_by = signal;
        const auto result = run({"--mixer", "cayley", "--depth", "3", "--width", "2000", "--method", "dense", "--samples",
                                 "4", "--theory", "none", "--plot", "none", "--threads", "1"},
                                options);
        EXPECT_EQ(result.status, 130) << result.err;
        EXPECT_LT(result.seconds, 6);
        EXPECT_NE(result.err.find("stopping"), std::string::npos) << result.err;
        EXPECT_NE(result.err.find("at once"), std::string::npos) << result.err;
        EXPECT_EQ(folder_.entries(), 0u) << "nothing is left behind";
    }
}

TEST_F(Security, SecondsAfterASignalTheProgramHasEnded) {
    ProcessOptions options;
    options.interrupt_after = 0.7;
    options.interrupt_by = SIGTERM;
    const auto result = run({"--mixer", "cayley", "--depth", "3", "--width", "3000", "--method", "dense", "--samples", "1",
                             "--theory", "none", "--plot", "none", "--threads", "1"},
                            options);
    EXPECT_EQ(result.status, 130) << result.err;
    EXPECT_LT(result.seconds, 9);
    EXPECT_EQ(folder_.entries(), 0u) << "nothing is left behind";
}

}  // namespace
}  // namespace spectra
