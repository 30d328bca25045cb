#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace spectra::testing {

struct ProcessOptions {
    std::filesystem::path folder = ".";                                 ///< where it runs
    std::vector<std::pair<std::string, std::string>> environment = {};  ///< added to ours
    std::optional<double> interrupt_after = {};                         ///< seconds until the signal
    std::function<bool()> interrupt_when = {};                          ///< or a sign, looked for all the time
    std::optional<double> interrupt_again_after = {};                   ///< seconds until the second signal
    int interrupt_by = SIGINT;
    std::optional<unsigned long> largest_file = {};  ///< bytes; writes beyond fail as on a full disk
    std::string stdout_to = {};                      ///< a file instead of the pipe
};

struct ProcessResult {
    int status = -1;  ///< exit status, or 128 + the signal that ended it
    std::string out, err;
    double seconds = 0;
    double processor_seconds = 0;
    std::size_t peak_bytes = 0;  ///< of memory at any time
};

/// Runs a program to its end. Standard input is empty.
inline ProcessResult run_process(const std::vector<std::string>& command,
                                 const ProcessOptions& options = {}) {
    std::array<std::array<int, 2>, 2> pipes{};
    for (auto& ends : pipes)
        if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");

    std::vector<char*> arguments;
    for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);

    const auto began = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    };
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("fork failed");
    if (child == 0) {
        signal(SIGINT, SIG_DFL);  // a parent in the background may ignore it
        const int input = open("/dev/null", O_RDONLY);
        dup2(input, STDIN_FILENO);
        const int output = options.stdout_to.empty()
                               ? pipes[0][1]
                               : open(options.stdout_to.c_str(), O_WRONLY | O_CREAT, 0600);
        dup2(output, STDOUT_FILENO);
        dup2(pipes[1][1], STDERR_FILENO);
        for (const auto& [name, value] : options.environment) setenv(name.c_str(), value.c_str(), 1);
        if (options.largest_file) {
            const rlimit limit{*options.largest_file, *options.largest_file};
            setrlimit(RLIMIT_FSIZE, &limit);
            signal(SIGXFSZ, SIG_IGN);
        }
        if (chdir(options.folder.c_str()) == 0) execvp(arguments[0], arguments.data());
        _exit(127);
    }
    close(pipes[0][1]);
    close(pipes[1][1]);

    ProcessResult result;
    bool signalled = false;
    std::vector<double> interrupts;
    for (const auto& at : {options.interrupt_after, options.interrupt_again_after})
        if (at) interrupts.push_back(*at);
    std::array<pollfd, 2> waiting{{{pipes[0][0], POLLIN, 0}, {pipes[1][0], POLLIN, 0}}};
    while (waiting[0].fd >= 0 || waiting[1].fd >= 0) {
        poll(waiting.data(), waiting.size(), 20);
        if (!signalled && options.interrupt_when && options.interrupt_when()) {
            kill(child, options.interrupt_by);
            signalled = true;
        }
        if (!interrupts.empty() && elapsed() >= interrupts.front()) {
            kill(child, options.interrupt_by);
            interrupts.erase(interrupts.begin());
        }
        for (std::size_t k = 0; k < 2; ++k) {
            if (waiting[k].fd < 0 || waiting[k].revents == 0) continue;
            std::array<char, 1 << 14> buffer{};
            const ssize_t count = read(waiting[k].fd, buffer.data(), buffer.size());
            if (count <= 0) {
                close(waiting[k].fd);
                waiting[k].fd = -1;
            } else {
                (k == 0 ? result.out : result.err).append(buffer.data(), static_cast<std::size_t>(count));
            }
        }
    }
    int status = 0;
    rusage usage{};
    wait4(child, &status, 0, &usage);
    const auto to_seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    result.processor_seconds = to_seconds(usage.ru_utime) + to_seconds(usage.ru_stime);
    result.seconds = elapsed();
    result.peak_bytes = static_cast<std::size_t>(usage.ru_maxrss) * 1024;
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return result;
}

}  // namespace spectra::testing
