#pragma once

#include <string>
#include <vector>

namespace spectra {

/// Words quoted for a shell, in one line.
std::string shell_line(const std::vector<std::string>& words);

/// The words of such a line.
std::vector<std::string> shell_words(const std::string& line);

}  // namespace spectra
