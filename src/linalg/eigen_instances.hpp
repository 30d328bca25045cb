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

// Products of column- (0) and row-major (1) matrices and vectors of type T; triangular solves of LU and its inverse.
#define SPECTRA_EIGEN_PRODUCTS(word, T)                                                                   \
    word struct general_matrix_matrix_product<Index, T, 0, false, T, 0, false, 0, 1>;                     \
    word struct general_matrix_matrix_product<Index, T, 0, false, T, 1, false, 0, 1>;                     \
    word struct general_matrix_matrix_product<Index, T, 1, false, T, 0, false, 0, 1>;                     \
    word struct general_matrix_matrix_product<Index, T, 1, false, T, 1, false, 0, 1>;                     \
    word struct general_matrix_vector_product<Index, T, const_blas_data_mapper<T, Index, 0>, 0, false, T, \
                                              const_blas_data_mapper<T, Index, 1>, false, 0>;             \
    word struct general_matrix_vector_product<Index, T, const_blas_data_mapper<T, Index, 1>, 1, false, T, \
                                              const_blas_data_mapper<T, Index, 0>, false, 0>;             \
    word struct triangular_solve_matrix<T, Index, OnTheLeft, UnitLower, false, 0, 0, 1>;                  \
    word struct triangular_solve_matrix<T, Index, OnTheLeft, Upper, false, 0, 0, 1>

#define SPECTRA_EIGEN_INSTANCES(word)                                                                 \
    namespace Eigen {                                                                                 \
    namespace internal {                                                                              \
    SPECTRA_EIGEN_PRODUCTS(word, double);                                                             \
    SPECTRA_EIGEN_PRODUCTS(word, std::complex<double>);                                               \
    }                                                                                                 \
    word class PartialPivLU<MatrixXd>;                                                                \
    word class PartialPivLU<MatrixXcd>;                                                               \
    word class HouseholderQR<MatrixXd>;                                                               \
    word class ColPivHouseholderQR<MatrixXd>;                                                         \
    word class JacobiSVD<MatrixXd>;                                                                   \
    word class SelfAdjointEigenSolver<MatrixXd>;                                                      \
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
