#pragma once

/// \file
/// A task's data on the training device, and the batches drawn from them.

#include "tasks/dataset.hpp"
#include "train/data_parallel.hpp"
#include "train/learner.hpp"

#include <cstdint>
#include <vector>

namespace spectra::train {

/// A split as tensors on a device (except the training stream of text, from which batches are drawn).
Batch tensors_of(const tasks::Dataset& data, const tasks::Split& split, torch::Device device);

/// Draws the batches of training. The data must outlive it.
class Batches {
public:
    /// `halting`: of a model that halts, else null; must outlive it too. `processes`: that draw together, else null.
    Batches(const tasks::Dataset& data, int64_t batch, std::uint64_t seed, torch::Device device,
            const ModelConfig* halting, const DataParallel* processes = nullptr);

    /// Batch number `index`, which depends only on (seed, index), or this process's part of it.
    Batch draw(std::uint32_t index) const;
    /// Of the sequences of a batch, how many are this process's.
    double share() const { return static_cast<double>(end_ - begin_) / static_cast<double>(count_); }

private:
    /// With the probability of exploration a sequence must have 2 to all supervision steps, as likely each; else 1.
    torch::Tensor least_steps(int64_t count, std::uint32_t index) const;
    Batch windows(const std::vector<int64_t>& offsets) const;

    const tasks::Dataset& data_;
    int64_t count_;        ///< sequences of a batch
    int64_t begin_, end_;  ///< which of them are this process's
    std::uint64_t seed_;
    torch::Device device_;
    const ModelConfig* halting_;
    Batch all_;
};

}  // namespace spectra::train
