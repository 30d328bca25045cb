#include "console/terminal.hpp"

#include <gtest/gtest.h>

namespace spectra::console {
namespace {

TEST(Terminal, FieldsOfLibrariesBecomeOptions) {
    EXPECT_EQ(with_options("`logit_scale` -1: must be 0 or more"), "--logit-scale -1: must be 0 or more");
    EXPECT_EQ(with_options("`mixer` x cannot be combined with `depth`"),
              "--mixer x cannot be combined with --depth");
    EXPECT_EQ(with_options("nothing to translate"), "nothing to translate");
}

TEST(Terminal, OtherBackquotesStay) {
    for (const char* text :
         {"`", "``", "a file called `A b`.csv", "`Upper`", "`with-dash`", "one ` alone", "`1st`"})
        EXPECT_EQ(with_options(text), text);
    EXPECT_EQ(with_options("`A b` and `out`"), "`A b` and --out");
}

TEST(Terminal, MessagesAreOnePrintableLine) {
    EXPECT_EQ(one_line("two\nlines\tand a tab\r\n"), "two lines and a tab");
    EXPECT_EQ(one_line("\x1b[2Jcleared"), "\\u001b[2Jcleared");
}

}  // namespace
}  // namespace spectra::console
