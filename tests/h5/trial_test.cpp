#include "h5/trial.hpp"

#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>

namespace spectra::h5 {
namespace {

TEST(Trial, ToldFromCrashes) {
    const testing::TemporaryFolder folder;
    EXPECT_FALSE(survives_trial(folder.write("a", "a"), [] { raise(SIGSEGV); }));
    EXPECT_FALSE(survives_trial(folder.write("b", "b"), [] { std::abort(); }));
    EXPECT_TRUE(survives_trial(folder.write("c", "c"), [] { throw std::runtime_error("refused"); }));
    EXPECT_TRUE(survives_trial(folder.write("d", "d"), [] {}));
}

TEST(Trial, IsHeldOncePerStateOfAFile) {
    const testing::TemporaryFolder folder;
    const auto path = folder.write("a", "first");
    EXPECT_TRUE(survives_trial(path, [] {}));
    EXPECT_TRUE(survives_trial(path, [] { raise(SIGSEGV); })) << "not tried again";
    folder.write("a", "and second");
    EXPECT_FALSE(survives_trial(path, [] { raise(SIGSEGV); })) << "it has changed";
    EXPECT_FALSE(survives_trial(path, [] { raise(SIGSEGV); })) << "a crash is not remembered as none";
}

}  // namespace
}  // namespace spectra::h5
