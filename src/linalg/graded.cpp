#include "linalg/graded.hpp"

#include "base/special_values.hpp"
#include "linalg/blas.hpp"

#include <lapacke.h>
#include <Eigen/Core>
#include <Eigen/Householder>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

namespace spectra::linalg {
namespace {

using Matrix = Eigen::Map<Eigen::MatrixXd>;
constexpr double unit = std::numeric_limits<double>::epsilon() / 2;

std::size_t index(int i) {
    return static_cast<std::size_t>(i);
}

/// x·2^exponent for any exponent; values below 2^−150 are negligible beside columns of norm ½.
double shifted(double x, long exponent) {
    return exponent < -150 ? 0 : std::ldexp(x, static_cast<int>(std::min(exponent, 2000L)));
}

int exponent_of(double x) {
    int exponent = 0;
    std::frexp(x, &exponent);
    return exponent;
}

/// Scales the norms of columns to [½, 1) and adds their powers of two to `exponents`.
template <class Columns>
void normalise(Columns&& columns, std::span<long> exponents) {
    for (Eigen::Index j = 0; j < columns.cols(); ++j) {
        const int shift = exponent_of(columns.col(j).norm());
        if (shift == 0) continue;
        columns.col(j) *= std::ldexp(1.0, -shift);
        exponents[static_cast<std::size_t>(j)] += shift;
    }
}

/// Makes the columns 2^{exponents_j} matrix_j orthogonal.
class Rotations {
public:
    Rotations(const Matrix& matrix, std::span<long> exponents, std::span<double> norms2, std::span<double> spare)
        : matrix_(matrix),
          exponents_(exponents),
          norms2_(norms2),
          spare_(spare.data(), matrix.rows()),
          tolerance_(unit * static_cast<double>(matrix.rows())) {}

    bool orthogonalise() {
        constexpr int most_sweeps = 60;
        const auto columns = static_cast<int>(matrix_.cols());
        bool turned = true;
        for (int sweep = 0; turned && sweep < most_sweeps; ++sweep) {
            turned = false;
            for (int j = 0; j < columns; ++j) measure(j);
            for (int i = 0; i < columns; ++i)
                for (int j = i + 1; j < columns; ++j) turned = turn(i, j) || turned;
        }
        return !turned;
    }

private:
    void measure(int j) {
        normalise(matrix_.middleCols(j, 1), exponents_.subspan(index(j), 1));
        norms2_[index(j)] = matrix_.col(j).squaredNorm();
    }

    double ratio2(int i, int j) const {
        return shifted(norms2_[index(j)] / norms2_[index(i)],
                       2 * (exponents_[index(j)] - exponents_[index(i)]));
    }

    /// False if the two are already orthogonal to rounding.
    bool turn(int i, int j) {
        const double norms = std::sqrt(norms2_[index(i)] * norms2_[index(j)]);
        const double dot = matrix_.col(i).dot(matrix_.col(j));
        if (!(std::abs(dot) > tolerance_ * norms)) return false;
        if (ratio2(i, j) > 1) std::swap(i, j);
        turn(i, j, ratio2(i, j), dot / norms);
        return true;
    }

    /// Column i is the larger one.
    void turn(int i, int j, double rho2, double gamma) {
        const double tau = 2 * gamma / (1 - rho2 + std::hypot(1 - rho2, 2 * std::sqrt(rho2) * gamma));
        const double units = std::sqrt(norms2_[index(j)] / norms2_[index(i)]);
        auto large = matrix_.col(i);
        auto small = matrix_.col(j);
        if (rho2 < 0x1p-120) {
            small -= (tau * units) * large;
        } else {
            const double cosine = 1 / std::sqrt(1 + rho2 * tau * tau);
            spare_ = large;
            large = cosine * large + (cosine * rho2 * tau / units) * small;
            small = cosine * small - (cosine * tau * units) * spare_;
        }
        norms2_[index(i)] *= 1 + rho2 * tau * gamma;
        // |y'|² = |y|² (1 − τγ), unless that cancels.
        if (tau * gamma < 0.5) {
            norms2_[index(j)] *= 1 - tau * gamma;
        } else {
            measure(j);
        }
    }

    Matrix matrix_;
    std::span<long> exponents_;
    std::span<double> norms2_;
    Eigen::Map<Eigen::VectorXd> spare_;
    double tolerance_;
};

}  // namespace

GradedProduct::GradedProduct(int size) : size_(size) {
    const auto n = index(size);
    for (auto* matrix : {&left_, &right_, &columns_, &reflections_, &triangle_}) matrix->resize(n * n);
    factors_.resize(n);
    norms_.resize(n);
    integers_.resize(n);
    peaks_.resize(n * n);
    double wanted_qr = 0;
    double wanted_q = 0;
    LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, size, size, reflections_.data(), size, factors_.data(), &wanted_qr,
                        -1);
    LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, size, size, size, reflections_.data(), size, factors_.data(),
                        &wanted_q, -1);
    work_.resize(std::max(static_cast<std::size_t>(std::max(wanted_qr, wanted_q)), 3 * n));
    start();
}

