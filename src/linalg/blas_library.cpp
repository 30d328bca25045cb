#include "linalg/blas_library.hpp"

#include <sstream>

extern "C" {
// Weak: null if the BLAS is not OpenBLAS.
char* openblas_get_config() __attribute__((weak));
char* openblas_get_corename() __attribute__((weak));
int openblas_get_num_threads() __attribute__((weak));
}

namespace spectra::linalg {

BlasLibrary blas_library() {
    BlasLibrary out;
    if (openblas_get_config != nullptr) {
        // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH NO_AFFINITY SkylakeX MAX_THREADS=64"
        std::istringstream words(openblas_get_config());
        std::string library, version;
        words >> library >> version;
        out.name = version.empty() ? library : library + " " + version;
    }
    if (openblas_get_corename != nullptr) out.kernel = openblas_get_corename();
    if (openblas_get_num_threads != nullptr) out.threads = openblas_get_num_threads();
    return out;
}

}  // namespace spectra::linalg
