#include "dyson/equations/precise_tied.hpp"

#include "dyson/equations/tied.hpp"
#include "dyson/equations/wide.hpp"
#include "dyson/solve/newton.hpp"

#include <cmath>
#include <concepts>
#include <utility>
#include <vector>

namespace spectra::dyson {
namespace {

using Eigen::Index;

constexpr double close = 1e-3;  // a step after which Newton's method goes on to the solution itself
template <class Number>
constexpr double solved = std::same_as<Number, Wide> ? 1e-40 : 1e-26;
constexpr int most_steps = 8;

/// Sites are w_0 … w_{L−1}, v_0 … v_{L−1}; rows of big matrices run over streams, then sites.
template <class Number>
class PreciseTied final : public Equation {
    using Real = typename Number::value_type;

public:
    explicit PreciseTied(const Network& network)
        : network_(network),
          branch_(std::get<TiedBranch>(network.branch)),
          n_(network.streams),
          depth_(network.depth()),
          sites_(2 * depth_),
          pairs_(tied_pairs(network)),
          rounding_(make_tied(network)) {
        for (const double sigma2 : branch_.sigma2) sigma_.push_back(sqrt(Real(sigma2)));
    }
    PreciseTied(const PreciseTied& other) : PreciseTied(other.network_) {}

    std::unique_ptr<Equation> clone() const override { return std::make_unique<PreciseTied>(*this); }
    Index size() const override { return rounding_->size(); }
    Unknowns far(const Frequency& omega) const override { return rounding_->far(omega); }
    Unknowns scale(const Unknowns& m) const override { return rounding_->scale(m); }
    Unknowns mix(const std::vector<const Unknowns*>& values, const double* weights) const override {
        return rounding_->mix(values, weights);
    }
    bool admissible(const Frequency& omega, const Unknowns& m, double slack) const override {
        return rounding_->admissible(omega, m, slack);
    }
    bool stable_in_gap(const Frequency& omega, const Unknowns& m) override {
        return continues_above(*this, omega, m);
    }
    double passes() const override { return passes_; }

    bool newton_step(const Frequency& omega, const Unknowns& m, Unknowns& delta) override {
        const Unknowns units = scale(m);
        if (!m.allFinite() || !units.allFinite() || !(units.cwiseAbs().minCoeff() > 0)) return false;
        MatrixOf<Number> x = unpacked(omega, m);
        const MatrixOf<Number> from = x;
        double step = refine(omega, units, x);
        for (int k = 1; k < most_steps && step < close && step > solved<Number>; ++k)
            step = refine(omega, units, x);
        const MatrixOf<Number> change = packed(x - from);
        const Number c = gauge(omega);
        delta.resize(size());
        for (Index k = 0; k < size(); ++k) delta(k) = rounded(change(k) / (c * widened<Number>(units(k))));
        passes_ += 1;
        return delta.allFinite();
    }

    Complex scaled_green(const Frequency& omega, const Unknowns& m) const override {
        const Unknowns units = scale(m);
        MatrixOf<Number> x = unpacked(omega, m);
        // m is rounded, which g may feel.
        double step = close;
        for (int k = 0; k < most_steps && step <= close && step > solved<Number>; ++k) {
            MatrixOf<Number> next = x;
            step = refine(omega, units, next);
            if (step <= close) x = next;
        }
        MatrixOf<Number> ends(n_ * sites_, n_);
        for (Index p = 0; p < n_; ++p) ends((p + 1) * sites_ - 1, p) = Number(1);
        const MatrixOf<Number> columns = matrix(omega, x).solve(ends);
        Number sum(0);
        for (Index p = 0; p < n_; ++p) sum += columns((p + 1) * sites_ - 1, p);
        return rounded(sum) / static_cast<double>(n_);
    }

private:
    bool hyper() const { return branch_.hyper_connection(); }
    Index partner(Index site) const { return site < depth_ ? site + depth_ : site - depth_; }
    /// pre at w, post at v.
    const Eigen::VectorXd& way(Index site) const {
        return site < depth_ ? branch_.pre[static_cast<std::size_t>(site)]
                             : branch_.post[static_cast<std::size_t>(site - depth_)];
    }
    Number gauge(const Frequency& omega) const {
        return Number(exponential<Real>(omega.log_scale / static_cast<double>(depth_)));
    }
    /// q σ of a site's layer.
    Number strength(const Frequency& omega, Index site) const {
        return Number(sigma_[static_cast<std::size_t>(site % depth_)]) / gauge(omega);
    }

    /// The order parameters in the gauge of ω.
    MatrixOf<Number> unpacked(const Frequency& omega, const Unknowns& m) const {
        const Number c = gauge(omega);
        MatrixOf<Number> x(sites_, sites_);
        Index k = 0;
        for (const Index first : {Index{0}, depth_})
            for (const auto& [i, j] : pairs_) {
                x(first + i, first + j) = x(first + j, first + i) = c * widened<Number>(m(k));
                ++k;
            }
        return x;
    }
    MatrixOf<Number> packed(const MatrixOf<Number>& x) const {
        MatrixOf<Number> m(size());
        Index k = 0;
        for (const Index first : {Index{0}, depth_})
            for (const auto& [i, j] : pairs_) m(k++) = x(first + i, first + j);
        return m;
    }

