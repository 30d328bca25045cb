#pragma once

#include "linalg/golub_kahan.hpp"

#include <Eigen/Core>

#include <utility>

namespace spectra::tests {

/// A matrix as an operator.
class DenseOperator final : public linalg::LinearOperator {
public:
    explicit DenseOperator(Eigen::MatrixXd matrix) : matrix_(std::move(matrix)) {}

    int size() const override { return static_cast<int>(matrix_.rows()); }
    void apply(const double* in, double* out, int columns) override {
        Eigen::Map<Eigen::MatrixXd>(out, size(), columns) =
            matrix_ * Eigen::Map<const Eigen::MatrixXd>(in, size(), columns);
    }
    void apply_transpose(const double* in, double* out, int columns) override {
        Eigen::Map<Eigen::MatrixXd>(out, size(), columns) =
            matrix_.transpose() * Eigen::Map<const Eigen::MatrixXd>(in, size(), columns);
    }

private:
    Eigen::MatrixXd matrix_;
};

/// An operator's matrix.
inline Eigen::MatrixXd matrix_of(linalg::LinearOperator& from) {
    const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(from.size(), from.size());
    Eigen::MatrixXd out(from.size(), from.size());
    from.apply(identity.data(), out.data(), from.size());
    return out;
}

}  // namespace spectra::tests
