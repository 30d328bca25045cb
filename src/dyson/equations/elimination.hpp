#pragma once

#include "linalg/block.hpp"
#include "dyson/equations/pattern.hpp"

#include <Eigen/Core>

#include <algorithm>
#include <complex>
#include <vector>

namespace spectra::dyson {

/// Mixers of a chain with their transposes, n² real numbers per layer, row by row.
struct ChainMixers {
    std::vector<double> forward, transposed;
};

/// The diagonal blocks of M = (P(ω; A) − Σ)⁻¹ and their response to Σ for one chain (chain.hpp has the
/// pencil), Σ(v_l) = c_v,l P^v_l and Σ(w_l) = c_w,l P^w_l, in O(L n³).
///
/// One elimination pass sweeps from both ends. With R_0 = (ω − Σ(w_0))⁻¹, S_{L−1} = (ω − Σ(v_{L−1}))⁻¹:
///
///     X_l = A_l R_l A_lᵀ + Σ(v_l),   E_l = (1 − Σ(w_{l+1}) X_l)⁻¹,   R_{l+1} = X_l E_l,
///     Z_l = A_lᵀ S_l A_l + Σ(w_l),   G_l = (1 − Σ(v_{l−1}) Z_l)⁻¹,   S_{l−1} = Z_l G_l,
///
/// then back, starting with M(v_{L−1}) = (ω − X_{L−1})⁻¹ and M(w_0) = (ω − Z_0)⁻¹:
///
///     M(v_l)     = E_l Σ(w_{l+1}) + D_l M(v_{l+1}) D_lᵀ,         D_l = E_l A_{l+1}ᵀ,
///     M(w_{l+1}) = G_{l+1} Σ(v_l) + H_l M(w_l) H_lᵀ,             H_l = G_{l+1} A_l.
///
/// X and Z are never inverted: noiseless layers with singular mixers and noise of low rank need no special
/// case. Every inverted factor is dimensionless, and on the imaginary axis (and near it, at small
/// s) every sum adds terms of one sign, so blocks with scales that differ by many orders keep their
/// relative accuracy. M(w) from the first sweep alone, or either from (1 − XZ)⁻¹, would cancel there.
///
/// The pair (v_l, w_{l+1}) has the block [[−X_l, 1], [1, −Z_{l+1}]]⁻¹; its off-diagonal block B_l =
/// M(w_{l+1}, v_l)
/// = (1 − X_l Z_{l+1})⁻¹ gives the current β_l = tr_n B_l through the link (chain.hpp), with the ends
/// β_{−1} = ω tr_n M(w_0) and β_{L−1} = ω tr_n M(v_{L−1}). β here is stored shifted by one: beta(0) …
/// beta(L).
template <int N>
class Embedding;

template <int N>
class Elimination {
public:
    using Complex = std::complex<double>;
    using Vector = Eigen::VectorXcd;

    /// end_v, end_w: the factors of ω at v_{L−1} and w_0, and the weights of traces there (the
    /// identity, unless the ends are in another frame).
    Elimination(std::size_t streams, std::size_t layers, Pattern v, Pattern w, Pattern end_v = {},
                Pattern end_w = {})
        : size_{streams},
          layers_(layers),
          v_(std::move(v)),
          w_(std::move(w)),
          end_v_(std::move(end_v)),
          end_w_(std::move(end_w)) {
        for (auto* field : {&x_, &e_, &r_, &d_, &z_, &g_, &s_, &h_, &mv_, &mw_, &mwv_})
            field->resize(layers_ * size_.stride());
        for (auto& t : temporary_) t.resize(size_.stride());
        pivots_.resize(streams);
    }

