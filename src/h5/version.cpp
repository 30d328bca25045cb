#include "h5/version.hpp"

#include <hdf5.h>

#include <stdexcept>

namespace spectra::h5 {

std::string library_version() {
    unsigned major = 0, minor = 0, release = 0;
    if (H5get_libversion(&major, &minor, &release) < 0) throw std::runtime_error("HDF5 does not report its version");
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

}  // namespace spectra::h5
