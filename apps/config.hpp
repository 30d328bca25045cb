#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace spectra::cli {

/// Options in a TOML file. The keys are the names of options without dashes, at the top for analysing a network and
/// below [sweep], [compare] or [depth-limit] for these commands. One file may hold several of them.

/// The command line `words` (without the program) with those options of `file` that it does not give itself, in place
/// of --config. `command` has parsed the words; null stands for the program. Throws std::invalid_argument for keys
/// that are not options, for flags that are neither true nor false, and for a file without options for the command.
std::vector<std::string> with_config(const CLI::App& program, const CLI::App* command,
                                     const std::vector<std::string>& words, const std::string& file);

/// The options of a command line as such a file, without those that only say where to write and what to print. Throws
/// std::invalid_argument for a command that takes no such file; `where` begins the messages.
std::string config_of(const CLI::App& program, const std::string& command_line, const std::string& where);

}  // namespace spectra::cli