    /// Eliminates; false if a pivot is singular or a number is not finite.
    bool run(const ChainMixers& mixers, Complex omega, const Vector& cv, const Vector& cw) {
        mixers_ = &mixers;
        omega_ = omega;
        const std::size_t last = layers_ - 1;
        const auto c = [](const Vector& v, std::size_t l) { return v(static_cast<Eigen::Index>(l)); };
        if (!end_block(omega, end_w_, w_, 0, c(cw, 0), nullptr, at(r_, 0))) return false;
        if (!end_block(omega, end_v_, v_, last, c(cv, last), nullptr, at(s_, last))) return false;
        for (std::size_t l = 0; l < layers_; ++l) {
            congruence(forward(l), transposed(l), at(r_, l), at(x_, l));
            v_.add(size_, l, c(cv, l), at(x_, l));
            if (l == last) break;
            if (!propagate(w_, l + 1, c(cw, l + 1), at(x_, l), at(e_, l), at(r_, l + 1))) return false;
            linalg::block::multiply_by_real(size_, at(e_, l), transposed(l + 1), at(d_, l));
        }
        for (std::size_t l = last;; --l) {
            congruence(transposed(l), forward(l), at(s_, l), at(z_, l));
            w_.add(size_, l, c(cw, l), at(z_, l));
            if (l == 0) break;
            if (!propagate(v_, l - 1, c(cv, l - 1), at(z_, l), at(g_, l), at(s_, l - 1))) return false;
            linalg::block::multiply_by_real(size_, at(g_, l), forward(l - 1), at(h_, l - 1));
        }
        if (!end_block(omega, end_v_, v_, last, 0.0, at(x_, last), at(mv_, last))) return false;
        for (std::size_t l = last; l-- > 0;)
            carry_back(w_, l + 1, c(cw, l + 1), at(e_, l), at(d_, l), at(mv_, l + 1), at(mv_, l));
        if (!end_block(omega, end_w_, w_, 0, 0.0, at(z_, 0), at(mw_, 0))) return false;
        for (std::size_t l = 0; l < last; ++l)
            carry_back(v_, l, c(cv, l), at(g_, l + 1), at(h_, l), at(mw_, l), at(mw_, l + 1));
        for (std::size_t l = 0; l < last; ++l)
            if (!pair_block(l)) return false;
        return true;
    }

    /// tr(P^w M(w_l)), tr(P^v M(v_l)).
    Complex trace_w(std::size_t l) const { return w_.trace(size_, l, at(mw_, l)); }
    Complex trace_v(std::size_t l) const { return v_.trace(size_, l, at(mv_, l)); }

    /// n β_{k−1}, k = 0 … L.
    Complex beta(std::size_t k) const {
        if (k == 0) return omega_ * end_w_.trace(size_, 0, at(mw_, 0));
        if (k == layers_) return omega_ * end_v_.trace(size_, 0, at(mv_, layers_ - 1));
        const auto [re, im] = linalg::block::trace(size_, at(mwv_, k - 1));
        return {re, im};
    }

    /// Adds weight·∂tr(P_i M)/∂c_j to `response` (sites in chain order w_0, v_0, w_1, …) and
    /// weight·∂(nβ)/∂c_j to `currents` ((L+1) × 2L).
    void add_response(double weight, Eigen::MatrixXcd& response, Eigen::MatrixXcd& currents) {
        for (std::size_t l = 0; l < layers_; ++l) {
            own_.resize(layers_ * size_.stride());
            linalg::block::multiply_by_real(size_, at(r_, l), transposed(l), at(own_, l));
        }
        const auto pattern = [&](std::size_t site) -> const Pattern& { return site % 2 == 0 ? w_ : v_; };
        const auto put = [&](std::size_t i, std::size_t j, const double* block) {
            const Complex value = weight * pattern(i).weight(size_, i / 2, pattern(j), j / 2, block);
            const auto a = static_cast<Eigen::Index>(i), b = static_cast<Eigen::Index>(j);
            response(a, b) += value;
            if (i != j) response(b, a) += value;
        };
        // Through the link between v_{k−1} and w_k: rows `upper` = M(w_k, site), `lower` = M(v_{k−1}, site).
        const auto put_current = [&](std::size_t k, std::size_t site, Complex value) {
            currents(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(site)) += weight * value;
        };
        double* cv = temporary_[0].data();  // M(v_k, v_l), going down
        double* cw = temporary_[1].data();  // M(v_k, w_{l+1})
        double* next = temporary_[2].data();
        double* ov = temporary_[3].data();  // M(w_k, v_l)
        double* ow = temporary_[4].data();  // M(w_k, w_{l+1})
        double* t = temporary_[5].data();
        const std::size_t last = layers_ - 1;
        const auto transpose_inner = [&](std::size_t site, const double* a, const double* b) {
            // tr(a P b) with a = M(x, site), b = M(site, y).
            linalg::block::transpose(size_, a, t);
            return pattern(site).inner(size_, site / 2, t, b);
        };
        // The response of the ends at the sites w_0 and v_{L−1}.
        put(0, 0, at(mw_, 0));
        put_current(0, 0, omega_ * end_w_.weight(size_, 0, w_, 0, at(mw_, 0)));
        for (std::size_t l = 0; l < layers_; ++l) {
            const std::size_t v = 2 * l + 1, w = v + 1;
            const bool end = l == last;
            put(v, v, at(mv_, l));
            std::copy_n(at(mv_, l), size_.stride(), cv);
            if (end) {
                put_current(layers_, v, omega_ * end_v_.weight(size_, 0, v_, l, cv));
            } else {
                put(w, w, at(mw_, l + 1));
                linalg::block::transpose(size_, at(mwv_, l), cw);
                put(v, w, cw);
                // β_l = tr M(w_{l+1}, v_l): its own two sites.
                put_current(l + 1, v, transpose_inner(v, at(mwv_, l), at(mv_, l)));
                put_current(l + 1, w, w_.inner(size_, l + 1, at(mw_, l + 1), at(mwv_, l)));
            }
            for (std::size_t k = l;; --k) {
                // cv = M(v_k, v_l), cw = M(v_k, w_{l+1}).
                linalg::block::multiply(size_, at(own_, k), cv, ov);
                put(2 * k, v, ov);
                if (!end) {
                    linalg::block::multiply(size_, at(own_, k), cw, ow);
                    put(2 * k, w, ow);
                    put_current(l + 1, 2 * k, w_.inner(size_, k, ow, ov));
                } else {
                    put_current(layers_, 2 * k, omega_ * w_.weight(size_, k, end_v_, 0, ov));
                }
                if (k == 0) {
                    // β_{−1} = ω tr M(w_0): rows w_0.
                    put_current(0, v, omega_ * end_w_.weight(size_, 0, v_, l, ov));
                    if (!end) put_current(0, w, omega_ * end_w_.weight(size_, 0, w_, l + 1, ow));
                    break;
                }
                // Down to v_{k−1}, through the link k−1 | k.
                linalg::block::multiply(size_, at(d_, k - 1), cv, next);
                std::swap(cv, next);
                put(2 * k - 1, v, cv);
                put_current(k, v, right_inner(v_, l, ov, cv));
                if (!end) {
                    linalg::block::multiply(size_, at(d_, k - 1), cw, next);
                    std::swap(cw, next);
                    put(2 * k - 1, w, cw);
                    put_current(k, w, right_inner(w_, l + 1, ow, cw));
                    put_current(l + 1, 2 * k - 1, v_.inner(size_, k - 1, cw, cv));
                } else {
                    put_current(layers_, 2 * k - 1, omega_ * v_.weight(size_, k - 1, end_v_, 0, cv));
                }
            }
        }
    }

