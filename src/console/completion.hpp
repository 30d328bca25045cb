#pragma once

#include "console/command.hpp"

#include <string>

namespace spectra::console {

/// Completion scripts of a program with its commands and options, from the values that options accept.
std::string bash_completion(const Command& program);
std::string zsh_completion(const Command& program);

}  // namespace spectra::console
