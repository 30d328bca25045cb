#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace spectra::cli {

/// A name and what it stands for: an example and what it does, an exit status and its meaning.
struct Entry {
    std::string name, text;
};

/// An option or positional as shown by help and the manual.
struct ShownOption {
    std::string names;        ///< "--depth"; for a positional its placeholder: "FILE.h5"
    std::string value;        ///< "L"; empty for flags and positionals
    std::string description;  ///< without the default
    std::string initial;      ///< the default, "" if there is none
};

struct ShownGroup {
    std::string name;
    std::vector<ShownOption> options;
};

/// Positionals first, as "Arguments", then the app's own groups in their order.
std::vector<ShownGroup> shown_groups(const CLI::App& app);

/// "spectra info FILE.h5": ways to call the program or one of its commands.
std::vector<std::string> usage(const CLI::App& app);

/// The commands of the program with their positionals: "info FILE.h5".
std::vector<Entry> shown_commands(const CLI::App& app);

/// All of the program, or those of one command.
std::vector<Entry> examples(const CLI::App& app);

const std::vector<Entry>& exit_statuses();

/// The page of --help-all, and of a command's --help: usage, commands, options by group with their defaults, examples;
/// for the program itself also its exit status. At most 100 columns wide.
std::string help_page(const CLI::App& app);

/// The page of --help, which fits a screen of 80 columns: all commands, and the options that most users need.
std::string overview_page(const CLI::App& app);

/// What the program prints without arguments: commands to start with.
std::string start_page(const CLI::App& app);

}  // namespace spectra::cli