    /// Computes the factors of dΣ, dX and dZ in the sweeps and traces of apply.
    void prepare() {
        for (auto* field : {&q_, &p_, &bx_, &bz_, &vx_, &vz_, &wx_, &wz_, &dx_, &dz_})
            field->resize(layers_ * size_.stride());
        square_w_.resize(size_.stride());
        square_v_.resize(size_.stride());
        double* t = temporary_[0].data();
        double* u = temporary_[1].data();
        const auto sandwich = [&](const Pattern& p, std::size_t l, const double* a, const double* b,
                                  double* out) {
            p.from_right(size_, l, 1.0, a, t);
            linalg::block::multiply(size_, t, b, out);
        };
        for (std::size_t l = 0; l < layers_; ++l) {
            sandwich(w_, l, at(r_, l), at(r_, l), u);
            congruence(forward(l), transposed(l), u, at(q_, l));
            sandwich(v_, l, at(s_, l), at(s_, l), u);
            congruence(transposed(l), forward(l), u, at(p_, l));
            sandwich(v_, l, at(mv_, l), at(mv_, l), at(vx_, l));
            sandwich(w_, l, at(mw_, l), at(mw_, l), at(wz_, l));
            if (l + 1 == layers_) break;
            linalg::block::transpose(size_, at(mwv_, l), u);
            sandwich(v_, l, at(mwv_, l), u, at(vz_, l));      // B P^v Bᵀ: dZ_{l+1} → tr P^v M(v_l)
            sandwich(w_, l + 1, u, at(mwv_, l), at(wx_, l));  // Bᵀ P^w B: dX_l → tr P^w M(w_{l+1})
            linalg::block::multiply(size_, at(mv_, l), at(mwv_, l), at(bx_, l));
            linalg::block::multiply(size_, at(mwv_, l), at(mw_, l + 1), at(bz_, l));
        }
        sandwich(end_w_, 0, at(mw_, 0), at(mw_, 0), square_w_.data());
        sandwich(end_v_, 0, at(mv_, layers_ - 1), at(mv_, layers_ - 1), square_v_.data());
    }

