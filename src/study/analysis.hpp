#pragma once

/// \file
/// Theory and simulation of one network, written and drawn: what the program spectra does by default.

#include "report/report.hpp"
#include "study/build_network.hpp"
#include "study/observer.hpp"
#include "study/request.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace spectra::study {

/// A request with its network: whatever can be refused has been.
struct Analysis {
    DescribedNetwork described;                       ///< the network
    std::vector<dyson::Method> methods;               ///< theories to solve
    montecarlo::Options simulation;                   ///< how to simulate
    std::optional<montecarlo::Simulation> done = {};  ///< samples that exist already
    /// Where a long simulation is saved while it runs; may be empty.
    std::function<void(const report::Report&)> save = {};
};

/// Reads files and draws mixers. Throws std::invalid_argument where the request cannot be done.
Analysis prepare(const Request& request);

/// Everything asked for, until the observer stops it, and the comparison; the provenance stays empty.
report::Report compute(const Request& request, Analysis analysis, Observer& observer);

/// The samples to continue belong to another run.
struct OtherRun : std::invalid_argument {
    /// The first difference, the file and its command.
    OtherRun(const std::string& what, std::string where, std::string how)
        : std::invalid_argument(what), file(std::move(where)), command(std::move(how)) {}
    std::string file;     ///< that holds them
    std::string command;  ///< that made it
};

/// Theory and simulation of one network, written to its result file and drawn. `command` goes into the file.
/// Started several times (mpirun, srun), the processes share the work and the first returns the report, the others
/// nothing. Throws std::invalid_argument before anything is
/// computed or written (OtherRun where samples cannot be continued), and Stopped where the observer stops it
/// before that.
std::optional<report::Report> analyse(const Request& request, const std::string& command, Observer& observer);

/// Of a run of this version, now.
report::Provenance provenance(const std::string& command, std::uint64_t seed);

}  // namespace spectra::study
