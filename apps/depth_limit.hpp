#pragma once

#include "study/request.hpp"

#include <string>

namespace spectra::cli {

/// The command depth-limit: study::depth_limit, printed. `command` is what was typed. Returns the exit status.
int depth_limit(const study::DepthLimitRequest& request, const std::string& command);

}  // namespace spectra::cli