    /// Adds weight × the response of tr(P^w M(w_l)), tr(P^v M(v_l)) and nβ_{k−1} to given dc.
    void add_applied(double weight, const Vector& dcv, const Vector& dcw, Vector& out_w, Vector& out_v,
                     Vector& out_beta) {
        const auto c = [](const Vector& v, std::size_t l) { return v(static_cast<Eigen::Index>(l)); };
        for (std::size_t l = 0; l < layers_; ++l) {
            spread(l > 0 ? at(d_, l - 1) : nullptr, l > 0 ? at(dx_, l - 1) : nullptr, c(dcw, l), at(q_, l),
                   at(dx_, l));
            v_.add(size_, l, c(dcv, l), at(dx_, l));
        }
        for (std::size_t l = layers_; l-- > 0;) {
            const bool end = l + 1 == layers_;
            spread(end ? nullptr : at(h_, l), end ? nullptr : at(dz_, l + 1), c(dcv, l), at(p_, l),
                   at(dz_, l));
            w_.add(size_, l, c(dcw, l), at(dz_, l));
        }
        const auto inner = [&](const double* a, const double* b) {
            const auto [re, im] = linalg::block::inner(size_, a, b);
            return weight * Complex(re, im);
        };
        const std::size_t last = layers_ - 1;
        out_w(0) += inner(at(wz_, 0), at(dz_, 0));
        out_beta(0) += omega_ * inner(square_w_.data(), at(dz_, 0));
        out_v(static_cast<Eigen::Index>(last)) += inner(at(vx_, last), at(dx_, last));
        out_beta(static_cast<Eigen::Index>(layers_)) += omega_ * inner(square_v_.data(), at(dx_, last));
        for (std::size_t l = 0; l < last; ++l) {
            const auto i = static_cast<Eigen::Index>(l);
            out_v(i) += inner(at(vx_, l), at(dx_, l)) + inner(at(vz_, l), at(dz_, l + 1));
            out_w(i + 1) += inner(at(wx_, l), at(dx_, l)) + inner(at(wz_, l + 1), at(dz_, l + 1));
            out_beta(i + 1) += inner(at(bx_, l), at(dx_, l)) + inner(at(bz_, l), at(dz_, l + 1));
        }
    }

private:
    friend class Embedding<N>;

    double* at(std::vector<double>& field, std::size_t l) { return field.data() + l * size_.stride(); }
    const double* at(const std::vector<double>& field, std::size_t l) const {
        return field.data() + l * size_.stride();
    }
    const double* forward(std::size_t l) const { return mixers_->forward.data() + l * size_.area(); }
    const double* transposed(std::size_t l) const { return mixers_->transposed.data() + l * size_.area(); }

    /// out = a·b·aᵀ with a real; `at` is aᵀ.
    void congruence(const double* a, const double* at, const double* b, double* out) {
        double* t = temporary_[2].data();
        linalg::block::multiply_real(size_, a, b, t);
        linalg::block::multiply_by_real(size_, t, at, out);
    }

    /// factor = (1 − c P x)⁻¹, next = x·factor.
    bool propagate(const Pattern& p, std::size_t l, Complex c, const double* x, double* factor,
                   double* next) {
        p.from_left(size_, l, -c, x, factor);
        linalg::block::add_identity(size_, 1.0, 0.0, factor);
        if (!linalg::block::invert(size_, factor, pivots_.data())) return false;
        linalg::block::multiply(size_, x, factor, next);
        return true;
    }

    /// out = (ωG − cP − x)⁻¹; x may be null.
    bool end_block(Complex omega, const Pattern& end, const Pattern& p, std::size_t l, Complex c,
                   const double* x, double* out) {
        if (x != nullptr)
            linalg::block::scale(size_, -1.0, 0.0, x, out);
        else
            std::fill(out, out + size_.stride(), 0.0);
        if (c != 0.0) p.add(size_, l, -c, out);
        end.add(size_, 0, omega, out);
        return linalg::block::invert(size_, out, pivots_.data());
    }

    /// out = e·cP + d·m·dᵀ.
    void carry_back(const Pattern& p, std::size_t l, Complex c, const double* e, const double* d,
                    const double* m, double* out) {
        double* t = temporary_[0].data();
        double* u = temporary_[1].data();
        linalg::block::multiply(size_, d, m, t);
        linalg::block::transpose(size_, d, u);
        linalg::block::multiply(size_, t, u, out);
        p.from_right(size_, l, c, e, t);
        for (std::size_t k = 0; k < size_.stride(); ++k) out[k] += t[k];
    }

