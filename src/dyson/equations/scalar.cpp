#include "dyson/equations/scalar.hpp"

#include "dyson/equations/free_scalar.hpp"
#include "mixers/defects.hpp"

#include <cmath>
#include <map>
#include <numbers>
#include <tuple>
#include <vector>

namespace spectra::dyson {
namespace {

class Scalar final : public Equation {
public:
    explicit Scalar(const Network& network) {
        const std::vector<double> all = sigma2(network);
        depth_ = static_cast<double>(all.size());
        std::map<Layer, double> counts;
        Layer layer;
        for (std::size_t l = 0; l < all.size(); ++l) {
            layer.sigma2 = all[l];
            if (l == 0 || network.mixers[l] != network.mixers[l - 1]) {
                const Eigen::VectorXd a = mixers::singular_values(network.mixers[l]);
                layer.a2.clear();
                for (const double value : a) layer.a2.push_back(value * value);
            }
            ++counts[layer];
        }
        for (const auto& [each, count] : counts) {
            layers_.push_back(each);
            counts_.push_back(count);
        }
    }

    std::unique_ptr<Equation> clone() const override { return std::make_unique<Scalar>(*this); }
    Eigen::Index size() const override { return static_cast<Eigen::Index>(layers_.size() + 1); }

    // w → Π m_l / z and y_l → m_l / w with m_l = ⟨a²⟩ + σ².
    Unknowns far(const Frequency& omega) const override {
        Complex log_w = -2.0 * omega.log_scale - 2.0 * std::log(omega.direction);
        for (std::size_t l = 0; l < layers_.size(); ++l)
            log_w += counts_[l] * std::log(layers_[l].mean_square());
        Unknowns m(size());
        m(0) = std::exp(log_w);
        for (std::size_t l = 0; l < layers_.size(); ++l)
            m(static_cast<Eigen::Index>(l + 1)) = layers_[l].mean_square() / m(0);
        return m;
    }

    bool newton_step(const Frequency& omega, const Unknowns& m, Unknowns& delta) override {
        passes_ += 1;
        // Rows φ_l(y_l) = 1 + w give dy_l = (dw − f_l)/φ_l'; the row of ln z then gives dt.
        const Complex t = m(0);
        const Complex inverse = 1.0 / (1.0 - t);  // 1 + w
        const Complex dw_dt = inverse * inverse;
        const Complex log_t = log_lower(t);
        Complex defect = -log_t - 2.0 * (omega.log_scale + std::log(omega.direction));
        Complex slope = (depth_ - 1) / t, constant = 0;
        delta.resize(size());
        for (std::size_t l = 0; l < layers_.size(); ++l) {
            const Complex y = m(static_cast<Eigen::Index>(l + 1));
            const Values v = layers_[l].evaluate(y);
            const Complex f = row(v, t);
            defect += counts_[l] * log_of_product(v.z, t, log_t);
            slope += counts_[l] * v.dlog_z / v.dphi * dw_dt;
            constant += counts_[l] * v.dlog_z / v.dphi * f;
            delta(static_cast<Eigen::Index>(l + 1)) = f;
        }
        const Complex dt = (constant - defect) / slope;
        delta(0) = dt / t;
        for (std::size_t l = 0; l < layers_.size(); ++l) {
            const auto k = static_cast<Eigen::Index>(l + 1);
            const Values v = layers_[l].evaluate(m(k));
            delta(k) = (dw_dt * dt - delta(k)) / v.dphi / m(k);
        }
        return delta.allFinite();
    }

    // A step δ of y_l leaves its row off by δ², and ln z by the sum of that over all layers: deep networks would allow
    // only steps of 1/√L. So the rows are solved again for the new t wherever that sum matters.
    Unknowns moved(const Unknowns& m, const Unknowns& delta, double fraction) const override {
        constexpr double harmless = 1e-3;
        constexpr int most = 12;
        Unknowns next = Equation::moved(m, delta, fraction);
        for (std::size_t l = 0; l < layers_.size(); ++l) {
            const auto k = static_cast<Eigen::Index>(l + 1);
            if (depth_ * std::norm(fraction * delta(k)) < harmless) continue;
            Complex y =
                m(k) * std::exp(fraction * delta(k));  // in logarithms: y_l is a power of t at both ends
            double change = 1;
            for (int step = 0; step < most && depth_ * change * change >= harmless; ++step) {
                const Values v = layers_[l].evaluate(y);
                const Complex correction = row(v, next(0)) / v.dphi / y;
                change = std::abs(correction);
                if (!(change < 2)) break;
                y *= std::exp(-correction);
            }
            if (depth_ * change * change < harmless) next(k) = y;
        }
        return next;
    }

