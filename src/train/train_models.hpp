#pragma once

#include "study/invocation.hpp"
#include "study/observer.hpp"
#include "study/train_request.hpp"
#include "train/models/transformer.hpp"
#include "train/training_report.hpp"

#include <functional>
#include <string>
#include <vector>

namespace spectra::train {

/// The model that a training would be of.
ModelConfig model_config(const study::TrainRequest& request);

/// One of the runs that were asked for, done and written.
struct TrainedRun {
    TrainingReport report;
    std::vector<std::string> files;  ///< that were written
    std::string no_figure;           ///< why its figure could not be drawn, "" if it was
};

/// Trains one model per seed of the request and calls `trained` after each. Stops where the observer does: false if
/// that was before there was anything to keep of the current model, which then leaves its files unchanged. Throws
/// std::invalid_argument before anything is computed or written.
bool train_models(const study::TrainRequest& request, const study::Invocation& invocation,
                  study::Observer& observer, const std::function<void(TrainedRun&&)>& trained);

}  // namespace spectra::train
