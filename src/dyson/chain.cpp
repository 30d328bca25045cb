#include "dyson/chain.hpp"

#include "dyson/block.hpp"
#include "dyson/gmres.hpp"

#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace spectra::dyson {
namespace {

// Up to this depth K is built: cheaper than GMRES up to about 16 layers, and steadier beyond where
// mixers contract, since the linearised equation of many noisy layers is ill conditioned at small s.
constexpr int dense_depth = 40;

// A Newton step is needed to a few digits only: the next one corrects it.
constexpr double gmres_tolerance = 1e-6;
constexpr int gmres_max_iterations = 400;

template <int N>
class Chain final : public Equation {
public:
    Chain(const Network& network, LinearSolver solver)
        : size_{static_cast<std::size_t>(network.streams)},
          layers_(static_cast<std::size_t>(network.depth())),
          dense_(solver == LinearSolver::dense ||
                 (solver == LinearSolver::automatic && network.depth() <= dense_depth)) {
        const std::size_t n = size_.rows(), area = size_.area();
        unit_mixers_.resize(layers_ * area);
        unit_sigma2_.resize(layers_);
        log_typical_ = 0;
        for (std::size_t l = 0; l < layers_; ++l) {
            const Mixer& a = network.mixers[l];
            const double s2 = sigma2(network)[l];
            const double typical = std::sqrt(a.squaredNorm() / static_cast<double>(n) + s2);
            log_typical_ += std::log(typical);
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t j = 0; j < n; ++j)
                    unit_mixers_[l * area + i * n + j] =
                        a(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) / typical;
            unit_sigma2_[l] = s2 / (typical * typical);
        }
        mixers_ = unit_mixers_;
        transposed_.resize(mixers_.size());
        sigma2_ = unit_sigma2_;
        const std::size_t blocks = layers_ * size_.stride();
        for (auto* field : {&x_, &e_, &r_, &d_, &z_, &g_, &s_, &h_, &mv_, &mw_, &mwv_}) field->resize(blocks);
        if (dense_)
            w_.resize(blocks);
        else
            for (auto* field : {&q_, &p_, &mv2_, &mw2_, &bbt_, &btb_, &dx_, &dz_}) field->resize(blocks);
        for (auto& t : temporary_) t.resize(size_.stride());
        pivots_.resize(n);
    }

    std::unique_ptr<Equation> clone() const override { return std::make_unique<Chain>(*this); }
    Eigen::Index size() const override { return static_cast<Eigen::Index>(2 * layers_); }

    // tr_n M(w_l) → tr_n T_{l−1}/ω and tr_n M(v_l) → tr_n U_l/ω, T and U the moment recursions
    // from either end.
    Unknowns far(const Frequency& omega) const override {
        const double q2 = std::exp(-2 * log_gauge(omega));
        const auto n = static_cast<Eigen::Index>(size_.rows());
        using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
        const auto mixer = [&](std::size_t l) {
            return Eigen::Map<const RowMajor>(unit_mixers_.data() + l * size_.area(), n, n);
        };
        Unknowns m(size());
        Eigen::MatrixXd t = Eigen::MatrixXd::Identity(n, n);
        for (std::size_t l = 0; l < layers_; ++l) {
            const double mean = t.trace() / static_cast<double>(n);
            m(static_cast<Eigen::Index>(2 * l)) = mean / omega.direction;
            t = q2 * (mixer(l) * t * mixer(l).transpose() +
                      unit_sigma2_[l] * mean * Eigen::MatrixXd::Identity(n, n));
        }
        Eigen::MatrixXd u = Eigen::MatrixXd::Identity(n, n);
        for (std::size_t l = layers_; l-- > 0;) {
            const double mean = u.trace() / static_cast<double>(n);
            m(static_cast<Eigen::Index>(2 * l + 1)) = mean / omega.direction;
            u = q2 * (mixer(l).transpose() * u * mixer(l) +
                      unit_sigma2_[l] * mean * Eigen::MatrixXd::Identity(n, n));
        }
        return m;
    }

    bool newton_step(const Frequency& omega, const Unknowns& m, Unknowns& delta) override {
        if (!eliminate(omega, m)) return false;
        m_ = m;
        const Unknowns defect = (traces_ - m).cwiseQuotient(m);
        if (!defect.allFinite()) return false;
        if (!linearise(true) || !solve_linear(defect, delta)) return false;
        stay_on_gauge(delta);
        return true;
    }

