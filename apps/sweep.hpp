#pragma once

#include "sweep_request.hpp"

#include <string>

namespace spectra::cli {

/// The command sweep: a grid of networks in one file, each analysed as by the default command. Every finished
/// network is on the disk at once, and the same command goes on where an earlier one ended. `command` is what
/// was typed. Started several times (mpirun, srun) the processes share the networks, and the first brings
/// them together. Returns the exit status; throws std::invalid_argument before anything is computed or
/// written.
int sweep(const SweepRequest& request, const std::string& command);

}  // namespace spectra::cli
