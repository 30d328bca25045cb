#include "dyson/equations/precise_chain.hpp"

#include "dyson/equations/chain.hpp"
#include "dyson/equations/covariance.hpp"
#include "dyson/equations/site_draws.hpp"
#include "dyson/equations/wide.hpp"
#include "dyson/solve/newton.hpp"

#include <cmath>
#include <utility>
#include <vector>

namespace spectra::dyson {
namespace {

using Eigen::Index;

/// ln a/b, to 16 digits at least.
Wide log_ratio(const Wide& a, const Wide& b) {
    return log(Wide(a / b));
}
TwoDoubles log_ratio(const TwoDoubles& a, const TwoDoubles& b) {
    const TwoDoubles ratio = a / b;
    const Complex beyond = rounded(ratio - TwoDoubles(1));
    if (!(std::abs(beyond) < 0.5)) return widened<TwoDoubles>(std::log(rounded(ratio)));
    const double x = beyond.real(), y = beyond.imag();
    return widened<TwoDoubles>(Complex(0.5 * std::log1p(x * (2 + x) + y * y), std::atan2(y, 1 + x)));
}

template <class Number>
Number sum_of_squares(const MatrixOf<Number>& a) {
    Number sum(0);
    for (const Number& value : a.values()) sum += value * value;
    return sum;
}

/// F with F Fᵀ = P_l: as few columns as there are.
template <class Number>
MatrixOf<Number> factor(const Pattern& pattern, Index n, std::size_t l) {
    using Real = typename Number::value_type;
    const auto streams = static_cast<std::size_t>(n);
    switch (pattern.kind()) {
        case Pattern::Kind::rank_one:
            return widened<Number>(Eigen::MatrixXd(pattern.vector(streams, l)));
        case Pattern::Kind::diagonal: {
            const Eigen::VectorXd d = pattern.vector(streams, l);
            MatrixOf<Number> f(n, (d.array() > 0).count());
            for (Index i = 0, k = 0; i < n; ++i)
                if (d(i) > 0) f(i, k++) = Number(sqrt(Real(d(i))));
            return f;
        }
        case Pattern::Kind::identity:
        case Pattern::Kind::full:
            break;
    }
    return MatrixOf<Number>::identity(n);
}

/// The same steps as Chain in chain.cpp, plainly: nothing is arranged for rounding.
template <class Number>
class PreciseChain final : public Equation {
    using Real = typename Number::value_type;

public:
    explicit PreciseChain(const Network& network)
        : n_(network.streams), layers_(network.depth()), rounding_(make_chain(network)) {
        Covariance covariance = covariance_of(network, SiteHalf::both);
        nu_ = covariance.nu;
        for (Index l = 0; l < layers_; ++l) {
            const auto k = static_cast<std::size_t>(l);
            log_typical_ += std::log(covariance.unit[k]);
            unit_.emplace_back(covariance.unit[k]);
            mixers_.push_back(widened<Number>(network.mixers[k]));
            strength_.emplace_back(covariance.strength[k]);
        }
        laws_ = std::move(covariance.laws);
        for (const CovarianceDraw& draw : covariance.draws) {
            Factors factors;
            factors.weight = Real(draw.weight);
            for (std::size_t l = 0; l < static_cast<std::size_t>(layers_); ++l) {
                factors.v.push_back(factor<Number>(draw.v, n_, l));
                factors.w.push_back(factor<Number>(draw.w, n_, l));
            }
            draws_.push_back(std::move(factors));
        }
    }
    PreciseChain(const PreciseChain& other)
        : n_(other.n_),
          layers_(other.layers_),
          rounding_(other.rounding_->clone()),
          nu_(other.nu_),
          log_typical_(other.log_typical_),
          unit_(other.unit_),
          mixers_(other.mixers_),
          strength_(other.strength_),
          laws_(other.laws_),
          draws_(other.draws_),
          passes_(other.passes_) {}