    bool admissible(const Frequency& omega, const Unknowns& m, double slack) const override {
        const auto below = [slack](Complex value) { return value.imag() < -slack * std::abs(value); };
        const Complex t = m(0);
        const Complex one_plus_w = 1.0 / (1.0 - t);
        if (!below(t) || !below(one_plus_w / omega.direction)) return false;
        for (std::size_t l = 0; l < layers_.size(); ++l) {
            const Complex z = layers_[l].evaluate(m(static_cast<Eigen::Index>(l + 1))).z;
            // The closed half plane: a single noisy layer has z_l = z, real on the axis.
            if (depth_ > 1 && z.imag() < -1e-6 * std::abs(z)) return false;
            if (!below(one_plus_w / std::sqrt(z))) return false;
        }
        return true;
    }

    bool stable_in_gap(const Frequency&, const Unknowns& m) override {
        const double t = m(0).real();
        const double dw_dt = 1 / ((1 - t) * (1 - t));
        double slope = (depth_ - 1) / (t * dw_dt);
        for (std::size_t l = 0; l < layers_.size(); ++l) {
            const Values v = layers_[l].evaluate(m(static_cast<Eigen::Index>(l + 1)));
            const double dphi = v.dphi.real(), dz_dy = (v.z * v.dlog_z).real();
            if (!(dphi < 0) || !(dz_dy > 0)) return false;
            slope += counts_[l] * v.dlog_z.real() / dphi;
        }
        return slope < 0;
    }

    Complex scaled_green(const Frequency& omega, const Unknowns& m) const override {
        return scaled_green_of(m(0), omega);
    }

    double passes() const override { return passes_; }

private:
    struct Values {
        Complex phi, phi_minus_one;  ///< h + σ²h²/y, and the same minus one without cancellation
        Complex dphi;                ///< dφ/dy
        Complex z, dlog_z;           ///< z(y), d ln z/dy
    };

    struct Layer {
        std::vector<double> a2;
        double sigma2 = 0;

        bool operator<(const Layer& other) const { return std::tie(a2, sigma2) < std::tie(other.a2, other.sigma2); }

        double mean_square() const {
            double sum = 0;
            for (const double value : a2) sum += value;
            return sum / static_cast<double>(a2.size()) + sigma2;
        }

        Values evaluate(Complex y) const {
            // With r_i = 1/(y − a_i²): h = y⟨r⟩ = 1 + ⟨a²r⟩, h/y = ⟨r⟩.
            Complex r1 = 0, ar1 = 0, r2 = 0, ar2 = 0;
            for (const double value : a2) {
                const Complex r = 1.0 / (y - value);
                r1 += r;
                ar1 += value * r;
                r2 += r * r;
                ar2 += value * r * r;
            }
            const double inverse = 1.0 / static_cast<double>(a2.size());
            r1 *= inverse;
            ar1 *= inverse;
            r2 *= inverse;
            ar2 *= inverse;
            const Complex h = y * r1;
            const Complex u = 1.0 + sigma2 * r1;
            Values v;
            v.phi = h * u;
            v.phi_minus_one = ar1 + sigma2 * h * r1;
            v.dphi = -ar2 * u - h * sigma2 * r2;
            v.z = y * u * u;
            v.dlog_z = 1.0 / y - 2.0 * sigma2 * r2 / u;
            return v;
        }
    };

    /// ln z + ln t, each continuous on its half plane. In deep networks every z_l t is close to 1: the logarithms' own
    /// rounding, times L, would be more than what is left of their sum.
    static Complex log_of_product(Complex z, Complex t, Complex log_t) {
        constexpr double turn = 2 * std::numbers::pi;
        const Complex value = std::log(z * t);
        const double argument = log_upper(z).imag() + log_t.imag();
        return {value.real(), value.imag() + turn * std::round((argument - value.imag()) / turn)};
    }

    /// φ(y) − 1 − w.
    static Complex row(const Values& v, Complex t) {
        const Complex inverse = 1.0 / (1.0 - t);  // 1 + w
        return std::norm(t) < 1 ? v.phi_minus_one - t * inverse : v.phi - inverse;
    }

    std::vector<Layer> layers_;   ///< that differ
    std::vector<double> counts_;  ///< of each
    double depth_ = 0;
    double passes_ = 0;
};

}  // namespace

std::unique_ptr<Equation> make_scalar(const Network& network) {
    return std::make_unique<Scalar>(network);
}

}  // namespace spectra::dyson
