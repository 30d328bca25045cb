#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// Programs on this machine: where they are, and what a short call of one prints.
namespace spectra {

/// The folder of the running program. Empty if the system does not report it.
std::filesystem::path program_folder();

/// The program of that name in the folders of PATH, where it would be started from. Nothing if there is none.
std::optional<std::filesystem::path> find_program(const std::string& name);

struct ProgramResult {
    int status = -1;     ///< exit status, or 128 + the signal that ended the program
    std::string output;  ///< standard output and standard error; at most 64 KiB
};

/// Runs a program to its end, without a shell and with empty standard input. It is killed after `seconds`, and asked to
/// end (SIGTERM) when `stop` becomes true.
/// Throws std::runtime_error, one line, if it cannot be started or was killed.
ProgramResult run_program(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                          double seconds, const std::atomic<bool>* stop = nullptr);

}  // namespace spectra