void GradedProduct::start() {
    rank_ = size_;
    condition2_ = 0;
    fall_ = 0;
    std::fill(peaks_.begin(), peaks_.end(), 0);
    exponents_.assign(index(size_), 0);
    Matrix(left_.data(), size_, size_).setIdentity();
    Matrix(right_.data(), size_, size_).setIdentity();
}

double GradedProduct::relative_error() const {
    return unit * (8 * std::sqrt(size_) +
                   std::ldexp(std::sqrt(condition2_), static_cast<int>(std::min(fall_, 500L))));
}

/// Ratios of larger to smaller values grow with every layer if all layers act in the same order. If a ratio
/// falls, the rounding of the larger value grows relative to the smaller.
void GradedProduct::follow_ratios(bool same_rank) {
    const auto rank = exponents_.size();
    for (std::size_t i = 0; i < rank; ++i) {
        long* const peaks = peaks_.data() + i * index(size_);
        for (std::size_t j = i + 1; j < rank; ++j) {
            const long ratio = exponents_[i] - exponents_[j];
            peaks[j] = same_rank ? std::max(peaks[j], ratio) : ratio;
            fall_ = std::max(fall_, peaks[j] - ratio);
        }
    }
}

bool GradedProduct::multiply(const double* layer, long exponent) {
    const Eigen::Map<const Eigen::MatrixXd> matrix(layer, size_, size_);
    if (!matrix.allFinite()) return false;
    if (rank_ == 0) return true;
    linalg::multiply(size_, size_, rank_, layer, left_.data(), columns_.data());
    const int shift = std::clamp(exponent_of(matrix.cwiseAbs().maxCoeff()), -1000, 1000);
    const double scale = std::ldexp(1.0, -shift);
    Matrix(columns_.data(), size_, rank_) *= scale;
    for (long& e : exponents_) e += exponent + shift;
    factorise(size_, (scale * matrix).norm());
    if (rank_ == 0) return true;
    std::swap(left_, reflections_);
    LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, size_, rank_, rank_, left_.data(), size_, factors_.data(),
                        work_.data(), static_cast<int>(work_.size()));
    multiply_right();
    follow_ratios(exponents_.size() == exponents_before_.size());
    return true;
}

/// V ← V P F.
void GradedProduct::multiply_right() {
    const auto before = static_cast<int>(order_.size());
    permute(right_, columns_, size_);
    linalg::multiply(size_, before, rank_, columns_.data(), triangle_.data(), right_.data());
    normalise(Matrix(right_.data(), size_, rank_), exponents_);
}

/// to = from P.
void GradedProduct::permute(const AlignedDoubles& from, AlignedDoubles& to, int rows) const {
    const auto columns = static_cast<Eigen::Index>(order_.size());
    const Eigen::Map<const Eigen::MatrixXd> source(from.data(), rows, columns);
    Matrix target(to.data(), rows, columns);
    for (Eigen::Index j = 0; j < columns; ++j)
        target.col(j) = source.col(order_[static_cast<std::size_t>(j)]);
}

/// columns_ (rows × rank_, in units of exponents_) = Q diag(2^e') Fᵀ Pᵀ, with e' and its rank as the new
/// exponents_ and rank_; the reflections of Q are in reflections_. The columns come from numbers of the given
/// norm.
void GradedProduct::factorise(int rows, double norm) {
    const Matrix columns(columns_.data(), rows, rank_);
    std::vector<double> size(index(rank_));
    for (int j = 0; j < rank_; ++j) {
        norms_[index(j)] = columns.col(j).norm();
        size[index(j)] = static_cast<double>(exponents_[index(j)]) + std::log2(norms_[index(j)]);
    }
    order_.resize(index(rank_));
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](int a, int b) { return size[index(a)] > size[index(b)]; });
    const double zero = 16 * std::sqrt(size_) * unit * norm;
    const int rank = factorise_in_order(rows, zero) ? rank_ : factorise_with_pivots(rows, zero);
    if (rank > 0) condition2_ += std::pow(condition(rows, rank, norm), 2);
    take_triangle(rows, rank);
}

