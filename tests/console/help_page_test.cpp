#include "console/help_page.hpp"

#include "console/command.hpp"
#include "console/completion.hpp"
#include "console/man_page.hpp"

#include <gtest/gtest.h>

#include "support/brew_command.hpp"

/// Pages of a small program, against what they should be letter by letter.
namespace spectra::console {
namespace {

using tests::brew;

TEST(HelpPage, OfAProgram) {
    EXPECT_EQ(help_page(brew()),
              "Hot drinks.\n\n"
              "Usage: brew COMMAND\n\n"
              "Commands:\n"
              "  make FILE                    make a pot\n\n"
              "About:\n"
              "  -h,--help                    this page\n"
              "  --settings FILE              a file of options\n\n"
              "Exit status:\n"
              "  0    done\n");
}

TEST(HelpPage, OfACommandHidesOptionsWithoutAGroup) {
    EXPECT_EQ(help_page(brew().commands.front()),
              "make a pot\n\n"
              "Usage: brew make FILE [options]\n\n"
              "Arguments:\n"
              "  FILE                         the recipe\n\n"
              "Tea:\n"
              "  --kind green,black|none      the leaves [default: green]\n"
              "  --cups,--cup N               how many [default: 2]\n"
              "  --milk                       with it\n\n"
              "Examples:\n"
              "  brew make tea.txt\n"
              "      a pot\n");
}

TEST(HelpPage, WrapsAtTheColumnAndBreaksLongListsAfterCommas) {
    EXPECT_EQ(help_entry("a", "one two three", 6, 14), "  a   one two\n      three\n");
    EXPECT_EQ(help_entry("a", "one,two,three", 6, 14), "  a   one,two,\n      three\n");
    EXPECT_EQ(help_entry("too-long", "text", 6, 14), "  too-long\n      text\n");
    // Characters count, not bytes.
    EXPECT_EQ(help_entry("σ", "σσσ σσσσ", 6, 14), "  σ   σσσ σσσσ\n");
}

TEST(ManPage, OfACommandHasItsOptionsAndItsExample) {
    const auto page = man_page(brew().commands.front(), {.version = "1.2", .origin = "made by hand"});
    EXPECT_TRUE(page.starts_with(".\\\" made by hand\n.TH \"BREW\\-MAKE\" 1 \"\" \"brew 1.2\"")) << page;
    EXPECT_NE(page.find(".TP\n\\fB\\-\\-cups,\\-\\-cup\\fP \\fIN\\fP\nhow many [default:\\ 2]\n"),
              std::string::npos)
        << page;
    EXPECT_EQ(page.find("settings"), std::string::npos) << "it is hidden";
    EXPECT_TRUE(page.ends_with("\\fBbrew\\fP(1)\n")) << page;
}

TEST(Completion, OffersChoicesFilesAndHiddenOptions) {
    const auto bash = bash_completion(brew());
    EXPECT_NE(bash.find("--kind) COMPREPLY=($(compgen -W \"green black none\" -- \"$cur\")); return ;;"),
              std::string::npos)
        << bash;
    EXPECT_NE(bash.find("--cups) return ;;"), std::string::npos) << bash;
    EXPECT_NE(bash.find("COMPREPLY=($(compgen -f -W \"--kind --cups --milk --settings\" -- \"$cur\"))"),
              std::string::npos)
        << bash;
    EXPECT_EQ(bash.find("--milk)"), std::string::npos) << "a flag has no value to complete";
    EXPECT_TRUE(bash.ends_with("complete -o filenames -F _brew brew\n")) << bash;
    const auto zsh = zsh_completion(brew());
    EXPECT_NE(zsh.find("'--kind[the leaves]:value:(green black none)'"), std::string::npos) << zsh;
    EXPECT_NE(zsh.find("'--milk[with it]' "), std::string::npos) << zsh;
    EXPECT_NE(zsh.find("'1:file:_files'"), std::string::npos) << zsh;
    EXPECT_TRUE(zsh.starts_with("#compdef brew\n")) << zsh;
}

}  // namespace
}  // namespace spectra::console
