#pragma once

/// \file
/// Trivial predictors that a trained model has to beat.

#include "tasks/dataset.hpp"

#include <optional>

namespace spectra::tasks {

/// Losses of trivial predictors, which learn nothing or next to nothing. A trained model has to beat them.
/// Predictors that do not apply to a task are absent.
struct Baselines {
    // Real tasks, ŷ from x.
    std::optional<double> copy;      ///< ŷ_t = x_t
    std::optional<double> zero;      ///< ŷ_t = 0
    std::optional<double> negation;  ///< ŷ = ±x, for each coordinate the better sign; absent if no sign is −
    std::optional<double> plain_negation;  ///< ŷ_t = −x_t
    std::optional<double> running_mean;    ///< ŷ_t = mean of x_0 … x_t; absent without a sequence
    // Token tasks.
    std::optional<double> uniform;  ///< all tokens that are ever scored are equally likely
    std::optional<double> unigram;  ///< frequencies in training (plus one each), regardless of context

    std::optional<double> noise_floor;  ///< of the dataset

    // Grids, not losses: shares of the scored cells that are right (mean over grids), and of grids that are right.
    std::optional<double> copy_cells;      ///< the output is the input
    std::optional<double> copy_exact;      ///< the same, whole grids
    std::optional<double> frequent_cells;  ///< every cell is the most frequent token of training
};

/// On the validation split, with the task's loss.
Baselines baselines(const Dataset& data);

}  // namespace spectra::tasks
