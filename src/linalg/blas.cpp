#include "linalg/blas.hpp"

extern "C" {
// The Fortran interface: every BLAS has it, but not always a C header.
void dgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc);
// Weak: null if the BLAS is not OpenBLAS.
int openblas_get_num_threads() __attribute__((weak));
void openblas_set_num_threads(int count) __attribute__((weak));
}

namespace spectra::linalg {

SingleThreadedBlas::SingleThreadedBlas() {
    if (openblas_get_num_threads == nullptr || openblas_set_num_threads == nullptr) return;
    before_ = openblas_get_num_threads();
    if (before_ > 1) openblas_set_num_threads(1);
}

SingleThreadedBlas::~SingleThreadedBlas() {
    if (before_ > 1) openblas_set_num_threads(before_);
}

void use_blas_threads(int count) {
    if (openblas_set_num_threads != nullptr) openblas_set_num_threads(count);
}

void multiply(int rows, int inner, int columns, const double* a, const double* b, double* out) {
    const double one = 1;
    const double zero = 0;
    dgemm_("N", "N", &rows, &columns, &inner, &one, a, &rows, b, &inner, &zero, out, &rows);
}

}  // namespace spectra::linalg
