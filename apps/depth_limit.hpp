#pragma once

#include "study/invocation.hpp"
#include "study/request.hpp"

#include <string>

namespace spectra::cli {

/// The command depth-limit: study::depth_limit, printed. `invocation` is what was typed. Returns the exit status.
int depth_limit(const study::DepthLimitRequest& request, const study::Invocation& invocation);

}  // namespace spectra::cli
