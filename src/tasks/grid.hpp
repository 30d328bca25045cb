#pragma once

/// \file
/// Grids of colours, and puzzles made of them as in ARC.

#include "tasks/dataset.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace spectra::tasks {

inline constexpr std::int64_t largest_side = 30;  ///< rows or columns of a grid
inline constexpr std::int64_t colours = 10;       ///< 0 to 9; 0 is the background

/// A rectangle of colours.
struct Grid {
    std::int64_t rows = 0;            ///< 1 to largest_side
    std::int64_t columns = 0;         ///< likewise
    std::vector<std::uint8_t> cells;  ///< row by row

    /// The colour at a place, from 0.
    std::uint8_t& at(std::int64_t row, std::int64_t column) {
        return cells[static_cast<std::size_t>(row * columns + column)];
    }
    /// The same.
    std::uint8_t at(std::int64_t row, std::int64_t column) const {
        return cells[static_cast<std::size_t>(row * columns + column)];
    }
    /// Size and all cells.
    bool operator==(const Grid&) const = default;
};

/// A grid of one colour.
Grid plain_grid(std::int64_t rows, std::int64_t columns, std::uint8_t colour = 0);

/// A grid, and what the puzzle makes of it.
struct GridPair {
    Grid input;   ///< given
    Grid output;  ///< asked for
    /// Both.
    bool operator==(const GridPair&) const = default;
};

/// Pairs that follow one rule: some to learn it from, others to be judged by.
struct Puzzle {
    std::string name;             ///< of its file, or of its rule
    std::vector<GridPair> train;  ///< to learn from
    std::vector<GridPair> test;   ///< to be judged by
    /// Name and all pairs.
    bool operator==(const Puzzle&) const = default;
};

inline constexpr std::int64_t padding_token = 0;  ///< of a canvas, beyond the grid and its end
/// The end of a grid: the row below it and the column to its right, where the canvas has them.
inline constexpr std::int64_t end_token = 1;
inline constexpr std::int64_t first_colour_token = 2;                      ///< and a colour more for each
inline constexpr std::int64_t grid_tokens = first_colour_token + colours;  ///< kinds of them
/// side×side tokens, row by row, the grid in the upper left corner.
std::vector<std::int64_t> canvas_tokens(const Grid& grid, std::int64_t side);

/// The data of puzzles: the pairs to learn from of all of them are for training, and those to be judged by for
/// validation; the first of every puzzle, then the second of every puzzle, and so on. A sequence is the token
/// grid_tokens + number of the puzzle, then the canvas, whose side is that of the largest grid and one more for its
/// end, at most largest_side. Targets are the output's tokens; the puzzle and padding are not scored.
/// `samples`: only the first so many for training.
Dataset grid_dataset(const std::vector<Puzzle>& puzzles, const TaskOptions& options);

}  // namespace spectra::tasks
