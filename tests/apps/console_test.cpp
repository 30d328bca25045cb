#include "support/temporary_folder.hpp"
#include "support/terminal.hpp"

#include <gtest/gtest.h>

namespace spectra {
namespace {

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
}  // namespace spectra
