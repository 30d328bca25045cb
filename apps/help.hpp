#pragma once

#include <string>

namespace CLI {
class App;
}

namespace spectra::cli {

/// The page of --help: usage, commands, options by group with their defaults, the app's footer. At most 100
/// columns wide.
std::string help_page(const CLI::App& app, const std::string& usage);

}  // namespace spectra::cli
