#include "interrupt.hpp"

#include <csignal>

namespace spectra::cli {

namespace {

std::atomic<bool> flag{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set from a signal handler");

void on_interrupt(int) {
    flag = true;
}

}  // namespace

void catch_interrupts() {
    struct sigaction action {};
    action.sa_handler = on_interrupt;
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
    // What launchers of several processes make of it. timeout(1) sends it twice, to the process and to its
    // group.
    action.sa_flags = SA_RESTART;
    sigaction(SIGTERM, &action, nullptr);
}

const std::atomic<bool>& interrupted() {
    return flag;
}

}  // namespace spectra::cli
