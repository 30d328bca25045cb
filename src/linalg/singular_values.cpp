#include "linalg/singular_values.hpp"

#include <lapacke.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <type_traits>

namespace spectra::linalg {

static_assert(std::is_same_v<lapack_int, int>, "LAPACKE with 32-bit integers is expected");

SingularValues::SingularValues(int size) : size_(size) {
    const auto n = static_cast<std::size_t>(size);
    matrix_.resize(n * n);
    values_.resize(n);
    integers_.resize(8 * n);
    double wanted_dc = 0;
    double wanted_qr = 0;
    double unused = 0;
    LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'N', size, size, matrix_.data(), size, values_.data(), &unused, 1,
                        &unused, 1, &wanted_dc, -1, integers_.data());
    LAPACKE_dgesvd_work(LAPACK_COL_MAJOR, 'N', 'N', size, size, matrix_.data(), size, values_.data(), &unused,
                        1, &unused, 1, &wanted_qr, -1);
    work_.resize(static_cast<std::size_t>(std::max({wanted_dc, wanted_qr, 1.0})));
}

std::size_t SingularValues::workspace(std::size_t size) {
    return size * size + 80 * size;
}

bool SingularValues::solve(const Eigen::Ref<const Eigen::MatrixXd>& matrix, Algorithm algorithm) {
    Eigen::Map<Eigen::MatrixXd>(matrix_.data(), size_, size_) = matrix;
    const int work_size =
        static_cast<int>(std::min(work_.size(), static_cast<std::size_t>(std::numeric_limits<int>::max())));
    double unused = 0;
    const lapack_int info =
        algorithm == Algorithm::divide_and_conquer
            ? LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'N', size_, size_, matrix_.data(), size_, values_.data(),
                                  &unused, 1, &unused, 1, work_.data(), work_size, integers_.data())
            : LAPACKE_dgesvd_work(LAPACK_COL_MAJOR, 'N', 'N', size_, size_, matrix_.data(), size_,
                                  values_.data(), &unused, 1, &unused, 1, work_.data(), work_size);
    return info == 0 &&
           std::all_of(values_.begin(), values_.end(), [](double s) { return std::isfinite(s); });
}

bool SingularValues::compute(const Eigen::Ref<const Eigen::MatrixXd>& matrix, long exponent,
                             std::span<double> log_values, Algorithm algorithm) {
    if (!matrix.allFinite()) return false;
    const bool solved = solve(matrix, algorithm) ||
                        (algorithm == Algorithm::divide_and_conquer && solve(matrix, Algorithm::qr));
    if (!solved) return false;
    const double shift = static_cast<double>(exponent) * std::numbers::ln2;
    std::transform(values_.rbegin(), values_.rend(), log_values.begin(),
                   [shift](double s) { return std::log(s) + shift; });
    return true;
}

SingularValueDecomposition singular_value_decomposition(Eigen::MatrixXd matrix) {
    const auto size = static_cast<lapack_int>(matrix.rows());
    SingularValueDecomposition out{Eigen::MatrixXd(size, size), Eigen::VectorXd(size),
                                   Eigen::MatrixXd(size, size)};
    if (size == 0) return out;
    if (!matrix.allFinite()) throw std::runtime_error("singular values: the matrix is not finite");
    Eigen::MatrixXd copy = matrix;
    if (LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'A', size, size, copy.data(), size, out.values.data(),
                       out.left.data(), size, out.right.data(), size) != 0) {
        Eigen::VectorXd rest(size);
        if (LAPACKE_dgesvd(LAPACK_COL_MAJOR, 'A', 'A', size, size, matrix.data(), size, out.values.data(),
                           out.left.data(), size, out.right.data(), size, rest.data()) != 0)
            throw std::runtime_error("singular values did not converge");
    }
    out.right.transposeInPlace();
    return out;
}

}  // namespace spectra::linalg
