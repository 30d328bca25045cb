#include "dyson/equations/chain.hpp"

#include "dyson/equations/covariance.hpp"
#include "dyson/equations/elimination.hpp"
#include "dyson/equations/embedding.hpp"
#include "dyson/exact/frames.hpp"
#include "dyson/solve/newton.hpp"
#include "linalg/eigen_instances.hpp"
#include "linalg/gmres.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace spectra::dyson {
namespace {

// Which solver of the linearised equation is fastest (timed by bench/dyson_bench).
constexpr std::size_t dense_depth = 12;    // up to min(n², this) layers
constexpr std::size_t direct_streams = 8;  // up to this many streams, for one draw of the sites
constexpr std::size_t direct_rescue = 16;  // the same if GMRES meets an ill-conditioned equation,
constexpr std::size_t dense_rescue = 200;  // or up to this many layers

// Digits of a Newton step beyond its own size (which squares) or beyond rounding are wasted.
double gmres_tolerance(double defect) {
    return std::clamp(std::max(0.1 * defect, 1e-12 / defect), 1e-7, 0.1);
}
constexpr double gmres_tight = 1e-11;
// More iterations mean that this is far from a solution.
constexpr int gmres_max_iterations = 80;

// Times in units of elimination passes, measured by bench/dyson_bench at n = 4.
constexpr double prepare_passes = 0.5;
constexpr double apply_passes = 0.45;
constexpr double chord_passes = 0.35;
double direct_passes(double streams) {
    return 1 + 1.15 * streams;
}
double dense_passes(double depth) {
    return 0.18 * depth + 8e-5 * depth * depth * depth;
}

Eigen::Index index(std::size_t k) {
    return static_cast<Eigen::Index>(k);
}

template <int N>
class Chain final : public Equation {
public:
    Chain(const Network& network, LinearSolver solver, SiteHalf half)
        : n_(static_cast<std::size_t>(network.streams)),
          layers_(static_cast<std::size_t>(network.depth())),
          solver_(solver) {
        Covariance covariance = covariance_of(network, half);
        nu_ = covariance.nu;
        laws_ = std::move(covariance.laws);
        floor_ = covariance.log_noise;
        for (std::size_t l = 0; l < layers_; ++l) {
            const double unit = covariance.unit[l];
            log_typical_ += std::log(unit);
            unit_mixers_.push_back(network.mixers[l] / unit);
            unit_sigma2_.push_back(covariance.strength[l] / (unit * unit));
            if (!laws_.empty())
                for (double& t2 : laws_[l].t2) t2 /= unit * unit;
        }
        unit_laws_ = laws_;
        mean_pattern_v_ = std::move(covariance.mean_v);
        mean_pattern_w_ = std::move(covariance.mean_w);
        const bool one_direction = std::holds_alternative<HyperConnectionBranch>(network.branch);
        Frames frames = follow_streams(unit_mixers_, floor_, one_direction ? 5 : 18);
        log_diagonal_ = std::move(frames.log_diagonal);
        growth_ = growth_of(log_diagonal_, floor_);
        for (CovarianceDraw& draw : covariance.draws) {
            weights_.push_back(draw.weight);
            if (frames.graded)
                draws_.emplace_back(
                    n_, layers_, draw.v.seen_by(frames.inverse, 1), draw.w.seen_by(frames.adjoint, 0),
                    Pattern::square_of(frames.inverse.back()), Pattern::square_of(frames.adjoint.front()));
            else
                draws_.emplace_back(n_, layers_, std::move(draw.v), std::move(draw.w));
        }
        const std::vector<Eigen::MatrixXd>& seen = frames.graded ? frames.mixers : unit_mixers_;
        for (std::size_t l = 0; l < layers_; ++l)
            for (std::size_t i = 0; i < n_; ++i)
                for (std::size_t j = 0; j < n_; ++j) seen_mixers_.push_back(seen[l](index(i), index(j)));
        const bool one_draw = draws_.size() == 1;
        if (solver_ == LinearSolver::direct && !one_draw)
            throw std::invalid_argument("the direct solution requires exactly one draw of the sites");
        if (solver_ == LinearSolver::automatic)
            solver_ = layers_ <= std::min(n_ * n_, dense_depth) ? LinearSolver::dense
                      : one_draw && n_ <= direct_streams        ? LinearSolver::direct
                                                                : LinearSolver::matrix_free;
        mixers_.forward = seen_mixers_;
        mixers_.transposed.resize(seen_mixers_.size());
        sigma2_ = unit_sigma2_;
    }

