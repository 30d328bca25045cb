#include "dyson/equations/aligned.hpp"

#include "dyson/equations/aligned_chain.hpp"
#include "dyson/exact/aligned_moments.hpp"
#include "linalg/blas.hpp"
#include "linalg/eigen_instances.hpp"
#include "linalg/index.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace spectra::dyson {
namespace {

using Eigen::Index;
using Vector = Eigen::VectorXcd;

using linalg::index;

class Aligned final : public Equation {
public:
    explicit Aligned(const Network& network)
        : chain_(network), layers_(chain_.layers()), moments_(aligned_moments(network)) {}

    std::unique_ptr<Equation> clone() const override {
        auto copy = std::make_unique<Aligned>(*this);
        copy->last_ = {};
        return copy;
    }
    Index size() const override { return index(3 * layers_); }

    Unknowns far(const Frequency& omega) const override {
        Unknowns m = Unknowns::Ones(size());
        const double log_c = (omega.log_scale - chain_.log_typical()) / static_cast<double>(layers_);
        const std::vector<double>& unit = units();
        double before = 0, behind = 0;  // ln of the units of the layers below and above
        for (std::size_t l = 0; l < layers_; ++l) behind += unit[l];
        for (std::size_t l = 0; l < layers_; ++l) {
            behind -= unit[l];
            if (!chain_.quiet(l)) {
                const double from_below = 2 * (before + log_c * static_cast<double>(l));
                const double from_above = 2 * (behind + log_c * static_cast<double>(layers_ - 1 - l));
                const auto value = [&](double log_moment, double log_gauge) {
                    return std::exp(std::max(-600.0, log_moment - log_gauge)) / omega.direction;
                };
                a(m, l) = value(moments_.log_a[l], from_below);
                b(m, l) = value(moments_.log_b[l], from_above);
                y(m, l) = 1.0 / (a(m, l) * b(m, l));
            }
            before += unit[l];
        }
        return m;
    }

    bool newton_step(const Frequency& omega, const Unknowns& given, Unknowns& delta) override {
        const linalg::SingleThreadedBlas one_thread;
        const Unknowns m = with_roots(omega, given);
        // A step that another will follow needs a few digits only. One that may be the last is computed in full.
        const bool first = !same_point(omega);
        if (!chain_.exact_response() && (first || last_.step > rough_after)) {
            if (step_from(omega, given, m, true, delta) && (!chain_.rough() || last_.step > rough_until))
                return true;
        }
        return step_from(omega, given, m, false, delta);
    }

