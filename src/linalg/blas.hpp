#pragma once

namespace spectra::linalg {

/// While one exists, OpenBLAS works in the calling thread only: samples are distributed over threads, and the
/// rounding of a product must not depend on the number of threads. Other BLAS libraries are not affected.
class SingleThreadedBlas {
public:
    SingleThreadedBlas();
    ~SingleThreadedBlas();
    SingleThreadedBlas(const SingleThreadedBlas&) = delete;
    SingleThreadedBlas& operator=(const SingleThreadedBlas&) = delete;

private:
    int before_ = 0;
};

/// Number of threads that OpenBLAS uses from now on. Other BLAS libraries are not affected.
void use_blas_threads(int count);

/// out = a·b, rows×inner by inner×columns, all column-major, without overlap.
void multiply(int rows, int inner, int columns, const double* a, const double* b, double* out);

}  // namespace spectra::linalg
