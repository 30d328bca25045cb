#pragma once

/// \file
/// The data of a task: what a model learns from, and what it is judged by.

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tasks/tokeniser.hpp"

namespace spectra::tasks {

/// Target of a position that is not scored.
inline constexpr std::int64_t not_scored = -100;

/// Inputs and targets. Real tasks: x and y are (count, steps, dimension), row-major; token tasks: tokens_x
/// and tokens_y are (count, steps).
struct Split {
    std::int64_t count = 0;              ///< sequences
    std::vector<float> x;                ///< inputs of real tasks
    std::vector<float> y;                ///< their targets
    std::vector<std::int64_t> tokens_x;  ///< inputs of token tasks
    std::vector<std::int64_t> tokens_y;  ///< their targets
};

/// Training and validation data. The loss is the mean square error over all elements; for token tasks it is
/// the mean cross-entropy over the scored positions.
struct Dataset {
    std::string task;            ///< its name
    bool tokens = false;         ///< states are tokens, not vectors
    std::int64_t steps = 0;      ///< positions of a sequence; 1 where there is none
    std::int64_t dimension = 0;  ///< of a state; of token tasks the size of the vocabulary
    Split train;                 ///< for training
    Split validation;            ///< for judging

    /// Lower bound on the expected loss of predictors that see a sequence only up to their position; NaN if
    /// no bound is known. A predictor that sees the target, by pooling over the whole sequence, may go below.
    double noise_floor = std::numeric_limits<double>::quiet_NaN();

    /// Text only: the unchanged training text, in place of train.tokens_x and tokens_y; train.count is the
    /// number of windows in it, each at its own offset (see read_window).
    std::vector<std::uint16_t> stream;
    Tokeniser tokeniser;  ///< text only: what its tokens are

    /// Grids only: the number of puzzles. The first token of a sequence says which, and theirs are the last of the
    /// vocabulary.
    std::int64_t puzzles = 0;
};

/// How a task's data are made.
struct TaskOptions {
    /// Seed of the data, at most 2^32 − 1001. The published data have 42, whatever the seeds of the models.
    std::uint64_t seed = 42;
    /// Number of training sequences, instead of the task's default. For text: the training text is cut to the
    /// bytes of that many adjacent windows.
    std::optional<std::int64_t> samples;
    /// Number of validation sequences, the first of those that the task has; without it all of them.
    std::optional<std::int64_t> validation_samples;
    std::string text_file;      ///< for text
    std::int64_t context = 64;  ///< length of the windows of text, in tokens
    /// Text: byte-pair tokens, learned from the training text (learn_tokeniser); 0: single bytes.
    std::int64_t vocabulary = 0;
    /// Text: these tokens, instead of learning them.
    std::optional<Tokeniser> tokeniser = {};
    bool all_for_validation = false;  ///< text: none of it is for training
    int difficulty = 1;               ///< grid: 1 to 5
    std::string grids;                ///< arc: the file or folder
};

/// Reads window `offset` < train.count of a text's stream: x gets `steps` tokens, y the same shifted by one.
void read_window(const Dataset& data, std::int64_t offset, std::span<std::int64_t> x,
                 std::span<std::int64_t> y);

/// Bytes of the targets in a text's validation windows, one number per window.
std::vector<std::int64_t> window_bytes(const Dataset& data);

/// Bits per byte of a text at this loss, the mean over all targets of validation in nats per token: comparable between
/// vocabularies.
double bits_per_byte(const Dataset& data, double loss);

}  // namespace spectra::tasks
