#pragma once

#include <atomic>

namespace spectra::cli {

/// From now on the first SIGINT (Ctrl-C) or SIGTERM sets `interrupted()` and says so. The program then ends by itself
/// with what is done; it is ended, with the exit status of an interrupted run and without temporary files left
/// behind, by a second signal or ten seconds after the first, whatever it is doing.
void catch_interrupts();

const std::atomic<bool>& interrupted();

}  // namespace spectra::cli
