#pragma once

namespace spectra::linalg {

/// While one lives, OpenBLAS works in the calling thread only: samples are spread over threads, and a
/// product's rounding must not depend on how many there are. Other BLAS libraries are left alone.
class SingleThreadedBlas {
public:
    SingleThreadedBlas();
    ~SingleThreadedBlas();
    SingleThreadedBlas(const SingleThreadedBlas&) = delete;
    SingleThreadedBlas& operator=(const SingleThreadedBlas&) = delete;

private:
    int before_ = 0;
};

/// out = a·b, rows×inner by inner×columns, all column-major and apart from each other.
void multiply(int rows, int inner, int columns, const double* a, const double* b, double* out);

}  // namespace spectra::linalg
