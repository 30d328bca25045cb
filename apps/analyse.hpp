#pragma once

#include "report/report.hpp"
#include "request.hpp"

#include <cstdint>
#include <string>

namespace spectra::cli {

/// The default command: theory and simulation of one network, written, drawn and printed. `command` is what
/// was typed. Returns the exit status; throws std::invalid_argument before anything is computed or written.
int analyse(const Request& request, const std::string& command);

/// Of a run of this program, now.
report::Provenance provenance(const std::string& command, std::uint64_t seed);

}  // namespace spectra::cli
