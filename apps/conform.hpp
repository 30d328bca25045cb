#pragma once

#include "study/conform.hpp"

namespace spectra::cli {

/// Compares two implementations of a hyper-connection and prints what is wrong with the second. The exit status is 0 if
/// they are the same, 1 if not.
int conform(const study::ConformRequest& request);

}  // namespace spectra::cli
