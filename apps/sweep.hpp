#pragma once

#include "study/invocation.hpp"
#include "study/compare.hpp"
#include "study/sweep.hpp"

#include <string>

namespace spectra::cli {

/// The commands sweep and compare: study::sweep and study::compare, printed. `invocation` is what was typed. They return
/// the exit status and throw std::invalid_argument before anything is computed or written.
int sweep(const study::SweepRequest& request, const study::Invocation& invocation);
int compare(const study::CompareRequest& request, const study::Invocation& invocation);

}  // namespace spectra::cli
