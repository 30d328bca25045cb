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

/// For OpenBLAS on x86-64: the kernel to ask for (by OPENBLAS_CORETYPE) on a processor that has vectors of AVX2 and fused
/// multiply-add, if the library chose one without, as it does for processors that it does not recognise. Empty otherwise.
std::string faster_kernel(const BlasLibrary& library, bool has_avx2);

/// Whether this processor has AVX2 and fused multiply-add; false on others than x86-64.
bool has_avx2();

}  // namespace spectra::linalg
