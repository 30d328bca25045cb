#include "base/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace spectra {
namespace {

constexpr std::size_t most_output = std::size_t{1} << 16;

/// The end of a pipe.
class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() { close(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    int get() const { return number_; }
    void close() {
        if (number_ >= 0) ::close(number_);
        number_ = -1;
    }

private:
    int number_;
};

pid_t start(const std::filesystem::path& program, const std::vector<std::string>& arguments, int output) {
    std::vector<char*> words{const_cast<char*>(program.c_str())};
    for (const auto& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    pid_t child = 0;
    const int error = posix_spawn(&child, program.c_str(), &actions, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        throw std::runtime_error(fmt::format("{} cannot be started: {}", program.string(), std::strerror(error)));
    return child;
}

/// Reads until the other end is closed: true. False after `seconds`. Asks the child to end when `stop` becomes true.
bool read_all(int descriptor, double seconds, pid_t child, const std::atomic<bool>* stop, std::string& out) {
    using Clock = std::chrono::steady_clock;
    constexpr long look = 200;  // milliseconds between looks at `stop`
    bool asked = stop == nullptr;
    const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    while (true) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
        if (left <= 0) return false;
        if (!asked && stop->load()) {
            ::kill(child, SIGTERM);
            asked = true;
        }
        pollfd waiting{descriptor, POLLIN, 0};
        const int ready = ::poll(&waiting, 1, static_cast<int>(asked ? left : std::min<long>(left, look)));
        if ((ready < 0 && errno == EINTR) || (ready == 0 && !asked)) continue;
        if (ready <= 0) return false;
        std::array<char, 4096> buffer{};
        const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return true;
        out.append(buffer.data(), std::min(static_cast<std::size_t>(count), most_output - out.size()));
    }
}

int wait_for(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

std::filesystem::path program_folder() {
    std::error_code none;
    return std::filesystem::read_symlink("/proc/self/exe", none).parent_path();
}

std::optional<std::filesystem::path> find_program(const std::string& name) {
    const char* const search = std::getenv("PATH");
    std::istringstream folders(search != nullptr ? search : "/bin:/usr/bin");
    for (std::string folder; std::getline(folders, folder, ':');) {
        auto place = std::filesystem::path(folder) / name;
        std::error_code none;
        if (std::filesystem::is_regular_file(place, none) && ::access(place.c_str(), X_OK) == 0) return place;
    }
    return {};
}

ProgramResult run_program(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                          double seconds, const std::atomic<bool>* stop) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        throw std::runtime_error(fmt::format("{} cannot be started: {}", program.string(), std::strerror(errno)));
    Descriptor reading(ends[0]), writing(ends[1]);
    const pid_t child = start(program, arguments, writing.get());
    writing.close();
    ProgramResult result;
    const bool ended = read_all(reading.get(), seconds, child, stop, result.output);
    if (!ended) ::kill(child, SIGKILL);
    result.status = wait_for(child);
    if (!ended) throw std::runtime_error(fmt::format("{} did not answer in {:g} s", program.string(), seconds));
    return result;
}

}  // namespace spectra
