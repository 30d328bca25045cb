#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace spectra::linalg {

/// A dense matrix of numbers of more digits than double has, complex ones. An operation costs more than its place in memory, so that
/// plain loops are as fast as Eigen's blocks, which take a compiler ten times as long.
template <class Number>
class PlainMatrix {
public:
    using Index = std::ptrdiff_t;

    PlainMatrix() = default;
    /// Of zeros.
    explicit PlainMatrix(Index rows, Index columns = 1)
        : rows_(rows), columns_(columns), values_(static_cast<std::size_t>(rows * columns), Number(0)) {}
    static PlainMatrix identity(Index n) {
        PlainMatrix one(n, n);
        for (Index i = 0; i < n; ++i) one(i, i) = Number(1);
        return one;
    }

    Index rows() const { return rows_; }
    Index columns() const { return columns_; }
    Number& operator()(Index i, Index j) { return values_[place(i, j)]; }
    const Number& operator()(Index i, Index j) const { return values_[place(i, j)]; }
    /// Of a matrix of one column.
    Number& operator()(Index i) { return values_[static_cast<std::size_t>(i)]; }
    const Number& operator()(Index i) const { return values_[static_cast<std::size_t>(i)]; }
    /// In no order to rely on.
    const std::vector<Number>& values() const { return values_; }

    PlainMatrix& operator+=(const PlainMatrix& b) {
        for (std::size_t k = 0; k < values_.size(); ++k) values_[k] += b.values_[k];
        return *this;
    }
    PlainMatrix& operator-=(const PlainMatrix& b) {
        for (std::size_t k = 0; k < values_.size(); ++k) values_[k] -= b.values_[k];
        return *this;
    }
    PlainMatrix& operator*=(const Number& factor) {
        for (Number& value : values_) value *= factor;
        return *this;
    }
    friend PlainMatrix operator+(PlainMatrix a, const PlainMatrix& b) { return a += b; }
    friend PlainMatrix operator-(PlainMatrix a, const PlainMatrix& b) { return a -= b; }
    friend PlainMatrix operator*(const Number& factor, PlainMatrix a) { return a *= factor; }
    friend PlainMatrix operator*(const PlainMatrix& a, const PlainMatrix& b) {
        PlainMatrix product(a.rows_, b.columns_);
        for (Index i = 0; i < a.rows_; ++i)
            for (Index k = 0; k < a.columns_; ++k) {
                const Number& factor = a(i, k);
                for (Index j = 0; j < b.columns_; ++j) product(i, j) += factor * b(k, j);
            }
        return product;
    }

    PlainMatrix transpose() const {
        PlainMatrix turned(columns_, rows_);
        for (Index i = 0; i < rows_; ++i)
            for (Index j = 0; j < columns_; ++j) turned(j, i) = (*this)(i, j);
        return turned;
    }
    PlainMatrix block(Index row, Index column, Index rows, Index columns) const {
        PlainMatrix part(rows, columns);
        for (Index i = 0; i < rows; ++i)
            for (Index j = 0; j < columns; ++j) part(i, j) = (*this)(row + i, column + j);
        return part;
    }
    Number trace() const {
        Number sum(0);
        for (Index i = 0; i < rows_; ++i) sum += (*this)(i, i);
        return sum;
    }

    /// X of A X = B, by elimination with partial pivots; numbers that are not finite where A is singular.
    PlainMatrix solve(PlainMatrix b) const {
        PlainMatrix a = *this;
        for (Index k = 0; k < a.rows_; ++k) {
            Index pivot = k;
            for (Index i = k + 1; i < a.rows_; ++i)
                if (size(a(i, k)) > size(a(pivot, k))) pivot = i;
            a.swap_rows(k, pivot);
            b.swap_rows(k, pivot);
            const Number inverse = Number(1) / a(k, k);
            for (Index i = k + 1; i < a.rows_; ++i) {
                const Number factor = a(i, k) * inverse;
                for (Index j = k + 1; j < a.columns_; ++j) a(i, j) -= factor * a(k, j);
                for (Index j = 0; j < b.columns_; ++j) b(i, j) -= factor * b(k, j);
            }
            for (Index j = 0; j < b.columns_; ++j) b(k, j) *= inverse;
            for (Index j = k + 1; j < a.columns_; ++j) a(k, j) *= inverse;
        }
        for (Index k = a.rows_; k-- > 0;)
            for (Index i = 0; i < k; ++i)
                for (Index j = 0; j < b.columns_; ++j) b(i, j) -= a(i, k) * b(k, j);
        return b;
    }
    PlainMatrix inverse() const { return solve(identity(rows_)); }

private:
    std::size_t place(Index i, Index j) const { return static_cast<std::size_t>(i * columns_ + j); }
    /// Of a number, to compare pivots by.
    static auto size(const Number& z) {
        using std::abs;
        auto sum = abs(z.real());
        sum += abs(z.imag());
        return sum;
    }
    void swap_rows(Index i, Index j) {
        if (i == j) return;
        for (Index k = 0; k < columns_; ++k) std::swap((*this)(i, k), (*this)(j, k));
    }

    Index rows_ = 0, columns_ = 0;
    std::vector<Number> values_;
};

}  // namespace spectra::linalg
