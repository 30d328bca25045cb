#pragma once

#include "torch_commands.hpp"

namespace spectra::cli {

/// The whole program: reads the command line, runs the command, turns exceptions into one line on
/// standard error and an exit status. Without the commands that need Torch it starts the program that includes
/// them.
int run(int argc, char** argv, const TorchCommands& torch = {});

}  // namespace spectra::cli