    std::unique_ptr<Equation> clone() const override { return std::make_unique<Chain>(*this); }

    std::unique_ptr<Equation> with_noise(double log_factor) const override {
        auto other = std::make_unique<Chain>(*this);
        for (double& sigma2 : other->unit_sigma2_) sigma2 *= std::exp(log_factor);
        for (SquaredLaw& law : other->unit_laws_) law = law.scaled(std::exp(log_factor));
        for (double& floor : other->floor_) floor += 0.5 * log_factor;
        other->growth_ = growth_of(log_diagonal_, other->floor_);
        other->log_c_ = std::numeric_limits<double>::quiet_NaN();
        other->evaluated_.resize(0);
        other->factorised_ = false;
        return other;
    }
    Eigen::Index size() const override { return index((laws_.empty() ? 2 : 3) * layers_ + 1); }

    // M(w_l) → T_{l−1}/ω and M(v_l) → U_l/ω, T and U the moment recursions from either end.
    Unknowns far(const Frequency& omega) const override {
        const double q2 = std::exp(-2 * log_gauge(omega));
        const auto mixer = [&](std::size_t l) -> const Eigen::MatrixXd& { return unit_mixers_[l]; };
        Unknowns m(size());
        Eigen::MatrixXd t = Eigen::MatrixXd::Identity(index(n_), index(n_));
        for (std::size_t l = 0; l < layers_; ++l) {
            const double a = nu_ * (mean_pattern_w_[l] * t).trace();
            m(index(2 * l)) = a / omega.direction;
            t = q2 * (mixer(l) * t * mixer(l).transpose() + unit_sigma2_[l] * a * mean_pattern_v_[l]);
        }
        Eigen::MatrixXd u = Eigen::MatrixXd::Identity(index(n_), index(n_));
        for (std::size_t l = layers_; l-- > 0;) {
            const double b = nu_ * (mean_pattern_v_[l] * u).trace();
            m(index(2 * l + 1)) = b / omega.direction;
            u = q2 * (mixer(l).transpose() * u * mixer(l) + unit_sigma2_[l] * b * mean_pattern_w_[l]);
        }
        if (!laws_.empty())
            for (std::size_t l = 0; l < layers_; ++l)
                m(index(2 * layers_ + l)) = law_in(log_gauge(omega), l).weak(a(m, l) * b(m, l));
        m(size() - 1) = 1.0 / omega.direction;
        return m;
    }

