#include "linalg/blas_library.hpp"
#include "support/needs_program.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

/// `spectra doctor` on machines where something is missing or broken.
namespace spectra {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;
using Environment = std::vector<std::pair<std::string, std::string>>;

/// A copy of the program in a folder of its own, where neither modules nor spectra-torch lie beside it. Every run has
/// one thread and an empty PATH unless told otherwise: trials of other programs take time.
class Doctor : public ::testing::Test {
protected:
    Doctor() {
        fs::create_directories(programs());
        fs::copy_file(SPECTRA_BINARY, programs() / "spectra");
    }

    fs::path programs() const { return folder_.path() / "bin"; }

    testing::ProcessResult run(const std::vector<std::string>& words, const Environment& more = {}) const {
        testing::ProcessOptions options;
        options.folder = folder_.path();
        options.environment = {{"PATH", "/nonexistent"}, {"OMP_NUM_THREADS", "1"}, {"LC_ALL", "C.UTF-8"}};
        options.environment.insert(options.environment.end(), more.begin(), more.end());
        std::vector<std::string> command{(programs() / "spectra").string(), "doctor"};
        command.insert(command.end(), words.begin(), words.end());
        return testing::run_process(command, options);
    }

    /// The parts by name.
    static std::map<std::string, json> parts(const testing::ProcessResult& result) {
        std::map<std::string, json> out;
        const auto page = json::parse(result.out);
        for (const auto& part : page.at("parts")) out[part.at("name")] = part;
        return out;
    }

    /// A program of that name in the folder of programs, as a shell script.
    void script(const std::string& name, const std::string& body) const {
        const auto path = programs() / name;
        std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
        fs::permissions(path, fs::perms::owner_all);
    }

