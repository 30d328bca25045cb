#pragma once

#include "dyson/equations/elimination.hpp"

#include <array>
#include <cmath>
#include <complex>
#include <vector>

namespace spectra::dyson {

/// The linearised equations of one layer: two unknowns x (in variables chosen by the caller), and two
/// rows
///
///     own·x + w·dW_l + v·dV_l + left·dB_l + right·dB_{l+1} = rhs,
///
/// with dW, dV and dB the responses of tr(P^w M(w_l)), tr(P^v M(v_l)) and nβ to (dc_v, dc_w)_l =
/// change_l·x_l.
struct LinearLayer {
    using Complex = std::complex<double>;
    std::array<std::array<Complex, 2>, 2> change{};  ///< row 0: dc_v, row 1: dc_w
    std::array<std::array<Complex, 2>, 2> own{};     ///< by row
    std::array<Complex, 2> w{}, v{}, left{}, right{};
};

/// Solves the linearised equations of a whole chain directly, in O(L n⁶): for few streams as cheap as a few
/// GMRES iterations, and exact even where those converge slowly (edges, cusps).
///
/// The responses travel as symmetric n × n matrices, dX forwards and dZ backwards (elimination.hpp), so the
/// equations are a linear boundary-value problem along the chain. Invariant embedding: the chain to the left
/// of link l responds to its right side by dX_l = R_l[dZ_{l+1}] + r_l. Adding one layer,
///
///     dZ_l = H[dZ_{l+1}] + z·x_l,   dX_l = F[dX_{l−1}] + y·x_l,
///
/// the two rows give x_l = e − E[dZ_{l+1}], and R, r follow; the backward sweep gives all x_l. Leading blocks
/// of the linearised equation are the linearised equations of shorter chains, better conditioned than the
/// whole, so no pivoting beyond the 2 × 2 systems is needed.
///
/// R, E, y and z do not depend on the right-hand side. They are kept, so that another one costs O(L n³): two
/// congruences per layer, F[r_{l−1}] and H[dZ_{l+1}].
template <int N>
class Embedding {
public:
    using Complex = std::complex<double>;
    using Vector = Eigen::VectorXcd;

    /// After run() and prepare() of the elimination. False if a 2 × 2 system is singular.
    bool factorise(const Elimination<N>& chain, const std::vector<LinearLayer>& layers) {
        reserve(chain.size_, layers.size());
        for (std::size_t l = 0; l < layers.size(); ++l)
            if (!eliminate(chain, layers[l], l, l + 1 == layers.size())) return false;
        end_.assign(packed_.rows(), 0.0);
        add(chain.square_v_.data(), chain.omega_, end_.data());
        return true;
    }

    /// x for the linearised equations of the last factorise(), whatever became of its elimination; rhs and x: two
    /// numbers per layer. False if a number is not finite.
    bool solve(const Vector& rhs, Vector& x) {
        sweep(rhs);
        return substitute(x);
    }

    /// The response of the last current, nβ_L, to the last x.
    Complex end_current() const { return end_current_; }

private:
    /// Symmetric matrices as their upper triangles; maps between them as m × m blocks.
    using Packed = linalg::block::Size<N*(N + 1) / 2>;
    using Triangle = std::vector<Complex>;

    void reserve(linalg::block::Size<N> size, std::size_t layers) {
        size_ = size;
        packed_ = Packed{size.rows() * (size.rows() + 1) / 2};
        const std::size_t m = packed_.rows();
        for (auto* map : {&response_, &forth_, &back_, &middle_, &next_}) map->resize(packed_.stride());
        for (auto* triangle : {&source_, &moved_, &travelling_, &arriving_}) triangle->resize(m);
        for (auto* block : {&pattern_, &inside_, &half_, &turned_}) block->resize(size.stride());
        kept_.resize(layers * kept_triangles * m);
        inverse_.resize(layers * 4);
        factors_.resize(layers * 2 * size.stride());
        constant_.resize(layers * 2);
        layers_ = layers;
    }

