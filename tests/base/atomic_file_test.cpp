#include "base/atomic_file.hpp"

#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iterator>

namespace spectra {
namespace {

using spectra::testing::content;
using spectra::testing::TemporaryFolder;

TEST(AtomicFile, AppearsAtCommitOnly) {
    const TemporaryFolder folder;
    const auto path = folder.write("a", "earlier");
    AtomicFile file(path);
    file.write(std::string("later"));
    EXPECT_EQ(content(path), "earlier");
    EXPECT_EQ(file.temporary().parent_path(), folder.path());
    file.commit();
    EXPECT_EQ(content(path), "later");
    EXPECT_EQ(folder.entries(), 1u);
}

TEST(AtomicFile, AbandonedLeavesTheEarlierFile) {
    const TemporaryFolder folder;
    const auto path = folder.write("a", "earlier");
    {
        AtomicFile file(path);
        file.write(std::string("later"));
        EXPECT_EQ(folder.entries(), 2u);
    }
    EXPECT_EQ(content(path), "earlier");
    EXPECT_EQ(folder.entries(), 1u);
}

TEST(AtomicFile, FailedRenameRemovesTheTemporaryFile) {
    const TemporaryFolder folder;
    std::filesystem::create_directories(folder.path() / "a" / "inside");
    EXPECT_THROW(
        {
            AtomicFile file(folder.path() / "a");
            file.commit();
        },
        std::runtime_error);
    EXPECT_EQ(folder.entries(), 1u);
}

TEST(AtomicFile, FolderThatIsNotThere) {
    const TemporaryFolder folder;
    try {
        AtomicFile file(folder.path() / "absent" / "a.h5");
        ADD_FAILURE();
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string(error.what()).find("a.h5: cannot be written"), std::string::npos);
    }
}

TEST(AtomicFile, ALinkStaysALink) {
    const TemporaryFolder folder;
    folder.write("target", "earlier");
    std::filesystem::create_symlink("target", folder.path() / "link");
    AtomicFile file(folder.path() / "link");
    file.write(std::string("later"));
    file.commit();
    EXPECT_TRUE(std::filesystem::is_symlink(folder.path() / "link"));
    EXPECT_EQ(content(folder.path() / "target"), "later");
}

TEST(AtomicFile, KeepsThePermissionsOfTheFileItReplaces) {
    const TemporaryFolder folder;
    const auto path = folder.write("a", "earlier");
    namespace fs = std::filesystem;
    for (const auto mode : {fs::perms::owner_read | fs::perms::owner_write, fs::perms(0640), fs::perms(0604)}) {
        fs::permissions(path, mode);
        AtomicFile file(path);
        EXPECT_EQ(fs::status(file.temporary()).permissions(), mode) << "from the first byte on";
        file.write(std::string("later"));
        file.commit();
        EXPECT_EQ(fs::status(path).permissions(), mode);
    }
}

TEST(AtomicFile, TemporaryFilesCanBeRemovedWhereTheProgramIsEnded) {
    const TemporaryFolder folder;
    const auto ended = [&] {
        const AtomicFile one(folder.path() / "one");
        const AtomicFile two(folder.path() / "two");
        { const AtomicFile gone(folder.path() / "three"); }
        remove_temporary_files();
        _exit(7);
    };
    EXPECT_EXIT(ended(), ::testing::ExitedWithCode(7), "");
    EXPECT_EQ(folder.entries(), 0u);
}

TEST(AtomicFile, LeftoversOfProcessesThatAreGoneAreRemoved) {
    const TemporaryFolder folder;
    const pid_t gone = fork();
    if (gone == 0) _exit(0);
    waitpid(gone, nullptr, 0);
    const AtomicFile living(folder.path() / "a");
    const std::string name = living.temporary().filename().string();  // .a.tmp-HOST-PROCESS-ATTEMPT
    const std::string ours = "-" + std::to_string(::getpid()) + "-0";
    ASSERT_TRUE(name.ends_with(ours)) << name;
    const std::string stem = name.substr(2, name.size() - 2 - ours.size()), leftover = "-" + std::to_string(gone) + "-0";
    folder.write(".a" + stem + leftover, "half");
    for (const std::string& other : {".b" + stem + leftover, ".a" + stem + leftover + "x", ".a" + stem + "x" + leftover})
        folder.write(other, "other");
    EXPECT_EQ(folder.entries(), 5u);
    remove_leftovers(folder.path() / "a");
    EXPECT_EQ(folder.entries(), 4u);
    EXPECT_FALSE(std::filesystem::exists(folder.path() / (".a" + stem + leftover)));
    remove_leftovers(folder.path() / "none" / "a");  // no such folder
}

}  // namespace
}  // namespace spectra
