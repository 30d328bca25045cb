#pragma once

#include <string>

namespace spectra::cli {

/// `spectra info FILE.h5`: prints what a result file holds. Returns the exit status.
int info(const std::string& file);

}  // namespace spectra::cli
