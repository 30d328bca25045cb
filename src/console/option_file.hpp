#pragma once

#include "console/command.hpp"

#include <string>
#include <vector>

namespace spectra::console {

/// Options in a TOML file. The keys are the names of options without dashes, at the top for the program itself and
/// below [sweep] for its command sweep. One file may hold several of them.
struct OptionFiles {
    std::string option = {};                     ///< that takes such a file; commands that have it take files
    std::vector<std::string> not_settable = {};  ///< options that a file cannot set
    /// Options that only say where to write and what to print: not part of what made a result.
    std::vector<std::string> not_kept = {};
    std::string without_command = {};  ///< for messages, what is done without a command: "analysing a network"
    std::string example = {};  ///< for messages, a line of a file
};

/// The command line `words` (without the program) with those options of `file` that were not given, in place of the
/// option that names the file. `command` is the command of the words, "" without one. Throws std::invalid_argument for
/// keys that are not options, for flags that are neither true nor false, and for a file without options for the command.
std::vector<std::string> with_option_file(const Command& program, const std::string& command,
                                          const std::vector<std::string>& words, const std::string& file,
                                          const OptionFiles& files);

/// The options of a command line as such a file. Throws std::invalid_argument for a command that takes no such file;
/// `where` begins the messages.
std::string option_file_of(const Command& program, const std::string& command_line, const std::string& where,
                           const OptionFiles& files);

}  // namespace spectra::console
