#include "support/process.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>

/// How spectra starts spectra-torch.
namespace spectra {
namespace {

using Words = std::vector<std::string>;

/// What a spectra-torch beside a copy of the program finds in its environment, where only `set` says how to wait.
std::string environment_of_torch(const Words& set) {
    const testing::TemporaryFolder folder;
    const auto program = folder.path() / "spectra", torch = folder.path() / "spectra-torch";
    std::filesystem::copy_file(SPECTRA_BINARY, program);
    folder.write("spectra-torch", "#!/bin/sh\necho $OMP_WAIT_POLICY/$GOMP_SPINCOUNT/$OPENBLAS_THREAD_TIMEOUT $2\n");
    std::filesystem::permissions(torch, std::filesystem::perms::owner_all);
    Words command{"env"};
    for (const char* const name : {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME", "OPENBLAS_THREAD_TIMEOUT"})
        command.insert(command.end(), {"-u", name});
    command.insert(command.end(), set.begin(), set.end());
    command.insert(command.end(), {program.string(), "train", "copy"});
    const auto result = testing::run_process(command);
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
}

// Threads that spin keep the cores from other programs.
TEST(TorchCommands, ThreadsOfTorchSleepWhileTheyWait) {
    EXPECT_EQ(environment_of_torch({}), "passive/1000/14 copy\n");
}

TEST(TorchCommands, WhatTheEnvironmentSetsStays) {
    EXPECT_EQ(environment_of_torch({"OMP_WAIT_POLICY=active", "OPENBLAS_THREAD_TIMEOUT=20"}), "active//20 copy\n");
}

}  // namespace
}  // namespace spectra
