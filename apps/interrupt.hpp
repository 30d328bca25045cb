#pragma once

#include <atomic>

namespace spectra::cli {

/// From now on the first SIGINT (Ctrl-C) or SIGTERM sets `interrupted()` and prints a message. The program then
/// ends by itself and keeps what is done. A second signal, or four seconds, end it at once, with the exit status of
/// an interrupted run and without temporary files left over.
void catch_interrupts();

const std::atomic<bool>& interrupted();

}  // namespace spectra::cli