    /// B_l = (1 − X_l Z_{l+1})⁻¹; if that product is too large to keep its small directions,
    /// M(w_{l+1})·X_l⁻¹.
    bool pair_block(std::size_t l) {
        double* t = temporary_[0].data();
        double* b = at(mwv_, l);
        linalg::block::multiply(size_, at(x_, l), at(z_, l + 1), t);
        if (linalg::block::largest(size_, t) > 1e4) {
            std::copy_n(at(x_, l), size_.stride(), b);
            if (linalg::block::invert(size_, b, pivots_.data())) {
                std::copy_n(b, size_.stride(), t);
                linalg::block::multiply(size_, at(mw_, l + 1), t, b);
                if (is_pair_block(l, b)) return true;
            }
            // X_l is singular to rounding: from the other side, Z_{l+1}⁻¹·M(v_l).
            std::copy_n(at(z_, l + 1), size_.stride(), b);
            if (linalg::block::invert(size_, b, pivots_.data())) {
                std::copy_n(b, size_.stride(), t);
                linalg::block::multiply(size_, t, at(mv_, l), b);
                if (is_pair_block(l, b)) return true;
            }
            linalg::block::multiply(size_, at(x_, l), at(z_, l + 1), t);
        }
        linalg::block::scale(size_, -1.0, 0.0, t, b);
        linalg::block::add_identity(size_, 1.0, 0.0, b);
        return linalg::block::invert(size_, b, pivots_.data());
    }

    /// Checks B r = r + M(w_{l+1}) Z_{l+1} r for a vector r in general position, to the rounding of the
    /// right-hand side.
    bool is_pair_block(std::size_t l, const double* b) {
        const std::size_t n = size_.rows(), area = size_.area();
        const auto entry = [&](const double* block, std::size_t i, std::size_t j) {
            return Complex(block[i * n + j], block[area + i * n + j]);
        };
        const auto r = [](std::size_t j) { return 1 + 0.3 * static_cast<double>(j * 7 % 5); };
        probe_.resize(n);
        probe_size_.resize(n);
        for (std::size_t k = 0; k < n; ++k) {  // Z r
            probe_[k] = probe_size_[k] = 0;
            for (std::size_t j = 0; j < n; ++j) {
                const Complex z = entry(at(z_, l + 1), k, j);
                probe_[k] += z * r(j);
                probe_size_[k] += (std::abs(z.real()) + std::abs(z.imag())) * r(j);
            }
        }
        for (std::size_t i = 0; i < n; ++i) {
            Complex difference = r(i);
            double size = r(i);
            for (std::size_t k = 0; k < n; ++k) {
                const Complex m = entry(at(mw_, l + 1), i, k);
                difference += m * probe_[k] - entry(b, i, k) * r(k);
                size += (std::abs(m.real()) + std::abs(m.imag())) * probe_size_[k];
            }
            if (!(std::abs(difference) <= 1e-6 * size)) return false;
        }
        return true;
    }

    /// tr(a P_l bᵀ).
    Complex right_inner(const Pattern& p, std::size_t l, const double* a, const double* b) {
        if (p.kind() == Pattern::Kind::identity) {
            const auto [re, im] = linalg::block::inner(size_, a, b);
            return {re, im};
        }
        double* t = temporary_[5].data();
        p.from_right(size_, l, 1.0, a, t);
        const auto [re, im] = linalg::block::inner(size_, t, b);
        return {re, im};
    }

    /// result = factorᵀ·inside·factor + c·source.
    void spread(const double* factor, const double* inside, Complex c, const double* source, double* result) {
        if (inside == nullptr) return linalg::block::scale(size_, c.real(), c.imag(), source, result);
        double* t = temporary_[0].data();
        double* ft = temporary_[1].data();
        linalg::block::transpose(size_, factor, ft);
        linalg::block::multiply(size_, inside, factor, t);
        linalg::block::multiply(size_, ft, t, result);
        const std::size_t area = size_.area();
        for (std::size_t k = 0; k < area; ++k) {
            result[k] += c.real() * source[k] - c.imag() * source[area + k];
            result[area + k] += c.real() * source[area + k] + c.imag() * source[k];
        }
    }

    linalg::block::Size<N> size_;
    std::size_t layers_;
    Pattern v_, w_, end_v_, end_w_;
    const ChainMixers* mixers_ = nullptr;
    Complex omega_ = 0;
    std::vector<double> x_, e_, r_, d_, z_, g_, s_, h_, mv_, mw_, mwv_;  ///< one block per layer
    std::vector<double> own_;                                            ///< R_l A_lᵀ
    std::vector<double> q_, p_, bx_, bz_, vx_, vz_, wx_, wz_, dx_, dz_;
    std::vector<double> square_w_, square_v_;
    std::vector<double> temporary_[6];
    std::vector<Complex> probe_;
    std::vector<double> probe_size_;
    std::vector<std::size_t> pivots_;
};

}  // namespace spectra::dyson
