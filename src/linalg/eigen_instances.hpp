#pragma once

/// Eigen's decompositions and products of dense matrices, compiled once in eigen_instances.cpp instead of in every source
/// that uses them: over half of the code in the objects of src/dyson, src/montecarlo and their tests was copies, and a
/// source with an eigenvalue or a singular value took half a minute. Tests have it in their precompiled header; what runs
/// is the same.

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>

#include <complex>

#if EIGEN_VERSION_AT_LEAST(3, 4, 0) && !EIGEN_VERSION_AT_LEAST(3, 4, 90)

// The innermost loops of products and of triangular solves.
#define SPECTRA_EIGEN_KERNEL(word, A, B)                                                           \
    word struct gebp_kernel<A, B, Index, blas_data_mapper<gebp_traits<A, B>::ResScalar, Index, 0>, \
                            gebp_traits<A, B>::mr, gebp_traits<A, B>::nr, false, false>

// Products of column- (0) and row-major (1) matrices and vectors of types A and B.
#define SPECTRA_EIGEN_VECTORS(word, A, major, B, other)                                                 \
    word struct general_matrix_vector_product<Index, A, const_blas_data_mapper<A, Index, major>, major, \
                                              false, B, const_blas_data_mapper<B, Index, other>, false, 0>
#define SPECTRA_EIGEN_PRODUCTS(word, A, B)                                            \
    SPECTRA_EIGEN_KERNEL(word, A, B);                                                 \
    word struct general_matrix_matrix_product<Index, A, 0, false, B, 0, false, 0, 1>; \
    word struct general_matrix_matrix_product<Index, A, 0, false, B, 1, false, 0, 1>; \
    word struct general_matrix_matrix_product<Index, A, 1, false, B, 0, false, 0, 1>; \
    word struct general_matrix_matrix_product<Index, A, 1, false, B, 1, false, 0, 1>; \
    SPECTRA_EIGEN_VECTORS(word, A, 0, B, 0);                                          \
    SPECTRA_EIGEN_VECTORS(word, A, 0, B, 1);                                          \
    SPECTRA_EIGEN_VECTORS(word, A, 1, B, 0);                                          \
    SPECTRA_EIGEN_VECTORS(word, A, 1, B, 1)

// Triangular solves of LU and its inverse.
#define SPECTRA_EIGEN_SOLVES(word, T)                                                        \
    word struct triangular_solve_matrix<T, Index, OnTheLeft, UnitLower, false, 0, 0, 1>;     \
    word struct triangular_solve_matrix<T, Index, OnTheLeft, Upper, false, 0, 0, 1>;         \
    word struct triangular_solve_vector<T, T, Index, OnTheLeft, UnitLower, false, ColMajor>; \
    word struct triangular_solve_vector<T, T, Index, OnTheLeft, Upper, false, ColMajor>

#define SPECTRA_EIGEN_INSTANCES(word)                                                                 \
    namespace Eigen {                                                                                 \
    namespace internal {                                                                              \
    SPECTRA_EIGEN_PRODUCTS(word, double, double);                                                     \
    SPECTRA_EIGEN_PRODUCTS(word, double, std::complex<double>);                                       \
    SPECTRA_EIGEN_PRODUCTS(word, std::complex<double>, double);                                       \
    SPECTRA_EIGEN_PRODUCTS(word, std::complex<double>, std::complex<double>);                         \
    SPECTRA_EIGEN_SOLVES(word, double);                                                               \
    SPECTRA_EIGEN_SOLVES(word, std::complex<double>);                                                 \
    }                                                                                                 \
    word void PartialPivLU<MatrixXd>::compute();                                                      \
    word void PartialPivLU<MatrixXcd>::compute();                                                     \
    word void HouseholderQR<MatrixXd>::computeInPlace();                                              \
    word void ColPivHouseholderQR<MatrixXd>::computeInPlace();                                        \
    word JacobiSVD<MatrixXd>& JacobiSVD<MatrixXd>::compute(const MatrixXd&, unsigned int);            \
    word SelfAdjointEigenSolver<MatrixXd>& SelfAdjointEigenSolver<MatrixXd>::compute(                 \
        const EigenBase<MatrixXd>&, int);                                                             \
    word EigenSolver<MatrixXd>& EigenSolver<MatrixXd>::compute(const EigenBase<MatrixXd>&, bool);     \
    word void HouseholderSequence<MatrixXd, VectorXd, OnTheLeft>::evalTo(MatrixXd&, VectorXd&) const; \
    }                                                                                                 \
    static_assert(true)

#else
// The names above are those inside Eigen 3.4: with another version every source compiles its own.
#define SPECTRA_EIGEN_INSTANCES(word) static_assert(true)
#endif

SPECTRA_EIGEN_INSTANCES(extern template);
