#pragma once

/// \file
/// How deep a network can go before its singular values collapse.

#include "report/report.hpp"
#include "study/invocation.hpp"
#include "study/observer.hpp"
#include "study/request.hpp"

#include <string>

namespace spectra::study {

/// The deepest network that keeps a share of its singular values, written to its result file. `invocation` goes into
/// the file. Throws std::invalid_argument before anything is computed or written, and Stopped
/// where the observer stops it before that.
report::DepthReport depth_limit(const DepthLimitRequest& request, const Invocation& invocation, Observer& observer);

}  // namespace spectra::study