    bool admissible(const Frequency&, const Unknowns& m, double slack) const override {
        for (const Complex& value : m)
            if (!(value.imag() < -slack * std::abs(value))) return false;
        return true;
    }

    bool stable_in_gap(const Frequency& omega, const Unknowns& m) override {
        if (!eliminate(omega, m)) return false;
        m_ = m;
        // T = K·σ²·swap ≥ 0 for real M; (1 − T) x = 1 with x > 0 shows a spectral radius below one.
        Unknowns modulus = m.cwiseAbs().cast<Complex>();
        std::swap(m_, modulus);
        if (!linearise(false)) return false;
        Unknowns x;
        if (!solve_linear(Unknowns::Ones(size()), x)) return false;
        return (x.real().array() > 0).all();
    }

    Complex scaled_green(const Frequency&, const Unknowns& m) const override { return m(size() - 1); }

    double passes() const override { return passes_; }

private:
    double* at(std::vector<double>& field, std::size_t l) { return field.data() + l * size_.stride(); }
    double* mixer(std::size_t l) { return mixers_.data() + l * size_.area(); }
    double* transposed(std::size_t l) { return transposed_.data() + l * size_.area(); }
    double log_gauge(const Frequency& omega) const {
        return (omega.log_scale - log_typical_) / static_cast<double>(layers_);
    }
    Complex self_energy_w(const Unknowns& m, std::size_t l) const {
        return sigma2_[l] * m(static_cast<Eigen::Index>(2 * l + 1));
    }
    Complex self_energy_v(const Unknowns& m, std::size_t l) const {
        return sigma2_[l] * m(static_cast<Eigen::Index>(2 * l));
    }

