#pragma once

/// \file
/// A task's data on the training device, and the batches drawn from them.

#include "tasks/dataset.hpp"
#include "train/learner.hpp"

#include <cstdint>
#include <vector>

namespace spectra::train {

/// A split as tensors on a device (except the training stream of text, from which batches are drawn).
Batch tensors_of(const tasks::Dataset& data, const tasks::Split& split, torch::Device device);

/// Draws the batches of training. The data must outlive it.
class Batches {
public:
    /// `halting`: of a model that halts, else null; must outlive it too.
    Batches(const tasks::Dataset& data, int64_t batch, std::uint64_t seed, torch::Device device,
            const ModelConfig* halting);

    /// Batch number `index`, which depends only on (seed, index).
    Batch draw(std::uint32_t index) const;

private:
    /// With the probability of exploration a sequence must have 2 to all supervision steps, as likely each; else 1.
    torch::Tensor least_steps(int64_t count, std::uint32_t index) const;
    Batch windows(const std::vector<int64_t>& offsets) const;

    const tasks::Dataset& data_;
    int64_t batch_;
    std::uint64_t seed_;
    torch::Device device_;
    const ModelConfig* halting_;
    Batch all_;
};

}  // namespace spectra::train