    std::unique_ptr<Equation> clone() const override { return std::make_unique<PreciseChain>(*this); }
    Index size() const override { return rounding_->size(); }
    // Points are reached along the line of companions: the starts are far off where rounding hides points.
    Unknowns far(const Frequency& omega) const override { return rounding_->far(omega); }
    Unknowns moved(const Unknowns& m, const Unknowns& delta, double fraction) const override {
        Unknowns result = rounding_->moved(m, delta, fraction);
        // Of the last step's gauge, which `rounding_` does not know.
        for (std::size_t l = 0; l < gauged_laws_.size(); ++l) {
            const Index i = 2 * layers_ + static_cast<Index>(l);
            result(i) = gauged_laws_[l].moved(m(i), fraction * delta(i));
        }
        return result;
    }
    bool admissible(const Frequency& omega, const Unknowns& m, double slack) const override {
        return rounding_->admissible(omega, m, slack);
    }
    bool stable_in_gap(const Frequency& omega, const Unknowns& m) override {
        return continues_above(*this, omega, m);
    }
    Complex scaled_green(const Frequency& omega, const Unknowns& m) const override {
        return rounding_->scaled_green(omega, m);
    }
    double passes() const override { return passes_; }

    bool newton_step(const Frequency& omega, const Unknowns& m, Unknowns& delta) override {
        for (Index i = 0; i < m.size(); ++i)
            if (!std::isfinite(std::abs(m(i))) || m(i) == 0.0) return false;
        set_gauge(omega, m);
        const Index count = 2 * layers_;
        const Number direction = widened<Number>(omega.direction);
        MatrixOf<Number> found(count), end(count), response(count, count);
        Number current(0);
        for (const Factors& factors : draws_) eliminate(factors, direction, found, response, current, end);
        // Site i has the order parameter m(i), and its self-energy is of the site of the same layer on the other side.
        auto jacobian = MatrixOf<Number>::identity(count);
        MatrixOf<Number> right(count), end_row(count);
        for (Index i = 0; i < count; ++i) right(i) = log_ratio(found(i), widened<Number>(m(i)));
        Number end_source = log_ratio(current, direction * widened<Number>(m(m.size() - 1)));
        for (Index l = 0; l < layers_; ++l) {
            for (const Index site : {2 * l, 2 * l + 1}) {
                const Index from = site ^ 1;  // c at this site is f times the other's order parameter
                const Number c = strengths_(l) * widened<Number>(m(from));
                // δ ln c = δ ln m(from) + δ ln f
                const auto add = [&](Number& at_from, Number& at_site, Number& source, const Number& answer) {
                    at_from -= answer * (Number(1) + law_answer_(l));
                    at_site -= answer * law_answer_(l);
                    source += answer * law_source_(l);
                };
                for (Index i = 0; i < count; ++i)
                    add(jacobian(i, from), jacobian(i, site), right(i), response(i, site) * c / found(i));
                add(end_row(from), end_row(site), end_source, end(site) * c / current);
            }
        }
        passes_ += 1;
        const MatrixOf<Number> x = jacobian.solve(right);
        delta.resize(m.size());
        for (Index i = 0; i < count; ++i) delta(i) = rounded(x(i));
        if (!laws_.empty())
            for (Index l = 0; l < layers_; ++l)
                delta(count + l) = gauged_laws_[static_cast<std::size_t>(l)].step(
                    m(count + l), rounded((x(2 * l) + x(2 * l + 1) + law_defect_(l)) / law_slope_(l)));
        Number last = end_source;
        for (Index i = 0; i < count; ++i) last -= end_row(i) * x(i);
        delta(m.size() - 1) = rounded(last);
        return delta.allFinite();
    }

private:
    /// Of one draw of the sites: P_l = F Fᵀ.
    struct Factors {
        Real weight;
        std::vector<MatrixOf<Number>> v, w;
    };

