#pragma once

#include "linalg/aligned.hpp"

#include <Eigen/Core>

#include <span>
#include <vector>

namespace spectra::linalg {

/// ln of the singular values of N×N matrices, by LAPACK (dgesdd without vectors). Holds the workspace:
/// one object per thread.
class SingularValues {
public:
    enum class Algorithm { divide_and_conquer, qr };

    explicit SingularValues(int size);

    /// Writes ln s + exponent·ln 2 in ascending order, −∞ for zeros. If divide and conquer does not
    /// converge, QR iteration (dgesvd) is tried. False: neither converged, or the matrix is not finite.
    bool compute(const Eigen::Ref<const Eigen::MatrixXd>& matrix, long exponent, std::span<double> log_values,
                 Algorithm algorithm = Algorithm::divide_and_conquer);

    /// Approximate number of doubles of workspace for size N.
    static std::size_t workspace(std::size_t size);

private:
    bool solve(const Eigen::Ref<const Eigen::MatrixXd>& matrix, Algorithm algorithm);

    int size_;
    AlignedDoubles matrix_, values_, work_;
    std::vector<int> integers_;
};

/// A = left · diag(values) · rightᵀ of a square matrix, largest value first.
struct SingularValueDecomposition {
    Eigen::MatrixXd left;
    Eigen::VectorXd values;
    Eigen::MatrixXd right;
};

/// By LAPACK (dgesdd, dgesvd where that does not converge). Throws std::runtime_error if neither does.
SingularValueDecomposition singular_value_decomposition(Eigen::MatrixXd matrix);

}  // namespace spectra::linalg
