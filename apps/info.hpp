#pragma once

#include <string>

namespace CLI {
class App;
}

namespace spectra::cli {

/// `spectra info FILE.h5`: describes a result file. Returns the exit status.
int info(const std::string& file);

/// Prints the options of the command that made the file, for --config.
int info_config(const std::string& file, const CLI::App& program);

}  // namespace spectra::cli
