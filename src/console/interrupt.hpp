#pragma once

#include <atomic>

namespace spectra::console {

/// From now on the first SIGINT (Ctrl-C) or SIGTERM sets `interrupted()` and prints a message. The program then
/// ends by itself and keeps what is done. A second signal, or four seconds, end it at once, with this exit status and
/// without temporary files left over.
void catch_interrupts(int exit_status);

const std::atomic<bool>& interrupted();

}  // namespace spectra::console
