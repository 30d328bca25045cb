#pragma once

#include <atomic>

namespace spectra::cli {

/// From now on the first Ctrl-C sets `interrupted()` and the second ends the program.
void catch_interrupts();

const std::atomic<bool>& interrupted();

}  // namespace spectra::cli
