#pragma once

#include <string>

namespace CLI {
class App;
}

namespace spectra::cli {

/// The completion script of a shell ("bash", "zsh"), made from the app's own commands and options: words in
/// lower case in an option's type name are its choices, FILE and STEM complete to files.
std::string completion_script(const CLI::App& app, const std::string& shell);

}  // namespace spectra::cli
