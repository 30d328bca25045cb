#pragma once

#include "study/cost_request.hpp"
#include "study/invocation.hpp"
#include "study/observer.hpp"
#include "train/cost_report.hpp"

namespace spectra::train {

/// Runs every part of the models as a training step does, counts what it dispatches and keeps, and times it. Models that
/// cannot be made are refused, each for itself. Writes the result file and the figures. Throws std::invalid_argument before
/// anything is computed or written, also where every model is refused; study::Stopped if the observer stops it.
CostReport cost(const study::CostRequest& request, const study::Invocation& invocation,
                study::Observer& observer);

}  // namespace spectra::train
