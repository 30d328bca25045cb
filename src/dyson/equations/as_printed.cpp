#include "dyson/equations/as_printed.hpp"

#include "base/special_values.hpp"
#include "dyson/equations/free_scalar.hpp"
#include "dyson/exact/mixer_values.hpp"
#include "dyson/exact/support_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

namespace spectra::dyson::printed {
namespace {

const IsotropicBranch& isotropic_branch(const Network& network) {
    if (!isotropic_gaussian(network))
        throw std::invalid_argument(
            "printed: the printed equations support isotropic Gaussian branches only");
    return std::get<IsotropicBranch>(network.branch);
}

struct Layer {
    std::vector<double> a;  ///< positive singular values
    double streams = 1;     ///< number of all singular values, zeros included
    double sigma2 = 0;

    double mean_square() const {
        double sum = 0;
        for (const double value : a) sum += value * value;
        return sum / streams;
    }

    struct Values {
        Complex log_z, dlog_z;  ///< ln z(w_i) and its derivative in w_i
    };
    /// At t_i = w_i/(1 + w_i).
    Values evaluate(double value, Complex t) const {
        const Complex w = t / (1.0 - t);
        const Complex root = std::sqrt(value * value + 4.0 * sigma2 * w);
        const Complex h = 0.5 * (value + root);
        return {2.0 * std::log(h) - log_lower(t), 2.0 * sigma2 / (root * h) - 1.0 / (w * (1.0 + w))};
    }
};

class Equation7 final : public Equation {
public:
    explicit Equation7(const Network& network) {
        const IsotropicBranch& branch = isotropic_branch(network);
        const auto values = layer_singular_values(network);
        for (std::size_t l = 0; l < values.size(); ++l) {
            Layer layer{{}, static_cast<double>(network.streams), branch.sigma2[l]};
            for (const double a : values[l])
                if (a > 1e-13 * values[l].maxCoeff()) layer.a.push_back(a);
            if (layer.a.empty())
                throw std::invalid_argument(
                    "printed: the mixer of layer " + std::to_string(l + 1) +
                    " is zero, where equation (7) has no noise; mixers must be nonzero");
            size_ += static_cast<Eigen::Index>(1 + layer.a.size());
            layers_.push_back(std::move(layer));
        }
    }

    std::unique_ptr<Equation> clone() const override { return std::make_unique<Equation7>(*this); }
    Eigen::Index size() const override { return size_; }

    Unknowns far(const Frequency& omega) const override {
        Complex log_w = -2.0 * (omega.log_scale + std::log(omega.direction));
        for (const Layer& layer : layers_) log_w += std::log(layer.mean_square());
        Unknowns m(size_);
        m(0) = std::exp(log_w);
        Eigen::Index k = 1;
        for (const Layer& layer : layers_) {
            const Complex z = layer.mean_square() / m(0);
            m(k++) = z;
            for (const double a : layer.a) m(k++) = a * a / z;
        }
        return m;
    }

    // δ is relative to each unknown. With ζ = ln z_l the rows of a layer give dw_i = (dζ − r_i)/φ_i, their
    // mean gives dζ = (dw + ρ)/Φ, and the product of all layers gives dw.
    bool newton_step(const Frequency& omega, const Unknowns& m, Unknowns& delta) override {
        passes_ += 1;
        delta.resize(size_);
        const Complex t = m(0), w = t / (1.0 - t);
        const double below = static_cast<double>(layers_.size()) - 1;
        Complex defect = below * log_lower(t) - 2.0 * (omega.log_scale + std::log(omega.direction));
        Complex slope = below / (w * (1.0 + w));
        std::vector<Complex> inverse(layers_.size()), offset(layers_.size());
        Eigen::Index k = 1;
        for (std::size_t l = 0; l < layers_.size(); ++l) {
            const Complex zeta = log_upper(m(k++));
            Complex sum = 0, moved = 0;
            for (const double a : layers_[l].a) {
                const Complex ti = m(k);
                const Layer::Values v = layers_[l].evaluate(a, ti);
                sum += 1.0 / v.dlog_z;
                moved += (v.log_z - zeta) / v.dlog_z - ti / (1.0 - ti);
                ++k;
            }
            inverse[l] = layers_[l].streams / sum;
            offset[l] = w + moved / layers_[l].streams;
            defect += zeta + inverse[l] * offset[l];
            slope += inverse[l];
        }
        const Complex dw = -defect / slope;
        delta(0) = dw / (w * (1.0 + w));
        k = 1;
        for (std::size_t l = 0; l < layers_.size(); ++l) {
            const Complex zeta = log_upper(m(k)), dzeta = inverse[l] * (dw + offset[l]);
            delta(k++) = dzeta;
            for (const double a : layers_[l].a) {
                const Complex ti = m(k), wi = ti / (1.0 - ti);
                const Layer::Values v = layers_[l].evaluate(a, ti);
                delta(k++) = (dzeta - (v.log_z - zeta)) / v.dlog_z / (wi * (1.0 + wi));
            }
        }
        return delta.allFinite();
    }

