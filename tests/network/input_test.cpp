#include "network/input.hpp"

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
    EXPECT_EQ(in_quotes("a\nb\x1b[0m"), "'a?b?[0m'");
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
    expect_refused([&] { parse_json("[1,\n2", "f.json"); }, {"f.json", "ends too early"});
    expect_refused([&] { parse_json("", "f.json"); }, {"f.json", "ends too early"});
    expect_refused([&] { parse_json("[\xff]", "f.json"); }, {"f.json", "not JSON"});
    for (const char* bad :
         {"[1,\nNaN]", "[1,\nnan]", "[1,\nInfinity]", "[1,\n-Infinity]", "[1,\ninf]", "[1,\n-inf]"})
        expect_refused([&] { parse_json(bad, "f.json"); }, {"f.json", "line 2", "finite"});
    expect_refused([&] { parse_json("[1e999]", "f.json"); }, {"f.json", "finite"});
}

TEST(ParseJson, SurvivesDeepNesting) {
    expect_refused([&] { parse_json(std::string(300'000, '['), "f.json"); }, {"ends too early"});
    const std::string closed = std::string(300'000, '[') + std::string(300'000, ']');
    EXPECT_TRUE(parse_json(closed, "f.json").is_array());
}

}  // namespace
}  // namespace spectra
