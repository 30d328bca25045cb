#include "dyson/equations/scalar.hpp"

#include "dyson/equations/free_scalar.hpp"
#include "mixers/defects.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace spectra::dyson {
namespace {

class Scalar final : public Equation {
public:
    explicit Scalar(const Network& network) {
        const auto n = static_cast<std::size_t>(network.streams);
        layers_.resize(network.mixers.size());
        const std::vector<double> all = sigma2(network);
        for (std::size_t l = 0; l < layers_.size(); ++l) {
            layers_[l].sigma2 = all[l];
            if (l > 0 && network.mixers[l] == network.mixers[l - 1]) {
                layers_[l].a2 = layers_[l - 1].a2;
                continue;
            }
            const Eigen::VectorXd a = mixers::singular_values(network.mixers[l]);
            for (std::size_t i = 0; i < n; ++i) {
                const double value = a(static_cast<Eigen::Index>(i));
                layers_[l].a2.push_back(value * value);
            }
        }
    }

    std::unique_ptr<Equation> clone() const override { return std::make_unique<Scalar>(*this); }
    Eigen::Index size() const override { return static_cast<Eigen::Index>(layers_.size() + 1); }

    // w → Π m_l / z and y_l → m_l / w with m_l = ⟨a²⟩ + σ².
    Unknowns far(const Frequency& omega) const override {
        Complex log_w = -2.0 * omega.log_scale - 2.0 * std::log(omega.direction);
        for (const Layer& layer : layers_) log_w += std::log(layer.mean_square());
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
        const auto depth = static_cast<double>(layers_.size());
        Complex defect = (depth - 1) * log_lower(t) - 2.0 * (omega.log_scale + std::log(omega.direction));
        Complex slope = (depth - 1) / t, constant = 0;
        delta.resize(size());
        for (std::size_t l = 0; l < layers_.size(); ++l) {
            const Complex y = m(static_cast<Eigen::Index>(l + 1));
            const Values v = layers_[l].evaluate(y);
            const Complex f = std::norm(t) < 1 ? v.phi_minus_one - t * inverse : v.phi - inverse;
            defect += log_upper(v.z);
            slope += v.dlog_z / v.dphi * dw_dt;
            constant += v.dlog_z / v.dphi * f;
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

    bool admissible(const Frequency& omega, const Unknowns& m, double slack) const override {
        const auto below = [slack](Complex value) { return value.imag() < -slack * std::abs(value); };
        const Complex t = m(0);
        const Complex one_plus_w = 1.0 / (1.0 - t);
        if (!below(t) || !below(one_plus_w / omega.direction)) return false;
        for (std::size_t l = 0; l < layers_.size(); ++l) {
            const Complex z = layers_[l].evaluate(m(static_cast<Eigen::Index>(l + 1))).z;
            // The closed half plane: a single noisy layer has z_l = z, real on the axis.
            if (layers_.size() > 1 && z.imag() < -1e-6 * std::abs(z)) return false;
            if (!below(one_plus_w / std::sqrt(z))) return false;
        }
        return true;
    }

    bool stable_in_gap(const Frequency&, const Unknowns& m) override {
        const double t = m(0).real();
        const double dw_dt = 1 / ((1 - t) * (1 - t));
        double slope = (static_cast<double>(layers_.size()) - 1) / (t * dw_dt);
        for (std::size_t l = 0; l < layers_.size(); ++l) {
            const Values v = layers_[l].evaluate(m(static_cast<Eigen::Index>(l + 1)));
            const double dphi = v.dphi.real(), dz_dy = (v.z * v.dlog_z).real();
            if (!(dphi < 0) || !(dz_dy > 0)) return false;
            slope += v.dlog_z.real() / dphi;
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

    std::vector<Layer> layers_;
    double passes_ = 0;
};

}  // namespace

std::unique_ptr<Equation> make_scalar(const Network& network) {
    return std::make_unique<Scalar>(network);
}

}  // namespace spectra::dyson
