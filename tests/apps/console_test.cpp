#include "console.hpp"

#include "support/temporary_folder.hpp"
#include "support/terminal.hpp"

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

TEST(Console, EscapeCodesAreForTerminalsThatObeyThem) {
    const spectra::testing::TemporaryFolder folder;
    const auto shown = [&](const char* term, const char* no_colour) {
        return spectra::testing::run_in_terminal(
            {SPECTRA_BINARY, "--mixer", "identity", "--depth", "2", "--width", "2", "--samples", "2", "--plot", "none"},
            folder.path(), {{"TERM", term}, {"NO_COLOR", no_colour}});
    };
    const auto has_escape = [](const std::string& text) { return text.find('\x1b') != std::string::npos; };
    const std::string colourful = shown("xterm", nullptr), plain = shown("xterm", "1");
    EXPECT_TRUE(has_escape(colourful));
    EXPECT_FALSE(has_escape(plain)) << plain;
    EXPECT_NE(plain.find("solving ov"), std::string::npos) << "progress is still shown";
    for (const char* const term : {"dumb", static_cast<const char*>(nullptr), ""}) {
        const std::string text = shown(term, nullptr);
        EXPECT_FALSE(has_escape(text)) << text;
        EXPECT_EQ(text.find("solving ov"), std::string::npos) << "no progress where the line cannot be rewritten";
        EXPECT_NE(text.find("wrote"), std::string::npos) << text;
    }
}

}  // namespace
}  // namespace spectra::cli
