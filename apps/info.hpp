#pragma once

#include <string>

namespace spectra::cli {

/// `spectra info FILE.h5`: describes a result file. Returns the exit status.
int info(const std::string& file);

}  // namespace spectra::cli