    // Without noise, in the basis that follows the streams through the layers, direction i has X = e^{2p_i}/ω
    // before a link and Z = e^{2(p_i(L) − p_i)}/ω after it, M(w) = X/(1 − XZ), M(v) = Z/(1 − XZ), −XZ =
    // e^{2(p_i(L) − ln s)} = P. In a layer where noise dominates the direction, X = f a and Z = f b, so f a
    // b = −P/(1 + P) instead of −P/(1 + P)²: a and b share the factor equally.
    Unknowns start(double log_scale) const override {
        const auto n = index(n_);
        const double log_c = log_gauge({log_scale, 1.0});
        const Eigen::VectorXd& total = growth_[layers_];
        Eigen::VectorXd denominator(n);  // ln(1 + P)
        double g = 0;
        for (Index i = 0; i < n; ++i) {
            const double product = 2 * (total(i) - log_scale + log_typical_);
            denominator(i) = product > 30 ? product : std::log1p(std::exp(product));
            g += std::exp(-std::min(700.0, denominator(i))) / static_cast<double>(n);
        }
        Unknowns m(size());
        const auto put = [&](Index at, const Eigen::MatrixXd& pattern, std::size_t l, const auto& numerator) {
            double sum = 0;
            for (Index i = 0; i < n; ++i) {
                const double by_mixer = 2 * (log_diagonal_[l](i) - floor_[l]);
                const double noise = 1 / (1 + std::exp(std::clamp(by_mixer, -700.0, 700.0)));
                const double logarithm = numerator(i) - (1 - noise / 2) * denominator(i);
                sum +=
                    std::exp(std::clamp(logarithm, -300.0, 300.0)) * pattern.trace() / static_cast<double>(n);
            }
            m(at) = Complex(0, -std::max(1e-300, nu_ * sum));
        };
        for (std::size_t l = 0; l < layers_; ++l) {
            // Growth before and after the layer, in units of the gauge; ω is then of modulus one.
            const double before = log_c * static_cast<double>(l);
            const double behind = log_c * static_cast<double>(layers_ - l - 1);
            put(index(2 * l), mean_pattern_w_[l], l, [&](Index i) { return 2 * (growth_[l](i) - before); });
            put(index(2 * l + 1), mean_pattern_v_[l], l,
                [&](Index i) { return 2 * (total(i) - growth_[l + 1](i) - behind); });
            if (!laws_.empty()) m(index(2 * layers_ + l)) = law_in(log_c, l).weak(a(m, l) * b(m, l));
        }
        m(size() - 1) = Complex(0, -std::max(1e-300, g));
        return m;
    }

    bool newton_step(const Frequency& omega, const Unknowns& m, Unknowns& delta) override {
        factorised_ = false;
        if (!evaluate(omega, m) || !linearise(m)) return false;
        // If the equation of a law is not solved yet, its defect moves f.
        const Index count = index(layers_);
        Vector source_v = Vector::Zero(count), source_w = source_v;
        Vector effect_w = Vector::Zero(count), effect_v = effect_w, effect_beta = Vector::Zero(count + 1);
        if (!laws_.empty()) {
            for (std::size_t l = 0; l < layers_; ++l) {
                source_v(index(l)) = a(m, l) * law_source_(index(l));
                source_w(index(l)) = b(m, l) * law_source_(index(l));
            }
            respond(source_v, source_w, effect_w, effect_v, effect_beta);
        }
        Vector rhs, x;
        if (!defects(m, effect_w, effect_v, effect_beta, rhs) || !solve_linear(m, rhs, x)) return false;
        factorised_ = laws_.empty() && solver_ != LinearSolver::matrix_free;
        return correction(omega, m, x, source_v, source_w, delta);
    }

    bool chord_step(const Frequency& omega, const Unknowns& m, Unknowns& delta) override {
        if (!factorised_ || !evaluate(omega, m)) return false;
        const Index count = index(layers_);
        const Vector none = Vector::Zero(count + 1);
        Vector rhs, x;
        if (!defects(m, none, none, none, rhs)) return false;
        if (solver_ == LinearSolver::direct) {
            passes_ += chord_passes;
            if (!embedding_.solve(rhs, x)) return false;
        } else {
            x = lu_.solve(rhs);
        }
        return x.allFinite() && correction(omega, m, x, none, none, delta);
    }

    Unknowns moved(const Unknowns& m, const Unknowns& delta, double fraction) const override {
        Unknowns result = m.cwiseProduct((fraction * delta).array().exp().matrix());
        // In the gauge of the step.
        for (std::size_t l = 0; l < laws_.size(); ++l) {
            const Index i = index(2 * layers_ + l);
            result(i) = laws_[l].moved(m(i), fraction * delta(i));
        }
        return result;
    }

