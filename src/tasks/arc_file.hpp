#pragma once

/// \file
/// Puzzles in the JSON format of the Abstraction and Reasoning Corpus.

#include "tasks/grid.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace spectra::tasks {

/// Reads puzzles of one of three forms:
///   one file    {"train": [{"input": [[0, 1, …], …], "output": …}, …], "test": […]}, a puzzle
///   one file    {"name": puzzle, …}; where its test pairs have no output and its name has "challenges", the outputs are
///               those of the file beside it with "solutions" instead: {"name": [[[0, 1, …], …], …], …}
///   a folder    all its files *.json, of the first form, in the order of their names
/// Throws std::invalid_argument, one line that names file, puzzle and place, for anything else: a grid has 1 to 30 rows
/// of 1 to 30 whole numbers from 0 to 9, all rows as long as the first, and a puzzle at least one pair of each kind.
std::vector<Puzzle> read_puzzles(const std::filesystem::path& path);

/// The text of a file of the first form.
std::string puzzle_text(const Puzzle& puzzle);

/// The task arc: read_puzzles of `grids`.
Dataset make_arc(const TaskOptions& options);

}  // namespace spectra::tasks
