#include "linalg/blas_library.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

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

std::string faster_kernel(const BlasLibrary& library, bool has_avx2) {
    // Those of OpenBLAS 0.3 with SSE alone, or with AVX without fused multiply-add.
    constexpr std::array<std::string_view, 16> older{
        "Generic",      "Katmai",    "Coppermine", "Northwood",  "Banias",  "Atom",
        "Prescott",     "Core2",     "Penryn",     "Dunnington", "Nehalem", "Opteron",
        "Opteron_SSE3", "Barcelona", "Bobcat",     "Sandybridge"};
    return has_avx2 && std::find(older.begin(), older.end(), library.kernel) != older.end() ? "Haswell" : "";
}

bool has_avx2() {
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
#else
    return false;
#endif
}

}  // namespace spectra::linalg
