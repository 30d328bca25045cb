#include "mixers/defects.hpp"

#include <Eigen/SVD>

#include <cassert>
#include <limits>

namespace spectra::mixers {
namespace {

void expect_square(const Eigen::MatrixXd& a) {
    assert(a.rows() == a.cols() && a.rows() > 0);
    static_cast<void>(a);
}

Eigen::MatrixXd identity_like(const Eigen::MatrixXd& a) {
    return Eigen::MatrixXd::Identity(a.rows(), a.cols());
}

}  // namespace

// NaN propagates through everything below, so that a broken matrix cannot pass for a perfect one.

double row_sum_defect(const Eigen::MatrixXd& a) {
    expect_square(a);
    return (a.rowwise().sum().array() - 1.0).abs().maxCoeff<Eigen::PropagateNaN>();
}

double column_sum_defect(const Eigen::MatrixXd& a) {
    expect_square(a);
    return (a.colwise().sum().array() - 1.0).abs().maxCoeff<Eigen::PropagateNaN>();
}

double orthogonality_defect(const Eigen::MatrixXd& a) {
    expect_square(a);
    return (a.transpose() * a - identity_like(a)).array().abs().maxCoeff<Eigen::PropagateNaN>();
}

double identity_distance(const Eigen::MatrixXd& a) {
    expect_square(a);
    return (a - identity_like(a)).array().abs().maxCoeff<Eigen::PropagateNaN>();
}

double smallest_entry(const Eigen::MatrixXd& a) {
    expect_square(a);
    return a.minCoeff<Eigen::PropagateNaN>();
}

Eigen::VectorXd singular_values(const Eigen::MatrixXd& a) {
    expect_square(a);
    if (!a.allFinite()) return Eigen::VectorXd::Constant(a.rows(), std::numeric_limits<double>::quiet_NaN());
    // Not BDCSVD: in Eigen 3.4 it is off by 1e-8, or fails an assertion, if singular values coincide, like
    // those of a projection.
    return Eigen::JacobiSVD<Eigen::MatrixXd, Eigen::NoQRPreconditioner>(a).singularValues();
}

double spectral_norm(const Eigen::MatrixXd& a) {
    return singular_values(a)(0);
}

}  // namespace spectra::mixers
