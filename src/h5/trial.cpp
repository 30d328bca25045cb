#include "h5/trial.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

namespace spectra::h5 {
namespace {

constexpr rlim_t most_seconds = 30;
constexpr rlim_t most_memory = rlim_t{2} << 30;

/// Device, inode, size and times of a file, which identify its state.
using State = std::array<std::int64_t, 7>;

std::optional<State> state_of(const std::filesystem::path& path) {
    struct stat s {};
    if (::stat(path.c_str(), &s) != 0) return std::nullopt;
    return State{static_cast<std::int64_t>(s.st_dev), static_cast<std::int64_t>(s.st_ino), s.st_size,
                 s.st_mtim.tv_sec, s.st_mtim.tv_nsec, s.st_ctim.tv_sec, s.st_ctim.tv_nsec};
}

/// Bytes of this process's address space.
std::optional<rlim_t> address_space() {
    std::ifstream file("/proc/self/statm");
    rlim_t pages = 0;
    if (!(file >> pages)) return std::nullopt;
    return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

[[noreturn]] void run(const std::function<void()>& read) {
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGINT, SIGTERM, SIGALRM})
        ::signal(signal, SIG_DFL);
    const rlimit none{0, 0}, seconds{most_seconds, most_seconds};
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_CPU, &seconds);
    // A damaged size must not exhaust the machine's memory: the library refuses if an allocation fails.
    if (const auto used = address_space()) {
        const rlimit memory{*used + most_memory, *used + most_memory};
        setrlimit(RLIMIT_AS, &memory);
    }
    // Messages of the C library about a damaged heap must not reach the user's terminal.
    if (const int nowhere = ::open("/dev/null", O_WRONLY); nowhere >= 0) {
        ::dup2(nowhere, STDOUT_FILENO);
        ::dup2(nowhere, STDERR_FILENO);
    }
    try {
        read();
    } catch (...) {  // refused: the program itself will report why
    }
    _exit(0);
}

}  // namespace

bool survives_trial(const std::filesystem::path& path, const std::function<void()>& read) {
    static std::mutex mutex;
    static std::set<State> survived;
    const auto before = state_of(path);
    {
        const std::scoped_lock lock(mutex);
        if (before && survived.contains(*before)) return true;
    }
    const pid_t child = ::fork();
    if (child < 0)
        throw std::runtime_error(path.string() +
                                 ": cannot start a process to test the file: " + std::strerror(errno));
    if (child == 0) run(read);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            throw std::runtime_error(path.string() + ": lost contact with the process that tested the file");
    const bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (good && before && before == state_of(path)) {
        const std::scoped_lock lock(mutex);
        survived.insert(*before);
    }
    return good;
}

}  // namespace spectra::h5
