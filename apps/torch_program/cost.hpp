#pragma once

#include "study/cost_request.hpp"
#include "study/invocation.hpp"

namespace spectra::cli {

/// The command cost. Returns the exit status.
int cost_models(const study::CostRequest& request, const study::Invocation& invocation);

}  // namespace spectra::cli
