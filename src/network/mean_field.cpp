#include "network/mean_field.hpp"

#include "base/special_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <stdexcept>

namespace spectra {

namespace {

/// The state before a layer.
class Streams {
public:
    explicit Streams(Eigen::Index n) : mean_(Eigen::VectorXd::Zero(n)), second_(Mixer::Identity(n, n)) {}

    /// tr_n C
    double variance() const { return second_.trace() / static_cast<double>(second_.rows()); }

    void advance(const Mixer& mixer, const Activation& activation, double q) {
        const double mu = spectra::mean(activation, q), nu = mean_square(activation, q);
        const auto n = mean_.size();
        const Eigen::VectorXd carried = mixer * mean_, ones = Eigen::VectorXd::Ones(n);
        second_ = mixer * second_ * mixer.transpose();
        second_ += mu * (carried * ones.transpose() + ones * carried.transpose());
        second_ += mu * mu * (ones * ones.transpose());
        second_.diagonal().array() += nu - mu * mu;
        mean_ = carried + mu * ones;
    }

private:
    Eigen::VectorXd mean_;
    Mixer second_;
};

double checked(double q, std::size_t layer) {
    if (!std::isfinite(q))
        throw std::invalid_argument(
            fmt::format("network: the pre-activation variance of layer {} overflows; use smaller "
                        "weights or mixers, or "
                        "give the pre-activation variances",
                        layer + 1));
    return q;
}

/// The σ_w² with σ_w² E φ'(h)² = sigma2, h ~ N(0, σ_w² variance); `guess` is the starting value.
double tuned(double sigma2, double variance, const Activation& activation, double guess, std::size_t layer) {
    if (sigma2 == 0) return 0;
    if (variance == 0 || !depends_on_variance(activation)) return sigma2 / mean_derivative2(activation, 0);
    // In logarithms the branch's variance has slopes near one: secant steps, kept between the bounds from
    // earlier points.
    const auto excess = [&](double x) {
        return x + std::log(mean_derivative2(activation, checked(std::exp(x) * variance, layer))) -
               std::log(sigma2);
    };
    double x = std::log(guess > 0 ? guess : sigma2), f = excess(x);
    double low = -infinity, high = infinity, slope = 1;
    for (int step = 0; step < 200 && f != 0; ++step) {
        (f < 0 ? low : high) = x;
        double next = x - f / slope;
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        if (std::abs(next - x) <= 1e-16 * std::max(1.0, std::abs(x))) break;
        const double value = excess(next);
        const double chord = (value - f) / (next - x);
        if (chord > 0.1 && chord < 10) slope = chord;
        x = next;
        f = value;
        if (std::abs(f) < 4e-16) break;
    }
    return std::exp(x);
}

}  // namespace

std::vector<double> propagated_variances(const std::vector<Mixer>& mixers,
                                         const std::vector<double>& sigma_w2, const Activation& activation) {
    assert(sigma_w2.size() == mixers.size());
    std::vector<double> variances;
    variances.reserve(mixers.size());
    Streams streams(mixers.empty() ? 0 : mixers.front().rows());
    for (std::size_t l = 0; l < mixers.size(); ++l) {
        variances.push_back(checked(sigma_w2[l] * streams.variance(), l));
        streams.advance(mixers[l], activation, variances.back());
    }
    return variances;
}

TunedWeights tuned_weights(const std::vector<Mixer>& mixers, const std::vector<double>& sigma2,
                           const Activation& activation) {
    assert(sigma2.size() == mixers.size());
    TunedWeights weights;
    weights.sigma_w2.reserve(mixers.size());
    weights.preactivation_variance.reserve(mixers.size());
    Streams streams(mixers.empty() ? 0 : mixers.front().rows());
    double guess = 0;
    for (std::size_t l = 0; l < mixers.size(); ++l) {
        const double variance = checked(streams.variance(), l);
        const double sigma_w2 = guess = tuned(sigma2[l], variance, activation, guess, l);
        weights.sigma_w2.push_back(sigma_w2);
        weights.preactivation_variance.push_back(checked(sigma_w2 * variance, l));
        streams.advance(mixers[l], activation, weights.preactivation_variance.back());
    }
    return weights;
}

}  // namespace spectra
