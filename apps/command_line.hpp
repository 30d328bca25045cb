#pragma once

namespace spectra::cli {

/// The whole program: reads the command line, runs the command, turns what is thrown into one line on
/// standard error and an exit status.
int run(int argc, char** argv);

}  // namespace spectra::cli
