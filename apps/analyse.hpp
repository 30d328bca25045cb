#pragma once

#include "console.hpp"
#include "described_network.hpp"
#include "report/report.hpp"
#include "request.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace spectra::cli {

/// A request with its network: whatever can be refused has been.
struct Analysis {
    DescribedNetwork described;
    std::vector<dyson::Method> methods;
    montecarlo::Options simulation;
    /// Samples that are there already, and where a long simulation is kept on the way; may be empty.
    std::optional<montecarlo::Simulation> done = {};
    std::function<void(const report::Report&)> save = {};
};

/// Reads files and draws mixers. Throws std::invalid_argument where the request cannot be done.
Analysis prepare(const Request& request);

/// Everything asked for, up to where `interrupted()`, and the comparison; the provenance stays empty.
report::Report compute(const Request& request, Analysis analysis, Progress& progress);

/// The default command: theory and simulation of one network, written, drawn and printed. `command` is what
/// was typed. Returns the exit status; throws std::invalid_argument before anything is computed or written.
int analyse(const Request& request, const std::string& command);

/// Of a run of this program, now.
report::Provenance provenance(const std::string& command, std::uint64_t seed);

}  // namespace spectra::cli
