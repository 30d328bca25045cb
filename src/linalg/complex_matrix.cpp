#include "linalg/complex_matrix.hpp"

#include "linalg/blas.hpp"

#include <complex>
#include <vector>

// LAPACKE's own complex numbers are C's, which C++ does not have.
#define lapack_complex_float std::complex<float>
#define lapack_complex_double std::complex<double>
#include <lapacke.h>

extern "C" {
void dgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc);
void sgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
            const float* beta, float* c, const int* ldc);
}

namespace spectra::linalg {
namespace {

int size_of(Eigen::Index count) {
    return static_cast<int>(count);
}

Eigen::MatrixXcd joined(const Eigen::MatrixXd& parts) {
    const Eigen::Index columns = parts.cols() / 2;
    Eigen::MatrixXcd out(parts.rows(), columns);
    out.real() = parts.leftCols(columns);
    out.imag() = parts.rightCols(columns);
    return out;
}

}  // namespace

Eigen::MatrixXd planes(const Eigen::MatrixXcd& matrix) {
    const Eigen::Index rows = matrix.rows(), columns = matrix.cols();
    Eigen::MatrixXd out(2 * rows, 2 * columns);
    out.topLeftCorner(rows, columns) = matrix.real();
    out.topRightCorner(rows, columns) = matrix.imag();
    out.bottomLeftCorner(rows, columns) = -matrix.imag();
    out.bottomRightCorner(rows, columns) = matrix.real();
    return out;
}

bool invert(Eigen::MatrixXcd& matrix) {
    const int size = size_of(matrix.rows());
    if (size == 0) return true;
    if (!matrix.allFinite()) return false;
    std::vector<lapack_int> pivots(static_cast<std::size_t>(size));
    if (LAPACKE_zgetrf(LAPACK_COL_MAJOR, size, size, matrix.data(), size, pivots.data()) != 0) return false;
    return LAPACKE_zgetri(LAPACK_COL_MAJOR, size, matrix.data(), size, pivots.data()) == 0 && matrix.allFinite();
}

Eigen::MatrixXcd product(const Eigen::MatrixXcd& a, const Eigen::MatrixXcd& b) {
    Eigen::MatrixXd parts(a.rows(), 2 * a.cols());
    parts.leftCols(a.cols()) = a.real();
    parts.rightCols(a.cols()) = a.imag();
    return joined(product(parts, planes(b)));
}

Eigen::MatrixXcd product(const Eigen::MatrixXd& a, const Eigen::MatrixXcd& b) {
    Eigen::MatrixXd parts(b.rows(), 2 * b.cols());
    parts.leftCols(b.cols()) = b.real();
    parts.rightCols(b.cols()) = b.imag();
    return joined(product(a, parts));
}

Eigen::MatrixXd product(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
    if (a.size() == 0 || b.size() == 0) return Eigen::MatrixXd::Zero(a.rows(), b.cols());
    Eigen::MatrixXd out(a.rows(), b.cols());
    multiply(size_of(a.rows()), size_of(a.cols()), size_of(b.cols()), a.data(), b.data(), out.data());
    return out;
}

Eigen::MatrixXf product(const Eigen::MatrixXf& a, const Eigen::MatrixXf& b) {
    if (a.size() == 0 || b.size() == 0) return Eigen::MatrixXf::Zero(a.rows(), b.cols());
    Eigen::MatrixXf out(a.rows(), b.cols());
    const int rows = size_of(a.rows()), columns = size_of(b.cols()), inner = size_of(a.cols());
    const float zero = 0, one = 1;
    sgemm_("N", "N", &rows, &columns, &inner, &one, a.data(), &rows, b.data(), &inner, &zero, out.data(),
           &rows);
    return out;
}

void subtract_product(const Eigen::Ref<const Eigen::MatrixXf>& a, const Eigen::Ref<const Eigen::MatrixXf>& b,
                      Eigen::Ref<Eigen::MatrixXf> out) {
    if (out.size() == 0 || a.cols() == 0) return;
    const int rows = size_of(a.rows()), columns = size_of(b.rows()), inner = size_of(a.cols());
    const int lda = size_of(a.outerStride()), ldb = size_of(b.outerStride()),
              ldc = size_of(out.outerStride());
    const float minus = -1, one = 1;
    sgemm_("N", "T", &rows, &columns, &inner, &minus, a.data(), &lda, b.data(), &ldb, &one, out.data(), &ldc);
}

void subtract_product(const Eigen::Ref<const Eigen::MatrixXd>& a, const Eigen::Ref<const Eigen::MatrixXd>& b,
                      Eigen::Ref<Eigen::MatrixXd> out) {
    if (out.size() == 0 || a.cols() == 0) return;
    const int rows = size_of(a.rows()), columns = size_of(b.rows()), inner = size_of(a.cols());
    const int lda = size_of(a.outerStride()), ldb = size_of(b.outerStride()),
              ldc = size_of(out.outerStride());
    const double minus = -1, one = 1;
    dgemm_("N", "T", &rows, &columns, &inner, &minus, a.data(), &lda, b.data(), &ldb, &one, out.data(), &ldc);
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
