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
    std::array<Complex, 2> w{}, v{}, left{}, right{}, rhs{};
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
template <int N>
class Embedding {
public:
    using Complex = std::complex<double>;
    using Vector = Eigen::VectorXcd;

    /// After run() and prepare() of the elimination; x: two numbers per layer.
    bool solve(const Elimination<N>& chain, const std::vector<LinearLayer>& layers, Vector& x) {
        reserve(chain.size_, layers.size());
        for (std::size_t l = 0; l < layers.size(); ++l)
            if (!eliminate(chain, layers[l], l, l + 1 == layers.size())) return false;
        return substitute(chain, layers.size(), x);
    }

private:
    /// Symmetric matrices as their upper triangles; maps between them as m × m blocks.
    using Packed = linalg::block::Size<N*(N + 1) / 2>;
    using Triangle = std::vector<Complex>;

    void reserve(linalg::block::Size<N> size, std::size_t layers) {
        size_ = size;
        packed_ = Packed{size.rows() * (size.rows() + 1) / 2};
        const std::size_t m = packed_.rows();
        for (auto* map : {&response_, &forth_, &back_, &middle_, &next_}) map->resize(packed_.stride());
        for (auto* triangle : {&source_, &moved_, &x_before_, &z_, &x_, &travelling_, &arriving_})
            triangle->resize(m);
        for (std::size_t k = 0; k < 2; ++k)
            for (auto* triangle : {&outward_[k], &from_left_[k], &coupling_[k]}) triangle->resize(m);
        pattern_.resize(size.stride());
        answer_.resize(layers * (2 * m + 2));
        inward_.resize(layers * 2 * m);
    }

    bool eliminate(const Elimination<N>& chain, const LinearLayer& layer, std::size_t l, bool end) {
        const std::size_t m = packed_.rows();
        const bool first = l == 0;
        Complex* inward = inward_.data() + l * 2 * m;  // z: dZ_l with respect to x_l
        for (std::size_t k = 0; k < 2; ++k) {
            sources(chain.at(chain.p_, l), chain.w_, l, layer.change[0][k], layer.change[1][k],
                    inward + k * m);
            sources(chain.at(chain.q_, l), chain.v_, l, layer.change[1][k], layer.change[0][k],
                    outward_[k].data());
        }
        std::fill(moved_.begin(), moved_.end(), 0.0);
        if (!first) {
            congruence(chain.at(chain.d_, l - 1), forth_.data());
            for (std::size_t k = 0; k < 2; ++k) {
                std::fill(from_left_[k].begin(), from_left_[k].end(), 0.0);
                apply(response_.data(), inward + k * m, from_left_[k].data());
                apply(forth_.data(), from_left_[k].data(), outward_[k].data());
            }
            apply(forth_.data(), source_.data(), moved_.data());
        }
        if (!end) {
            congruence(chain.at(chain.h_, l), back_.data());
            if (first) {
                std::fill(next_.begin(), next_.end(), 0.0);
            } else {
                linalg::block::multiply(packed_, response_.data(), back_.data(), middle_.data());
                linalg::block::multiply(packed_, forth_.data(), middle_.data(), next_.data());
            }
        }
        std::array<std::array<Complex, 2>, 2> k{};
        std::array<Complex, 2> constant{};
        for (std::size_t r = 0; r < 2; ++r) {
            // The row as a functional of dX_{l−1}, dZ_l, dX_l and dZ_{l+1}.
            for (auto* functional : {&x_before_, &z_, &x_, &coupling_[r]})
                std::fill(functional->begin(), functional->end(), 0.0);
            add(chain.at(chain.wz_, l), layer.w[r], z_);
            add(chain.at(chain.vx_, l), layer.v[r], x_);
            if (first) {
                add(chain.square_w_.data(), chain.omega_ * layer.left[r], z_);
            } else {
                add(chain.at(chain.wx_, l - 1), layer.w[r], x_before_);
                add(chain.at(chain.bx_, l - 1), layer.left[r], x_before_);
                add(chain.at(chain.bz_, l - 1), layer.left[r], z_);
            }
            if (end) {
                add(chain.square_v_.data(), chain.omega_ * layer.right[r], x_);
            } else {
                add(chain.at(chain.bx_, l), layer.right[r], x_);
                add(chain.at(chain.vz_, l), layer.v[r], coupling_[r]);
                add(chain.at(chain.bz_, l), layer.right[r], coupling_[r]);
            }
            for (std::size_t j = 0; j < 2; ++j) {
                k[r][j] = layer.own[r][j] + dot(z_, inward + j * m) + dot(x_, outward_[j].data());
                if (!first) k[r][j] += dot(x_before_, from_left_[j].data());
            }
            constant[r] = layer.rhs[r] - dot(x_, moved_.data());
            if (!first) constant[r] -= dot(x_before_, source_.data());
            if (end) continue;
            apply_transposed(back_.data(), z_.data(), coupling_[r].data());
            if (first) continue;
            apply_transposed(middle_.data(), x_before_.data(), coupling_[r].data());
            apply_transposed(next_.data(), x_.data(), coupling_[r].data());
        }
        const Complex determinant = product(k[0][0], k[1][1]) - product(k[0][1], k[1][0]);
        if (determinant == 0.0 || !std::isfinite(std::abs(determinant))) return false;
        const Complex inverse[2][2] = {{k[1][1] / determinant, -k[0][1] / determinant},
                                       {-k[1][0] / determinant, k[0][0] / determinant}};
        Complex* answer = answer_.data() + l * (2 * m + 2);
        for (std::size_t j = 0; j < 2; ++j) {
            answer[j] = product(inverse[j][0], constant[0]) + product(inverse[j][1], constant[1]);
            for (std::size_t i = 0; i < m; ++i)
                answer[2 + j * m + i] =
                    product(inverse[j][0], coupling_[0][i]) + product(inverse[j][1], coupling_[1][i]);
        }
        for (std::size_t i = 0; i < m; ++i)
            source_[i] = moved_[i] + product(outward_[0][i], answer[0]) + product(outward_[1][i], answer[1]);
        if (end) return true;
        for (std::size_t i = 0; i < m; ++i) {
            double* re = next_.data() + i * m;
            double* im = re + packed_.area();
            for (std::size_t j = 0; j < m; ++j) {
                const Complex change =
                    product(outward_[0][i], answer[2 + j]) + product(outward_[1][i], answer[2 + m + j]);
                re[j] -= change.real();
                im[j] -= change.imag();
            }
        }
        std::swap(response_, next_);
        return true;
    }