    bool admissible(const Frequency&, const Unknowns& m, double slack) const override {
        const Index count = 2 * index(layers_);
        for (Index i = 0; i < m.size(); ++i) {
            if (i >= count && i + 1 < m.size()) continue;  // the unknown of a law has no sign
            if (!(m(i).imag() < -slack * std::abs(m(i)))) return false;
        }
        return true;
    }

    bool stable_in_gap(const Frequency& omega, const Unknowns& m) override {
        if (!laws_.empty()) return continues_above(*this, omega, m);
        factorised_ = false;
        if (!evaluate(omega, m) || !linearise(m)) return false;
        // T, the linearised map, is a non-negative matrix for real M; (1 − T) x = |m| with x > 0 shows a
        // spectral radius below one. Relative to m: δ = x/m, right-hand side the signs.
        Vector rhs(2 * index(layers_)), x;
        const auto sign = [&](Complex value) { return value.real() < 0 ? -1.0 : 1.0; };
        for (std::size_t l = 0; l < layers_; ++l) {
            const Index i = index(l);
            const double ea = sign(a(m, l)), eb = sign(b(m, l));
            rhs(2 * i) = 0.5 * (ea + eb);
            // f a b (e_a − e_b) = νn (β_{l−1} − β_l)
            rhs(2 * i + 1) = by_current_[l] ? 0.5 * (ea - eb) * strength_(i) * a(m, l) * b(m, l) /
                                                  (nu_ * static_cast<double>(n_) * beta_(i))
                                            : 0.5 * (ea - eb);
        }
        if (!solve_linear(m, rhs, x)) return false;
        for (std::size_t l = 0; l < layers_; ++l) {
            const Index i = index(l);
            const double da = (a(m, l) * (x(2 * i) + x(2 * i + 1))).real();
            const double db = (b(m, l) * (x(2 * i) - x(2 * i + 1))).real();
            if (!(da > 0) || !(db > 0)) return false;
        }
        return true;
    }

    Complex scaled_green(const Frequency&, const Unknowns& m) const override { return m(size() - 1); }

    double passes() const override { return passes_; }

private:
    using Vector = Eigen::VectorXcd;
    using Index = Eigen::Index;

    static Complex a(const Unknowns& m, std::size_t l) { return m(index(2 * l)); }
    static Complex b(const Unknowns& m, std::size_t l) { return m(index(2 * l + 1)); }
    double log_gauge(const Frequency& omega) const {
        return (omega.log_scale - log_typical_) / static_cast<double>(layers_);
    }

    SquaredLaw law_in(double log_gauge, std::size_t l) const {
        return unit_laws_[l].scaled(std::exp(-2 * log_gauge));
    }

    void set_gauge(const Frequency& omega) {
        const double log_c = log_gauge(omega);
        if (log_c == log_c_) return;
        log_c_ = log_c;
        const double q = std::exp(-log_c);
        for (std::size_t k = 0; k < seen_mixers_.size(); ++k) mixers_.forward[k] = q * seen_mixers_[k];
        for (std::size_t l = 0; l < layers_; ++l) {
            sigma2_[l] = q * q * unit_sigma2_[l];
            if (!laws_.empty()) laws_[l] = unit_laws_[l].scaled(q * q);
            for (std::size_t i = 0; i < n_; ++i)
                for (std::size_t j = 0; j < n_; ++j)
                    mixers_.transposed[(l * n_ + j) * n_ + i] = mixers_.forward[(l * n_ + i) * n_ + j];
        }
    }

    /// The right-hand side of the linearised equations; effects: those of a law's defect.
    bool defects(const Unknowns& m, const Vector& effect_w, const Vector& effect_v, const Vector& effect_beta,
                 Vector& rhs) const {
        rhs.resize(2 * index(layers_));
        for (std::size_t l = 0; l < layers_; ++l) {
            const Index i = index(l);
            const Complex ea = std::log(a_(i) / a(m, l)) + effect_w(i) / a_(i);
            const Complex eb = std::log(b_(i) / b(m, l)) + effect_v(i) / b_(i);
            rhs(2 * i) = 0.5 * (ea + eb);
            rhs(2 * i + 1) = by_current_[l]
                                 ? 0.5 * (std::log(beta_(i) / beta_(i + 1)) + effect_beta(i) / beta_(i) -
                                          effect_beta(i + 1) / beta_(i + 1))
                                 : 0.5 * (ea - eb);
        }
        return rhs.allFinite();
    }

