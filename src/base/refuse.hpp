#pragma once

#include <stdexcept>
#include <string>

namespace spectra {

/// Throws std::invalid_argument: "where: what".
[[noreturn]] inline void refuse(const std::string& where, const std::string& what) {
    throw std::invalid_argument(where + ": " + what);
}

}  // namespace spectra
