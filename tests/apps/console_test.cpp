#include "console.hpp"

#include <gtest/gtest.h>

namespace spectra::cli {
namespace {

TEST(Console, FieldsOfLibrariesBecomeOptions) {
    EXPECT_EQ(with_options("`logit_scale` -1: must be 0 or more"), "--logit-scale -1: must be 0 or more");
    EXPECT_EQ(with_options("`mixer` x cannot be combined with `depth`"), "--mixer x cannot be combined with --depth");
    EXPECT_EQ(with_options("nothing to translate"), "nothing to translate");
}

TEST(Console, OtherBackquotesStay) {
    for (const char* text : {"`", "``", "a file called `A b`.csv", "`Upper`", "`with-dash`", "one ` alone", "`1st`"})
        EXPECT_EQ(with_options(text), text);
    EXPECT_EQ(with_options("`A b` and `out`"), "`A b` and --out");
}

}  // namespace
}  // namespace spectra::cli