    /// The change of every unknown from x = (S_0, D_0, S_1, …); sources: of a law's defect.
    bool correction(const Frequency& omega, const Unknowns& m, const Vector& x, const Vector& source_v,
                    const Vector& source_w, Unknowns& delta) {
        const Index count = index(layers_);
        delta.resize(size());
        for (std::size_t l = 0; l < layers_; ++l) {
            const Index i = index(l);
            delta(2 * i) = x(2 * i) + x(2 * i + 1);
            delta(2 * i + 1) = x(2 * i) - x(2 * i + 1);
            if (!laws_.empty())
                delta(2 * count + i) = laws_[l].step(m(2 * count + i), law_gain_(i) * x(2 * i) + law_own_(i));
        }
        Complex dbeta = 0;
        if (solver_ == LinearSolver::direct && laws_.empty()) {
            dbeta = embedding_.end_current() / static_cast<double>(n_);
        } else {
            Vector dcv, dcw, dw = Vector::Zero(count), dv = dw, currents = Vector::Zero(count + 1);
            changes(m, x, dcv, dcw);
            respond_green(dcv + source_v.head(count), dcw + source_w.head(count), dw, dv, currents);
            dbeta = currents(count);
        }
        delta(size() - 1) = std::log(beta_(count) / (omega.direction * m(size() - 1))) + dbeta / beta_(count);
        return delta.allFinite();
    }

    /// Eliminates for every draw and averages: a_, b_, beta_; f, and the response of a law's f to S.
    /// Nothing to do where it was evaluated last.
    bool evaluate(const Frequency& omega, const Unknowns& m) {
        const bool same = evaluated_.size() == m.size() && omega.log_scale == evaluated_at_.log_scale &&
                          omega.direction == evaluated_at_.direction && m == evaluated_;
        if (same) return true;
        evaluated_.resize(0);
        set_gauge(omega);
        const Index count = index(layers_);
        strength_.resize(count);
        law_answer_ = Vector::Zero(count);
        law_source_ = Vector::Zero(count);
        law_gain_ = Vector::Zero(count);
        law_own_ = Vector::Zero(count);
        Vector cv(count), cw(count);
        for (std::size_t l = 0; l < layers_; ++l) {
            const Index i = index(l);
            strength_(i) = sigma2_[l];
            if (!laws_.empty()) {
                const auto point = laws_[l].point(m(2 * count + i), a(m, l) * b(m, l));
                law_gain_(i) = 2.0 * point.gain;
                law_own_(i) = point.own;
                strength_(i) = point.f;
                law_answer_(i) = 2.0 * point.answer;
                law_source_(i) = point.source;
            }
            cv(i) = strength_(i) * a(m, l);
            cw(i) = strength_(i) * b(m, l);
        }
        a_ = Vector::Zero(count);
        b_ = Vector::Zero(count);
        beta_ = Vector::Zero(count + 1);
        for (std::size_t k = 0; k < draws_.size(); ++k) {
            if (!draws_[k].run(mixers_, omega.direction, cv, cw)) return false;
            for (std::size_t l = 0; l < layers_; ++l) {
                a_(index(l)) += nu_ * weights_[k] * draws_[k].trace_w(l);
                b_(index(l)) += nu_ * weights_[k] * draws_[k].trace_v(l);
            }
            for (std::size_t l = 0; l <= layers_; ++l)
                beta_(index(l)) += weights_[k] * draws_[k].beta(l) / static_cast<double>(n_);
        }
        passes_ += static_cast<double>(draws_.size());
        if (!a_.allFinite() || !b_.allFinite() || !beta_.allFinite()) return false;
        evaluated_ = m;
        evaluated_at_ = omega;
        return true;
    }

