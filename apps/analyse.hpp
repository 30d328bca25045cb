#pragma once

#include "request.hpp"

#include <string>

namespace spectra::cli {

/// The default command: theory and simulation of one network, written, drawn and printed. `command` is what
/// was typed. Returns the exit status; throws std::invalid_argument before anything is computed or written.
int analyse(const Request& request, const std::string& command);

}  // namespace spectra::cli
