#include "tasks/grid_rules.hpp"

#include "support/expect_refused.hpp"
#include "tasks/tasks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

/// The rules of generated puzzles against plain code of another kind, on drawn inputs.
namespace spectra::tasks {
namespace {

using Place = std::pair<int, int>;
using Cells = std::map<Place, int>;  // of a grid, by row and column

Cells cells_of(const Grid& g) {
    Cells out;
    for (int r = 0; r < g.rows; ++r)
        for (int c = 0; c < g.columns; ++c) out[{r, c}] = g.at(r, c);
    return out;
}

/// The recolouring taken back: outputs of different rules are then comparable with inputs.
Cells uncoloured(const GridRule& rule, const Grid& g) {
    std::map<int, int> back;
    for (int k = 0; k < 10; ++k) back[rule.recoloured[static_cast<std::size_t>(k)]] = k;
    auto out = cells_of(g);
    for (auto& [place, colour] : out) colour = back.at(colour);
    return out;
}

/// Where a cell goes: the seven turns written out.
Place turned_place(int turn, Place p, int rows, int columns) {
    const auto [r, c] = p;
    const int down = rows - 1, right = columns - 1;
    switch (turn) {
        case 1:
            return {r, right - c};
        case 2:
            return {down - r, c};
        case 3:
            return {down - r, right - c};
        case 4:
            return {c, r};
        case 5:
            return {c, down - r};
        case 6:
            return {right - c, r};
        default:
            return {right - c, down - r};
    }
}

Cells turned(const Cells& cells, int turn, const Grid& shape) {
    Cells out;
    for (const auto& [place, colour] : cells)
        out[turned_place(turn, place, static_cast<int>(shape.rows), static_cast<int>(shape.columns))] =
            colour;
    return out;
}

/// Moves single cells by one step until none can move.
Cells fallen(Cells cells, int edge) {
    const Place step = edge == 0   ? Place{1, 0}
                       : edge == 1 ? Place{-1, 0}
                       : edge == 2 ? Place{0, 1}
                                   : Place{0, -1};
    for (bool moved = true; moved;) {
        moved = false;
        for (auto& [place, colour] : cells) {
            const auto below = cells.find({place.first + step.first, place.second + step.second});
            if (colour == 0 || below == cells.end() || below->second != 0) continue;
            std::swap(colour, below->second);
            moved = true;
        }
    }
    return cells;
}

/// Spreads from every cell to its neighbours until nothing changes: the smallest number of a cell that each is joined to.
std::map<Place, int> labels(const Cells& cells, bool coloured) {
    std::map<Place, int> label;
    int next = 0;
    for (const auto& [place, colour] : cells)
        if ((colour != 0) == coloured) label[place] = next++;
    for (bool changed = true; changed;) {
        changed = false;
        for (auto& [place, number] : label)
            for (const auto& d : {Place{0, 1}, Place{1, 0}, Place{0, -1}, Place{-1, 0}})
                if (const auto other = label.find({place.first + d.first, place.second + d.second});
                    other != label.end() && other->second < number) {
                    number = other->second;
                    changed = true;
                }
    }
    return label;
}

Cells filled(const Cells& cells, int colour, const Grid& shape) {
    const auto label = labels(cells, false);
    std::set<int> open;
    for (const auto& [place, number] : label)
        if (place.first == 0 || place.second == 0 || place.first == shape.rows - 1 ||
            place.second == shape.columns - 1)
            open.insert(number);
    auto out = cells;
    for (const auto& [place, number] : label)
        if (!open.contains(number)) out[place] = colour;
    return out;
}

Cells largest(const Cells& cells) {
    const auto label = labels(cells, true);
    std::map<int, int> sizes;
    for (const auto& [place, number] : label) ++sizes[number];
    const auto most = std::max_element(sizes.begin(), sizes.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    auto out = cells;
    for (auto& [place, colour] : out)
        if (colour != 0 && label.at(place) != most->first) colour = 0;
    return out;
}

Cells expected(const GridRule& rule, const Grid& input) {
    const auto cells = cells_of(input);
    switch (rule.difficulty) {
        case 2:
            return turned(cells, rule.turn, input);
        case 3:
            return fallen(cells, rule.edge);
        case 4:
            return filled(cells, rule.fill, input);
        case 5:
            return turned(largest(cells), rule.turn, input);
        default:
            return cells;
    }
}

TEST(GridRules, DoWhatTheySay) {
    for (int difficulty = 1; difficulty <= difficulties; ++difficulty) {
        SCOPED_TRACE(rule_name(difficulty));
        int changed = 0, inputs = 0;
        for (std::uint32_t number = 0; number < 9; ++number) {
            const auto rule = drawn_rule(difficulty, 7, number);
            random::Stream stream(11, random::Purpose::test, 0, number);
            for (int k = 0; k < 40; ++k, ++inputs) {
                const auto input = drawn_input(difficulty, stream);
                const auto output = applied(rule, input);
                const auto want = expected(rule, input);
                ASSERT_EQ(uncoloured(rule, output), want);
                if (want != cells_of(input)) ++changed;
            }
        }
        // Else copying with other colours would do.
        EXPECT_GE(changed, difficulty == 1 ? 0 : difficulty == 4 ? inputs / 3 : 9 * inputs / 10);
    }
}

TEST(GridRules, RulesOfAPuzzleDiffer) {
    for (int difficulty = 1; difficulty <= difficulties; ++difficulty) {
        std::set<std::string> seen;
        for (std::uint32_t number = 0; number < 8; ++number) {
            const auto rule = drawn_rule(difficulty, 42, number);
            EXPECT_EQ(rule.recoloured[0], 0);
            auto sorted = rule.recoloured;
            std::sort(sorted.begin(), sorted.end());
            for (std::uint8_t k = 0; k < 10; ++k) EXPECT_EQ(sorted[k], k);
            seen.insert(std::string(rule.recoloured.begin(), rule.recoloured.end()));
        }
        EXPECT_EQ(seen.size(), 8U);
    }
}

TEST(GridRules, LargestObjectIsUnique) {
    random::Stream stream(3, random::Purpose::test);
    for (int k = 0; k < 200; ++k) {
        const auto label = labels(cells_of(drawn_input(5, stream)), true);
        std::map<int, int> sizes;
        for (const auto& [place, number] : label) ++sizes[number];
        std::vector<int> counts;
        for (const auto& [number, size] : sizes) counts.push_back(size);
        std::sort(counts.rbegin(), counts.rend());
        ASSERT_GE(counts.size(), 2U);
        EXPECT_GT(counts[0], counts[1]);
    }
}

TEST(GridRules, DependOnTheSeedOnly) {
    EXPECT_EQ(generated_puzzles(3, 1, 4, 9, 4), generated_puzzles(3, 1, 4, 9, 4));
    EXPECT_NE(generated_puzzles(3, 1, 4, 9, 4), generated_puzzles(3, 2, 4, 9, 4));
    // More pairs to learn from leave the others as they are.
    const auto few = generated_puzzles(5, 1, 4, 9, 4), many = generated_puzzles(5, 1, 4, 20, 4);
    for (std::size_t k = 0; k < 4; ++k) {
        EXPECT_EQ(few[k].test, many[k].test);
        EXPECT_TRUE(std::equal(few[k].train.begin(), few[k].train.end(), many[k].train.begin()));
    }
    EXPECT_EQ(few[0].train.size(), 3U);
    EXPECT_EQ(few[3].train.size(), 2U);
    EXPECT_NE(few[0].train.front().input, few[0].test.front().input);
    spectra::testing::expect_refused([] { generated_puzzles(6, 1, 1, 1, 1); }, {"`difficulty` 6", "1 to 5"});
}

TEST(Grid, IsPutOnACanvasWithItsEnd) {
    const Grid grid{2, 3, {1, 2, 3, 4, 0, 9}};
    EXPECT_EQ(canvas_tokens(grid, 4), (std::vector<std::int64_t>{3, 4, 5, 1,   //
                                                                 6, 2, 11, 1,  //
                                                                 1, 1, 1, 0,   //
                                                                 0, 0, 0, 0}));
    EXPECT_EQ(canvas_tokens(grid, 3), (std::vector<std::int64_t>{3, 4, 5, 6, 2, 11, 1, 1, 1}));
}

TEST(Grid, DatasetTakesPuzzlesInTurn) {
    const Grid a{1, 1, {1}}, b{2, 1, {2, 3}}, c{1, 2, {4, 5}};
    const std::vector<Puzzle> puzzles{{"one", {{a, b}, {b, c}}, {{a, a}}}, {"two", {{c, a}}, {{b, b}}}};
    const auto data = grid_dataset(puzzles, {});
    EXPECT_EQ(data.puzzles, 2);
    EXPECT_EQ(data.dimension, 14);
    EXPECT_EQ(data.steps, 10);  // a canvas of 3×3 and the puzzle
    ASSERT_EQ(data.train.count, 3);
    const auto& x = data.train.tokens_x;
    EXPECT_EQ((std::vector{x[0], x[10], x[20]}), (std::vector<std::int64_t>{12, 13, 12}));
    const auto canvas = canvas_tokens(c, 3);
    EXPECT_TRUE(std::equal(canvas.begin(), canvas.end(), x.begin() + 11));
    const auto no = not_scored;
    const auto& y = data.train.tokens_y;
    EXPECT_EQ(std::vector(y.begin() + 10, y.begin() + 20),
              (std::vector<std::int64_t>{no, 3, 1, no, 1, no, no, no, no, no}));
    tasks::TaskOptions options;
    options.samples = 1;
    EXPECT_EQ(grid_dataset(puzzles, options).train.count, 1);
    EXPECT_EQ(grid_dataset(puzzles, options).validation.count, 2);
}

TEST(Grid, TaskHasEightPuzzles) {
    tasks::TaskOptions options;
    options.difficulty = 4;
    options.samples = 100;
    const auto data = make_dataset("grid", options);
    EXPECT_EQ(data.puzzles, 8);
    EXPECT_EQ(data.steps, 65);
    EXPECT_EQ(data.train.count, 100);
    EXPECT_EQ(data.validation.count, 256);
    options.difficulty = 0;
    spectra::testing::expect_refused([&] { make_dataset("grid", options); }, {"`difficulty` 0"});
}

}  // namespace
}  // namespace spectra::tasks
