#pragma once

#include "console/command.hpp"

namespace CLI {
class App;
}

namespace spectra::cli {

/// The program or one of its commands as data, with its usage, examples and exit statuses.
console::Command describe(const CLI::App& app);

}  // namespace spectra::cli
