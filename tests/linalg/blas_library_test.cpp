#include "linalg/blas_library.hpp"

#include <gtest/gtest.h>

namespace spectra::linalg {
namespace {

TEST(BlasLibrary, ReportsKernelsThatLeaveVectorsUnused) {
    EXPECT_EQ(faster_kernel({.name = "OpenBLAS 0.3.21", .kernel = "Prescott"}, true), "Haswell");
    EXPECT_EQ(faster_kernel({.name = "OpenBLAS 0.3.21", .kernel = "Nehalem"}, true), "Haswell");
    // An old processor has nothing better, and these use what there is.
    EXPECT_EQ(faster_kernel({.name = "OpenBLAS 0.3.21", .kernel = "Prescott"}, false), "");
    for (const char* kernel : {"Haswell", "SkylakeX", "Zen", "Cooperlake", "neoversev1", ""})
        EXPECT_EQ(faster_kernel({.name = "OpenBLAS 0.3.21", .kernel = kernel}, true), "") << kernel;
}

}  // namespace
}  // namespace spectra::linalg
