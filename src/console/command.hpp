#pragma once

#include <string>
#include <vector>

namespace spectra::console {

/// A command line as data: what help, manuals, completions and files of options are made from.

/// A name and its explanation: an example and what it does, an exit status and its meaning.
struct Entry {
    std::string name = {}, text = {};
};

/// An option, or a positional argument.
struct Option {
    std::string shown = {};  ///< all names with their dashes; for a positional its name, FILE.h5
    std::vector<std::string> names = {};  ///< long names without dashes, the main one first; none for a positional
    /// Accepted values. Words in lower case, separated by | or a comma, are choices; FILE… and STEM stand for files.
    std::string values = {};
    std::string description = {};
    std::string initial = {};  ///< the default, "" if there is none
    std::string group = {};    ///< heading that it is shown under; "" hides it from pages
    bool takes_value = false;  ///< false: a flag
    bool given = false;        ///< on the command line that was parsed
};

/// A program, or one of its commands.
struct Command {
    std::string program = {};  ///< of a command the program's name; "" for the program itself
    std::string name = {};
    std::string description = {};
    std::vector<std::string> usage = {};  ///< "spectra info FILE.h5": ways to call it
    std::vector<Option> positionals = {}, options = {};
    std::vector<Entry> examples = {};
    std::vector<Entry> exit_statuses = {};
    std::vector<Command> commands = {};  ///< of a program

    bool is_program() const { return program.empty(); }
};

/// The command of a program, null if there is none of this name.
const Command* find_command(const Command& program, const std::string& name);

/// The option with this long name (without dashes), null if there is none.
const Option* find_option(const Command& command, const std::string& name);

}  // namespace spectra::console
