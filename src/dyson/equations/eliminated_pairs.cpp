#include "dyson/equations/eliminated_pairs.hpp"

#include "linalg/complex_matrix.hpp"
#include "linalg/eigen_instances.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace spectra::dyson {
namespace {

using Eigen::Index;
using Matrix = Eigen::MatrixXcd;
template <class Scalar>
using Real = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;

constexpr Index block_columns = 64;
constexpr double largest_defect = 1e-9;
constexpr double largest_rough_defect = 1e-4;
constexpr double well_conditioned = 1e-4;  // |det C| over the sizes of its two products

/// C·x for the rows of some pairs.
Matrix coupled(const std::vector<Eigen::Matrix2cd>& c, Index first, const Eigen::Ref<const Matrix>& x) {
    Matrix out(x.rows(), x.cols());
    for (Index row = 0; row < x.rows(); row += 2)
        out.middleRows(row, 2) = c[static_cast<std::size_t>((first + row) / 2)] * x.middleRows(row, 2);
    return out;
}

}  // namespace

bool EliminatedPairs::run(const Matrix& k, const std::vector<Eigen::Matrix2cd>& c, bool rough) {
    const Index size = k.rows();
    const auto missed = [&](bool swept) {
        return swept ? defect_of(k, c) : std::numeric_limits<double>::infinity();
    };
    if (rough) defect_ = missed(sweep<float>(k, c));
    rough_ = rough && defect_ < largest_rough_defect;
    if (!rough_) defect_ = missed(sweep<double>(k, c));
    if (!rough_ && !(defect_ < largest_defect)) {
        const Matrix ck = coupled(c, 0, k);
        Matrix w = ck;
        w.diagonal().array() += 1.0;
        if (!linalg::invert(w)) return false;
        t_.resize(size, size);
        for (Index v = 0; v < size; v += 2)
            t_.middleCols(v, 2) = w.middleCols(v, 2) * c[static_cast<std::size_t>(v / 2)];
        pivots_ = {ck};
    }
    // K − K T K = C⁻¹ − C⁻¹ T C⁻¹, or the product itself where C is nearly singular.
    remaining_.resize(c.size());
    for (std::size_t i = 0; i < c.size(); ++i) {
        const Index v = 2 * static_cast<Index>(i);
        if (std::abs(c[i].determinant()) >
            well_conditioned * (std::abs(c[i](0, 0) * c[i](1, 1)) + std::norm(c[i](0, 1)))) {
            const Eigen::Matrix2cd inverse = c[i].inverse();
            remaining_[i] = inverse - inverse * t_.block<2, 2>(v, v) * inverse;
        } else {
            const Matrix column = k.middleCols(v, 2);
            remaining_[i] = k.block<2, 2>(v, v) - column.transpose() * (t_ * column);
        }
    }
    return t_.allFinite();
}

template <class Scalar>
bool EliminatedPairs::sweep(const Matrix& k, const std::vector<Eigen::Matrix2cd>& c) {
    const Index size = k.rows();
    pivots_.clear();
    // Only the lower triangle of blocks is kept up to date.
    Real<Scalar> real = k.real().cast<Scalar>(), imaginary = k.imag().cast<Scalar>();
    for (Index l = 0; l < size; l += block_columns) {
        const Index width = std::min(block_columns, size - l), below = size - l - width;
        // K_{·l}, real and imaginary parts side by side: the rows above come from the other side of the diagonal.
        Real<Scalar> panel(size, 2 * width);
        panel.topLeftCorner(l, width) = real.block(l, 0, width, l).transpose();
        panel.topRightCorner(l, width) = imaginary.block(l, 0, width, l).transpose();
        panel.bottomLeftCorner(size - l, width) = real.block(l, l, size - l, width);
        panel.bottomRightCorner(size - l, width) = imaginary.block(l, l, size - l, width);
        Matrix diagonal(width, width);
        diagonal.real() = real.block(l, l, width, width).template cast<double>();
        diagonal.imag() = imaginary.block(l, l, width, width).template cast<double>();
        pivots_.push_back(coupled(c, l, diagonal));
        Matrix pivot = pivots_.back();
        pivot.diagonal().array() += 1.0;
        if (!linalg::invert(pivot)) return false;
        Matrix t(width, width);  // (1 + C K)⁻¹ C
        for (Index v = 0; v < width; v += 2)
            t.middleCols(v, 2) = pivot.middleCols(v, 2) * c[static_cast<std::size_t>((l + v) / 2)];
        // (a + ib)(c + id): with (a, −b) and (b, a) both parts are products with (c, d).
        const Real<Scalar> both = linalg::planes(t).cast<Scalar>();
        const Real<Scalar> moved = linalg::product(panel, both);
        Real<Scalar> for_real(size, 2 * width), for_imaginary(size, 2 * width);
        for_real << moved.leftCols(width), -moved.rightCols(width);
        for_imaginary << moved.rightCols(width), moved.leftCols(width);
        for (Index j = 0; j < size; j += block_columns) {
            if (j == l) continue;
            const Index columns = std::min(block_columns, size - j);
            const auto seen = panel.middleRows(j, columns);
            linalg::subtract_product(for_real.bottomRows(size - j), seen,
                                     real.block(j, j, size - j, columns));
            linalg::subtract_product(for_imaginary.bottomRows(size - j), seen,
                                     imaginary.block(j, j, size - j, columns));
        }
        real.block(l, 0, width, l) = moved.topLeftCorner(l, width).transpose();
        imaginary.block(l, 0, width, l) = moved.topRightCorner(l, width).transpose();
        real.block(l + width, l, below, width) = moved.bottomLeftCorner(below, width);
        imaginary.block(l + width, l, below, width) = moved.bottomRightCorner(below, width);
        real.block(l, l, width, width) = -t.real().cast<Scalar>();
        imaginary.block(l, l, width, width) = -t.imag().cast<Scalar>();
    }
    t_.resize(size, size);
    t_.real() = -real.template cast<double>();
    t_.imag() = -imaginary.template cast<double>();
    for (Index l = 0; l < size; l += block_columns) {
        const Index width = std::min(block_columns, size - l);
        t_.block(0, l, l, width) = t_.block(l, 0, width, l).transpose();
    }
    return t_.allFinite();
}

double EliminatedPairs::defect_of(const Matrix& k, const std::vector<Eigen::Matrix2cd>& c) const {
    Eigen::VectorXcd z(k.rows());
    for (Index i = 0; i < z.size(); ++i) z(i) = std::polar(1.0, 2.4 * static_cast<double>(i));  // any vector
    const Eigen::VectorXcd y = t_ * z, cz = coupled(c, 0, z);
    const Eigen::VectorXcd through = coupled(c, 0, k * y);
    const double size = y.norm() + through.norm() + cz.norm();
    return size > 0 ? (y + through - cz).norm() / size : 0;
}

double EliminatedPairs::argument() const {
    double sum = 0;
    for (const Matrix& pivot : pivots_) {
        const Eigen::VectorXcd values = linalg::eigenvalues(pivot);
        if (values.size() != pivot.rows()) return std::numeric_limits<double>::quiet_NaN();
        for (const std::complex<double> value : values) sum += std::arg(1.0 + value);
    }
    return sum;
}

}  // namespace spectra::dyson
