#include "montecarlo/sample/forward.hpp"

#include "random/stream.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace spectra::montecarlo {
namespace {

using Kind = ActivationKind;

/// x·2^exponent; 0 or infinite beyond the range of double.
double scaled(double x, long exponent) {
    return std::ldexp(x, static_cast<int>(std::clamp(exponent, -5000L, 5000L)));
}

/// φ(ch) = c φ(h) for c > 0.
bool homogeneous(const Activation& activation) {
    return activation.kind == Kind::linear || activation.kind == Kind::relu ||
           activation.kind == Kind::leaky_relu;
}

bool bounded(const Activation& activation) {
    return activation.kind == Kind::tanh || activation.kind == Kind::hard_tanh ||
           activation.kind == Kind::erf;
}

constexpr long nothing = std::numeric_limits<long>::min();

/// The exponent of the largest entry of 2^unit values; `nothing` if all are 0.
long largest_exponent(const linalg::AlignedDoubles& values, long unit) {
    double largest = 0;
    for (const double x : values) largest = std::max(largest, std::abs(x));
    if (!(largest > 0)) return nothing;
    int exponent = 0;
    std::frexp(largest, &exponent);
    return unit + exponent;
}

}  // namespace

long response_unit(const Activation& activation, long exponent) {
    return bounded(activation) ? std::min(exponent, 0L) : exponent;
}

Response response(const Activation& activation, double h, long exponent) {
    if (homogeneous(activation)) return {derivative(activation, h), value(activation, h)};
    // Below `small` φ = φ'(0) h, and beyond `large` φ = φ'(±∞) h or ±1, to far below rounding.
    constexpr double small = 0x1p-200, large = 0x1p+200;
    const double true_h = std::clamp(scaled(h, exponent), -large, large);
    const double slope = derivative(activation, true_h);
    const long unit = response_unit(activation, exponent);
    const bool straight = std::abs(true_h) < small || std::abs(true_h) >= large;
    if (straight && unit == exponent) return {slope, slope * h};
    return {slope, scaled(value(activation, true_h), -unit)};
}

ForwardPass::ForwardPass(int streams, int width) : streams_(streams), width_(width) {
    for (auto* vector : {&state_, &carried_, &branch_})
        vector->resize(static_cast<std::size_t>(streams) * static_cast<std::size_t>(width));
}

void ForwardPass::begin(std::uint64_t seed, std::uint32_t sample) {
    random::Stream(seed, random::Purpose::slope, 0, sample).fill_normal(state_);
    exponent_ = 0;
}

void ForwardPass::advance(const Layer& layer, const double* weights, std::span<double> slopes) {
    const long unit = exponent_ + layer.exponent;
    const auto& activation = layer.neurons->activation;
    const Eigen::Map<const Eigen::MatrixXd> w(weights, size(), size());
    Eigen::Map<Eigen::VectorXd> h(branch_.data(), size());
    h.setZero();
    for (Eigen::Index j = 0; j < size(); ++j) h += w.col(j) * state_[static_cast<std::size_t>(j)];
    for (std::size_t i = 0; i < branch_.size(); ++i) {
        const Response at_h = response(activation, branch_[i], unit);
        slopes[i] = at_h.slope;
        branch_[i] = at_h.value;
    }
    add_skip(layer, response_unit(activation, unit));
}

void ForwardPass::advance(const Layer& layer) {
    std::fill(branch_.begin(), branch_.end(), 0.0);
    add_skip(layer, 0);
}

void ForwardPass::add_skip(const Layer& layer, long branch_unit) {
    const Eigen::Map<const Eigen::MatrixXd> from(state_.data(), width_, streams_);
    Eigen::Map<Eigen::MatrixXd>(carried_.data(), width_, streams_).noalias() =
        from.lazyProduct(layer.mixer.transpose());
    const long unit = exponent_ + layer.exponent;
    const long top = std::max(largest_exponent(carried_, unit), largest_exponent(branch_, branch_unit));
    exponent_ = top == nothing ? 0 : top;
    for (std::size_t i = 0; i < state_.size(); ++i)
        state_[i] = scaled(carried_[i], unit - exponent_) + scaled(branch_[i], branch_unit - exponent_);
}

}  // namespace spectra::montecarlo
