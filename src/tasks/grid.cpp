#include "tasks/grid.hpp"

#include <algorithm>
#include <limits>

namespace spectra::tasks {

namespace {

using Pairs = std::vector<GridPair> Puzzle::*;

std::int64_t side_of(const std::vector<Puzzle>& puzzles) {
    std::int64_t largest = 1;
    for (const auto& puzzle : puzzles)
        for (const Pairs pairs : {&Puzzle::train, &Puzzle::test})
            for (const auto& pair : puzzle.*pairs)
                for (const auto* const grid : {&pair.input, &pair.output})
                    largest = std::max({largest, grid->rows, grid->columns});
    return std::min(largest + 1, largest_side);
}

Split split_of(const std::vector<Puzzle>& puzzles, Pairs pairs, std::int64_t side, std::int64_t most) {
    std::size_t longest = 0;
    for (const auto& puzzle : puzzles) longest = std::max(longest, (puzzle.*pairs).size());
    Split split;
    for (std::size_t i = 0; i < longest; ++i)
        for (std::size_t number = 0; number < puzzles.size(); ++number) {
            const auto& all = puzzles[number].*pairs;
            if (i >= all.size() || split.count >= most) continue;
            const auto x = canvas_tokens(all[i].input, side), y = canvas_tokens(all[i].output, side);
            split.tokens_x.push_back(grid_tokens + static_cast<std::int64_t>(number));
            split.tokens_x.insert(split.tokens_x.end(), x.begin(), x.end());
            split.tokens_y.push_back(not_scored);
            for (const auto token : y) split.tokens_y.push_back(token == padding_token ? not_scored : token);
            ++split.count;
        }
    return split;
}

}  // namespace

Grid plain_grid(std::int64_t rows, std::int64_t columns, std::uint8_t colour) {
    return {rows, columns, std::vector<std::uint8_t>(static_cast<std::size_t>(rows * columns), colour)};
}

std::vector<std::int64_t> canvas_tokens(const Grid& grid, std::int64_t side) {
    std::vector<std::int64_t> tokens(static_cast<std::size_t>(side * side), padding_token);
    const auto at = [&](std::int64_t row, std::int64_t column) -> std::int64_t& {
        return tokens[static_cast<std::size_t>(row * side + column)];
    };
    for (std::int64_t row = 0; row < grid.rows; ++row)
        for (std::int64_t column = 0; column < grid.columns; ++column)
            at(row, column) = first_colour_token + grid.at(row, column);
    if (grid.rows < side)
        for (std::int64_t column = 0; column < grid.columns; ++column) at(grid.rows, column) = end_token;
    if (grid.columns < side)
        for (std::int64_t row = 0; row < grid.rows; ++row) at(row, grid.columns) = end_token;
    return tokens;
}

Dataset grid_dataset(const std::vector<Puzzle>& puzzles, const TaskOptions& options) {
    const auto side = side_of(puzzles);
    Dataset data;
    data.tokens = true;
    data.steps = 1 + side * side;
    data.puzzles = static_cast<std::int64_t>(puzzles.size());
    data.dimension = grid_tokens + data.puzzles;
    data.noise_floor = 0;
    constexpr auto any = std::numeric_limits<std::int64_t>::max();
    data.train = split_of(puzzles, &Puzzle::train, side, options.samples.value_or(any));
    data.validation = split_of(puzzles, &Puzzle::test, side, any);
    return data;
}

}  // namespace spectra::tasks
