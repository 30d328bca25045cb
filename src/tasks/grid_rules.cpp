#include "tasks/grid_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace spectra::tasks {

namespace {

using Cell = std::pair<std::int64_t, std::int64_t>;

/// 0 to count − 1.
std::int64_t whole(random::Stream& stream, std::int64_t count) {
    return static_cast<std::int64_t>(stream.uniform() * static_cast<double>(count));
}

std::uint8_t drawn_colour(random::Stream& stream) {
    return static_cast<std::uint8_t>(1 + whole(stream, colours - 1));
}

Grid transposed(const Grid& g) {
    auto out = plain_grid(g.columns, g.rows);
    for (std::int64_t row = 0; row < g.rows; ++row)
        for (std::int64_t column = 0; column < g.columns; ++column) out.at(column, row) = g.at(row, column);
    return out;
}

Grid turned(const Grid& g, int turn) {
    const auto from = (turn & 4) != 0 ? transposed(g) : g;
    auto out = from;
    for (std::int64_t row = 0; row < from.rows; ++row)
        for (std::int64_t column = 0; column < from.columns; ++column)
            out.at((turn & 2) != 0 ? from.rows - 1 - row : row,
                   (turn & 1) != 0 ? from.columns - 1 - column : column) = from.at(row, column);
    return out;
}

Grid fallen_down(const Grid& g) {
    auto out = plain_grid(g.rows, g.columns);
    for (std::int64_t column = 0; column < g.columns; ++column) {
        auto lowest = g.rows;
        for (auto row = g.rows - 1; row >= 0; --row)
            if (g.at(row, column) != 0) out.at(--lowest, column) = g.at(row, column);
    }
    return out;
}

Grid fallen(const Grid& g, int edge) {
    constexpr int rows = 2, transpose = 4, columns = 1;
    if (edge == 0) return fallen_down(g);
    if (edge == 1) return turned(fallen_down(turned(g, rows)), rows);
    if (edge == 2) return turned(fallen_down(turned(g, transpose)), transpose);
    return turned(fallen(turned(g, columns), 2), columns);
}

/// The cells that touch `from` along their sides, directly or through others, of those that are `wanted`.
template <class Wanted>
std::vector<Cell> region(const Grid& g, Cell from, Wanted wanted) {
    std::vector<Cell> found{from};
    auto seen = plain_grid(g.rows, g.columns);
    seen.at(from.first, from.second) = 1;
    for (std::size_t k = 0; k < found.size(); ++k) {
        const auto [row, column] = found[k];
        for (const auto& [r, c] :
             {Cell{row - 1, column}, {row + 1, column}, {row, column - 1}, {row, column + 1}}) {
            if (r < 0 || r >= g.rows || c < 0 || c >= g.columns || seen.at(r, c) != 0 || !wanted(g.at(r, c)))
                continue;
            seen.at(r, c) = 1;
            found.emplace_back(r, c);
        }
    }
    return found;
}

Grid filled(const Grid& g, std::uint8_t colour) {
    const auto background = [](std::uint8_t cell) { return cell == 0; };
    auto out = g;
    for (std::int64_t row = 0; row < g.rows; ++row)
        for (std::int64_t column = 0; column < g.columns; ++column) {
            if (g.at(row, column) != 0) continue;
            const auto cells = region(g, {row, column}, background);
            const bool open = std::any_of(cells.begin(), cells.end(), [&](const Cell& c) {
                return c.first == 0 || c.second == 0 || c.first == g.rows - 1 || c.second == g.columns - 1;
            });
            if (!open) out.at(row, column) = colour;
        }
    return out;
}

/// The objects, those with most cells first.
std::vector<std::vector<Cell>> objects(const Grid& g) {
    const auto coloured = [](std::uint8_t cell) { return cell != 0; };
    std::vector<std::vector<Cell>> all;
    auto seen = plain_grid(g.rows, g.columns);
    for (std::int64_t row = 0; row < g.rows; ++row)
        for (std::int64_t column = 0; column < g.columns; ++column) {
            if (g.at(row, column) == 0 || seen.at(row, column) != 0) continue;
            all.push_back(region(g, {row, column}, coloured));
            for (const auto& [r, c] : all.back()) seen.at(r, c) = 1;
        }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.size() > b.size(); });
    return all;
}

Grid largest_alone(const Grid& g) {
    auto out = plain_grid(g.rows, g.columns);
    if (const auto all = objects(g); !all.empty())
        for (const auto& [row, column] : all.front()) out.at(row, column) = g.at(row, column);
    return out;
}