    void set_gauge(const Frequency& omega) {
        const double log_c = log_gauge(omega);
        if (log_c == log_c_) return;
        log_c_ = log_c;
        const double q = std::exp(-log_c);
        const std::size_t n = size_.rows(), area = size_.area();
        for (std::size_t k = 0; k < mixers_.size(); ++k) mixers_[k] = q * unit_mixers_[k];
        for (std::size_t l = 0; l < layers_; ++l) {
            sigma2_[l] = q * q * unit_sigma2_[l];
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t j = 0; j < n; ++j)
                    transposed_[l * area + j * n + i] = mixers_[l * area + i * n + j];
        }
    }

    void set_scalar(Complex value, double* block) {
        std::fill(block, block + size_.stride(), 0.0);
        block::add_identity(size_, value.real(), value.imag(), block);
    }

    /// out = a·b·aᵀ + c with a real; `at` is aᵀ.
    void congruence(const double* a, const double* at, const double* b, Complex c, double* out) {
        double* t = temporary_[0].data();
        block::multiply_real(size_, a, b, t);
        block::multiply_by_real(size_, t, at, out);
        block::add_identity(size_, c.real(), c.imag(), out);
    }

    /// factor = (1 − c·x)⁻¹ and next = x·factor.
    bool propagate(Complex c, const double* x, double* factor, double* next) {
        block::scale(size_, -c.real(), -c.imag(), x, factor);
        block::add_identity(size_, 1.0, 0.0, factor);
        if (!block::invert(size_, factor, pivots_.data())) return false;
        block::multiply(size_, x, factor, next);
        return true;
    }

    /// Fills the sweeps from both ends and the diagonal blocks of M with their traces.
    bool eliminate(const Frequency& omega, const Unknowns& m) {
        set_gauge(omega);
        m_sigma_ = m;
        passes_ += 1;
        const std::size_t last = layers_ - 1;
        set_scalar(1.0 / (omega.direction - self_energy_w(m, 0)), at(r_, 0));
        set_scalar(1.0 / (omega.direction - self_energy_v(m, last)), at(s_, last));
        for (std::size_t l = 0; l < layers_; ++l) {
            congruence(mixer(l), transposed(l), at(r_, l), self_energy_v(m, l), at(x_, l));
            if (l == last) break;
            if (!propagate(self_energy_w(m, l + 1), at(x_, l), at(e_, l), at(r_, l + 1))) return false;
            block::multiply_by_real(size_, at(e_, l), transposed(l + 1), at(d_, l));
        }
        for (std::size_t l = last;; --l) {
            congruence(transposed(l), mixer(l), at(s_, l), self_energy_w(m, l), at(z_, l));
            if (l == 0) break;
            if (!propagate(self_energy_v(m, l - 1), at(z_, l), at(g_, l), at(s_, l - 1))) return false;
            block::multiply_by_real(size_, at(g_, l), mixer(l - 1), at(h_, l - 1));
        }
        if (!end_block(omega.direction, at(x_, last), at(mv_, last))) return false;
        for (std::size_t l = last; l-- > 0;)
            carry_back(self_energy_w(m, l + 1), at(e_, l), at(d_, l), at(mv_, l + 1), at(mv_, l));
        if (!end_block(omega.direction, at(z_, 0), at(mw_, 0))) return false;
        for (std::size_t l = 0; l < last; ++l)
            carry_back(self_energy_v(m, l), at(g_, l + 1), at(h_, l), at(mw_, l), at(mw_, l + 1));

        traces_.resize(size());
        const double inverse_n = 1.0 / static_cast<double>(size_.rows());
        for (std::size_t l = 0; l < layers_; ++l) {
            const auto [wr, wi] = block::trace(size_, at(mw_, l));
            const auto [vr, vi] = block::trace(size_, at(mv_, l));
            traces_(static_cast<Eigen::Index>(2 * l)) = Complex(wr, wi) * inverse_n;
            traces_(static_cast<Eigen::Index>(2 * l + 1)) = Complex(vr, vi) * inverse_n;
        }
        return traces_.allFinite();
    }

    /// out = (ω − x)⁻¹.
    bool end_block(Complex omega, const double* x, double* out) {
        block::scale(size_, -1.0, 0.0, x, out);
        block::add_identity(size_, omega.real(), omega.imag(), out);
        return block::invert(size_, out, pivots_.data());
    }

    /// out = c·e + d·m·dᵀ.
    void carry_back(Complex c, const double* e, const double* d, const double* m, double* out) {
        double* t = temporary_[0].data();
        double* u = temporary_[1].data();
        double* v = temporary_[2].data();
        block::multiply(size_, d, m, t);
        block::transpose(size_, d, u);
        block::scale(size_, c.real(), c.imag(), e, v);
        multiply_add(t, u, v, out);
    }

    /// M(w_{l+1}, v_l) = (1 − X_l Z_{l+1})⁻¹; where that product is too large to keep its small
    /// directions, M(w_{l+1})·X_l⁻¹.
    bool pair_block(std::size_t l) {
        double* t = temporary_[0].data();
        double* b = at(mwv_, l);
        block::multiply(size_, at(x_, l), at(z_, l + 1), t);
        if (block::largest(size_, t) > 1e4) {
            std::copy_n(at(x_, l), size_.stride(), t);
            if (block::invert(size_, t, pivots_.data())) {
                block::multiply(size_, at(mw_, l + 1), t, b);
                return true;
            }
            block::multiply(size_, at(x_, l), at(z_, l + 1), t);
        }
        block::scale(size_, -1.0, 0.0, t, b);
        block::add_identity(size_, 1.0, 0.0, b);
        return block::invert(size_, b, pivots_.data());
    }

    /// out = a·b + c.
    void multiply_add(const double* a, const double* b, const double* c, double* out) {
        block::multiply(size_, a, b, out);
        for (std::size_t k = 0; k < size_.stride(); ++k) out[k] += c[k];
    }

    /// Prepares 1 − T̂, T̂_ik = K_{i,k'} σ²_k m_k/m_i (k' the partner of k in its layer).
    ///
    /// At small ω the equation is nearly invariant under M(w) → λM(w), M(v) → M(v)/λ, and J nearly
    /// singular along that direction e. The solution itself has m_first = m_last (g is the same from
    /// either end of the chain), so J + e·cᵀ, cᵀδ = δ_first − δ_last, gives the same step on that
    /// surface and is well conditioned; stay_on_gauge keeps the iterates there.
    bool linearise(bool fix_gauge) {
        gauge_fixed_ = fix_gauge;
        for (std::size_t l = 0; l + 1 < layers_; ++l)
            if (!pair_block(l)) return false;
        return dense_ ? build_dense() : prepare_matrix_free();
    }

    bool build_dense() {
        const auto dim = size();
        covariance_.setZero(dim, dim);
        const double inverse_n = 1.0 / static_cast<double>(size_.rows());
        const auto put = [&](std::size_t i, std::size_t j, const double* block) {
            const auto [re, im] = block::inner(size_, block, block);
            const auto a = static_cast<Eigen::Index>(i), b = static_cast<Eigen::Index>(j);
            covariance_(a, b) = covariance_(b, a) = Complex(re, im) * inverse_n;
        };
        double* column = temporary_[0].data();
        double* next = temporary_[1].data();
        double* other = temporary_[2].data();
        // From `column` = M(v_l, site) down to the first layer: M(w_k, site) and M(v_{k−1}, site).
        const auto descend = [&](std::size_t site, std::size_t l) {
            for (std::size_t k = l;; --k) {
                block::multiply(size_, at(w_, k), column, other);
                put(2 * k, site, other);
                if (k == 0) break;
                block::multiply(size_, at(d_, k - 1), column, next);
                std::swap(column, next);
                put(2 * k - 1, site, column);
            }
        };
        for (std::size_t l = 0; l < layers_; ++l)
            block::multiply_by_real(size_, at(r_, l), transposed(l), at(w_, l));
        put(0, 0, at(mw_, 0));
        for (std::size_t l = 0; l < layers_; ++l) {
            const std::size_t v = 2 * l + 1;
            put(v, v, at(mv_, l));
            std::copy_n(at(mv_, l), size_.stride(), column);
            descend(v, l);
            if (l + 1 == layers_) break;
            const std::size_t w = v + 1;
            put(w, w, at(mw_, l + 1));
            block::transpose(size_, at(mwv_, l), column);
            put(v, w, column);
            descend(w, l);
        }
        Eigen::MatrixXcd jacobian = Eigen::MatrixXcd::Identity(dim, dim);
        const Unknowns inverse_m = m_.cwiseInverse();
        for (Eigen::Index k = 0; k < dim; ++k) {
            const Complex factor = sigma2_[static_cast<std::size_t>(k / 2)] * m_(k);
            jacobian.col(k) -= factor * covariance_.col(k ^ 1).cwiseProduct(inverse_m);
        }
        if (gauge_fixed_) {
            for (Eigen::Index i = 0; i < dim; ++i) {
                const double sign = i % 2 == 0 ? 1 : -1;
                jacobian(i, 0) += sign;
                jacobian(i, dim - 1) -= sign;
            }
        }
        passes_ += 0.15 * static_cast<double>(layers_) + 0.003 * static_cast<double>(layers_ * layers_);
        if (!jacobian.allFinite()) return false;
        lu_.compute(jacobian);
        return true;
    }

    /// What multiplies dΣ, dX and dZ in the sweeps and traces of apply_covariance.
    bool prepare_matrix_free() {
        double* t = temporary_[0].data();
        double* u = temporary_[1].data();
        for (std::size_t l = 0; l < layers_; ++l) {
            block::multiply(size_, at(r_, l), at(r_, l), u);
            congruence(mixer(l), transposed(l), u, 0.0, at(q_, l));
            block::multiply(size_, at(s_, l), at(s_, l), u);
            congruence(transposed(l), mixer(l), u, 0.0, at(p_, l));
            block::multiply(size_, at(mv_, l), at(mv_, l), at(mv2_, l));
            block::multiply(size_, at(mw_, l), at(mw_, l), at(mw2_, l));
            if (l + 1 == layers_) break;
            block::transpose(size_, at(mwv_, l), t);
            block::multiply(size_, at(mwv_, l), t, at(bbt_, l));
            block::multiply(size_, t, at(mwv_, l), at(btb_, l));
        }
        passes_ += 1;
        return true;
    }

    /// dtr_n M(site) for given dΣ(site), all sites: two sweeps of congruences.
    void apply_covariance(const Unknowns& d_sigma, Unknowns& out) {
        const auto sigma_w = [&](std::size_t l) { return d_sigma(static_cast<Eigen::Index>(2 * l)); };
        const auto sigma_v = [&](std::size_t l) { return d_sigma(static_cast<Eigen::Index>(2 * l + 1)); };
        double* t = temporary_[0].data();
        double* u = temporary_[1].data();
        double* ft = temporary_[2].data();
        const auto propagate_derivative = [&](const double* factor, const double* inside, Complex c,
                                              const double* source, Complex identity, double* result) {
            // factorᵀ·inside·factor + c·source + identity
            if (inside != nullptr) {
                block::transpose(size_, factor, ft);
                block::multiply(size_, inside, factor, t);
                block::multiply(size_, ft, t, result);
            } else {
                std::fill(result, result + size_.stride(), 0.0);
            }
            block::scale(size_, c.real(), c.imag(), source, u);
            for (std::size_t k = 0; k < size_.stride(); ++k) result[k] += u[k];
            block::add_identity(size_, identity.real(), identity.imag(), result);
        };
        for (std::size_t l = 0; l < layers_; ++l)
            propagate_derivative(l > 0 ? at(d_, l - 1) : nullptr, l > 0 ? at(dx_, l - 1) : nullptr,
                                 sigma_w(l), at(q_, l), sigma_v(l), at(dx_, l));
        for (std::size_t l = layers_; l-- > 0;) {
            const bool end = l + 1 == layers_;
            propagate_derivative(end ? nullptr : at(h_, l), end ? nullptr : at(dz_, l + 1), sigma_v(l),
                                 at(p_, l), sigma_w(l), at(dz_, l));
        }
        out.resize(size());
        const double inverse_n = 1.0 / static_cast<double>(size_.rows());
        const auto trace = [&](const double* a, const double* b) {
            const auto [re, im] = block::inner(size_, a, b);
            return Complex(re, im) * inverse_n;
        };
        const std::size_t last = layers_ - 1;
        out(0) = trace(at(mw2_, 0), at(dz_, 0));
        out(static_cast<Eigen::Index>(2 * last + 1)) = trace(at(mv2_, last), at(dx_, last));
        for (std::size_t l = 0; l < last; ++l) {
            const auto v = static_cast<Eigen::Index>(2 * l + 1);
            out(v) = trace(at(mv2_, l), at(dx_, l)) + trace(at(bbt_, l), at(dz_, l + 1));
            out(v + 1) = trace(at(btb_, l), at(dx_, l)) + trace(at(mw2_, l + 1), at(dz_, l + 1));
        }
        passes_ += 0.5;
    }

    static void stay_on_gauge(Unknowns& delta) {
        const Complex half = (delta(0) - delta(delta.size() - 1)) / 2.0;
        for (Eigen::Index i = 0; i < delta.size(); ++i) delta(i) -= i % 2 == 0 ? half : -half;
    }

    bool solve_linear(const Unknowns& rhs, Unknowns& x) {
        if (dense_) {
            x = lu_.solve(rhs);
            return x.allFinite();
        }
        Unknowns d_sigma(size()), image(size());
        const auto apply = [&](const Unknowns& v, Unknowns& out) {
            for (Eigen::Index i = 0; i < size(); ++i)
                d_sigma(i) = sigma2_[static_cast<std::size_t>(i / 2)] * m_(i ^ 1) * v(i ^ 1);
            apply_covariance(d_sigma, image);
            out = v - image.cwiseQuotient(m_);
            if (!gauge_fixed_) return;
            const Complex difference = v(0) - v(size() - 1);
            for (Eigen::Index i = 0; i < size(); ++i) out(i) += i % 2 == 0 ? difference : -difference;
        };
        const GmresSummary summary = gmres(apply, rhs, x, gmres_tolerance, gmres_max_iterations);
        return summary.converged && x.allFinite();
    }

    block::Size<N> size_;
    std::size_t layers_;
    bool dense_;
    bool gauge_fixed_ = true;
    double log_typical_ = 0;
    double log_c_ = std::numeric_limits<double>::quiet_NaN();
    double passes_ = 0;
    std::vector<double> unit_mixers_, mixers_, transposed_;
    std::vector<double> unit_sigma2_, sigma2_;
    std::vector<double> x_, e_, r_, d_, z_, g_, s_, h_, mv_, mw_, mwv_;  ///< one block a layer
    std::vector<double> w_;                                              ///< dense only
    std::vector<double> q_, p_, mv2_, mw2_, bbt_, btb_, dx_, dz_;
    std::vector<double> temporary_[3];
    std::vector<std::size_t> pivots_;
    Unknowns traces_;
    Unknowns m_sigma_;  ///< the unknowns of the last elimination
    Unknowns m_;        ///< what the linearised equation is relative to
    Eigen::MatrixXcd covariance_;
    Eigen::PartialPivLU<Eigen::MatrixXcd> lu_;
};

}  // namespace

std::unique_ptr<Equation> make_chain(const Network& network, LinearSolver solver) {
    switch (network.streams) {
        case 1:
            return std::make_unique<Chain<1>>(network, solver);
        case 2:
            return std::make_unique<Chain<2>>(network, solver);
        case 3:
            return std::make_unique<Chain<3>>(network, solver);
        case 4:
            return std::make_unique<Chain<4>>(network, solver);
        case 8:
            return std::make_unique<Chain<8>>(network, solver);
        default:
            return std::make_unique<Chain<0>>(network, solver);
    }
}

std::unique_ptr<Equation> make_chain(const Network& network) {
    return make_chain(network, LinearSolver::automatic);
}

}  // namespace spectra::dyson
