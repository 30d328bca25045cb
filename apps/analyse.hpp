#pragma once

#include "study/invocation.hpp"
#include "study/request.hpp"

#include <string>

namespace spectra::cli {

/// The default command: study::analyse, printed. `invocation` is what was typed. Returns the exit status; throws
/// std::invalid_argument before anything is computed or written.
int analyse(const study::Request& request, const study::Invocation& invocation);

}  // namespace spectra::cli
