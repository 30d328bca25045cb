#pragma once

#include <string>

namespace spectra::linalg {

/// The BLAS library that was loaded with the program.
struct BlasLibrary {
    std::string name;    ///< "OpenBLAS 0.3.21"; empty if the library does not report it
    std::string kernel;  ///< which processor its inner loops were chosen for: "SkylakeX"; empty like the name
    int threads = 0;     ///< that it would use by itself; 0: not reported
};

BlasLibrary blas_library();

}  // namespace spectra::linalg
