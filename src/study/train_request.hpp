#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spectra::study {

/// The training of models. Empty fields were not given: the default of the task or the architecture
/// applies.
struct TrainRequest {
    std::string task;
    std::optional<std::string> architecture, mixer;
    std::optional<int> layers, cycles, channels, streams;
    int heads = 4;
    bool rotary = false;
    std::string pooling = "causal";
    std::string start = "paper";
    std::string mappings = "dynamic";
    std::optional<double> gate_weight, gate_bias;
    std::optional<int> sinkhorn_iterations, cayley_iterations;
    std::string sinkhorn_backward = "direct";
    std::optional<double> cayley_step;
    std::optional<double> sinkhorn_clamp, temperature, beta_scale, beta_offset;
    std::optional<int> permutations;
    std::optional<std::string> permutation_basis, gate_regulariser, norm;
    std::optional<int> answer_cycles, supervision_steps, puzzle_tokens;
    std::optional<double> halt_exploration, puzzle_rate;
    bool value_injection = false;
    bool recompute = false;

    int steps = 2000;
    std::optional<int> stop_after, batch, accumulate;
    std::optional<std::string> optimiser, schedule;
    std::optional<double> rate, floor, weight_decay, clip;
    std::optional<int> warm_up;
    std::vector<std::uint64_t> seeds;  ///< empty: 42
    std::uint64_t data_seed = 42;
    std::optional<int> samples, validation_samples, context;
    std::optional<int> vocabulary;  ///< of text; 0: bytes
    std::optional<std::string> text;
    std::optional<int> difficulty;     ///< of grid
    std::optional<std::string> grids;  ///< of arc

    std::string device = "auto";
    std::string precision = "f32";
    int log_every = 100;
    double checkpoint_seconds = 60;
    bool resume = false;
    std::optional<std::string> out;
    std::vector<std::string> plot{"png"};
    bool force = false, json = false, quiet = false;
    std::optional<int> threads;
};

/// What `architecture` and `mixer` may be. The list of the models themselves is that of train/; a test compares them.
const std::vector<std::string>& architecture_choices();
const std::vector<std::string>& mixer_choices();

/// Throws std::invalid_argument if the fields contradict each other or the task.
void check_conflicts(const TrainRequest& request);

/// Throws std::invalid_argument if the model does not have what an option is about. `command` begins the message.
void check_applies(const TrainRequest& request, const std::string& command);

/// Stem of the output files: `out`, or spectra-TASK-ARCHITECTURE.
std::string stem_of(const TrainRequest& request);

}  // namespace spectra::study
