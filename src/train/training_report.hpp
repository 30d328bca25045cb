#pragma once

#include "plot/figure.hpp"
#include "report/report.hpp"
#include "tasks/baselines.hpp"
#include "train/training_log.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace spectra::train {

/// The reported results of one training run.
struct TrainingReport {
    report::Provenance provenance;
    std::string task, architecture;
    std::string model;   ///< "6 blocks, 128 = 4 × 32 channels"
    std::string device;  ///< "cpu, 2 threads", "cuda, NVIDIA H200"
    std::uint64_t seed = 42;
    int64_t batch = 64, steps = 0;  ///< steps requested
    bool tokens = false;
    tasks::Baselines baselines;
    TrainResult result;
};

/// The predictors that apply, by their names in --json.
std::vector<std::pair<std::string, double>> named_baselines(const tasks::Baselines& baselines);

/// The accuracies of those on grids, by their names in --json.
std::vector<std::pair<std::string, double>> grid_baselines(const tasks::Baselines& baselines);

/// STEM.h5: /training with one dataset per column of the log, attributes of the run and of its result, and
/// /training/diagnostics with (rows, places) datasets.
void write_training_file(const TrainingReport& report, const std::filesystem::path& path);
/// The log, one line per row.
void write_training_csv(const TrainingReport& report, const std::filesystem::path& path);

/// Loss and validation loss over steps with the trivial predictors, and gates and β beside them if there
/// are any.
plot::Figure training_figure(const TrainingReport& report);

nlohmann::ordered_json training_json(const TrainingReport& report);

/// The text page for users.
std::string training_page(const TrainingReport& report);
/// For several seeds: mean ± standard deviation of the validation loss.
std::string seeds_line(const std::vector<TrainingReport>& reports);

}  // namespace spectra::train
