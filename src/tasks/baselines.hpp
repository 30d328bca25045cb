#pragma once

/// \file
/// Trivial predictors that a trained model has to beat.

#include "tasks/dataset.hpp"

#include <optional>

namespace spectra::tasks {

/// Losses of predictors that learn nothing, or next to nothing: what a trained model has to beat. Those that
/// do not apply to a task are absent.
struct Baselines {
    // Real tasks, ŷ from x.
    std::optional<double> copy;      ///< ŷ_t = x_t
    std::optional<double> zero;      ///< ŷ_t = 0
    std::optional<double> negation;  ///< ŷ = ±x, for each coordinate the better sign; absent where none is −
    std::optional<double> plain_negation;  ///< ŷ_t = −x_t
    std::optional<double> running_mean;    ///< ŷ_t = mean of x_0 … x_t; absent where there is no sequence
    // Token tasks.
    std::optional<double> uniform;  ///< every token that is ever scored is as likely
    std::optional<double> unigram;  ///< frequencies in training (plus one each), whatever came before

    std::optional<double> noise_floor;  ///< of the dataset
};

/// On the validation split, by the task's own loss.
Baselines baselines(const Dataset& data);

}  // namespace spectra::tasks
