// linalg by Eigen: there is no BLAS and no LAPACK in a browser.

#include "linalg/blas.hpp"
#include "linalg/complex_matrix.hpp"
#include "linalg/singular_values.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>

namespace spectra::linalg {

SingleThreadedBlas::SingleThreadedBlas() = default;
SingleThreadedBlas::~SingleThreadedBlas() = default;

SingularValues::SingularValues(int size) : size_(size) {}

/// Asked for aligned branches only, which the page does not have.
bool SingularValues::compute(const Eigen::Ref<const Eigen::MatrixXd>& /*matrix*/, long /*exponent*/,
                             std::span<double> /*log_values*/, Algorithm /*algorithm*/) {
    return false;
}

bool invert(Eigen::MatrixXcd& matrix) {
    if (matrix.rows() == 0) return true;
    if (!matrix.allFinite()) return false;
    matrix = Eigen::MatrixXcd(matrix.partialPivLu().inverse());
    return matrix.allFinite();
}

Eigen::MatrixXcd product(const Eigen::MatrixXcd& a, const Eigen::MatrixXcd& b) {
    return a * b;
}

Eigen::MatrixXcd product(const Eigen::MatrixXd& a, const Eigen::MatrixXcd& b) {
    return a * b;
}

Eigen::MatrixXd product(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
    return a * b;
}

Eigen::MatrixXf product(const Eigen::MatrixXf& a, const Eigen::MatrixXf& b) {
    return a * b;
}

void subtract_product(const Eigen::Ref<const Eigen::MatrixXf>& a, const Eigen::Ref<const Eigen::MatrixXf>& b,
                      Eigen::Ref<Eigen::MatrixXf> out) {
    out -= a * b.transpose();
}

void subtract_product(const Eigen::Ref<const Eigen::MatrixXd>& a, const Eigen::Ref<const Eigen::MatrixXd>& b,
                      Eigen::Ref<Eigen::MatrixXd> out) {
    out -= a * b.transpose();
}

Eigen::MatrixXd planes(const Eigen::MatrixXcd& matrix) {
    Eigen::MatrixXd out(2 * matrix.rows(), 2 * matrix.cols());
    out << matrix.real(), matrix.imag(), -matrix.imag(), matrix.real();
    return out;
}

Eigen::VectorXcd eigenvalues(Eigen::MatrixXcd matrix) {
    if (!matrix.allFinite()) return {};
    const Eigen::ComplexEigenSolver<Eigen::MatrixXcd> solver(matrix, false);
    if (solver.info() != Eigen::Success) return {};
    return solver.eigenvalues();
}

}  // namespace spectra::linalg
