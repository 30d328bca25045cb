#pragma once

#include "linalg/block.hpp"

#include <Eigen/Core>

#include <array>
#include <complex>
#include <type_traits>
#include <vector>

/// The fixed symmetric matrices P of self-energies: Σ = c·P with an unknown number c.
/// Isotropic noise has P = 1, a hyper-connection P = p pᵀ, an activation P = diag(d²); in another frame all
/// except the second become full symmetric matrices.
namespace spectra::dyson {

class Pattern {
public:
    enum class Kind { identity, rank_one, diagonal, full };

    Pattern() = default;
    /// `values`: n numbers per layer, p or the diagonal; n² for a full matrix; none for the identity.
    Pattern(Kind kind, std::vector<double> values) : kind_(kind), values_(std::move(values)) {}

    Kind kind() const { return kind_; }
    /// P_l, and p if P = p pᵀ.
    Eigen::MatrixXd matrix(std::size_t n, std::size_t l) const {
        const auto rows = static_cast<Eigen::Index>(n);
        return Eigen::MatrixXd::NullaryExpr(rows, rows, [&](Eigen::Index i, Eigen::Index j) {
            return entry(n, l, static_cast<std::size_t>(i), static_cast<std::size_t>(j));
        });
    }
    Eigen::VectorXd vector(std::size_t n, std::size_t l) const {
        return Eigen::Map<const Eigen::VectorXd>(at(n, l), static_cast<Eigen::Index>(n));
    }

    /// T_l P_l T_lᵀ for every layer, T_l = transform[l + offset].
    Pattern seen_by(const std::vector<Eigen::MatrixXd>& transform, std::size_t offset) const {
        const auto n = static_cast<std::size_t>(transform.front().rows());
        const Kind kind = kind_ == Kind::rank_one ? Kind::rank_one : Kind::full;
        std::vector<double> values;
        for (std::size_t l = 0; l + 1 < transform.size(); ++l) {
            const Eigen::MatrixXd& t = transform[l + offset];
            const Eigen::MatrixXd p =
                kind == Kind::rank_one ? Eigen::MatrixXd(t * vector(n, l)) : t * matrix(n, l) * t.transpose();
            values.insert(values.end(), p.data(), p.data() + p.size());
        }
        return {kind, std::move(values)};
    }

    /// T Tᵀ, for one layer.
    static Pattern square_of(const Eigen::MatrixXd& t) {
        const Eigen::MatrixXd p = t * t.transpose();
        return {Kind::full, std::vector<double>(p.data(), p.data() + p.size())};
    }

    /// B += c·P_l.
    template <int N>
    void add(linalg::block::Size<N> size, std::size_t l, std::complex<double> c, double* b) const {
        const std::size_t n = size.rows(), area = size.area();
        if (kind_ == Kind::identity) return linalg::block::add_identity(size, c.real(), c.imag(), b);
        const double* p = at(n, l);
        for (std::size_t i = 0; i < n; ++i) {
            if (kind_ == Kind::full) {
                for (std::size_t j = 0; j < n; ++j) {
                    b[i * n + j] += c.real() * p[i * n + j];
                    b[area + i * n + j] += c.imag() * p[i * n + j];
                }
                continue;
            }
            if (kind_ == Kind::diagonal) {
                b[i * n + i] += c.real() * p[i];
                b[area + i * n + i] += c.imag() * p[i];
                continue;
            }
            for (std::size_t j = 0; j < n; ++j) {
                b[i * n + j] += c.real() * p[i] * p[j];
                b[area + i * n + j] += c.imag() * p[i] * p[j];
            }
        }
    }

    /// out = c·P_l·b.
    template <int N>
    void from_left(linalg::block::Size<N> size, std::size_t l, std::complex<double> c, const double* b,
                   double* __restrict out) const {
        const std::size_t n = size.rows(), area = size.area();
        if (kind_ == Kind::full) {
            linalg::block::multiply_real(size, at(n, l), b, out);
            return linalg::block::scale(size, c.real(), c.imag(), out, out);
        }
        linalg::block::scale(size, c.real(), c.imag(), b, out);
        if (kind_ == Kind::identity) return;
        const double* p = at(n, l);
        for (std::size_t part = 0; part < 2; ++part) {
            double* o = out + part * area;
            if (kind_ == Kind::diagonal) {
                for (std::size_t i = 0; i < n; ++i)
                    for (std::size_t j = 0; j < n; ++j) o[i * n + j] *= p[i];
                continue;
            }
            for (std::size_t j = 0; j < n; ++j) {
                double sum = 0;
                for (std::size_t i = 0; i < n; ++i) sum += p[i] * o[i * n + j];
                for (std::size_t i = 0; i < n; ++i) o[i * n + j] = p[i] * sum;
            }
        }
    }

    /// out = c·b·P_l.
    template <int N>
    void from_right(linalg::block::Size<N> size, std::size_t l, std::complex<double> c, const double* b,
                    double* __restrict out) const {
        const std::size_t n = size.rows(), area = size.area();
        if (kind_ == Kind::full) {
            linalg::block::multiply_by_real(size, b, at(n, l), out);
            return linalg::block::scale(size, c.real(), c.imag(), out, out);
        }
        linalg::block::scale(size, c.real(), c.imag(), b, out);
        if (kind_ == Kind::identity) return;
        const double* p = at(n, l);
        for (std::size_t part = 0; part < 2; ++part) {
            for (std::size_t i = 0; i < n; ++i) {
                double* o = out + part * area + i * n;
                if (kind_ == Kind::diagonal) {
                    for (std::size_t j = 0; j < n; ++j) o[j] *= p[j];
                    continue;
                }
                double sum = 0;
                for (std::size_t j = 0; j < n; ++j) sum += p[j] * o[j];
                for (std::size_t j = 0; j < n; ++j) o[j] = p[j] * sum;
            }
        }
    }

