#pragma once

#include "console/command.hpp"
#include "console/man_page.hpp"
#include "console/option_file.hpp"

#include <string>
#include <vector>

namespace spectra::cli {

/// The texts of help and manual that are not those of options.

/// Commands to try, of the whole program.
const std::vector<console::Entry>& examples();

const std::vector<console::Entry>& exit_statuses();

/// The page of --help, which fits a screen of 80 columns: all commands, and the options that most users need.
std::string overview_page(const console::Command& program);

/// What the program prints without arguments: commands to start with.
std::string start_page(const console::Command& program);

/// What the manual has beyond that.
console::Manual manual();

/// Which options --config reads and `spectra info --config` writes.
const console::OptionFiles& option_files();

}  // namespace spectra::cli