    bool substitute(const Elimination<N>& chain, std::size_t layers, Vector& x) {
        const std::size_t m = packed_.rows();
        x.resize(static_cast<Eigen::Index>(2 * layers));
        for (std::size_t l = layers; l-- > 0;) {
            const Complex* answer = answer_.data() + l * (2 * m + 2);
            const Complex* inward = inward_.data() + l * 2 * m;
            Complex own[2] = {answer[0], answer[1]};
            std::fill(arriving_.begin(), arriving_.end(), 0.0);
            if (l + 1 != layers) {
                for (std::size_t j = 0; j < 2; ++j) own[j] -= dot(travelling_, answer + 2 + j * m);
                congruence(chain.at(chain.h_, l), back_.data());
                apply(back_.data(), travelling_.data(), arriving_.data());
            }
            for (std::size_t i = 0; i < m; ++i)
                arriving_[i] += product(inward[i], own[0]) + product(inward[m + i], own[1]);
            std::swap(travelling_, arriving_);
            x(static_cast<Eigen::Index>(2 * l)) = own[0];
            x(static_cast<Eigen::Index>(2 * l + 1)) = own[1];
        }
        return x.allFinite();
    }

    /// Without the NaN rules of std::complex.
    static Complex product(Complex a, Complex b) {
        return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
    }

    Complex dot(const Triangle& f, const Complex* y) const {
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
    void add(const double* b, Complex c, Triangle& f) const {
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
    std::vector<double> pattern_;
    Triangle source_;  ///< r
    Triangle moved_;   ///< F[r]
    std::array<Triangle, 2> outward_, from_left_, coupling_;
    Triangle x_before_, z_, x_, travelling_, arriving_;
    std::vector<Complex> answer_;  ///< e and E of every layer
    std::vector<Complex> inward_;  ///< z of every layer
};

}  // namespace spectra::dyson