void draw_outline(Grid& g, random::Stream& stream) {
    const auto height = 3 + whole(stream, g.rows - 2), width = 3 + whole(stream, g.columns - 2);
    const auto top = whole(stream, g.rows - height + 1), left = whole(stream, g.columns - width + 1);
    const auto colour = drawn_colour(stream);
    std::vector<Cell> edge;
    for (std::int64_t row = top; row < top + height; ++row)
        for (std::int64_t column = left; column < left + width; ++column)
            if (row == top || row == top + height - 1 || column == left || column == left + width - 1)
                edge.emplace_back(row, column);
    const bool gap = whole(stream, 3) == 0;
    const auto open = static_cast<std::size_t>(whole(stream, static_cast<std::int64_t>(edge.size())));
    for (std::size_t k = 0; k < edge.size(); ++k)
        g.at(edge[k].first, edge[k].second) = gap && k == open ? std::uint8_t{0} : colour;
}

void scatter(Grid& g, random::Stream& stream, double share) {
    for (auto& cell : g.cells) cell = stream.uniform() < share ? drawn_colour(stream) : std::uint8_t{0};
}

}  // namespace

const char* rule_name(int difficulty) {
    constexpr std::array names{"recolour", "turn", "fall", "fill", "largest"};
    return names.at(static_cast<std::size_t>(difficulty - 1));
}

Grid applied(const GridRule& rule, const Grid& input) {
    auto out = rule.difficulty == 2   ? turned(input, rule.turn)
               : rule.difficulty == 3 ? fallen(input, rule.edge)
               : rule.difficulty == 4 ? filled(input, rule.fill)
               : rule.difficulty == 5 ? turned(largest_alone(input), rule.turn)
                                      : input;
    for (auto& cell : out.cells) cell = rule.recoloured.at(cell);
    return out;
}

GridRule drawn_rule(int difficulty, std::uint64_t seed, std::uint32_t number) {
    constexpr std::uint32_t layer = 3;  // of Purpose::batch: 0 to 2 belong to trainings
    random::Stream stream(seed, random::Purpose::batch, layer, number);
    GridRule rule;
    rule.difficulty = difficulty;
    rule.turn = 1 + static_cast<int>(number % 7);
    rule.edge = static_cast<int>(number % 4);
    rule.fill = static_cast<std::uint8_t>(1 + number % (colours - 1));
    auto& to = rule.recoloured;
    for (std::size_t k = 0; k < to.size(); ++k) to[k] = static_cast<std::uint8_t>(k);
    for (std::size_t k = to.size() - 1; k > 1; --k)
        std::swap(to[k], to[1 + static_cast<std::size_t>(whole(stream, static_cast<std::int64_t>(k)))]);
    return rule;
}

Grid drawn_input(int difficulty, random::Stream& stream) {
    constexpr std::int64_t smallest = 4, sizes = 4;
    const auto rows = smallest + whole(stream, sizes), columns = smallest + whole(stream, sizes);
    auto g = plain_grid(rows, columns);
    if (difficulty <= 3) {
        scatter(g, stream, 0.5);
    } else if (difficulty == 4) {
        const auto outlines = 1 + whole(stream, 2);
        for (std::int64_t k = 0; k < outlines; ++k) draw_outline(g, stream);
    } else {
        for (bool clear = false; !clear;) {
            scatter(g, stream, 0.45);
            const auto all = objects(g);
            clear = all.size() > 1 && all[0].size() > all[1].size();
        }
    }
    return g;
}

std::vector<Puzzle> generated_puzzles(int difficulty, std::uint64_t seed, int puzzles, std::int64_t train,
                                      std::int64_t test) {
    if (difficulty < 1 || difficulty > difficulties)
        throw std::invalid_argument(
            fmt::format("`difficulty` {}: must be 1 to {}", difficulty, difficulties));
    std::vector<Puzzle> all;
    for (int k = 0; k < puzzles; ++k) {
        const auto number = static_cast<std::uint32_t>(k);
        const auto rule = drawn_rule(difficulty, seed, number);
        Puzzle puzzle;
        puzzle.name = fmt::format("{}-{}", rule_name(difficulty), k);
        const auto fill = [&](std::vector<GridPair>& pairs, std::int64_t total, std::uint32_t layer) {
            random::Stream stream(seed, random::Purpose::batch, layer, number);
            for (std::int64_t i = k; i < total; i += puzzles) {
                auto input = drawn_input(difficulty, stream);
                auto output = applied(rule, input);
                pairs.push_back({std::move(input), std::move(output)});
            }
        };
        constexpr std::uint32_t to_learn = 4, to_judge = 5;
        fill(puzzle.train, train, to_learn);
        fill(puzzle.test, test, to_judge);
        all.push_back(std::move(puzzle));
    }
    return all;
}

Dataset make_grid(const TaskOptions& options) {
    constexpr int puzzles = 8;
    constexpr std::int64_t train = 4000, test = 256;
    return grid_dataset(
        generated_puzzles(options.difficulty, options.seed, puzzles, options.samples.value_or(train), test),
        options);
}

}  // namespace spectra::tasks
