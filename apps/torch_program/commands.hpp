#pragma once

#include "study/cost_request.hpp"
#include "study/evaluate_request.hpp"
#include "study/invocation.hpp"
#include "study/train_request.hpp"

namespace spectra::cli {

/// The commands that need Torch. `invocation` is what was typed. Each returns the exit status and throws
/// std::invalid_argument before anything is computed or written.
int train_model(const study::TrainRequest& request, const study::Invocation& invocation);
int cost_models(const study::CostRequest& request, const study::Invocation& invocation);
int evaluate(const study::EvaluateRequest& request);

}  // namespace spectra::cli
