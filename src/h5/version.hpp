#pragma once

#include <string>

namespace spectra::h5 {

/// The version of the HDF5 library that was loaded: "1.10.8".
std::string library_version();

}  // namespace spectra::h5