    /// The triangles of a layer: z (dZ_l with respect to x_l), y (dX_l with respect to it), the two rows as functionals of
    /// dX_{l−1} and of dX_l, and E.
    enum Kept : std::size_t { inward = 0, outward = 2, before = 4, own = 6, answer = 8, kept_triangles = 10 };
    Complex* kept(std::size_t l, std::size_t triangle) {
        return kept_.data() + (l * kept_triangles + triangle) * packed_.rows();
    }
    /// D_{l−1} and H_l.
    double* factor_forth(std::size_t l) { return factors_.data() + 2 * l * size_.stride(); }
    double* factor_back(std::size_t l) { return factor_forth(l) + size_.stride(); }

    bool eliminate(const Elimination<N>& chain, const LinearLayer& layer, std::size_t l, bool end) {
        const std::size_t m = packed_.rows();
        const bool first = l == 0;
        for (std::size_t k = 0; k < 2; ++k) {
            sources(chain.at(chain.p_, l), chain.w_, l, layer.change[0][k], layer.change[1][k],
                    kept(l, inward + k));
            sources(chain.at(chain.q_, l), chain.v_, l, layer.change[1][k], layer.change[0][k],
                    kept(l, outward + k));
        }
        std::array<std::array<Complex, 2>, 2> k{};
        if (!first) {
            std::copy_n(chain.at(chain.d_, l - 1), size_.stride(), factor_forth(l));
            congruence(chain.at(chain.d_, l - 1), forth_.data());
        }
        for (std::size_t j = 0; j < 2; ++j) {
            from_left_[j].assign(m, 0.0);
            if (first) continue;
            apply(response_.data(), kept(l, inward + j), from_left_[j].data());
            apply(forth_.data(), from_left_[j].data(), kept(l, outward + j));
        }
        if (!end) {
            std::copy_n(chain.at(chain.h_, l), size_.stride(), factor_back(l));
            congruence(chain.at(chain.h_, l), back_.data());
            if (first) {
                std::fill(next_.begin(), next_.end(), 0.0);
            } else {
                linalg::block::multiply(packed_, response_.data(), back_.data(), middle_.data());
                linalg::block::multiply(packed_, forth_.data(), middle_.data(), next_.data());
            }
        }
        for (std::size_t r = 0; r < 2; ++r) {
            // The row as a functional of dX_{l−1}, dZ_l, dX_l and dZ_{l+1}.
            Complex *x_before = kept(l, before + r), *x = kept(l, own + r);
            std::fill_n(x_before, m, 0.0);
            std::fill_n(x, m, 0.0);
            z_.assign(m, 0.0);
            coupling_[r].assign(m, 0.0);
            add(chain.at(chain.wz_, l), layer.w[r], z_.data());
            add(chain.at(chain.vx_, l), layer.v[r], x);
            if (first) {
                add(chain.square_w_.data(), chain.omega_ * layer.left[r], z_.data());
            } else {
                add(chain.at(chain.wx_, l - 1), layer.w[r], x_before);
                add(chain.at(chain.bx_, l - 1), layer.left[r], x_before);
                add(chain.at(chain.bz_, l - 1), layer.left[r], z_.data());
            }
            if (end) {
                add(chain.square_v_.data(), chain.omega_ * layer.right[r], x);
            } else {
                add(chain.at(chain.bx_, l), layer.right[r], x);
                add(chain.at(chain.vz_, l), layer.v[r], coupling_[r].data());
                add(chain.at(chain.bz_, l), layer.right[r], coupling_[r].data());
            }
            for (std::size_t j = 0; j < 2; ++j) {
                k[r][j] =
                    layer.own[r][j] + dot(z_.data(), kept(l, inward + j)) + dot(x, kept(l, outward + j));
                if (!first) k[r][j] += dot(x_before, from_left_[j].data());
            }
            if (end) continue;
            apply_transposed(back_.data(), z_.data(), coupling_[r].data());
            if (first) continue;
            apply_transposed(middle_.data(), x_before, coupling_[r].data());
            apply_transposed(next_.data(), x, coupling_[r].data());
        }
        const Complex determinant = product(k[0][0], k[1][1]) - product(k[0][1], k[1][0]);
        if (determinant == 0.0 || !std::isfinite(std::abs(determinant))) return false;
        Complex* inverse = inverse_.data() + 4 * l;
        inverse[0] = k[1][1] / determinant;
        inverse[1] = -k[0][1] / determinant;
        inverse[2] = -k[1][0] / determinant;
        inverse[3] = k[0][0] / determinant;
        for (std::size_t j = 0; j < 2; ++j)
            for (std::size_t i = 0; i < m; ++i)
                kept(l, answer + j)[i] =
                    product(inverse[2 * j], coupling_[0][i]) + product(inverse[2 * j + 1], coupling_[1][i]);
        if (end) return true;
        for (std::size_t i = 0; i < m; ++i) {
            double* re = next_.data() + i * m;
            double* im = re + packed_.area();
            const Complex y0 = kept(l, outward)[i], y1 = kept(l, outward + 1)[i];
            for (std::size_t j = 0; j < m; ++j) {
                const Complex change = product(y0, kept(l, answer)[j]) + product(y1, kept(l, answer + 1)[j]);
                re[j] -= change.real();
                im[j] -= change.imag();
            }
        }
        std::swap(response_, next_);
        return true;
    }

