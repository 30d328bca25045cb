#include "base/toml.hpp"

#include "support/expect_refused.hpp"

#include <gtest/gtest.h>

namespace spectra {
namespace {

using testing::expect_refused;
using Kind = TomlEntry::Kind;
using Words = std::vector<std::string>;

void refused(const std::string& text, Words words) {
    words.insert(words.begin(), "f.toml: line ");
    expect_refused([&] { parse_toml(text, "f.toml"); }, words);
}

TEST(Toml, ReadsTablesKeysAndValues) {
    const auto entries = parse_toml("# a run\n"
                                    "mixer = \"cayley\"   # a family\n"
                                    "depth=10\r\n"
                                    "\"noise\" = 5e-2\n"
                                    "sensitivity = true\n\n"
                                    "[sweep]\n"
                                    "mixers = [ \"cayley\", 'identity',\n  # one more\n ]\n"
                                    "depths = [1_0, 50]",
                                    "f.toml");
    ASSERT_EQ(entries.size(), 6u);
    const auto expect = [&](std::size_t k, const char* table, const char* key, Kind kind, const Words& values,
                            std::size_t line) {
        EXPECT_EQ(entries[k].table, table);
        EXPECT_EQ(entries[k].key, key);
        EXPECT_EQ(entries[k].kind, kind);
        EXPECT_EQ(entries[k].values, values);
        EXPECT_EQ(entries[k].line, line);
    };
    expect(0, "", "mixer", Kind::text, {"cayley"}, 2);
    expect(1, "", "depth", Kind::number, {"10"}, 3);
    expect(2, "", "noise", Kind::number, {"5e-2"}, 4);
    expect(3, "", "sensitivity", Kind::truth, {"true"}, 5);
    expect(4, "sweep", "mixers", Kind::list, {"cayley", "identity"}, 8);
    expect(5, "sweep", "depths", Kind::list, {"10", "50"}, 11);
}

TEST(Toml, TextsHaveEscapesInDoubleQuotesOnly) {
    const auto entries = parse_toml(R"(a = "tab\t \"q\" \\ \u00e9 \U0001F600 # no comment")"
                                    "\n"
                                    R"(b = 'C:\new')",
                                    "f");
    EXPECT_EQ(entries[0].values[0], "tab\t \"q\" \\ \xC3\xA9 \xF0\x9F\x98\x80 # no comment");
    EXPECT_EQ(entries[1].values[0], "C:\\new");
}

TEST(Toml, WhatIsWrittenIsReadBack) {
    for (const std::string text : {"", "a b", "quote \" and \\", "line\nbreak\x01\x7F", "σ² = 0.1"})
        EXPECT_EQ(parse_toml("k = " + toml_text(text), "f")[0].values[0], text);
}

TEST(Toml, RefusesTheRestByLine) {
    refused("a = 1\nb = cayley\n", {"line 2", "'cayley'", "quotes"});
    refused("a = 1 2\n", {"line 1", "'2'", "end of the line"});
    refused("a = 1\na = 2\n", {"duplicate key 'a'"});
    refused("[t]\n[t]\n", {"line 2", "duplicate table 't'"});
    refused("a.b = 1\n", {"dotted keys"});
    refused("[[t]]\n", {"arrays of tables"});
    refused("a = \"x\n", {"no closing quote"});
    refused("a = \"\\q\"\n", {"unknown escape"});
    refused("a = \"\\ud800\"\n", {"unknown escape"});
    refused("a = \"\"\"x\"\"\"\n", {"several lines"});
    refused("a = [1, true]\n", {"a list holds"});
    refused("a = [1 2]\n", {"expected ',' or ']'"});
    refused("a = [1,", {"is not a value"});
    refused("a = {b = 1}\n", {"is not a value"});
    refused("a = 2020-01-01\n", {"is not a value"});
    refused("= 1\n", {"expected a key"});
    refused("a\n", {"expected '='"});
    refused("[t\n", {"expected ']'"});
}

}  // namespace
}  // namespace spectra