    bool linearise(const Unknowns& m) {
        by_current_.assign(layers_, false);
        for (std::size_t l = 0; l < layers_; ++l) {
            const Index i = index(l);
            const double current = std::max(std::abs(beta_(i)), std::abs(beta_(i + 1)));
            const double noise = std::abs(strength_(i) * a(m, l) * b(m, l)) / (nu_ * static_cast<double>(n_));
            by_current_[l] = noise > current;
        }
        if (solver_ == LinearSolver::dense) return build_dense(m);
        for (auto& draw : draws_) draw.prepare();
        passes_ += prepare_passes * static_cast<double>(draws_.size());
        return true;
    }

    /// dc_v = a (f δln a + df), dc_w = b (f δln b + df) for x = (S_0, D_0, S_1, …).
    void changes(const Unknowns& m, const Vector& x, Vector& dcv, Vector& dcw) const {
        dcv.resize(index(layers_));
        dcw.resize(index(layers_));
        for (std::size_t l = 0; l < layers_; ++l) {
            const Index i = index(l);
            const Complex even = (strength_(i) + law_answer_(i)) * x(2 * i);
            const Complex odd = strength_(i) * x(2 * i + 1);
            dcv(i) = a(m, l) * (even + odd);
            dcw(i) = b(m, l) * (even - odd);
        }
    }

    /// The response of a, b and β to changes of Σ: adds to w (a_l), v (b_l), beta.
    void respond(const Vector& dcv, const Vector& dcw, Vector& w, Vector& v, Vector& beta) {
        const Index count = index(layers_);
        if (solver_ == LinearSolver::dense) {
            Vector change(2 * count);
            for (Index i = 0; i < count; ++i) {
                change(2 * i) = dcw(i);
                change(2 * i + 1) = dcv(i);
            }
            const Vector answer = response_ * change;
            for (Index i = 0; i < count; ++i) {
                w(i) += answer(2 * i);
                v(i) += answer(2 * i + 1);
            }
            beta += currents_ * change;
            return;
        }
        Vector ww = Vector::Zero(count), vv = ww, bb = Vector::Zero(count + 1);
        for (std::size_t k = 0; k < draws_.size(); ++k)
            draws_[k].add_applied(weights_[k], dcv, dcw, ww, vv, bb);
        w += nu_ * ww;
        v += nu_ * vv;
        beta += bb / static_cast<double>(n_);
        passes_ += apply_passes * static_cast<double>(draws_.size());
    }

    /// Only the last current is needed.
    void respond_green(const Vector& dcv, const Vector& dcw, Vector& w, Vector& v, Vector& beta) {
        if (solver_ != LinearSolver::dense) return respond(dcv, dcw, w, v, beta);
        const Index count = index(layers_);
        for (Index i = 0; i < count; ++i)
            beta(count) += currents_(count, 2 * i) * dcw(i) + currents_(count, 2 * i + 1) * dcv(i);
    }

