#pragma once

#include <atomic>

namespace spectra::cli {

/// From now on the first Ctrl-C, and every SIGTERM, sets `interrupted()`; the second Ctrl-C ends the program.
void catch_interrupts();

const std::atomic<bool>& interrupted();

}  // namespace spectra::cli
