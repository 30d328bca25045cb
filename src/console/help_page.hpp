#pragma once

#include "console/command.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace spectra::console {

/// An option or positional as shown by help and the manual.
struct ShownOption {
    std::string names;        ///< with dashes; for a positional its placeholder, FILE.h5
    std::string value;        ///< "L"; empty for flags and positionals
    std::string description;  ///< without the default
    std::string initial;      ///< the default, "" if there is none
};

struct ShownGroup {
    std::string name;
    std::vector<ShownOption> options;
};

/// A positional in the usage line: its accepted values, or its name where that list is long.
std::string placeholder(const Option& positional);

/// "info FILE.h5": the command with its positionals.
std::string name_with_positionals(const Command& command);

/// Positionals first, as "Arguments", then the command's own groups in their order.
std::vector<ShownGroup> shown_groups(const Command& command);

/// `text`, filled up with blanks to so many characters.
std::string padded(const std::string& text, std::size_t width);

/// `left`, indented by two, then `right` wrapped in its column of a page.
std::string help_entry(const std::string& left, const std::string& right, std::size_t column,
                       std::size_t width);

/// All of a program or a command: usage, commands, options by group with their defaults, examples; for a program also
/// its exit statuses. At most 100 columns wide.
std::string help_page(const Command& command);

}  // namespace spectra::console
