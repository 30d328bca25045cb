#include "base/text.hpp"

#include "support/expect_refused.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace spectra {
namespace {

using testing::expect_refused;
using testing::TemporaryFolder;

TEST(ParseNumber, ReadsNumbersWhole) {
    EXPECT_EQ(parse_number("0.25"), 0.25);
    EXPECT_EQ(parse_number("+1e-3"), 1e-3);
    EXPECT_EQ(parse_number("-.5"), -0.5);
    EXPECT_EQ(parse_number("5."), 5.0);
    for (const char* bad : {"", "+", "-", "1,5", "0x10", "1 ", " 1", "1e", "++1", "+-1", "one", "1.2.3"})
        EXPECT_FALSE(parse_number(bad)) << bad;
}

TEST(ParseNumber, LeavesTheRangeAtTheRightEnd) {
    EXPECT_EQ(parse_number("1e999"), HUGE_VAL);
    EXPECT_EQ(parse_number("-1e999"), -HUGE_VAL);
    EXPECT_EQ(parse_number("1e-999"), 0.0);
    EXPECT_EQ(parse_number(std::string(400, '9')), HUGE_VAL);
    EXPECT_EQ(parse_number("0." + std::string(400, '0') + "1"), 0.0);
    EXPECT_TRUE(std::isnan(parse_number("nan").value()));
    EXPECT_EQ(parse_number("inf"), HUGE_VAL);
}

TEST(InQuotes, IsFitForOneLine) {
    EXPECT_EQ(in_quotes("a\nb\x1b[0m"), "'a\\u000ab\\u001b[0m'");
    const std::string cut = in_quotes(std::string(119, 'a') + "é" + std::string(1000, 'b'));
    EXPECT_EQ(cut, "'" + std::string(119, 'a') + "…'");
}

TEST(ReadText, RefusesWhatIsNoFile) {
    const TemporaryFolder folder;
    expect_refused([&] { read_text(folder.path() / "none"); }, {"none", "no such file"});
    expect_refused([&] { read_text(folder.path()); }, {folder.path().string(), "folder"});
    EXPECT_EQ(read_text(folder.write("bom", "\xEF\xBB\xBFtext")), "text");
    EXPECT_EQ(read_text(folder.write("empty", "")), "");
}

TEST(ParseJson, SaysWhereItIsWrong) {
    EXPECT_EQ(parse_json("[1, 2]", "f").size(), 2U);
    expect_refused([&] { parse_json("[1,\n2,\nx]", "f.json"); }, {"f.json", "line 3", "x"});
    expect_refused([&] { parse_json("[1,\n2", "f.json"); }, {"f.json", "unexpected end"});
    expect_refused([&] { parse_json("", "f.json"); }, {"f.json", "unexpected end"});
    expect_refused([&] { parse_json("[\xff]", "f.json"); }, {"f.json", "not JSON"});
    for (const char* bad :
         {"[1,\nNaN]", "[1,\nnan]", "[1,\nInfinity]", "[1,\n-Infinity]", "[1,\ninf]", "[1,\n-inf]"})
        expect_refused([&] { parse_json(bad, "f.json"); }, {"f.json", "line 2", "finite"});
    expect_refused([&] { parse_json("[1e999]", "f.json"); }, {"f.json", "finite"});
}

TEST(Printable, ShowsWhatATerminalWouldObey) {
    EXPECT_EQ(printable("plain text, naïve, 漢字, ⊗ and 🙂"), "plain text, naïve, 漢字, ⊗ and 🙂");
    EXPECT_EQ(printable("\x1b]0;title\x07"), "\\u001b]0;title\\u0007");
    EXPECT_EQ(printable("a\nb\tc\r"), "a\\u000ab\\u0009c\\u000d");
    EXPECT_EQ(printable("a\nb\tc\r", Lines::keep), "a\nb\tc\\u000d");
    EXPECT_EQ(printable("\u0085\u009b31m"), "\\u0085\\u009b31m") << "C1 controls";
    EXPECT_EQ(printable("\x7f"), "\\u007f");
    EXPECT_EQ(printable("\u202etxt.exe\u2066\u200b\ufeff"), "\\u202etxt.exe\\u2066\\u200b\\ufeff");
    EXPECT_EQ(printable("\U000E0041"), "\\udb40\\udc41") << "tags, as JSON writes them";
    EXPECT_EQ(printable(std::string_view("\0", 1)), "\\u0000");
}

TEST(Printable, ReplacesWhatIsNotUtf8) {
    for (const std::string bad : {"\x9b", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff", "\xe2\x80"}) {
        const auto shown = printable("<" + bad + ">");
        EXPECT_EQ(shown.find_first_of(bad == "\xe2\x80" ? "\x80" : bad.substr(0, 1)) == std::string::npos ||
                      shown.find("\uFFFD") != std::string::npos,
                  true);
        EXPECT_TRUE(shown.starts_with("<\uFFFD") && shown.ends_with(">")) << shown;
    }
}

TEST(Printable, LeavesJsonTheSameJson) {
    const nlohmann::json object{{"key \u202e", "value \u009b and \x1b"}};
    EXPECT_EQ(nlohmann::json::parse(printable(object.dump(2), Lines::keep)), object);
}

TEST(ParseJson, RefusesDuplicateKeys) {
    expect_refused([] { parse_json(R"({"a": 1, "a": 2})", "f.json"); }, {"f.json: duplicate key 'a'"});
    expect_refused([] { parse_json(R"([{"b": {"a": 1, "c": [], "a": {}}}])", "f.json"); }, {"duplicate key 'a'"});
    EXPECT_NO_THROW(parse_json(R"({"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]})", "f.json"));
}

TEST(ParseJson, RefusesMoreThanItsPurposeNeeds) {
    std::string many = "[0";
    for (std::size_t k = 0; k < most_json_values; ++k) many += ",0";
    expect_refused([&] { parse_json(many + "]", "f.json"); }, {"f.json: has more than 4194304 values"});
    expect_refused([] { parse_json(std::string(300'000, '['), "f.json"); }, {"nests more than 64 levels"});
    const std::string deep(100, '['), end(100, ']');
    expect_refused([&] { parse_json(deep + end, "f.json"); }, {"nests more than 64 levels"});
    EXPECT_NO_THROW(parse_json(deep.substr(40) + end.substr(40), "f.json"));
}

}  // namespace
}  // namespace spectra