    /// tr(P_l b).
    template <int N>
    std::complex<double> trace(linalg::block::Size<N> size, std::size_t l, const double* b) const {
        const std::size_t n = size.rows(), area = size.area();
        double re = 0, im = 0;
        if (kind_ == Kind::full) {
            const double* p = at(n, l);
            for (std::size_t k = 0; k < area; ++k) {
                re += p[k] * b[k];
                im += p[k] * b[area + k];
            }
            return {re, im};
        }
        if (kind_ == Kind::rank_one) {
            const double* p = at(n, l);
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t j = 0; j < n; ++j) {
                    re += p[i] * p[j] * b[i * n + j];
                    im += p[i] * p[j] * b[area + i * n + j];
                }
            }
            return {re, im};
        }
        for (std::size_t i = 0; i < n; ++i) {
            const double weight = kind_ == Kind::identity ? 1.0 : at(n, l)[i];
            re += weight * b[i * n + i];
            im += weight * b[area + i * n + i];
        }
        return {re, im};
    }

    /// tr(aᵀ P_l b).
    template <int N>
    std::complex<double> inner(linalg::block::Size<N> size, std::size_t l, const double* a, const double* b) const {
        if (kind_ == Kind::identity) {
            const auto [re, im] = linalg::block::inner(size, a, b);
            return {re, im};
        }
        const std::size_t n = size.rows(), area = size.area();
        const double* p = at(n, l);
        std::complex<double> total = 0;
        if (kind_ == Kind::full) {
            Workspace<N> left(size);
            linalg::block::multiply_real(size, p, b, left.data());
            const auto [re, im] = linalg::block::inner(size, a, left.data());
            return {re, im};
        }
        if (kind_ == Kind::diagonal) {
            for (std::size_t i = 0; i < n; ++i) {
                double re = 0, im = 0;
                for (std::size_t j = 0; j < n; ++j) {
                    const std::size_t k = i * n + j;
                    re += a[k] * b[k] - a[area + k] * b[area + k];
                    im += a[k] * b[area + k] + a[area + k] * b[k];
                }
                total += p[i] * std::complex<double>(re, im);
            }
            return total;
        }
        for (std::size_t j = 0; j < n; ++j) {
            double ar = 0, ai = 0, br = 0, bi = 0;
            for (std::size_t i = 0; i < n; ++i) {
                ar += p[i] * a[i * n + j];
                ai += p[i] * a[area + i * n + j];
                br += p[i] * b[i * n + j];
                bi += p[i] * b[area + i * n + j];
            }
            total += std::complex<double>(ar * br - ai * bi, ar * bi + ai * br);
        }
        return total;
    }

    /// tr(P_i b Q_j bᵀ), Q another pattern.
    template <int N>
    std::complex<double> weight(linalg::block::Size<N> size, std::size_t i, const Pattern& q, std::size_t j,
                                const double* b) const {
        if (kind_ == Kind::identity && q.kind_ == Kind::identity) {
            const auto [re, im] = linalg::block::inner(size, b, b);
            return {re, im};
        }
        const std::size_t n = size.rows(), area = size.area();
        if (kind_ == Kind::rank_one && q.kind_ == Kind::rank_one) {
            const double *p = at(n, i), *r = q.at(n, j);
            double re = 0, im = 0;
            for (std::size_t a = 0; a < n; ++a) {
                for (std::size_t c = 0; c < n; ++c) {
                    re += p[a] * r[c] * b[a * n + c];
                    im += p[a] * r[c] * b[area + a * n + c];
                }
            }
            return std::complex<double>(re, im) * std::complex<double>(re, im);
        }
        std::complex<double> total = 0;
        const auto mixes = [](Kind kind) { return kind == Kind::full || kind == Kind::rank_one; };
        if (mixes(kind_) || mixes(q.kind_)) {
            // Σ_ij (P b)_ij (b Q)_ij
            Workspace<N> left(size), right(size);
            from_left(size, i, 1.0, b, left.data());
            q.from_right(size, j, 1.0, b, right.data());
            const auto [re, im] = linalg::block::inner(size, left.data(), right.data());
            return {re, im};
        }
        // Identity and diagonal in any order.
        for (std::size_t a = 0; a < n; ++a) {
            const double left = kind_ == Kind::identity ? 1.0 : at(n, i)[a];
            for (std::size_t c = 0; c < n; ++c) {
                const double right = q.kind_ == Kind::identity ? 1.0 : q.at(n, j)[c];
                const std::complex<double> value(b[a * n + c], b[area + a * n + c]);
                total += left * right * value * value;
            }
        }
        return total;
    }

private:
    /// One block, on the stack if its size is known.
    template <int N>
    class Workspace {
    public:
        explicit Workspace(linalg::block::Size<N> size) {
            if constexpr (N == 0) block_.resize(size.stride());
        }
        double* data() { return block_.data(); }

    private:
        std::conditional_t<N == 0, std::vector<double>, std::array<double, 2 * N * N + 1>> block_;
    };

    const double* at(std::size_t n, std::size_t l) const {
        return values_.data() + l * (kind_ == Kind::full ? n * n : n);
    }
    double entry(std::size_t n, std::size_t l, std::size_t i, std::size_t j) const {
        switch (kind_) {
            case Kind::identity:
                return i == j ? 1 : 0;
            case Kind::diagonal:
                return i == j ? at(n, l)[i] : 0;
            case Kind::rank_one:
                return at(n, l)[i] * at(n, l)[j];
            case Kind::full:
                break;
        }
        return at(n, l)[i * n + j];
    }

    Kind kind_ = Kind::identity;
    std::vector<double> values_;
};

}  // namespace spectra::dyson