    testing::TemporaryFolder folder_;
};

TEST_F(Doctor, TriesWhatIsRequired) {
    const auto result = run({"--json"});
    EXPECT_EQ(result.status, 0) << result.err << result.out;
    EXPECT_EQ(result.err, "");
    EXPECT_TRUE(json::parse(result.out).at("works"));
    auto found = parts(result);
    for (const char* name : {"OpenMP", "BLAS", "theory", "HDF5"}) {
        ASSERT_TRUE(found.contains(name)) << name;
        EXPECT_TRUE(found[name]["required"]) << name;
        EXPECT_EQ(found[name]["health"], "works") << found[name];
        EXPECT_TRUE(found[name]["remedy"].is_null());
    }
    EXPECT_EQ(found["OpenMP"]["measured"]["threads"], 1);
    const auto& blas = found["BLAS"]["measured"];
    EXPECT_GT(blas["gflops"], 0.0);
    EXPECT_LE(blas["error"], blas["error_limit"]);
    const auto& theory = found["theory"]["measured"];
    EXPECT_NEAR(theory["mass"], 1, 1e-5);
    EXPECT_NEAR(theory["mean_square"], theory["mean_square_exact"], 1e-5 * theory["mean_square_exact"].get<double>());
}

TEST_F(Doctor, NamesWhatIsMissingAndWhatToInstall) {
    const auto result = run({"--json"});
    EXPECT_EQ(result.status, 0) << "optional parts";
    auto found = parts(result);
    const std::map<std::string, std::string> packages{
        {"gnuplot", "gnuplot-nox"}, {"Torch", "libtorch-dev"}, {"MPI", "libopenmpi-dev"}, {"git", "git"}};
    for (const auto& [name, package] : packages) {
        if (name == "MPI" && found[name]["health"] == "works") continue;  // installed on this machine
        EXPECT_EQ(found[name]["health"], "missing") << found[name];
        EXPECT_FALSE(found[name]["required"]);
        EXPECT_FALSE(found[name]["purpose"].get<std::string>().empty());
        EXPECT_NE(found[name]["remedy"].get<std::string>().find(package), std::string::npos) << found[name];
    }
    const auto page = run({});
    EXPECT_EQ(page.status, 0);
    for (const char* words : {"missing  gnuplot", "install gnuplot-nox", "missing  Torch", "Everything required works"})
        EXPECT_NE(page.out.find(words), std::string::npos) << words << "\n" << page.out;
}

TEST_F(Doctor, FitsAScreen) {
    const auto result = run({});
    EXPECT_LE(std::count(result.out.begin(), result.out.end(), '\n'), 25) << result.out;
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) {
        const auto columns =
            std::count_if(line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
        EXPECT_LE(columns, 80) << line;
    }
    EXPECT_EQ(result.out.find('\x1b'), std::string::npos);
}

TEST_F(Doctor, NamesSlowKernelsOfOpenBlas) {
    if (linalg::blas_library().kernel.empty() || !linalg::has_avx2())
        GTEST_SKIP() << "needs OpenBLAS, and a processor with AVX2";
    auto slow = parts(run({"--json"}, {{"OPENBLAS_CORETYPE", "Prescott"}}));
    EXPECT_EQ(slow["BLAS"]["health"], "works");
    EXPECT_NE(slow["BLAS"]["trial"].get<std::string>().find("set OPENBLAS_CORETYPE=Haswell"), std::string::npos)
        << slow["BLAS"];
    auto fast = parts(run({"--json"}, {{"OPENBLAS_CORETYPE", "Haswell"}}));
    EXPECT_EQ(fast["BLAS"]["trial"].get<std::string>().find("OPENBLAS_CORETYPE"), std::string::npos) << fast["BLAS"];
}

TEST_F(Doctor, WhatIsRequiredAndFailsIsAnError) {
    const auto result = run({"--json"}, {{"TMPDIR", "/nonexistent"}});
    EXPECT_EQ(result.status, 3);
    EXPECT_FALSE(json::parse(result.out).at("works"));
    auto found = parts(result);
    EXPECT_EQ(found["HDF5"]["health"], "fails");
    EXPECT_NE(found["HDF5"]["trial"].get<std::string>().find("/nonexistent"), std::string::npos) << found["HDF5"];
    EXPECT_NE(found["HDF5"]["remedy"].get<std::string>().find("TMPDIR"), std::string::npos);
    EXPECT_EQ(found["BLAS"]["health"], "works");
    const auto page = run({}, {{"TMPDIR", "/nonexistent"}});
    EXPECT_EQ(page.status, 3);
    EXPECT_NE(page.out.find("Required, and not working: HDF5."), std::string::npos) << page.out;
}

TEST_F(Doctor, BrokenOptionalPartsFailAndAreNoError) {
    script("spectra-torch", "echo 'libtorch.so: cannot open shared object file' >&2; exit 127");
    script("gnuplot", "case $1 in --version) echo 'gnuplot 9.9 patchlevel 1' ;; *) echo 'no picture' ;; esac");
    std::ofstream(programs() / "spectra_mpi.so") << "not a library";
    const auto result = run({"--json"}, {{"PATH", programs().string()}});
    EXPECT_EQ(result.status, 0);
    auto found = parts(result);
    EXPECT_EQ(found["Torch"]["health"], "fails");
    EXPECT_NE(found["Torch"]["trial"].get<std::string>().find("libtorch.so: cannot open"), std::string::npos)
        << found["Torch"];
    EXPECT_EQ(found["gnuplot"]["found"], "9.9 patchlevel 1");
    EXPECT_EQ(found["gnuplot"]["health"], "fails") << found["gnuplot"];
    EXPECT_NE(found["gnuplot"]["trial"].get<std::string>().find("the picture is incomplete"), std::string::npos)
        << found["gnuplot"];
    if (found["MPI"]["health"] != "works") {  // installed on this machine
        EXPECT_EQ(found["MPI"]["health"], "fails");
        EXPECT_NE(found["MPI"]["trial"].get<std::string>().find("spectra_mpi.so"), std::string::npos) << found["MPI"];
    }
}

TEST_F(Doctor, AsksProgramsForTheirVersions) {
    script("spectra-torch", "printf 'spectra 0.0.0 (other)\\nfeatures\\nTorch 7.8.9, no GPU\\n'");
    script("git", "echo 'git version 2.99.1'");
    const auto result = run({"--json"}, {{"PATH", programs().string()}});
    auto found = parts(result);
    EXPECT_EQ(found["Torch"]["found"], "Torch 7.8.9, no GPU");
    EXPECT_EQ(found["Torch"]["trial"], "spectra-torch starts (built from another commit)");
    EXPECT_EQ(found["git"]["found"], "2.99.1");
    EXPECT_EQ(found["git"]["health"], "works");
}

TEST_F(Doctor, LeavesNothingBehind) {
    const auto temporary = folder_.path() / "temporary";
    fs::create_directory(temporary);
    const auto before = folder_.entries();
    EXPECT_EQ(run({}, {{"TMPDIR", temporary.string()}}).status, 0);
    EXPECT_TRUE(fs::is_empty(temporary));
    EXPECT_EQ(folder_.entries(), before);
}

TEST_F(Doctor, DrawsWithGnuplotWhereThereIsOne) {
    SPECTRA_NEEDS_GNUPLOT();
    const char* const search = std::getenv("PATH");
    ASSERT_NE(search, nullptr);
    auto found = parts(run({"--json"}, {{"PATH", search}}));
    EXPECT_EQ(found["gnuplot"]["health"], "works") << found["gnuplot"];
    EXPECT_TRUE(found["gnuplot"]["trial"].get<std::string>().starts_with("a PNG was drawn")) << found["gnuplot"];
}

}  // namespace
}  // namespace spectra
