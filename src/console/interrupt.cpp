#include "console/interrupt.hpp"

#include "base/atomic_file.hpp"
#include "parallel/launch.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <ctime>
#include <string_view>

namespace spectra::console {

namespace {

constexpr unsigned patience = 4;  // seconds from the first signal to the end: one matrix may take minutes
// timeout(1) and launchers send a signal twice at once, to the process and to its group: that is one.
constexpr std::int64_t same_signal = 300'000'000;  // ns

std::atomic<bool> flag{false};
std::atomic<std::int64_t> first_at{0};
bool speaks = true, at_terminal = false;
int status = 0;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free,
              "set from a signal handler");

std::int64_t now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void say(std::string_view line) {
    if (!speaks) return;
    // After the progress line, if any.
    for (const auto part : {std::string_view(at_terminal ? "\n" : ""), line})
        if (write(STDERR_FILENO, part.data(), part.size()) < 0) return;  // nobody listens
}

[[noreturn]] void end() {
    remove_temporary_files();
    _exit(status);
}

void on_interrupt(int) {
    if (!flag.exchange(true)) {
        first_at = now();
        alarm(patience);
        say("spectra: stopping; a second Ctrl-C stops at once\n");
    } else if (now() - first_at > same_signal) {
        say("spectra: stopped at once\n");
        end();
    }
}

void on_alarm(int) {
    say("spectra: stopped in the middle of a step; what was finished before it is kept\n");
    end();
}

}  // namespace

void catch_interrupts(int exit_status) {
    status = exit_status;
    speaks = parallel::launch().rank == 0;
    at_terminal = isatty(STDERR_FILENO) != 0;
    struct sigaction action {};
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    action.sa_handler = on_interrupt;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    action.sa_handler = on_alarm;
    sigaction(SIGALRM, &action, nullptr);
}

const std::atomic<bool>& interrupted() {
    return flag;
}

}  // namespace spectra::console