    bool admissible(const Frequency& omega, const Unknowns& m, double slack) const override {
        const auto below = [slack](Complex value) { return value.imag() < -slack * std::abs(value); };
        if (!below(m(0)) || !below(scaled_green_of(m(0), omega))) return false;
        Eigen::Index k = 1;
        for (const Layer& layer : layers_) {
            const Complex z = m(k++);
            // The closed half plane: a single layer has z_l = z, real on the axis.
            if (layers_.size() > 1 && z.imag() < -1e-6 * std::abs(z)) return false;
            for (std::size_t i = 0; i < layer.a.size(); ++i, ++k)
                if (!below(m(k)) || !below(1.0 / ((1.0 - m(k)) * std::sqrt(z)))) return false;
        }
        return true;
    }

    bool stable_in_gap(const Frequency&, const Unknowns& m) override {
        const double t = m(0).real(), w = t / (1 - t);
        double slope = (static_cast<double>(layers_.size()) - 1) / (w * (1 + w));
        Eigen::Index k = 1;
        for (const Layer& layer : layers_) {
            if (!(m(k++).real() > 0)) return false;
            double sum = 0;
            for (const double a : layer.a) {
                const double fall = layer.evaluate(a, m(k++).real()).dlog_z.real();
                if (!(fall < 0)) return false;
                sum += 1 / fall;
            }
            slope += layer.streams / sum;
        }
        return slope < 0;
    }

    Complex scaled_green(const Frequency& omega, const Unknowns& m) const override {
        return scaled_green_of(m(0), omega);
    }

    double passes() const override { return passes_; }

private:
    std::vector<Layer> layers_;
    Eigen::Index size_ = 1;
    double passes_ = 0;
};

}  // namespace

GreenPoint equation_4(double a, double sigma2, Complex omega) {
    const Complex z = omega * omega;
    // σ²m² − zm + a = 0; the product of the roots is real, so one is below the axis: the smaller one at large
    // z.
    Complex m = a / z;
    if (sigma2 > 0) {
        const Complex root = std::sqrt(z * z - 4 * a * sigma2);
        const Complex larger = std::abs(z + root) > std::abs(z - root) ? z + root : z - root;
        m = 2 * a / larger;
        if (m.imag() > 0) m = a / (sigma2 * m);
    }
    GreenPoint point;
    point.g = m / omega;
    point.residual = std::abs(m - a / (z - sigma2 * m)) / std::abs(m);
    point.certified = point.residual <= 1e-10;
    return point;
}

Complex newton_step_8(double a, double sigma2, Complex z, Complex m) {
    const Complex d = z - sigma2 * m;
    return m - (m - a / d) / (1.0 + a * sigma2 / (d * d));
}

std::unique_ptr<Equation> make_equation(const Network& network) {
    return std::make_unique<Equation7>(network);
}

GreenPoint equation_7(const Network& network, Complex omega) {
    const double log_size = std::max(std::log(std::abs(omega)), printed::support_bounds(network).log_upper);
    return green_by_descent(*make_equation(network), omega, log_size + 4);
}

double mean_square(const Network& network) {
    isotropic_branch(network);
    double log_product = 0;
    for (const Mixer& a : network.mixers) log_product += std::log(a.squaredNorm() / network.streams);
    return std::exp(log_product);
}

SupportBounds support_bounds(const Network& network) {
    const IsotropicBranch& branch = isotropic_branch(network);
    SupportBounds result = dyson::support_bounds(network);
    result.log_upper = result.log_lower = result.kappa = result.atom_at_zero = 0;
    const auto values = layer_singular_values(network);
    for (std::size_t l = 0; l < values.size(); ++l) {
        const Eigen::ArrayXd& a = values[l];
        const double reach = 2 * std::sqrt(branch.sigma2[l]), bottom = a.minCoeff() - reach;
        result.log_upper += std::log(a.maxCoeff() + reach);
        result.log_lower += bottom > 0 ? std::log(bottom) : -infinity;
        const double zeros = static_cast<double>((a <= 1e-13 * a.maxCoeff()).count());
        result.atom_at_zero = std::max(result.atom_at_zero, zeros / network.streams);
    }
    result.log_far = result.log_upper;
    return result;
}

}  // namespace spectra::dyson::printed
