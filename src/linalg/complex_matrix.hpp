#pragma once

#include <Eigen/Core>

#include <complex>

namespace spectra::linalg {

/// Products, inverses and eigenvalues of complex matrices by BLAS and LAPACK, for sizes at which these are several
/// times faster than Eigen. Products are those of real and imaginary parts: real kernels are the fastest there are.

/// matrix ← matrix⁻¹. False if a pivot vanishes or a number is not finite.
bool invert(Eigen::MatrixXcd& matrix);

/// a·b.
Eigen::MatrixXcd product(const Eigen::MatrixXcd& a, const Eigen::MatrixXcd& b);

/// The same with a real first factor, at half the cost.
Eigen::MatrixXcd product(const Eigen::MatrixXd& a, const Eigen::MatrixXcd& b);

/// a·b, all real.
Eigen::MatrixXd product(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);
Eigen::MatrixXf product(const Eigen::MatrixXf& a, const Eigen::MatrixXf& b);

/// out ← out − a·bᵀ.
void subtract_product(const Eigen::Ref<const Eigen::MatrixXd>& a, const Eigen::Ref<const Eigen::MatrixXd>& b,
                      Eigen::Ref<Eigen::MatrixXd> out);
void subtract_product(const Eigen::Ref<const Eigen::MatrixXf>& a, const Eigen::Ref<const Eigen::MatrixXf>& b,
                      Eigen::Ref<Eigen::MatrixXf> out);

/// [[Re, Im], [−Im, Re]]: (Re a, Im a)·planes(b) = (Re ab, Im ab).
Eigen::MatrixXd planes(const Eigen::MatrixXcd& matrix);

/// In any order; empty if the iteration does not converge.
Eigen::VectorXcd eigenvalues(Eigen::MatrixXcd matrix);

}  // namespace spectra::linalg
