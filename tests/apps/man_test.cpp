#include "console/man_page.hpp"
#include "support/needs_program.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

/// The manual page against the pages of --help-all, and those of --help of each command, all read as text.
namespace spectra {
namespace {

using Words = std::vector<std::string>;
/// Section, and what is in it, every entry without blanks: lines are broken differently.
using Sections = std::map<std::string, std::vector<std::string>>;

std::string run(const Words& words) {
    static const testing::TemporaryFolder folder;
    Words all{SPECTRA_BINARY};
    all.insert(all.end(), words.begin(), words.end());
    const auto result = testing::run_process(all, {.folder = folder.path()});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_TRUE(result.err.empty()) << result.err;
    return result.out;
}

Words lines_of(const std::string& text) {
    Words lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

std::string without_blanks(std::string text) {
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
    return text;
}

std::string capitals(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return text;
}

/// "Network:" begins a section, two blanks an entry, more go on with it.
Sections help_sections(const Words& command) {
    Words words = command;
    words.push_back(command.empty() ? "--help-all" : "--help");
    Sections sections;
    std::string section;
    for (const auto& line : lines_of(run(words))) {
        if (!line.empty() && line.front() != ' ') {
            section = line.ends_with(':') ? line.substr(0, line.size() - 1) : "";
        } else if (!section.empty() && !line.empty()) {
            auto& entries = sections[section];
            if (line[2] != ' ') entries.emplace_back();
            entries.back() += without_blanks(line);
        }
    }
    return sections;
}

/// In UTF-8.
std::string character(unsigned point) {
    std::string bytes;
    const auto add = [&](unsigned byte) { bytes += static_cast<char>(static_cast<unsigned char>(byte)); };
    if (point < 0x80U) {
        add(point);
    } else if (point < 0x800U) {
        add(0xC0U | point >> 6U);
        add(0x80U | (point & 0x3FU));
    } else if (point < 0x10000U) {
        add(0xE0U | point >> 12U);
        add(0x80U | (point >> 6U & 0x3FU));
        add(0x80U | (point & 0x3FU));
    } else {
        add(0xF0U | point >> 18U);
        add(0x80U | (point >> 12U & 0x3FU));
        add(0x80U | (point >> 6U & 0x3FU));
        add(0x80U | (point & 0x3FU));
    }
    return bytes;
}

/// What a line of roff looks like on paper; any escape that is not known here is a failure.
std::string printed(const std::string& roff) {
    static const std::map<std::string, std::string> escapes{
        {"\\e", "\\"},  {"\\-", "-"},   {"\\&", ""},    {"\\:", ""},    {"\\ ", " "},
        {"\\fB", ""},   {"\\fI", ""},   {"\\fP", ""},   {"\\(aq", "'"}, {"\\(dq", "\""},
        {"\\(ga", "`"}, {"\\(ha", "^"}, {"\\(ti", "~"},
    };
    std::string text;
    for (std::size_t at = 0; at < roff.size();) {
        if (roff[at] != '\\') {
            EXPECT_LT(static_cast<unsigned char>(roff[at]), 0x80U) << "not ASCII: " << roff;
            text += roff[at++];
            continue;
        }
        if (roff.compare(at, 3, "\\[u") == 0) {
            const auto end = roff.find(']', at);
            const std::string digits = roff.substr(at + 3, end - at - 3);
            EXPECT_GE(digits.size(), 4U) << roff;
            text += character(static_cast<unsigned>(std::stoul(digits, nullptr, 16)));
            at = end + 1;
            continue;
        }
        const auto known = std::find_if(escapes.begin(), escapes.end(), [&](const auto& escape) {
            return roff.compare(at, escape.first.size(), escape.first) == 0;
        });
        if (known == escapes.end()) {
            ADD_FAILURE() << "unknown escape at " << at << ": " << roff;
            return text;
        }
        text += known->second;
        at += known->first.size();
    }
    return text;
}

std::string macro_of(const std::string& line) {
    return line.starts_with('.') ? line.substr(1, line.find(' ') - 1) : "";
}

/// "OPTIONS/Network": the entries of .TP, name and text together.
Sections man_sections(const std::string& page) {
    Sections sections;
    std::string section, group;
    bool in_entry = false;
    const auto title = [](const std::string& line) {
        const auto begin = line.find('"') + 1;
        return printed(line.substr(begin, line.rfind('"') - begin));
    };
    for (const auto& line : lines_of(page)) {
        const auto macro = macro_of(line);
        auto& entries = sections[section + (group.empty() ? "" : "/" + group)];
        if (macro == "TP") {
            entries.emplace_back();
            in_entry = true;
        } else if (macro.empty()) {
            if (in_entry) entries.back() += without_blanks(printed(line));
        } else {
            in_entry = false;
            if (macro == "SS") group = title(line);
            if (macro == "SH") {
                section = title(line);
                group.clear();
            }
        }
    }
    return sections;
}

Words commands() {
    Words names;
    const auto lines = lines_of(run({"--help-all"}));
    const auto heading = std::find(lines.begin(), lines.end(), "Commands:");
    for (auto line = heading; line != lines.end() && !line->empty(); ++line)
        if (line->starts_with("  ") && (*line)[2] != ' ')
            names.push_back(line->substr(2, line->find(' ', 2) - 2));
    return names;
}

void expect_same_options(const Sections& help, const Sections& man, const std::string& man_section) {
    for (const auto& [name, entries] : help) {
        if (name == "Commands" || name == "Examples" || name == "Exit status") continue;
        SCOPED_TRACE(name);
        const auto found = man.find(man_section + "/" + name);
        ASSERT_NE(found, man.end());
        EXPECT_EQ(found->second, entries);
    }
}

TEST(Man, HasEveryOptionOfHelpWithItsDefault) {
    const auto help = help_sections({});
    const auto man = man_sections(run({"man"}));
    EXPECT_GT(help.size(), 8U);
    ASSERT_TRUE(help.contains("Network"));
    const auto& network = help.at("Network");
    EXPECT_NE(std::find(network.begin(), network.end(), "--depthLlayers,1to1000000[default:10]"),
              network.end());
    expect_same_options(help, man, "OPTIONS");
    for (const char* name : {"Commands", "Examples", "Exit status"}) {
        ASSERT_TRUE(help.contains(name) && man.contains(capitals(name))) << name;
        EXPECT_EQ(man.at(capitals(name)), help.at(name));
    }
}

TEST(Man, HasEveryOptionOfEveryCommand) {
    const auto names = commands();
    EXPECT_GE(names.size(), 9U);
    const auto all = man_sections(run({"man"}));
    for (const auto& name : names) {
        SCOPED_TRACE(name);
        const auto help = help_sections({name});
        EXPECT_TRUE(help.contains("About"));
        expect_same_options(help, all, "SPECTRA " + capitals(name));
        const auto own = man_sections(run({"man", name}));
        expect_same_options(help, own, "OPTIONS");
        if (help.contains("Examples")) {
            ASSERT_TRUE(own.contains("EXAMPLES"));
            EXPECT_EQ(own.at("EXAMPLES"), help.at("Examples"));
        }
    }
}

TEST(Man, IsMadeOfKnownMacros) {
    const std::set<std::string> known{"TH", "SH", "SS", "TP", "PP", "br", "nh", "ad"};
    Words pages{""};
    for (const auto& name : commands()) pages.push_back(name);
    for (const auto& page : pages) {
        SCOPED_TRACE("man " + page);
        const auto lines = lines_of(run(page.empty() ? Words{"man"} : Words{"man", page}));
        ASSERT_GT(lines.size(), 20U);
        EXPECT_TRUE(lines[1].starts_with(".TH \"SPECTRA")) << lines[1];
        std::vector<std::string> sections;
        for (const auto& line : lines) {
            EXPECT_FALSE(line.empty() || line.front() == ' ' || line.front() == '\'') << line;
            if (line.starts_with(".\\\"")) continue;
            const auto macro = macro_of(line);
            if (line.front() == '.') {
                EXPECT_TRUE(known.contains(macro)) << line;
            }
            if (macro == "SH") sections.push_back(printed(line.substr(4)));
            printed(line);
        }
        for (const char* name :
             {"\"NAME\"", "\"SYNOPSIS\"", "\"OPTIONS\"", "\"EXIT STATUS\"", "\"SEE ALSO\""})
            EXPECT_EQ(std::count(sections.begin(), sections.end(), name), 1) << name;
    }
}

TEST(Man, EscapesWhatRoffWouldRead) {
    EXPECT_EQ(console::roff_text(".TH is no macro here"), "\\&.TH is no macro here");
    EXPECT_EQ(console::roff_text("'x"), "\\(aqx");
    EXPECT_EQ(console::roff_text("a\\b --c \"d\" `e` x^2 ~f"),
              "a\\eb \\-\\-c \\(dqd\\(dq \\(gae\\(ga x\\(ha2 \\(tif");
    EXPECT_EQ(console::roff_text("two\n.lines"), "two .lines");
    EXPECT_EQ(console::roff_text("σ² … 𝔼 no\u00A0break"), "\\[u03C3]\\[u00B2] \\[u2026] \\[u1D53C] no\\ break");
    EXPECT_EQ(console::roff_text("a,b|c"), "a,b|c");
    const std::string list = "identity,bistochastic,orthogonal,cayley-hybrid";
    EXPECT_EQ(console::roff_text(list), "identity,\\:bistochastic,\\:orthogonal,\\:cayley\\-hybrid");
    for (const std::string text : {".a", "'a", "\\a", "σ_w²·Eφ'²", "NAME>=X,…", "a\"b\"", list.c_str()})
        EXPECT_EQ(printed(console::roff_text(text)), text);
}

TEST(Man, RefusesUnknownCommands) {
    const testing::TemporaryFolder folder;
    const auto result = testing::run_process({SPECTRA_BINARY, "man", "trian"}, {.folder = folder.path()});
    EXPECT_EQ(result.status, 2);
    EXPECT_NE(result.err.find("did you mean 'train'?"), std::string::npos) << result.err;
}

/// Not the lines alone, but what groff makes of them.
TEST(Man, RendersWithoutWarnings) {
    SPECTRA_NEEDS_PROGRAM("groff");
    const testing::TemporaryFolder folder;
    const auto shell = [&](const std::string& script) {
        return testing::run_process({"sh", "-c", script}, {.folder = folder.path()});
    };
    folder.write("spectra.1", run({"man"}));
    const auto page = shell("groff -man -Tutf8 -ww -P-c spectra.1");
    EXPECT_EQ(page.status, 0);
    EXPECT_EQ(page.err, "");
    EXPECT_NE(page.out.find("layers, 1 to 1000000 [default: 10]"), std::string::npos);
}

TEST(Help, IsAtMostHundredColumnsWide) {
    for (const auto& name : commands())
        for (const auto& line : lines_of(run({name, "--help"})))
            EXPECT_LE(std::count_if(line.begin(), line.end(),
                                    [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }),
                      100)
                << name << ": " << line;
}

}  // namespace
}  // namespace spectra
