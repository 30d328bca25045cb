#include "support/process.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

/// The short pages: what a user sees first.
namespace spectra {
namespace {

using Words = std::vector<std::string>;

class ShortHelp : public ::testing::Test {
protected:
    testing::ProcessResult run(Words words, const std::string& terminal = "dumb") const {
        words.insert(words.begin(), SPECTRA_BINARY);
        return testing::run_process(words, {.folder = folder_.path(), .environment = {{"TERM", terminal}}});
    }

    testing::TemporaryFolder folder_;
};

Words lines_of(const std::string& text) {
    Words lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

long columns_of(const std::string& line) {
    return std::count_if(line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
}

/// The words that begin with two hyphens.
Words options_in(const std::string& text) {
    Words names;
    std::istringstream words(text);
    for (std::string word; words >> word;)
        if (word.starts_with("--")) names.push_back(word);
    return names;
}

void expect_page(const testing::ProcessResult& result, std::size_t most_lines) {
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.err, "");
    const auto lines = lines_of(result.out);
    EXPECT_LE(lines.size(), most_lines) << result.out;
    for (const auto& line : lines) {
        EXPECT_LE(columns_of(line), 80) << line;
        EXPECT_FALSE(line.ends_with(' ')) << line;
    }
}

/// The lines "  NAME …" after the heading.
Words commands_of(const std::string& page) {
    const auto lines = lines_of(page);
    Words names;
    auto line = std::find_if(lines.begin(), lines.end(), [](const auto& l) { return l.starts_with("Commands"); });
    for (; line != lines.end() && !line->empty(); ++line)
        if (line->starts_with("  ") && (*line)[2] != ' ') names.push_back(line->substr(2, line->find(' ', 2) - 2));
    return names;
}

TEST_F(ShortHelp, FitsAScreenAndListsEveryCommand) {
    const auto brief = run({"--help"});
    expect_page(brief, 40);
    EXPECT_EQ(commands_of(brief.out), commands_of(run({"--help-all"}).out));
    EXPECT_GE(commands_of(brief.out).size(), 10U);
    EXPECT_NE(brief.out.find("--help-all"), std::string::npos);
}

TEST_F(ShortHelp, NamesOptionsAndDefaultsOfTheFullPage) {
    const auto brief = run({"--help"}).out, full = run({"--help-all"}).out;
    const auto names = options_in(brief);
    EXPECT_GE(names.size(), 12U);
    for (const auto& name : names) EXPECT_NE(full.find("  " + name), std::string::npos) << name;
    // Of every option with a default, the full page has the same one: "--depth L … [default: 10]".
    for (const auto& line : lines_of(brief)) {
        const auto initial = line.find("[default:");
        if (initial == std::string::npos) continue;
        const auto option = line.find("--");
        const auto begin = full.find("\n  " + line.substr(option, line.find(' ', option) - option) + " ");
        ASSERT_NE(begin, std::string::npos) << line;
        const auto entry = full.substr(begin, full.find("\n  -", begin + 1) - begin);
        EXPECT_NE(entry.find(line.substr(initial)), std::string::npos) << line << "\n" << entry;
    }
}

TEST_F(ShortHelp, WithoutArgumentsThereAreFiveCommandsToStartWith) {
    const auto result = run({});
    expect_page(result, 12);
    Words commands;
    for (const auto& line : lines_of(result.out))
        if (line.starts_with("  spectra ")) commands.push_back(line);
    ASSERT_EQ(commands.size(), 5U) << result.out;
    // Each is accepted: the words up to the explanation, with --help behind them.
    for (const auto& line : commands) {
        std::istringstream text(line.substr(2, line.find("  ", 2) - 2));
        Words words;
        for (std::string word; text >> word;) words.push_back(word);
        words.erase(words.begin());
        words.push_back("--help");
        EXPECT_EQ(run(words).status, 0) << line;
    }
    EXPECT_EQ(folder_.entries(), 0U) << "nothing is written";
}

TEST_F(ShortHelp, ACommandAcceptsHelpAll) {
    const auto all = run({"compare", "--help-all"});
    EXPECT_EQ(all.status, 0);
    EXPECT_EQ(all.out, run({"compare", "--help"}).out);
    EXPECT_NE(all.out.find("spectra compare"), std::string::npos);
    EXPECT_EQ(all.out.find("--help-all"), std::string::npos);
}

TEST_F(ShortHelp, AnUnknownOptionOfACommandLeadsToItsOwnPage) {
    const auto result = run({"compare", "--qqqqqqqqqq"});
    EXPECT_EQ(result.status, 2);
    EXPECT_NE(result.err.find("spectra compare --help lists them"), std::string::npos) << result.err;
    EXPECT_NE(run({"--qqqqqqqqqq"}).err.find("spectra --help-all lists them"), std::string::npos);
}

TEST_F(ShortHelp, IsTheSameTextOnEveryTerminal) {
    for (const Words& words : {Words{}, Words{"--help"}, Words{"--help-all"}, Words{"sweep", "--help"}, Words{"man"}}) {
        const auto plain = run(words, "dumb").out;
        EXPECT_EQ(plain.find('\x1b'), std::string::npos);
        EXPECT_EQ(run(words, "xterm-256color").out, plain);
        EXPECT_EQ(run(words, "").out, plain);
    }
}

}  // namespace
}  // namespace spectra
