#pragma once

#include "tasks/dataset.hpp"
#include "train/checkpoint_file.hpp"
#include "train/learner.hpp"

#include <nlohmann/json.hpp>

#include <memory>
#include <string>

namespace spectra::train {

/// What a training run was asked for, as its checkpoint keeps it: everything that the numbers depend on.
using Description = nlohmann::ordered_json;

/// The model's part of a description, and back.
Description describe_model(const ModelConfig& model);
ModelConfig described_model(const Description& description);

/// direct, gauss-seidel, unrolled.
MixerOptions::Backward sinkhorn_backward(const std::string& name);
/// quadratic, quartic, sine, entropy, flat (modules/gate_regulariser.hpp).
MixerOptions::Regulariser gate_regulariser(const std::string& name);
/// published, optimal.
MixerOptions::Basis permutation_basis(const std::string& name);

/// The tokens of a text as a checkpoint keeps them: {"symbols": bytes, "merges": pairs of tokens}; and back. Throws
/// std::invalid_argument for text that describes none.
std::string tokeniser_text(const tasks::Tokeniser& tokeniser);
tasks::Tokeniser described_tokeniser(const std::string& text);

/// A model from a checkpoint, with the data it was trained on.
struct TrainedModel {
    tasks::Dataset data;
    std::unique_ptr<Learner> learner;
    std::int64_t step = 0;
    std::string words;  ///< "edelta, 6 blocks, 128 = 4 × 32 channels, trained on gyroscope for 2000 steps"
};
/// std::invalid_argument, one line beginning with `where`, of a checkpoint whose config and parameters do not
/// make a model. Where `text` is given, the data are all of that text, for validation, in the model's tokens; the model
/// must have learned text.
TrainedModel trained_model(const Checkpoint& checkpoint, const std::string& where,
                           const std::string& text = "");

/// "6 blocks, 128 = 4 × 32 channels".
std::string model_words(const ModelConfig& model);

/// "cpu, 2 threads", "cuda".
std::string device_words(torch::Device device);

/// CUDA where it is asked for or, with auto, where Torch finds it.
torch::Device chosen_device(const std::string& wanted);

}  // namespace spectra::train