    /// Forwards: e of every layer, and r.
    void sweep(const Vector& rhs) {
        const std::size_t m = packed_.rows();
        for (std::size_t l = 0; l < layers_; ++l) {
            std::fill(moved_.begin(), moved_.end(), 0.0);
            if (l > 0) turn(factor_forth(l), source_, moved_);
            std::array<Complex, 2> constant{};
            for (std::size_t r = 0; r < 2; ++r) {
                constant[r] =
                    rhs(static_cast<Eigen::Index>(2 * l + r)) - dot(kept(l, own + r), moved_.data());
                if (l > 0) constant[r] -= dot(kept(l, before + r), source_.data());
            }
            const Complex* inverse = inverse_.data() + 4 * l;
            Complex* e = constant_.data() + 2 * l;
            for (std::size_t j = 0; j < 2; ++j)
                e[j] = product(inverse[2 * j], constant[0]) + product(inverse[2 * j + 1], constant[1]);
            const Complex *y0 = kept(l, outward), *y1 = kept(l, outward + 1);
            for (std::size_t i = 0; i < m; ++i)
                source_[i] = moved_[i] + product(y0[i], e[0]) + product(y1[i], e[1]);
        }
        end_current_ = dot(end_.data(), source_.data());
    }

    bool substitute(Vector& x) {
        const std::size_t m = packed_.rows();
        x.resize(static_cast<Eigen::Index>(2 * layers_));
        for (std::size_t l = layers_; l-- > 0;) {
            const Complex *z0 = kept(l, inward), *z1 = kept(l, inward + 1);
            Complex e[2] = {constant_[2 * l], constant_[2 * l + 1]};
            std::fill(arriving_.begin(), arriving_.end(), 0.0);
            if (l + 1 != layers_) {
                for (std::size_t j = 0; j < 2; ++j) e[j] -= dot(travelling_.data(), kept(l, answer + j));
                turn(factor_back(l), travelling_, arriving_);
            }
            for (std::size_t i = 0; i < m; ++i) arriving_[i] += product(z0[i], e[0]) + product(z1[i], e[1]);
            std::swap(travelling_, arriving_);
            x(static_cast<Eigen::Index>(2 * l)) = e[0];
            x(static_cast<Eigen::Index>(2 * l + 1)) = e[1];
        }
        return x.allFinite();
    }

    /// out = fᵀ Y f.
    void turn(const double* f, const Triangle& y, Triangle& out) {
        const std::size_t n = size_.rows(), area = size_.area();
        for (std::size_t i = 0, k = 0; i < n; ++i)
            for (std::size_t j = i; j < n; ++j, ++k) {
                inside_[i * n + j] = inside_[j * n + i] = y[k].real();
                inside_[area + i * n + j] = inside_[area + j * n + i] = y[k].imag();
            }
        linalg::block::multiply(size_, inside_.data(), f, half_.data());
        linalg::block::transpose(size_, f, turned_.data());
        linalg::block::multiply(size_, turned_.data(), half_.data(), inside_.data());
        for (std::size_t i = 0, k = 0; i < n; ++i)
            for (std::size_t j = i; j < n; ++j, ++k) out[k] = {inside_[i * n + j], inside_[area + i * n + j]};
    }

    /// Without the NaN rules of std::complex.
    static Complex product(Complex a, Complex b) {
        return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
    }

    Complex dot(const Complex* f, const Complex* y) const {
        double re = 0, im = 0;
        for (std::size_t i = 0; i < packed_.rows(); ++i) {
            re += f[i].real() * y[i].real() - f[i].imag() * y[i].imag();
            im += f[i].real() * y[i].imag() + f[i].imag() * y[i].real();
        }
        return {re, im};
    }

