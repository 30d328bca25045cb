#pragma once

#include "study/compare.hpp"
#include "study/sweep.hpp"

#include <string>

namespace spectra::cli {

/// The commands sweep and compare: study::sweep and study::compare, printed. `command` is what was typed. They return
/// the exit status and throw std::invalid_argument before anything is computed or written.
int sweep(const study::SweepRequest& request, const std::string& command);
int compare(const study::CompareRequest& request, const std::string& command);

}  // namespace spectra::cli