    /// P − Σ in the gauge of ω.
    MatrixOf<Number> matrix(const Frequency& omega, const MatrixOf<Number>& x) const {
        const Number q = Number(1) / gauge(omega), direction = widened<Number>(omega.direction);
        MatrixOf<Number> z(n_ * sites_, n_ * sites_);
        for (Index p = 0; p < n_; ++p)
            for (Index r = 0; r < n_; ++r)
                for (Index l = 0; l < depth_; ++l) {
                    const Number a =
                        q * widened<Number>(Complex(network_.mixers[static_cast<std::size_t>(l)](p, r)));
                    z(p * sites_ + depth_ + l, r * sites_ + l) -= a;
                    z(r * sites_ + l, p * sites_ + depth_ + l) -= a;
                }
        for (Index i = 0; i < sites_; ++i)
            for (Index j = 0; j < sites_; ++j) {
                if ((i < depth_) != (j < depth_)) continue;
                const Number sigma = strength(omega, i) * strength(omega, j) * x(partner(i), partner(j));
                for (Index p = 0; p < n_; ++p)
                    for (Index r = 0; r < n_; ++r) {
                        if (hyper())
                            z(p * sites_ + i, r * sites_ + j) -= sigma * widened<Number>(Complex(way(i)(p))) *
                                                                 widened<Number>(Complex(way(j)(r)));
                        else if (p == r)
                            z(p * sites_ + i, r * sites_ + j) -= sigma;
                    }
            }
        for (Index p = 0; p < n_; ++p) {
            const Index first = p * sites_, last = first + sites_ - 1;
            for (Index l = 0; l + 1 < depth_; ++l) {
                z(first + l + 1, first + depth_ + l) += Number(1);
                z(first + depth_ + l, first + l + 1) += Number(1);
            }
            z(first, first) += direction;
            z(last, last) += direction;
        }
        return z;
    }

    /// One Newton step of x; its size, relative to the units.
    double refine(const Frequency& omega, const Unknowns& units, MatrixOf<Number>& x) const {
        const MatrixOf<Number> z = matrix(omega, x);
        // The slices N_r = N_ab of tied.hpp, and the order parameters of the resolvent.
        std::vector<MatrixOf<Number>> slices;
        MatrixOf<Number> found(sites_, sites_);
        if (hyper()) {
            MatrixOf<Number> ways(n_ * sites_, sites_);
            for (Index site = 0; site < sites_; ++site)
                for (Index p = 0; p < n_; ++p)
                    ways(p * sites_ + site, site) = widened<Number>(Complex(way(site)(p)));
            found = ways.transpose() * z.solve(ways);
            slices.push_back(found);
        } else {
            const MatrixOf<Number> inverse = z.inverse();
            for (Index p = 0; p < n_; ++p)
                for (Index r = 0; r < n_; ++r)
                    slices.push_back(inverse.block(p * sites_, r * sites_, sites_, sites_));
            for (Index p = 0; p < n_; ++p) found += slices[static_cast<std::size_t>(p * n_ + p)];
            found *= Number(Real(1) / static_cast<double>(n_));
        }
        const Number weight(hyper() ? Real(1) : Real(1) / static_cast<double>(n_));
        for (MatrixOf<Number>& slice : slices) {
            const MatrixOf<Number> whole = slice;
            for (Index b = 0; b < sites_; ++b) {
                const Number by = strength(omega, b);
                for (Index a = 0; a < sites_; ++a) slice(a, b) = by * whole(a, partner(b));
            }
        }
        auto jacobian = MatrixOf<Number>::identity(size());
        Index row = 0;
        for (const Index first : {Index{0}, depth_})
            for (const auto& [k, l] : pairs_) {
                Index column = 0;
                for (const Index source : {Index{0}, depth_})
                    for (const auto& [i, j] : pairs_) {
                        const Index a = first + k, b = first + l, u = source + i, v = source + j;
                        Number sum(0);
                        for (const MatrixOf<Number>& slice : slices) {
                            sum += slice(a, u) * slice(b, v);
                            if (u != v) sum += slice(a, v) * slice(b, u);
                        }
                        jacobian(row, column++) -= weight * sum;
                    }
                ++row;
            }
        const MatrixOf<Number> change = jacobian.solve(packed(found - x));
        const Number c = gauge(omega);
        double step = 0;
        Index k = 0;
        for (const Index first : {Index{0}, depth_})
            for (const auto& [i, j] : pairs_) {
                const double size = std::abs(rounded(change(k) / (c * widened<Number>(units(k)))));
                step = size <= step ? step : size;  // NaN stays
                x(first + i, first + j) += change(k);
                if (i != j) x(first + j, first + i) += change(k);
                ++k;
            }
        return step;
    }

    Network network_;
    TiedBranch branch_;
    Index n_, depth_, sites_;
    std::vector<std::pair<Index, Index>> pairs_;
    std::vector<Real> sigma_;
    std::unique_ptr<Equation> rounding_;  ///< the same in double precision
    double passes_ = 0;
};

}  // namespace

std::unique_ptr<Equation> make_precise_tied(const Network& network, Digits digits) {
    if (digits == Digits::thirty_two) return std::make_unique<PreciseTied<TwoDoubles>>(network);
    return std::make_unique<PreciseTied<Wide>>(network);
}

double precise_tied_products(const Network& network) {
    const auto& branch = std::get<TiedBranch>(network.branch);
    const double side = 2.0 * network.depth() * network.streams;
    const double unknowns = 2.0 * static_cast<double>(tied_pairs(network).size());
    const double slices = branch.hyper_connection() ? 1 : network.streams * network.streams;
    const double inverse = branch.hyper_connection() ? side * side * (side / 3 + 2 * network.depth())
                                                     : 4.0 / 3 * side * side * side;
    return inverse + unknowns * unknowns * (2 * slices + unknowns / 3);
}

}  // namespace spectra::dyson
