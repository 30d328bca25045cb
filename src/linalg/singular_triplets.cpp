#include "linalg/singular_triplets.hpp"

#include "linalg/eigen_instances.hpp"
#include "linalg/singular_values.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace spectra::linalg {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr double rounding = 64 * std::numeric_limits<double>::epsilon();

/// Q of columns = Q R with as many columns as are above `negligible`, pivoted.
MatrixXd basis_above(const MatrixXd& columns, double negligible) {
    if (columns.cols() == 0) return columns;
    const Eigen::ColPivHouseholderQR<MatrixXd> qr(columns);
    Index rank = 0;
    const Index most = std::min(columns.rows(), columns.cols());
    while (rank < most && std::abs(qr.matrixQR()(rank, rank)) > negligible) ++rank;
    return qr.householderQ() * MatrixXd::Identity(columns.rows(), rank);
}

/// Takes from `block` its components along the basis, twice; returns them.
MatrixXd project_out(const MatrixXd& basis, MatrixXd& block) {
    MatrixXd along = basis.transpose() * block;
    block.noalias() -= basis * along;
    const MatrixXd again = basis.transpose() * block;
    block.noalias() -= basis * again;
    return along + again;
}

void append(MatrixXd& basis, const MatrixXd& block) {
    basis.conservativeResize(block.rows(), basis.cols() + block.cols());
    basis.rightCols(block.cols()) = block;
}

MatrixXd applied(LinearOperator& matrix, const MatrixXd& block, bool transposed) {
    MatrixXd out(block.rows(), block.cols());
    const auto columns = static_cast<int>(block.cols());
    if (transposed)
        matrix.apply_transpose(block.data(), out.data(), columns);
    else
        matrix.apply(block.data(), out.data(), columns);
    if (!out.allFinite()) throw std::runtime_error("largest_triplets: the operator is not finite");
    return out;
}

/// P, S, Q of a rectangular matrix: padded with zeros to a square one.
SingularValueDecomposition decomposed(const MatrixXd& b) {
    MatrixXd square = MatrixXd::Zero(std::max(b.rows(), b.cols()), std::max(b.rows(), b.cols()));
    square.topLeftCorner(b.rows(), b.cols()) = b;
    return singular_value_decomposition(std::move(square));
}

}  // namespace

MatrixXd orthonormal_basis(const MatrixXd& columns) {
    if (columns.cols() == 0) return columns;
    return basis_above(columns, rounding * columns.colwise().norm().maxCoeff());
}

LargestTriplets largest_triplets(LinearOperator& matrix, int count, const MatrixXd& start,
                                 const TripletOptions& options) {
    const Index size = matrix.size();
    if (start.rows() != size || start.cols() < 1 || count < 1)
        throw std::invalid_argument(
            "largest_triplets: at least one triplet and one start column of N numbers are needed");
    MatrixXd next = orthonormal_basis(start), u(size, 0), v(size, 0), b(0, 0);
    LargestTriplets out;
    double scale = 0;
    for (int step = 0; step < options.most_steps && next.cols() > 0; ++step) {
        append(v, next);
        MatrixXd image = applied(matrix, next, false);
        scale = std::max(scale, image.colwise().norm().maxCoeff());
        const MatrixXd along = project_out(u, image);
        MatrixXd block = basis_above(image, rounding * scale);
        project_out(u, block);
        block = orthonormal_basis(block);
        const Index rows = b.rows(), columns = b.cols();
        MatrixXd grown = MatrixXd::Zero(rows + block.cols(), columns + next.cols());
        grown.topLeftCorner(rows, columns) = b;
        grown.topRightCorner(rows, next.cols()) = along;
        grown.bottomRightCorner(block.cols(), next.cols()) = block.transpose() * image;
        b = std::move(grown);
        append(u, block);

        MatrixXd missing(size, 0);
        next.resize(size, 0);
        if (block.cols() > 0) {
            missing = applied(matrix, block, true);
            project_out(v, missing);
            next = basis_above(missing, rounding * scale);
            project_out(v, next);
            next = orthonormal_basis(next);
        }
        if (options.progress) options.progress();
        if (b.rows() == 0) break;  // the matrix is zero
        const bool last = next.cols() == 0 || step + 1 == options.most_steps;
        if (!last && v.cols() < count) continue;
        const auto svd = decomposed(b);
        const Index found = std::min<Index>({count, b.rows(), b.cols()});
        out.values = svd.values.head(found);
        out.residual =
            (missing * svd.left.topRows(b.rows()).bottomRows(block.cols()).leftCols(found)).colwise().norm();
        out.converged = out.residual.maxCoeff() <= options.tolerance * out.values(0);
        if (!out.converged && !last) continue;
        out.left = u * svd.left.topLeftCorner(b.rows(), found);
        out.right = v * svd.right.topLeftCorner(b.cols(), found);
        break;
    }
    // Values of rounding have no direction.
    Index above = 0;
    while (above < out.values.size() && out.values(above) > rounding * scale) ++above;
    out.values.conservativeResize(above);
    out.residual.conservativeResize(above);
    out.left.conservativeResize(size, above);
    out.right.conservativeResize(size, above);
    if (above == 0) out.converged = true;
    return out;
}

}  // namespace spectra::linalg
