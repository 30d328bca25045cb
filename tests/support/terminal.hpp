#pragma once

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace spectra::testing {

/// Everything that a program writes to a terminal, which is its standard output and error. A variable without a value
/// is taken out of the environment.
inline std::string run_in_terminal(const std::vector<std::string>& command, const std::filesystem::path& folder,
                                   const std::vector<std::pair<std::string, const char*>>& environment) {
    std::vector<char*> arguments;
    for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    int terminal = -1;
    const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
    if (child < 0) throw std::runtime_error("forkpty failed");
    if (child == 0) {
        for (const auto& [name, value] : environment)
            value == nullptr ? unsetenv(name.c_str()) : setenv(name.c_str(), value, 1);
        if (chdir(folder.c_str()) == 0) execv(arguments[0], arguments.data());
        _exit(127);
    }
    std::string seen;
    std::array<char, 4096> buffer{};
    for (ssize_t got; (got = read(terminal, buffer.data(), buffer.size())) > 0;)
        seen.append(buffer.data(), static_cast<std::size_t>(got));
    close(terminal);
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw std::runtime_error("the program failed: " + seen);
    return seen;
}

}  // namespace spectra::testing