    /// Mixers and noise in the gauge of chain.hpp, and f of every layer.
    void set_gauge(const Frequency& omega, const Unknowns& m) {
        const double log_c = (omega.log_scale - log_typical_) / static_cast<double>(layers_);
        const Real scale = exponential<Real>(-log_c);
        forward_.clear();
        gauged_laws_.clear();
        strengths_ = cv_ = cw_ = law_answer_ = law_source_ = law_defect_ = law_slope_ =
            MatrixOf<Number>(layers_);
        for (Index l = 0; l < layers_; ++l) {
            const auto k = static_cast<std::size_t>(l);
            const Real unit = scale / unit_[k], unit2 = unit * unit;
            forward_.push_back(Number(unit) * mixers_[k]);
            strengths_(l) = Number(strength_[k] * unit2);
            if (laws_.empty()) continue;
            gauged_laws_.push_back(laws_[k].scaled(rounded(Number(unit2)).real()));
            const Number y = widened<Number>(m(2 * layers_ + l)),
                         u = widened<Number>(m(2 * l)) * widened<Number>(m(2 * l + 1));
            if (laws_[k].is_single()) {
                // X(X − 1) = t² u, f = t²/X
                const Number t2(Real(laws_[k].t2.front()) * unit2), square = t2 * u, one(1);
                law_slope_(l) = y * (y + y - one) / square;
                law_defect_(l) = one - y * (y - one) / square;
                strengths_(l) = t2 / y;
                law_answer_(l) = Number(-1) / law_slope_(l);
                law_source_(l) = law_answer_(l) * law_defect_(l);
                continue;
            }
            Number q(0), dq(0), t(0), dt(0);
            for (const double value : laws_[k].t2) {
                const Number t2(Real(value) * unit2), inverse = Number(1) / (y - t2);
                q += inverse;
                dq -= inverse * inverse;
                t += t2 * inverse;
                dt -= t2 * inverse * inverse;
            }
            const Number weight(Real(1) / static_cast<double>(laws_[k].t2.size()));
            q *= weight;
            dq *= weight;
            t *= weight;
            dt *= weight;
            // δ ln f = Y T'/T δ ln Y − δ ln u, where δ ln u + defect = (1 + 2 Y q'/q) δ ln Y.
            law_slope_(l) = Number(1) + Number(2) * y * dq / q;
            law_defect_(l) = log_ratio(u, y * q * q);
            strengths_(l) = t / u;
            const Number by_law = t == Number(0) ? Number(0) : Number(y * dt / (t * law_slope_(l)));
            law_answer_(l) = by_law - Number(1);
            law_source_(l) = by_law * law_defect_(l);
        }
        for (Index l = 0; l < layers_; ++l) {
            cv_(l) = strengths_(l) * widened<Number>(m(2 * l));
            cw_(l) = strengths_(l) * widened<Number>(m(2 * l + 1));
        }
    }