    bool step_from(const Frequency& omega, const Unknowns& given, const Unknowns& m, bool rough,
                   Unknowns& delta) {
        const Coefficients c = coefficients(omega, m);
        passes_ += 1;
        if (!chain_.run(omega.direction, c.cv, c.cw, rough)) return false;
        const Index count = index(layers_);
        update_response(omega, c);
        const Eigen::MatrixXcd& response = last_.response;
        // x = (δ ln a_0, δ ln b_0, δ ln a_1, …). The change of c_w at side 2l and of c_v at 2l + 1 is
        // change·x + source, η = δ ln Y = (x_a + x_b + defect)/slope.
        Eigen::MatrixXcd change = Eigen::MatrixXcd::Zero(2 * count, 2 * count);
        Vector source = Vector::Zero(2 * count), arrived = Vector::Ones(2 * count);
        for (std::size_t l = 0; l < layers_; ++l) {
            if (chain_.quiet(l)) continue;
            const Index w = 2 * index(l), v = w + 1;
            const Complex by_a = c.answer(index(l)) / a(m, l), by_b = c.answer(index(l)) / b(m, l);
            change(w, w) = by_a - c.cw(index(l));
            change(w, v) = by_a;
            change(v, v) = by_b - c.cv(index(l));
            change(v, w) = by_b;
            source(w) = by_a * c.defect(index(l));
            source(v) = by_b * c.defect(index(l));
            arrived(w) = chain_.read(l);
            arrived(v) = chain_.written(l);
        }
        const Eigen::MatrixXcd relative = arrived.cwiseInverse().asDiagonal() * response;
        Vector rhs = relative * source;
        for (std::size_t l = 0; l < layers_; ++l) {
            if (chain_.quiet(l)) continue;
            rhs(2 * index(l)) += std::log(arrived(2 * index(l)) / a(m, l));
            rhs(2 * index(l) + 1) += std::log(arrived(2 * index(l) + 1) / b(m, l));
        }
        if (!rhs.allFinite() || !relative.allFinite()) return false;
        const Eigen::MatrixXcd jacobian = Eigen::MatrixXcd::Identity(2 * count, 2 * count) - relative * change;
        const Vector x = jacobian.partialPivLu().solve(rhs);
        delta = Unknowns::Zero(size());
        delta.head(2 * count) = x;
        last_.step = x.cwiseAbs().maxCoeff();
        for (std::size_t l = 0; l < layers_; ++l)
            if (!chain_.quiet(l))
                delta(2 * count + index(l)) =
                    std::log(y(m, l) / y(given, l)) +
                    (x(2 * index(l)) + x(2 * index(l) + 1) + c.defect(index(l))) / c.slope(index(l));
        last_.after = moved(given, delta, 1);
        last_.green = chain_.green();
        return delta.allFinite();
    }

    Unknowns moved(const Unknowns& m, const Unknowns& delta, double fraction) const override {
        return m.cwiseProduct((fraction * delta).array().exp().matrix());
    }

    // a and b lie in the lower half plane, where their logarithms are continuous; abY = (1 + T)² is of order one, while Y
    // may lie on either side of the logarithm's cut.
    Unknowns mix(const std::vector<const Unknowns*>& values, const double* weights) const override {
        const auto lower_log = [](Complex z) {
            const double argument = std::arg(z);
            return Complex(std::log(std::abs(z)),
                           argument > std::numbers::pi / 2 ? argument - 2 * std::numbers::pi : argument);
        };
        Unknowns mixed = Unknowns::Ones(size());
        for (std::size_t l = 0; l < layers_; ++l) {
            if (chain_.quiet(l)) continue;
            const Unknowns& first = *values.front();
            const Complex product = a(first, l) * b(first, l) * y(first, l);
            Complex log_a = 0, log_b = 0, log_product = std::log(product);
            for (std::size_t k = 0; k < values.size(); ++k) {
                const Unknowns& m = *values[k];
                log_a += weights[k] * lower_log(a(m, l));
                log_b += weights[k] * lower_log(b(m, l));
                log_product += weights[k] * std::log(a(m, l) * b(m, l) * y(m, l) / product);
            }
            for (Complex* log : {&log_a, &log_b}) log->imag(std::clamp(log->imag(), -std::numbers::pi, 0.0));
            a(mixed, l) = std::exp(log_a);
            b(mixed, l) = std::exp(log_b);
            y(mixed, l) = std::exp(log_product - log_a - log_b);
        }
        return mixed;
    }

    double longest_step() const override { return 8; }

    // M(w_l) has the factor c^{L−2l}, M(v_l) c^{2(l+1)−L}, t² c^{−2}.
    Unknowns regauged(const Unknowns& m, double from, double to) const override {
        const double log_c = (to - from) / static_cast<double>(layers_);
        Unknowns out = m;
        for (std::size_t l = 0; l < layers_; ++l) {
            if (chain_.quiet(l)) continue;
            const double up = static_cast<double>(layers_) - 2 * static_cast<double>(l);
            a(out, l) *= std::exp(up * log_c);
            b(out, l) *= std::exp((2 - up) * log_c);
            y(out, l) *= std::exp(-2 * log_c);
        }
        return out;
    }

