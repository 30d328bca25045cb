#pragma once

/// \file
/// Generated puzzles on grids, in five difficulties, with the rules that make them.

#include "random/stream.hpp"
#include "tasks/grid.hpp"

#include <array>

namespace spectra::tasks {

/// What a generated puzzle does to a grid: the rule of its difficulty, then its own exchange of the colours 1 to 9.
///
///   1 recolour  nothing else
///   2 turn      one of the seven reflections and rotations of a rectangle (not the identity)
///   3 fall      coloured cells fall towards one of the four edges until it or another coloured cell stops them
///   4 fill      background that coloured cells cut off from the edge of the grid (cells touch along their sides) gets
///               a colour
///   5 largest   of the objects, coloured cells that touch along their sides, only the one with most cells stays;
///               then as 2
struct GridRule {
    int difficulty = 1;  ///< which of the five
    int turn = 0;  ///< 2, 5: 1 to 7: transposed if its bit 4 is set, then columns reversed if 1, rows if 2
    int edge = 0;  ///< 3: 0 bottom, 1 top, 2 right, 3 left
    std::uint8_t fill = 1;                           ///< 4: the colour
    std::array<std::uint8_t, colours> recoloured{};  ///< what each colour becomes; 0 stays 0
};

inline constexpr int difficulties = 5;  ///< of generated puzzles
/// "recolour", "turn", "fall", "fill", "largest".
const char* rule_name(int difficulty);

/// What the rule makes of a grid.
Grid applied(const GridRule& rule, const Grid& input);

/// Rule number `number` of a difficulty.
GridRule drawn_rule(int difficulty, std::uint64_t seed, std::uint32_t number);

/// An input for a difficulty, 4 to 7 rows and columns. 1 to 3: each cell is background or, as likely, any colour;
/// 4: one or two outlines of rectangles, of one colour each, every third with a gap; 5: each cell is coloured with
/// probability 0.45, and one object is larger than the others.
Grid drawn_input(int difficulty, random::Stream& stream);

/// `puzzles` of a difficulty, with so many pairs to learn from in all and so many to be judged by: the first puzzles have
/// one more where it does not divide.
std::vector<Puzzle> generated_puzzles(int difficulty, std::uint64_t seed, int puzzles, std::int64_t train,
                                      std::int64_t test);

/// The task grid: 8 puzzles of `difficulty`, 4000 pairs (`samples`) to learn from and 256 to be judged by.
Dataset make_grid(const TaskOptions& options);

}  // namespace spectra::tasks
