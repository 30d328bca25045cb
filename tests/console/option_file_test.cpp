#include "console/option_file.hpp"

#include "support/expect_refused.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include "support/brew_command.hpp"

namespace spectra::console {
namespace {

using spectra::testing::expect_refused;
using Words = std::vector<std::string>;

const OptionFiles files{.option = "settings",
                        .not_settable = {"help"},
                        .not_kept = {"milk"},
                        .without_command = "brewing",
                        .example = "kind = \"green\""};

class OptionFile : public ::testing::Test {
protected:
    Words read(const std::string& toml, const Words& words, const Command& program = tests::brew()) const {
        folder_.write("a.toml", toml);
        return with_option_file(program, "make", words, (folder_.path() / "a.toml").string(), files);
    }
    spectra::testing::TemporaryFolder folder_;
};

TEST_F(OptionFile, OptionsComeAfterTheCommandAndReplaceTheFile) {
    EXPECT_EQ(read("[make]\nkind = \"black\"\ncup = 3\nmilk = true\n", {"make", "--settings", "a.toml", "x"}),
              (Words{"make", "--kind=black", "--cups=3", "--milk", "x"}));
    EXPECT_EQ(read("[make]\nmilk = false\n", {"make", "--settings=a.toml"}), Words{"make"});
}

TEST_F(OptionFile, WhatWasGivenWins) {
    auto program = tests::brew();
    program.commands.front().options[1].given = true;
    EXPECT_EQ(read("[make]\nkind = \"black\"\ncups = 3\n", {"make", "--cup", "1"}, program),
              (Words{"make", "--kind=black", "--cup", "1"}));
}

TEST_F(OptionFile, RefusesWhatIsNoOption) {
    expect_refused([&] { read("[make]\nkid = 1\n", {"make"}); }, {"line 2", "unknown key 'kid'", "'kind'"});
    expect_refused([&] { read("[make]\nsettings = \"b\"\n", {"make"}); }, {"unknown key 'settings'"});
    expect_refused([&] { read("[make]\nmilk = 1\n", {"make"}); }, {"'milk' must be true or false"});
    expect_refused([&] { read("[make]\ncups = true\n", {"make"}); },
                   {"'cups' must be a text, a number or a list"});
    expect_refused([&] { read("[mak]\ncups = 1\n", {"make"}); }, {"unknown table 'mak'", "make"});
    expect_refused([&] { read("", {"make"}); }, {"no options for make", "below a line [make]"});
}

TEST_F(OptionFile, IsMadeFromACommandLine) {
    EXPECT_EQ(
        option_file_of(tests::brew(), "brew make --kind black --cup=3 --milk --settings a", "f", files),
        "[make]\nkind = \"black\"\ncups = 3\n");
    expect_refused([] { option_file_of(tests::brew(), "brew make --kind", "f", files); },
                   {"f: was made by", "'--kind' is not an option"});
    expect_refused([] { option_file_of(tests::brew(), "brew pour", "f", files); },
                   {"make take a file of options"});
}

}  // namespace
}  // namespace spectra::console