    /// Adds one draw: the order parameters of the resolvent, ∂ of them by c at every site (in order w_0, v_0, w_1, …), ω g and
    /// ∂ of it. The sweeps are those of elimination.hpp.
    void eliminate(const Factors& factors, const Number& omega, MatrixOf<Number>& found,
                   MatrixOf<Number>& response, Number& current, MatrixOf<Number>& end) const {
        const auto count = static_cast<std::size_t>(layers_), last = count - 1;
        const auto one = MatrixOf<Number>::identity(n_);
        std::vector<MatrixOf<Number>> sigma_v, sigma_w, x(count), e(count), r(count), z(count), g(count),
            s(count), mv(count), mw(count), link(count);
        for (std::size_t l = 0; l < count; ++l) {
            sigma_v.push_back(cv_(static_cast<Index>(l)) * (factors.v[l] * factors.v[l].transpose()));
            sigma_w.push_back(cw_(static_cast<Index>(l)) * (factors.w[l] * factors.w[l].transpose()));
        }
        r[0] = (omega * one - sigma_w[0]).inverse();
        s[last] = (omega * one - sigma_v[last]).inverse();
        for (std::size_t l = 0; l < count; ++l) {
            x[l] = forward_[l] * r[l] * forward_[l].transpose() + sigma_v[l];
            if (l == last) break;
            e[l] = (one - sigma_w[l + 1] * x[l]).inverse();
            r[l + 1] = x[l] * e[l];
        }
        for (std::size_t l = last;; --l) {
            z[l] = forward_[l].transpose() * s[l] * forward_[l] + sigma_w[l];
            if (l == 0) break;
            g[l] = (one - sigma_v[l - 1] * z[l]).inverse();
            s[l - 1] = z[l] * g[l];
        }
        mv[last] = (omega * one - x[last]).inverse();
        mw[0] = (omega * one - z[0]).inverse();
        for (std::size_t l = 0; l < last; ++l) {
            link[l] = (one - x[l] * z[l + 1]).inverse();  // M(w_{l+1}, v_l)
            mw[l + 1] = link[l] * x[l];
            mv[l] = z[l + 1] * link[l];
        }
        const Number weight = Number(factors.weight), trace_weight = weight * Number(Real(nu_));
        const auto site_factor = [&](std::size_t site) -> const MatrixOf<Number>& {
            return site % 2 == 0 ? factors.w[site / 2] : factors.v[site / 2];
        };
        const Number current_weight = weight * omega / Number(Real(static_cast<double>(n_)));
        current += current_weight * mv[last].trace();
        // The columns of M at a site, times F, from there to the left: M(w_k, ·) = R_k A_kᵀ M(v_k, ·), and over a link
        // M(v_{k−1}, ·) = E_{k−1} M(A_kᵀ v_k, ·).
        std::vector<MatrixOf<Number>> to_w(count), to_v(count);
        for (std::size_t k = 0; k < count; ++k) {
            to_w[k] = r[k] * forward_[k].transpose();
            if (k > 0) to_v[k] = e[k - 1] * forward_[k].transpose();
        }
        const auto put = [&](std::size_t i, std::size_t j, const MatrixOf<Number>& columns) {
            const Number value = trace_weight * sum_of_squares(site_factor(i).transpose() * columns);
            const auto a = static_cast<Index>(i), b = static_cast<Index>(j);
            response(a, b) += value;
            if (i != j) response(b, a) += value;
        };
        const auto go_left = [&](std::size_t l, MatrixOf<Number> columns, const auto& visit) {
            for (std::size_t k = l;; --k) {
                visit(2 * k + 1, columns);
                visit(2 * k, to_w[k] * columns);
                if (k == 0) break;
                columns = to_v[k] * columns;
            }
        };
        for (std::size_t l = 0; l < count; ++l) {
            const MatrixOf<Number>&fv = factors.v[l], &fw = factors.w[l];
            found(static_cast<Index>(2 * l)) += trace_weight * (fw.transpose() * mw[l] * fw).trace();
            found(static_cast<Index>(2 * l + 1)) += trace_weight * (fv.transpose() * mv[l] * fv).trace();
            put(2 * l, 2 * l, mw[l] * fw);
            go_left(l, mv[l] * fv, [&](std::size_t i, const MatrixOf<Number>& c) { put(i, 2 * l + 1, c); });
            if (l == last) break;
            go_left(l, link[l].transpose() * factors.w[l + 1],
                    [&](std::size_t i, const MatrixOf<Number>& c) { put(i, 2 * l + 2, c); });
        }
        go_left(last, mv[last], [&](std::size_t i, const MatrixOf<Number>& c) {
            end(static_cast<Index>(i)) += current_weight * sum_of_squares(site_factor(i).transpose() * c);
        });
    }

    Index n_, layers_;
    std::unique_ptr<Equation> rounding_;  ///< the same in double precision
    double nu_ = 1, log_typical_ = 0;
    std::vector<Real> unit_;
    std::vector<MatrixOf<Number>> mixers_;
    std::vector<Real> strength_;
    std::vector<SquaredLaw> laws_;
    std::vector<Factors> draws_;
    double passes_ = 0;

    std::vector<MatrixOf<Number>> forward_;
    std::vector<SquaredLaw> gauged_laws_;  ///< to 16 digits
    MatrixOf<Number> strengths_, cv_, cw_;
    MatrixOf<Number> law_answer_, law_source_, law_defect_, law_slope_;
};

}  // namespace

std::unique_ptr<Equation> make_precise_chain(const Network& network, Digits digits) {
    if (digits == Digits::thirty_two) return std::make_unique<PreciseChain<TwoDoubles>>(network);
    return std::make_unique<PreciseChain<Wide>>(network);
}

double precise_products(const Network& network) {
    const double n = network.streams, depth = network.depth();
    const double columns = std::holds_alternative<HyperConnectionBranch>(network.branch) ? 1 : n;
    double draws = 1;
    if (std::holds_alternative<ActivationBranch>(network.branch))
        draws = static_cast<double>(site_draws(network).draws.size());
    return draws * depth * n * n * (25 * n + 2 * depth * columns) + 3 * depth * depth * depth;
}

}  // namespace spectra::dyson