    bool admissible(const Frequency&, const Unknowns& m, double slack) const override {
        for (std::size_t l = 0; l < layers_; ++l) {
            if (chain_.quiet(l)) continue;
            for (const Complex value : {a(m, l), b(m, l)})
                if (!(value.imag() < -slack * std::abs(value))) return false;
        }
        return m.allFinite();
    }

    // The response may be an estimate, so that one step (continues_above) does not tell: the solution above is solved.
    bool stable_in_gap(const Frequency& omega, const Unknowns& m) override {
        constexpr double height = 1e-5, enough = 1e-9;
        const Frequency above{omega.log_scale, omega.direction * Complex(1, height)};
        Unknowns x = m, delta;
        for (int k = 0; k < 15; ++k) {
            if (!newton_step(above, x, delta)) return false;
            x = moved(x, delta, 1);
            if (delta.cwiseAbs().maxCoeff() < enough) return admissible(above, x, -10 * enough);
        }
        return false;
    }

    Complex scaled_green(const Frequency& omega, const Unknowns& m) const override {
        // Of the last step's own evaluation, as accurate as the step was short.
        if (same_point(omega) && last_.after == m) return last_.green;
        const linalg::SingleThreadedBlas one_thread;
        Aligned other(*this);
        const Coefficients c = other.coefficients(omega, m);
        if (!other.chain_.run(omega.direction, c.cv, c.cw)) return std::nan("");
        return other.chain_.green();
    }

    bool counted_from_above() const override { return true; }

    // With an estimated response steps shrink by a factor at a time. What is counted is stationary in the unknowns: their
    // error enters as its square.
    double certified_step() const override { return chain_.exact_response() ? 1e-10 : 1e-6; }

    double passing_step() const override { return 1e-2; }

    double passes() const override { return passes_; }

private:
    struct Coefficients {
        Vector cv, cw;
        Vector defect, slope;  ///< of the equation of Y
        Vector answer;         ///< dT/dη over its slope
    };

    Complex& a(Unknowns& m, std::size_t l) const { return m(index(2 * l)); }
    Complex& b(Unknowns& m, std::size_t l) const { return m(index(2 * l + 1)); }
    Complex& y(Unknowns& m, std::size_t l) const { return m(index(2 * layers_ + l)); }
    Complex a(const Unknowns& m, std::size_t l) const { return m(index(2 * l)); }
    Complex b(const Unknowns& m, std::size_t l) const { return m(index(2 * l + 1)); }
    Complex y(const Unknowns& m, std::size_t l) const { return m(index(2 * layers_ + l)); }
    const std::vector<double>& units() const { return chain_.log_units(); }

    Coefficients coefficients(const Frequency& omega, const Unknowns& m) {
        chain_.set_gauge(omega.log_scale);
        const Index count = index(layers_);
        Coefficients c{Vector::Zero(count), Vector::Zero(count), Vector::Zero(count), Vector::Ones(count),
                       Vector::Zero(count)};
        for (std::size_t l = 0; l < layers_; ++l) {
            if (chain_.quiet(l)) continue;
            const Index i = index(l);
            const Complex u = a(m, l) * b(m, l), root = y(m, l);
            const auto average = chain_.law(l).at(root);
            c.slope(i) = 1.0 + 2.0 * root * average.dq / average.q;
            c.defect(i) = u / (root * average.q * average.q) - 1.0;
            c.answer(i) = root * average.dt / c.slope(i);
            c.cv(i) = average.t / b(m, l);
            c.cw(i) = average.t / a(m, l);
        }
        return c;
    }

