#include "tasks/arc_file.hpp"

#include "support/expect_refused.hpp"
#include "support/temporary_folder.hpp"
#include "tasks/baselines.hpp"
#include "tasks/grid_rules.hpp"
#include "tasks/tasks.hpp"

#include <gtest/gtest.h>

#include <string>

namespace spectra::tasks {
namespace {

using spectra::testing::expect_refused;
using spectra::testing::TemporaryFolder;

const std::string one_pair = R"([{"input": [[0, 1, 2]], "output": [[3], [4]]}])";

std::string puzzle(const std::string& train, const std::string& test) {
    return R"({"train": )" + train + R"(, "test": )" + test + "}";
}

TEST(ArcFile, ReadsAPuzzle) {
    const TemporaryFolder folder;
    const auto read = read_puzzles(folder.write("a1b2.json", puzzle(one_pair, one_pair)));
    ASSERT_EQ(read.size(), 1U);
    EXPECT_EQ(read[0].name, "a1b2");
    const GridPair pair{{1, 3, {0, 1, 2}}, {2, 1, {3, 4}}};
    EXPECT_EQ(read[0].train, std::vector{pair});
    EXPECT_EQ(read[0].test, std::vector{pair});
}

// What is generated is read back, one file per puzzle.
TEST(ArcFile, ReadsWhatItWrites) {
    const TemporaryFolder folder;
    auto puzzles = generated_puzzles(5, 42, 3, 7, 4);
    for (const auto& p : puzzles) folder.write(p.name + ".json", puzzle_text(p));
    folder.write("notes.txt", "not a puzzle");
    EXPECT_EQ(read_puzzles(folder.path()), puzzles);

    tasks::TaskOptions options;
    options.grids = folder.path().string();
    const auto data = make_dataset("arc", options);
    const auto same = grid_dataset(puzzles, {});
    EXPECT_EQ(data.train.tokens_x, same.train.tokens_x);
    EXPECT_EQ(data.validation.tokens_y, same.validation.tokens_y);
    EXPECT_EQ(data.puzzles, 3);
}

TEST(ArcFile, ReadsChallengesWithTheirSolutions) {
    const TemporaryFolder folder;
    const auto challenges =
        folder.write("arc_challenges.json",
                     R"({"x": )" + puzzle(one_pair, R"([{"input": [[5]]}, {"input": [[6]]}])") + "}");
    expect_refused([&] { read_puzzles(challenges); }, {"puzzle 'x'", "test pair 1", "no \"output\""});
    folder.write("arc_solutions.json", R"({"x": [[[7]], [[8, 9]]]})");
    const auto read = read_puzzles(challenges);
    ASSERT_EQ(read.size(), 1U);
    EXPECT_EQ(read[0].name, "x");
    EXPECT_EQ(read[0].test,
              (std::vector<GridPair>{{{1, 1, {5}}, {1, 1, {7}}}, {{1, 1, {6}}, {1, 2, {8, 9}}}}));
    folder.write("arc_solutions.json", R"({"x": [[[7]]]})");
    expect_refused([&] { read_puzzles(challenges); }, {"test pair 2", "no solution"});
}

TEST(ArcFile, RefusesWhatIsNoPuzzle) {
    const TemporaryFolder folder;
    const auto refused = [&](const std::string& text, const std::vector<std::string>& words) {
        const auto path = folder.write("bad.json", text);
        SCOPED_TRACE(text.substr(0, 100));
        auto all = words;
        all.push_back("bad.json");
        expect_refused([&] { read_puzzles(path); }, all);
    };
    const auto with_input = [&](const std::string& grid) {
        return puzzle(R"([{"input": )" + grid + R"(, "output": [[1]]}])", one_pair);
    };
    std::string long_row = "[0", many_rows = "[[0]";
    for (int k = 0; k < 30; ++k) long_row += ",0", many_rows += ",[0]";
    long_row += "]", many_rows += "]";
    refused("{\"train\": [", {});
    refused("[]", {"must be a JSON object"});
    refused("{}", {"has no puzzles"});
    refused(R"({"train": )" + one_pair + "}", {"no \"test\""});
    refused(puzzle("[]", one_pair), {"\"train\"", "at least one pair"});
    refused(puzzle("[3]", one_pair), {"train pair 1", "must be an object"});
    refused(puzzle(R"([{"output": [[1]]}])", one_pair), {"train pair 1", "no \"input\""});
    refused(puzzle(one_pair, R"([{"input": [[1]]}])"), {"test pair 1", "no \"output\""});
    refused(with_input("3"), {"train pair 1, input", "array of rows"});
    refused(with_input("[]"), {"train pair 1, input", "0 rows", "1 to 30"});
    refused(with_input("[[]]"), {"input, row 1", "0 columns"});
    refused(with_input("[[0, 1], [2]]"), {"input, row 2", "1 columns", "first has 2"});
    refused(with_input("[" + long_row + "]"), {"row 1", "31 columns"});
    refused(with_input(many_rows), {"input", "31 rows"});
    refused(with_input("[[10]]"), {"row 1", "'10'", "0 to 9"});
    refused(with_input("[[-1]]"), {"'-1'"});
    refused(with_input("[[1.5]]"), {"'1.5'"});
    refused(with_input("[[\"1\"]]"), {"must be a colour"});
    refused(with_input("[[null]]"), {"must be a colour"});
    refused(R"({"x": 3})", {"puzzle 'x'", "must be an object"});
    expect_refused([&] { read_puzzles(folder.path() / "none.json"); }, {"none.json"});
    expect_refused([&] { make_dataset("arc", {}); }, {"requires"});
    const TemporaryFolder empty;
    expect_refused([&] { read_puzzles(empty.path()); }, {"has no puzzles"});
}

TEST(GridBaselines, CopyAndTheMostFrequentToken) {
    const Grid a{1, 2, {1, 2}}, b{1, 2, {1, 3}};
    // Training targets: 3 end tokens for every two colours.
    const auto data = grid_dataset({{"p", {{a, a}}, {{a, a}, {a, b}}}}, {});
    const auto found = baselines(data);
    ASSERT_TRUE(found.copy_cells);
    EXPECT_DOUBLE_EQ(*found.copy_exact, 0.5);
    EXPECT_DOUBLE_EQ(*found.copy_cells, (1 + 4.0 / 5) / 2);
    EXPECT_DOUBLE_EQ(*found.frequent_cells, 3.0 / 5);
    EXPECT_FALSE(baselines(make_dataset("copy", {})).copy_cells);
}

}  // namespace
}  // namespace spectra::tasks
