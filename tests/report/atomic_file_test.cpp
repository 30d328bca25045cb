#include "report/atomic_file.hpp"

#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <iterator>

namespace spectra::report {
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

}  // namespace
}  // namespace spectra::report
