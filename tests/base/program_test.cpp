#include "base/program.hpp"

#include "base/temporary_folder.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <fstream>

namespace spectra {
namespace {

TEST(Program, PrintsAndEnds) {
    const auto result = run_program("/bin/sh", {"-c", "echo out; echo err >&2; exit 3"}, 10);
    EXPECT_EQ(result.status, 3);
    EXPECT_EQ(result.output, "out\nerr\n");
    EXPECT_EQ(run_program("/bin/sh", {"-c", "kill -9 $$"}, 10).status, 128 + 9);
    EXPECT_EQ(run_program("/bin/cat", {}, 10).output, "") << "standard input is empty";
}

TEST(Program, KeepsAtMost64KiB) {
    const auto result = run_program("/bin/sh", {"-c", "head -c 200000 /dev/zero"}, 10);
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.output.size(), 65536U);
}

TEST(Program, IsKilledWhereItDoesNotEnd) {
    EXPECT_THROW(run_program("/bin/sh", {"-c", "exec sleep 60"}, 0.05), std::runtime_error);
}

TEST(Program, IsAskedToEnd) {
    std::atomic<bool> stop{true};
    const auto result = run_program("/bin/sh", {"-c", "trap 'echo asked; exit 5' TERM; while :; do sleep 0.05; done"},
                                    60, &stop);
    EXPECT_TRUE((result.status == 5 && result.output == "asked\n") || result.status == 128 + 15)
        << result.status << ' ' << result.output << ": the signal may come before the trap";
    stop = false;
    EXPECT_EQ(run_program("/bin/sh", {"-c", "sleep 0.5; echo done"}, 60, &stop).output, "done\n");
}

TEST(Program, ThatIsNotThereCannotBeStarted) {
    try {
        run_program("/nonexistent/program", {}, 1);
        FAIL();
    } catch (const std::runtime_error& error) {
        EXPECT_EQ(std::string(error.what()), "/nonexistent/program cannot be started: No such file or directory");
    }
}

TEST(Program, IsFoundInPath) {
    const testing::TemporaryFolder folder;
    const auto plain = folder.write("plain", "");
    const auto program = folder.write("runs", "#!/bin/sh\n");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    const std::string before = std::getenv("PATH");
    setenv("PATH", ("/nonexistent:" + folder.path().string()).c_str(), 1);
    EXPECT_EQ(find_program("runs"), program);
    EXPECT_FALSE(find_program("plain")) << "it may not be executed";
    EXPECT_FALSE(find_program("sh"));
    setenv("PATH", before.c_str(), 1);
    EXPECT_TRUE(find_program("sh"));
}

TEST(TemporaryFolder, GoesAwayWithItsContents) {
    std::filesystem::path path;
    {
        const TemporaryFolder folder;
        path = folder.path();
        std::filesystem::create_directory(path / "inner");
        std::ofstream(path / "inner" / "file") << "text";
        EXPECT_TRUE(std::filesystem::exists(path / "inner" / "file"));
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace spectra