/// False: a pivot is zero, or small beside its column.
bool GradedProduct::factorise_in_order(int rows, double zero) {
    permute(columns_, reflections_, rows);
    Matrix reflections(reflections_.data(), rows, rank_);
    LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, rows, rank_, reflections_.data(), rows, factors_.data(),
                        work_.data(), static_cast<int>(work_.size()));
    for (int j = 0; j < rank_; ++j) {
        const double norm = norms_[index(order_[index(j)])];
        if (!(std::abs(reflections(j, j)) > std::max(zero, 0x1p-17 * norm))) return false;
    }
    return true;
}

/// The rank: residuals of at most `zero` are zero.
int GradedProduct::factorise_with_pivots(int rows, double zero) {
    permute(columns_, reflections_, rows);
    Matrix reflections(reflections_.data(), rows, rank_);
    const auto size = [this](int j, double norm) {
        return static_cast<double>(exponents_[index(order_[index(j)])]) + std::log2(norm);
    };
    double cut = -infinity;  // the size of residuals that are taken as zero
    double last = infinity;  // the size of the last pivot
    int rank = 0;
    for (; rank < rank_; ++rank) {
        int pivot = -1;
        double largest = -infinity;
        for (int j = rank; j < rank_; ++j) {
            auto residual = reflections.col(j).tail(rows - rank);
            const double norm = residual.norm();
            if (norm > zero) {
                if (size(j, norm) > largest) pivot = j;
                largest = std::max(largest, size(j, norm));
            } else if (norm > 0) {
                residual.setZero();
                cut = std::max(cut, size(j, zero));
            }
        }
        if (pivot < 0) break;
        last = largest;
        if (pivot != rank) reflections.col(rank).swap(reflections.col(pivot));
        std::swap(order_[index(rank)], order_[index(pivot)]);
        double diagonal = 0;
        reflections.col(rank).tail(rows - rank).makeHouseholderInPlace(factors_[index(rank)], diagonal);
        reflections(rank, rank) = diagonal;
        reflections.bottomRightCorner(rows - rank, rank_ - rank - 1)
            .applyHouseholderOnTheLeft(reflections.col(rank).tail(rows - rank - 1), factors_[index(rank)],
                                       work_.data());
    }
    if (rank > 0) condition2_ += std::exp2(std::min(2 * (cut - last), 900.0)) / (unit * unit);
    return rank;
}

/// ‖R⁻¹‖ times `norm` or ‖R‖, whichever is larger.
double GradedProduct::condition(int rows, int rank, double norm) {
    double reciprocal = 0;
    LAPACKE_dtrcon_work(LAPACK_COL_MAJOR, '1', 'U', 'N', rank, reflections_.data(), rows, &reciprocal,
                        work_.data(), integers_.data());
    const double own = LAPACKE_dlantr_work(LAPACK_COL_MAJOR, '1', 'U', 'N', rank, rank, reflections_.data(),
                                           rows, work_.data());
    return std::max(1.0, norm / own) / std::max(reciprocal, unit * unit);
}

void GradedProduct::take_triangle(int rows, int rank) {
    exponents_before_.swap(exponents_);
    exponents_.resize(index(rank));
    const Matrix reflections(reflections_.data(), rows, rank_);
    Matrix triangle(triangle_.data(), rank_, rank);
    const auto before = [this](int j) { return exponents_before_[index(order_[index(j)])]; };
    for (int i = 0; i < rank; ++i) {
        const long exponent = before(i) + exponent_of(reflections(i, i));
        exponents_[index(i)] = exponent;
        triangle.col(i).head(i).setZero();
        for (int j = i; j < rank_; ++j) triangle(j, i) = shifted(reflections(i, j), before(j) - exponent);
    }
    rank_ = rank;
}

bool GradedProduct::log_values(std::span<double> out) {
    std::fill(out.begin(), out.end(), -infinity);
    if (rank_ == 0) return true;
    constexpr int factorisations = 3;
    int rows = size_;
    columns_.swap(right_);
    for (int k = 0; k < factorisations; ++k) {
        const int columns = rank_;
        factorise(rows, Matrix(columns_.data(), rows, columns).norm());
        rows = columns;
        columns_.swap(triangle_);
        normalise(Matrix(columns_.data(), rows, rank_), exponents_);
    }
    const Matrix columns(columns_.data(), rows, rank_);
    if (!Rotations(columns, exponents_, norms_, work_).orthogonalise()) return false;
    for (int j = 0; j < rank_; ++j)
        out[index(size_ - 1 - j)] =
            std::log(columns.col(j).norm()) + static_cast<double>(exponents_[index(j)]) * std::numbers::ln2;
    std::sort(out.begin(), out.end());
    return true;
}

}  // namespace spectra::linalg
