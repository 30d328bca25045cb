#include "linalg/complex_matrix.hpp"

#include "linalg/blas.hpp"

#include <complex>
#include <vector>

// LAPACKE's own complex numbers are C's, which C++ does not have.
#define lapack_complex_float std::complex<float>
#define lapack_complex_double std::complex<double>
#include <lapacke.h>

extern "C" {
void zgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
            const std::complex<double>* alpha, const std::complex<double>* a, const int* lda,
            const std::complex<double>* b, const int* ldb, const std::complex<double>* beta, std::complex<double>* c,
            const int* ldc);
}

namespace spectra::linalg {
namespace {

int size_of(Eigen::Index count) {
    return static_cast<int>(count);
}

}  // namespace

bool invert(Eigen::MatrixXcd& matrix) {
    const int size = size_of(matrix.rows());
    if (size == 0) return true;
    if (!matrix.allFinite()) return false;
    std::vector<lapack_int> pivots(static_cast<std::size_t>(size));
    if (LAPACKE_zgetrf(LAPACK_COL_MAJOR, size, size, matrix.data(), size, pivots.data()) != 0) return false;
    return LAPACKE_zgetri(LAPACK_COL_MAJOR, size, matrix.data(), size, pivots.data()) == 0 && matrix.allFinite();
}

Eigen::MatrixXcd product(const Eigen::MatrixXcd& a, const Eigen::MatrixXcd& b) {
    Eigen::MatrixXcd out(a.rows(), b.cols());
    if (out.size() == 0 || a.cols() == 0) return Eigen::MatrixXcd::Zero(a.rows(), b.cols());
    const int rows = size_of(a.rows()), columns = size_of(b.cols()), inner = size_of(a.cols());
    const std::complex<double> one = 1, zero = 0;
    zgemm_("N", "N", &rows, &columns, &inner, &one, a.data(), &rows, b.data(), &inner, &zero, out.data(), &rows);
    return out;
}

Eigen::MatrixXcd product(const Eigen::MatrixXd& a, const Eigen::MatrixXcd& b) {
    const Eigen::Index columns = b.cols();
    Eigen::MatrixXd parts(b.rows(), 2 * columns), out(a.rows(), 2 * columns);
    if (out.size() == 0 || a.cols() == 0) return Eigen::MatrixXcd::Zero(a.rows(), columns);
    parts.leftCols(columns) = b.real();
    parts.rightCols(columns) = b.imag();
    multiply(size_of(a.rows()), size_of(a.cols()), size_of(2 * columns), a.data(), parts.data(), out.data());
    Eigen::MatrixXcd result(a.rows(), columns);
    result.real() = out.leftCols(columns);
    result.imag() = out.rightCols(columns);
    return result;
}

void subtract_product(const Eigen::Ref<const Eigen::MatrixXcd>& a,
                      const Eigen::Ref<const Eigen::MatrixXcd>& b, Eigen::Ref<Eigen::MatrixXcd> out) {
    if (out.size() == 0 || a.cols() == 0) return;
    const int rows = size_of(a.rows()), columns = size_of(b.rows()), inner = size_of(a.cols());
    const int lda = size_of(a.outerStride()), ldb = size_of(b.outerStride()),
              ldc = size_of(out.outerStride());
    const std::complex<double> minus = -1, one = 1;
    zgemm_("N", "T", &rows, &columns, &inner, &minus, a.data(), &lda, b.data(), &ldb, &one, out.data(), &ldc);
}

Eigen::VectorXcd eigenvalues(Eigen::MatrixXcd matrix) {
    const int size = size_of(matrix.rows());
    Eigen::VectorXcd values(size);
    if (size == 0) return values;
    if (!matrix.allFinite()) return {};
    const lapack_int info = LAPACKE_zgeev(LAPACK_COL_MAJOR, 'N', 'N', size, matrix.data(), size,
                                          values.data(), nullptr, 1, nullptr, 1);
    if (info != 0) return {};
    return values;
}

}  // namespace spectra::linalg