    /// out = c·b + d·P_l.
    void sources(const double* b, const Pattern& pattern, std::size_t l, Complex c, Complex d, Complex* out) {
        std::fill(pattern_.begin(), pattern_.end(), 0.0);
        pattern.add(size_, l, d, pattern_.data());
        const std::size_t n = size_.rows(), area = size_.area();
        for (std::size_t i = 0, k = 0; i < n; ++i)
            for (std::size_t j = i; j < n; ++j, ++k) {
                const std::size_t at = i * n + j;
                out[k] = product(c, {b[at], b[area + at]}) + Complex(pattern_[at], pattern_[area + at]);
            }
    }

    /// f += c·(Y ↦ Σ b_ij Y_ij).
    void add(const double* b, Complex c, Complex* f) const {
        if (c == 0.0) return;
        const std::size_t n = size_.rows(), area = size_.area();
        for (std::size_t i = 0, k = 0; i < n; ++i) {
            f[k] += product(c, {b[i * n + i], b[area + i * n + i]});
            ++k;
            for (std::size_t j = i + 1; j < n; ++j, ++k) {
                const std::size_t at = i * n + j, mirror = j * n + i;
                f[k] += product(c, {b[at] + b[mirror], b[area + at] + b[area + mirror]});
            }
        }
    }

    /// The map Y ↦ fᵀ Y f.
    void congruence(const double* f, double* out) const {
        const std::size_t n = size_.rows(), area = size_.area(), m = packed_.rows();
        const auto entry = [&](std::size_t i, std::size_t j) {
            return Complex(f[i * n + j], f[area + i * n + j]);
        };
        std::size_t row = 0;
        for (std::size_t a = 0; a < n; ++a)
            for (std::size_t b = a; b < n; ++b, ++row) {
                double* re = out + row * m;
                double* im = re + packed_.area();
                for (std::size_t i = 0, k = 0; i < n; ++i) {
                    const Complex ia = entry(i, a), ib = entry(i, b);
                    const Complex diagonal = product(ia, ib);
                    re[k] = diagonal.real();
                    im[k] = diagonal.imag();
                    ++k;
                    for (std::size_t j = i + 1; j < n; ++j, ++k) {
                        const Complex value = product(ia, entry(j, b)) + product(entry(j, a), ib);
                        re[k] = value.real();
                        im[k] = value.imag();
                    }
                }
            }
    }

    /// out += map·y.
    void apply(const double* map, const Complex* y, Complex* out) const {
        const std::size_t m = packed_.rows();
        for (std::size_t i = 0; i < m; ++i) {
            const double* re = map + i * m;
            const double* im = re + packed_.area();
            double sum_re = 0, sum_im = 0;
            for (std::size_t j = 0; j < m; ++j) {
                sum_re += re[j] * y[j].real() - im[j] * y[j].imag();
                sum_im += re[j] * y[j].imag() + im[j] * y[j].real();
            }
            out[i] += Complex(sum_re, sum_im);
        }
    }

    /// out += mapᵀ·f.
    void apply_transposed(const double* map, const Complex* f, Complex* out) const {
        const std::size_t m = packed_.rows();
        for (std::size_t i = 0; i < m; ++i) {
            const double* re = map + i * m;
            const double* im = re + packed_.area();
            for (std::size_t j = 0; j < m; ++j) out[j] += product(f[i], {re[j], im[j]});
        }
    }

    linalg::block::Size<N> size_{};
    Packed packed_{};
    std::vector<double> response_, forth_, back_, middle_, next_;  ///< R, F, H, R H and F R H
    std::vector<double> pattern_, inside_, half_, turned_;
    Triangle source_;  ///< r
    Triangle moved_;   ///< F[r]
    std::array<Triangle, 2> from_left_, coupling_;
    Triangle z_, travelling_, arriving_;
    std::size_t layers_ = 0;
    std::vector<Complex> kept_, inverse_;  ///< of every layer; the inverses of the 2 × 2 systems
    std::vector<double> factors_;
    std::vector<Complex> constant_;  ///< e
    Triangle end_;                   ///< dX_{L−1} ↦ nβ_L
    Complex end_current_ = 0;
};

}  // namespace spectra::dyson
