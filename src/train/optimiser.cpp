#include "train/optimiser.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace spectra::train {

using torch::Tensor;

Optimiser::Optimiser(const Named& parameters, const OptimiserOptions& options) : options_(options) {
    const torch::NoGradGuard no_grad;
    for (const auto& item : parameters)
        if (item.second.requires_grad()) parameters_.push_back(item);
    const auto decays = [&](const auto& item) { return options.decay_vectors || item.second.dim() >= 2; };
    std::stable_partition(parameters_.begin(), parameters_.end(), decays);
    std::vector<Tensor> pieces;
    for (const auto& item : parameters_) {
        pieces.push_back(item.second.detach().flatten());
        if (decays(item)) decayed_ += item.second.numel();
    }
    flat_ = torch::cat(pieces);
    m_ = torch::zeros_like(flat_);
    v_ = torch::zeros_like(flat_);
    int64_t offset = 0;
    for (auto& [name, p] : parameters_) {
        p.set_data(flat_.narrow(0, offset, p.numel()).view(p.sizes()));
        offset += p.numel();
    }
}

void Optimiser::zero_grad() {
    for (auto& [name, p] : parameters_) p.mutable_grad() = Tensor();
}

double Optimiser::gather(double max_norm) {
    const torch::NoGradGuard no_grad;
    std::vector<Tensor> pieces;
    pieces.reserve(parameters_.size());
    for (const auto& [name, p] : parameters_)
        pieces.push_back(p.grad().defined() ? p.grad().flatten() : torch::zeros({p.numel()}, p.options()));
    gradient_ = torch::cat(pieces);
    const double norm = gradient_.norm().item<double>();
    if (std::isfinite(norm) && max_norm > 0 && norm > max_norm) gradient_.mul_(max_norm / (norm + 1e-6));
    return norm;
}

void Optimiser::step(double rate) {
    const torch::NoGradGuard no_grad;
    ++steps_;
    const auto t = static_cast<double>(steps_);
    m_.lerp_(gradient_, 1 - options_.beta1);
    v_.mul_(options_.beta2).addcmul_(gradient_, gradient_, 1 - options_.beta2);
    if (options_.weight_decay > 0) flat_.narrow(0, 0, decayed_).mul_(1 - rate * options_.weight_decay);
    const double first = 1 - std::pow(options_.beta1, t), second = 1 - std::pow(options_.beta2, t);
    if (options_.rule == OptimiserOptions::Rule::adamw) {
        const auto root = v_.sqrt().div_(std::sqrt(second)).add_(options_.epsilon);
        flat_.addcdiv_(m_, root, -rate / first);
    } else {
        flat_.add_(torch::atan2(m_ / first, (v_ / second).sqrt()), -rate);
    }
}

std::string Optimiser::first_bad_gradient() const {
    for (const auto& [name, p] : parameters_)
        if (p.grad().defined() && !torch::isfinite(p.grad()).all().item<bool>()) return name;
    return "";
}

std::vector<std::pair<std::string, double>> Optimiser::gradient_norms() const {
    std::vector<std::pair<std::string, double>> norms;
    int64_t offset = 0;
    for (const auto& [name, p] : parameters_) {
        norms.emplace_back(name, gradient_.narrow(0, offset, p.numel()).norm().item<double>());
        offset += p.numel();
    }
    return norms;
}

void Optimiser::restore(const Tensor& m, const Tensor& v, int64_t steps) {
    TORCH_CHECK(m.numel() == m_.numel() && v.numel() == v_.numel(), "moments of another model");
    const torch::NoGradGuard no_grad;
    m_.copy_(m);
    v_.copy_(v);
    steps_ = steps;
}

double Schedule::operator()(int64_t step) const {
    if (step < warm_up) return peak * static_cast<double>(step) / static_cast<double>(warm_up);
    if (shape == Shape::constant) return peak;
    if (shape == Shape::steps)
        return std::max(floor, peak * std::pow(factor, static_cast<double>((step - warm_up) / every)));
    if (step >= horizon) return floor;
    const double done = static_cast<double>(step - warm_up) / static_cast<double>(horizon - warm_up);
    return floor + 0.5 * (1 + std::cos(std::numbers::pi * done)) * (peak - floor);
}

}  // namespace spectra::train