    bool build_dense(const Unknowns& m) {
        const Index count = index(layers_);
        response_.setZero(2 * count, 2 * count);
        currents_.setZero(count + 1, 2 * count);
        for (std::size_t k = 0; k < draws_.size(); ++k)
            draws_[k].add_response(weights_[k], response_, currents_);
        response_ *= nu_;
        currents_ /= static_cast<double>(n_);
        Eigen::MatrixXcd jacobian = Eigen::MatrixXcd::Identity(2 * count, 2 * count);
        for (Index k = 0; k < count; ++k) {
            const std::size_t layer = static_cast<std::size_t>(k);
            const Complex even = strength_(k) + law_answer_(k), odd = strength_(k);
            const Complex ak = a(m, layer), bk = b(m, layer);
            for (std::size_t l = 0; l < layers_; ++l) {
                const Index i = index(l);
                const Complex inverse_a = 1.0 / a_(i), inverse_b = 1.0 / b_(i);
                // Relative responses of a_l and b_l to dc_v and dc_w of layer k.
                const Complex av = response_(2 * i, 2 * k + 1) * ak * inverse_a;
                const Complex aw = response_(2 * i, 2 * k) * bk * inverse_a;
                const Complex bv = response_(2 * i + 1, 2 * k + 1) * ak * inverse_b;
                const Complex bw = response_(2 * i + 1, 2 * k) * bk * inverse_b;
                jacobian(2 * i, 2 * k) -= 0.5 * even * (av + aw + bv + bw);
                jacobian(2 * i, 2 * k + 1) -= 0.5 * odd * (av - aw + bv - bw);
                if (by_current_[l]) {
                    const Complex left = 1.0 / beta_(i), right = 1.0 / beta_(i + 1);
                    const Complex v =
                        (currents_(i, 2 * k + 1) * left - currents_(i + 1, 2 * k + 1) * right) * ak;
                    const Complex w = (currents_(i, 2 * k) * left - currents_(i + 1, 2 * k) * right) * bk;
                    jacobian(2 * i + 1, 2 * k) = -0.5 * even * (v + w);
                    jacobian(2 * i + 1, 2 * k + 1) = -0.5 * odd * (v - w);
                } else {
                    jacobian(2 * i + 1, 2 * k) -= 0.5 * even * (av + aw - bv - bw);
                    jacobian(2 * i + 1, 2 * k + 1) -= 0.5 * odd * (av - aw - bv + bw);
                }
            }
        }
        passes_ += static_cast<double>(draws_.size()) * dense_passes(static_cast<double>(layers_));
        if (!jacobian.allFinite()) return false;
        lu_.compute(jacobian);
        return true;
    }

    /// The linearised equations layer by layer, for the direct solution.
    bool solve_direct(const Unknowns& m, const Vector& rhs, Vector& x) {
        layer_equations_.assign(layers_, {});
        const double nd = static_cast<double>(n_);
        for (std::size_t l = 0; l < layers_; ++l) {
            const Index i = index(l);
            LinearLayer& layer = layer_equations_[l];
            const Complex even = strength_(i) + law_answer_(i), odd = strength_(i);
            layer.change = {{{a(m, l) * even, a(m, l) * odd}, {b(m, l) * even, -b(m, l) * odd}}};
            layer.own[0][0] = 1;
            layer.w[0] = -0.5 * nu_ / a_(i);
            layer.v[0] = -0.5 * nu_ / b_(i);
            if (by_current_[l]) {
                layer.left[1] = -0.5 / (nd * beta_(i));
                layer.right[1] = 0.5 / (nd * beta_(i + 1));
            } else {
                layer.own[1][1] = 1;
                layer.w[1] = layer.w[0];
                layer.v[1] = -layer.v[0];
            }
        }
        passes_ += direct_passes(nd);
        return embedding_.factorise(draws_.front(), layer_equations_) && embedding_.solve(rhs, x);
    }