    /// The same a and b with the Y that belong to them, from those given: unknowns that cost nothing. Newton in ln Y, with
    /// steps halved while the defect grows; a Y that is not found stays.
    Unknowns with_roots(const Frequency& omega, const Unknowns& given) {
        constexpr int most_steps = 20, most_halvings = 8;
        constexpr double enough = 1e-13, largest = 1.0;
        chain_.set_gauge(omega.log_scale);
        Unknowns m = given;
        for (std::size_t l = 0; l < layers_; ++l) {
            if (chain_.quiet(l)) continue;
            const Complex u = a(m, l) * b(m, l);
            const auto at = [&](Complex root) {
                const auto average = chain_.law(l).at(root);
                return std::pair(u / (root * average.q * average.q) - 1.0,
                                 1.0 + 2.0 * root * average.dq / average.q);
            };
            Complex root = y(m, l);
            auto [defect, slope] = at(root);
            for (int k = 0; k < most_steps && std::abs(defect) > enough; ++k) {
                Complex step = defect / slope;
                if (std::abs(step) > largest) step *= largest / std::abs(step);
                bool smaller = false;
                for (int h = 0; h < most_halvings && !smaller; ++h, step *= 0.5) {
                    const auto [next_defect, next_slope] = at(root * std::exp(step));
                    smaller = std::abs(next_defect) < std::abs(defect);
                    if (!smaller) continue;
                    root *= std::exp(step);
                    defect = next_defect;
                    slope = next_slope;
                    break;
                }
                if (!smaller) break;
            }
            if (std::abs(defect) < 1e-9) y(m, l) = root;
        }
        return m;
    }

    /// The response costs as much as the traces. Within one solve, at one ω, it is corrected by what a step has changed
    /// instead (Broyden): R ← R + (Δtraces − R Δc) Δcᴴ/|Δc|². At another ω, and in a clone, it starts anew, so that
    /// solutions do not depend on the order of points.
    void update_response(const Frequency& omega, const Coefficients& c) {
        const Index count = index(layers_);
        Last now;
        now.omega = omega;
        now.c.resize(2 * count);
        now.traces.resize(2 * count);
        for (std::size_t l = 0; l < layers_; ++l) {
            const Index w = 2 * index(l), v = w + 1;
            now.c(w) = c.cw(index(l));
            now.c(v) = c.cv(index(l));
            now.traces(w) = chain_.quiet(l) ? 0.0 : chain_.read(l);
            now.traces(v) = chain_.quiet(l) ? 0.0 : chain_.written(l);
        }
        const bool same = !chain_.exact_response() && last_.age > 0 && last_.age < most_corrections &&
                          last_.step < long_step && same_point(omega);
        const Vector change = now.c - (same ? last_.c : now.c);
        if (same && change.squaredNorm() == 0) {  // once more, in full
            now.response = last_.response;
            now.age = last_.age;
        } else if (same) {
            const Vector missing = now.traces - last_.traces - last_.response * change;
            now.response = last_.response + missing * (change.adjoint() / change.squaredNorm());
            now.age = last_.age + 1;
        } else {
            now.response = chain_.response();
            now.age = 1;
        }
        last_ = std::move(now);
    }

    struct Last {
        Frequency omega;
        Vector c, traces;  ///< by side: w_0, v_0, w_1, …
        Unknowns after;    ///< that the step leads to
        Complex green = 0;
        Eigen::MatrixXcd response;
        double step = 0;  ///< that it led to
        int age = 0;      ///< steps since the response was computed; 0: never
    };
    bool same_point(const Frequency& omega) const {
        return last_.age > 0 && last_.omega.log_scale == omega.log_scale &&
               last_.omega.direction == omega.direction;
    }

    static constexpr double rough_after = 0.3;   // step after which the next is likely to be longer than
    static constexpr double rough_until = 1e-4;  // this, which single precision resolves
    static constexpr int most_corrections = 8;
    static constexpr double long_step = 0.1;  // after which the response is another

    AlignedChain chain_;
    std::size_t layers_;
    AlignedMoments moments_;
    Last last_;
    double passes_ = 0;
};

}  // namespace

std::unique_ptr<Equation> make_aligned(const Network& network) {
    return std::make_unique<Aligned>(network);
}

}  // namespace spectra::dyson
