#include "dyson/equations/s_transform.hpp"

#include "dyson/equations/free_scalar.hpp"
#include "dyson/exact/moments.hpp"
#include "dyson/exact/one_stream.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <stdexcept>
#include <vector>

namespace spectra::dyson {
namespace {

struct Layer {
    double a2 = 0, sigma2 = 0;
    double count = 1;  ///< equal layers in a row

    double mean_square() const { return a2 + sigma2; }

    struct Values {
        Complex value, dlog;  ///< 1/S and d ln(1/S)/dw
    };
    /// At ε = 1 + w.
    Values inverse(Complex epsilon) const {
        if (sigma2 == 0) return {a2, 0.0};
        const double difference = a2 - sigma2;
        const Complex b = difference + 2.0 * sigma2 * epsilon;
        const Complex root = std::sqrt(difference * difference + 4.0 * a2 * sigma2 * epsilon);
        // ½(b + root); if they cancel, from their difference.
        const Complex value =
            b.real() >= 0 ? 0.5 * (b + root) : 2.0 * sigma2 * sigma2 * epsilon * (1.0 - epsilon) / (root - b);
        return {value, sigma2 * (1.0 + a2 / root) / value};
    }
};

std::optional<std::vector<Layer>> layers_of(const Network& network) {
    if (!isotropic_gaussian(network)) return std::nullopt;
    const auto& sigma2 = std::get<IsotropicBranch>(network.branch).sigma2;
    std::vector<Layer> layers;
    for (std::size_t l = 0; l < network.mixers.size(); ++l) {
        const bool same = l > 0 && network.mixers[l] == network.mixers[l - 1];
        const auto a2 = same ? std::optional(layers.back().a2) : square_of_scale(network.mixers[l]);
        if (!a2) return std::nullopt;
        if (!layers.empty() && layers.back().a2 == *a2 && layers.back().sigma2 == sigma2[l])
            layers.back().count += 1;
        else
            layers.push_back({*a2, sigma2[l]});
    }
    return layers;
}

class STransform final : public Equation {
public:
    explicit STransform(std::vector<Layer> layers) : layers_(std::move(layers)) {
        for (const Layer& layer : layers_) depth_ += layer.count;
    }

    std::unique_ptr<Equation> clone() const override { return std::make_unique<STransform>(*this); }
    Eigen::Index size() const override { return 1; }

    // w → E s²/z.
    Unknowns far(const Frequency& omega) const override {
        Complex log_w = -2.0 * (omega.log_scale + std::log(omega.direction));
        for (const Layer& layer : layers_) log_w += layer.count * std::log(layer.mean_square());
        return Unknowns::Constant(1, std::exp(log_w));
    }

    bool newton_step(const Frequency& omega, const Unknowns& m, Unknowns& delta) override {
        passes_ += 1;
        const Complex t = m(0), epsilon = 1.0 / (1.0 - t);
        Complex defect = -log_lower(t) - 2.0 * (omega.log_scale + std::log(omega.direction));
        Complex slope = -1.0 / t;
        for (const Layer& layer : layers_) {
            const Layer::Values v = layer.inverse(epsilon);
            defect += layer.count * log_lower(v.value);
            slope += layer.count * v.dlog * epsilon * epsilon;
        }
        delta = Unknowns::Constant(1, -defect / (slope * t));
        return delta.allFinite();
    }

    bool admissible(const Frequency& omega, const Unknowns& m, double slack) const override {
        const auto below = [slack](Complex value) { return value.imag() < -slack * std::abs(value); };
        const Complex t = m(0), epsilon = 1.0 / (1.0 - t);
        if (!below(t) || !below(epsilon / omega.direction)) return false;
        for (const Layer& layer : layers_) {
            const Complex z = layer.inverse(epsilon).value / t;
            // The closed half plane: a single noisy layer has z_l = z, real on the axis.
            if (depth_ > 1 && z.imag() < -1e-6 * std::abs(z)) return false;
            if (!below(epsilon / std::sqrt(z))) return false;
        }
        return true;
    }

    bool stable_in_gap(const Frequency&, const Unknowns& m) override {
        // w = ∫ x/(z − x) falls in z, and in every z_l, outside the support.
        const double t = m(0).real(), epsilon = 1 / (1 - t);
        const double dlog_t = 1 / (t * epsilon * epsilon);  // d ln t/dw
        double slope = -dlog_t;
        for (const Layer& layer : layers_) {
            const Layer::Values v = layer.inverse(epsilon);
            if (!(v.value.real() / t > 0) || !(v.dlog.real() - dlog_t < 0)) return false;
            slope += layer.count * v.dlog.real();
        }
        return slope < 0;
    }

    Complex scaled_green(const Frequency& omega, const Unknowns& m) const override {
        return scaled_green_of(m(0), omega);
    }

    double passes() const override { return passes_; }

private:
    std::vector<Layer> layers_;
    double depth_ = 0;
    double passes_ = 0;
};

}  // namespace

bool s_transform_is_exact(const Network& network) {
    return layers_of(network).has_value();
}

std::unique_ptr<Equation> make_s_transform(const Network& network) {
    auto layers = layers_of(network);
    if (!layers)
        throw std::invalid_argument(
            "s-transform: supports only isotropic Gaussian branches, and mixers that are multiples of "
            "orthogonal matrices");
    return std::make_unique<STransform>(std::move(*layers));
}

GreenPoint s_transform_green(const Network& network, Complex omega) {
    const double log_size = std::max(std::log(std::abs(omega)), 0.5 * log_mean_square(network));
    return green_by_descent(*make_s_transform(network), omega, log_size + 4);
}

}  // namespace spectra::dyson