    bool solve_linear(const Unknowns& m, const Vector& rhs, Vector& x) {
        if (solver_ == LinearSolver::dense) {
            x = lu_.solve(rhs);
            return x.allFinite();
        }
        if (solver_ == LinearSolver::direct) return solve_direct(m, rhs, x);
        const Index count = index(layers_);
        Vector dcv, dcw, w(count), v(count), beta(count + 1);
        const auto apply = [&](const Vector& in, Vector& out) {
            changes(m, in, dcv, dcw);
            w.setZero();
            v.setZero();
            beta.setZero();
            respond(dcv, dcw, w, v, beta);
            out.resize(2 * count);
            for (std::size_t l = 0; l < layers_; ++l) {
                const Index i = index(l);
                const Complex ra = w(i) / a_(i), rb = v(i) / b_(i);
                out(2 * i) = in(2 * i) - 0.5 * (ra + rb);
                out(2 * i + 1) = by_current_[l] ? -0.5 * (beta(i) / beta_(i) - beta(i + 1) / beta_(i + 1))
                                                : in(2 * i + 1) - 0.5 * (ra - rb);
            }
        };
        const double defect = rhs.cwiseAbs().maxCoeff();
        linalg::GmresSummary summary =
            linalg::gmres(apply, rhs, x, gmres_tolerance(defect), gmres_max_iterations, gmres_max_iterations);
        // Next to an edge or a cusp one direction is amplified, and the residual does not show its error.
        if (summary.converged && x.cwiseAbs().maxCoeff() <= 100 * defect) return x.allFinite();
        if (draws_.size() == 1 && n_ <= direct_rescue) return solve_direct(m, rhs, x);
        if (layers_ <= dense_rescue) {
            if (!build_dense(m)) return false;
            x = lu_.solve(rhs);
            return x.allFinite();
        }
        if (!summary.converged) return false;
        const Vector loose = x;
        summary = linalg::gmres(apply, rhs, x, gmres_tight, gmres_max_iterations, gmres_max_iterations);
        if (!summary.converged) x = loose;
        return x.allFinite();
    }

    std::size_t n_, layers_;
    LinearSolver solver_;
    double nu_ = 1;
    double log_typical_ = 0;
    double log_c_ = std::numeric_limits<double>::quiet_NaN();
    double passes_ = 0;
    std::vector<Eigen::MatrixXd> unit_mixers_;  ///< divided by their typical size
    std::vector<double> seen_mixers_;           ///< the mixers in the frames, row by row
    std::vector<double> unit_sigma2_, sigma2_;
    std::vector<SquaredLaw> unit_laws_, laws_;  ///< one per layer, or none
    std::vector<Eigen::MatrixXd> mean_pattern_v_, mean_pattern_w_;
    ChainMixers mixers_;
    std::vector<double> floor_;  ///< ln of the size that noise alone gives a direction in each layer
    std::vector<Eigen::VectorXd> log_diagonal_, growth_;
    std::vector<double> weights_;        ///< of the draws
    std::vector<Elimination<N>> draws_;  ///< one, unless the branch has activations
    Vector a_, b_, beta_;                ///< averages at the last unknowns
    Vector strength_;                    ///< f_l
    Vector law_answer_, law_source_, law_gain_, law_own_;
    Unknowns evaluated_;  ///< where that is; empty if nowhere
    Frequency evaluated_at_;
    bool factorised_ = false;  ///< whether chord_step has a linearised equation to use
    std::vector<bool> by_current_;
    Eigen::MatrixXcd response_, currents_;
    Eigen::PartialPivLU<Eigen::MatrixXcd> lu_;
    std::vector<LinearLayer> layer_equations_;
    Embedding<N> embedding_;
};

std::unique_ptr<Equation> make(const Network& network, LinearSolver solver, SiteHalf half) {
    switch (network.streams) {
        case 1:
            return std::make_unique<Chain<1>>(network, solver, half);
        case 2:
            return std::make_unique<Chain<2>>(network, solver, half);
        case 3:
            return std::make_unique<Chain<3>>(network, solver, half);
        case 4:
            return std::make_unique<Chain<4>>(network, solver, half);
        case 8:
            return std::make_unique<Chain<8>>(network, solver, half);
        default:
            return std::make_unique<Chain<0>>(network, solver, half);
    }
}

}  // namespace

std::unique_ptr<Equation> make_chain(const Network& network, LinearSolver solver) {
    return make(network, solver, SiteHalf::both);
}

std::unique_ptr<Equation> make_chain(const Network& network, SiteHalf half) {
    return make(network, LinearSolver::automatic, half);
}

std::unique_ptr<Equation> make_chain(const Network& network) {
    return make(network, LinearSolver::automatic, SiteHalf::both);
}

}  // namespace spectra::dyson
