#include "train/optimiser.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace spectra::train {

using torch::Tensor;

namespace {

CayleyAdamOptions frame_options(const OptimiserOptions& options) {
    CayleyAdamOptions o;
    o.beta1 = options.beta1;
    o.beta2 = options.beta2;
    o.adaptive = true;
    return o;
}

}  // namespace

Optimiser::Optimiser(const Named& parameters, const OptimiserOptions& options,
                     const std::vector<Tensor>& frames, const std::vector<Tensor>& by_sign)
    : options_(options), frame_rule_(frame_options(options)) {
    const torch::NoGradGuard no_grad;
    const auto frame_of = [&](const Tensor& p) {
        return std::find_if(frames.begin(), frames.end(),
                            [&](const Tensor& frame) { return frame.data_ptr() == p.data_ptr(); });
    };
    const auto is_free = [&](const auto& item) { return frame_of(item.second) == frames.end(); };
    const auto is_signed = [&](const auto& item) {
        return std::any_of(by_sign.begin(), by_sign.end(),
                           [&](const Tensor& p) { return p.is_same(item.second); });
    };
    for (const auto& item : parameters)
        if (item.second.requires_grad()) parameters_.push_back(item);
    const auto decays = [&](const auto& item) {
        return is_free(item) && !is_signed(item) && (options.decay_vectors || item.second.dim() >= 2);
    };
    const auto frames_begin = std::stable_partition(parameters_.begin(), parameters_.end(), is_free);
    std::stable_partition(parameters_.begin(), frames_begin,
                          [&](const auto& item) { return !is_signed(item); });
    std::stable_partition(parameters_.begin(), parameters_.end(), decays);
    std::vector<Tensor> pieces;
    for (const auto& item : parameters_) {
        pieces.push_back(item.second.detach().flatten());
        if (decays(item)) decayed_ += item.second.numel();
        if (is_free(item)) free_ += item.second.numel();
        if (is_signed(item)) signed_ += item.second.numel();
    }
    flat_ = torch::cat(pieces);
    m_ = torch::zeros_like(flat_.narrow(0, 0, free_));
    v_ = torch::zeros_like(m_);
    int64_t offset = 0;
    for (auto& [name, p] : parameters_) {
        const auto place = flat_.narrow(0, offset, p.numel());
        if (const auto frame = frame_of(p); frame != frames.end())
            frames_.push_back(place.view(frame->sizes()));
        p.set_data(place.view(p.sizes()));
        offset += p.numel();
    }
}

void Optimiser::zero_grad() {
    for (auto& [name, p] : parameters_) p.mutable_grad() = Tensor();
}

Optimiser::Gathered Optimiser::gathered() const {
    const torch::NoGradGuard no_grad;
    std::vector<Tensor> pieces;
    pieces.reserve(parameters_.size());
    for (const auto& [name, p] : parameters_)
        pieces.push_back(p.grad().defined() ? p.grad().flatten() : torch::zeros({p.numel()}, p.options()));
    const Tensor gradient = torch::cat(pieces);
    return {gradient, gradient.norm()};
}

void Optimiser::take(const Tensor& gradient, double norm, double max_norm) {
    const torch::NoGradGuard no_grad;
    gradient_ = gradient;
    if (std::isfinite(norm) && max_norm > 0 && norm > max_norm) gradient_.mul_(max_norm / (norm + 1e-6));
}

double Optimiser::gather(double max_norm) {
    const auto all = gathered();
    const double norm = all.norm.item<double>();
    take(all.gradient, norm, max_norm);
    return norm;
}

void Optimiser::step(double rate) {
    const torch::NoGradGuard no_grad;
    ++steps_;
    const auto t = static_cast<double>(steps_);
    const auto count = free_ - signed_;
    const auto gradient = gradient_.narrow(0, 0, count);
    auto flat = flat_.narrow(0, 0, count), m = m_.narrow(0, 0, count), v = v_.narrow(0, 0, count);
    const bool has_moments = options_.rule != OptimiserOptions::Rule::sign_sgd;
    if (has_moments) {
        m.lerp_(gradient, 1 - options_.beta1);
        v.mul_(options_.beta2).addcmul_(gradient, gradient, 1 - options_.beta2);
    }
    if (options_.weight_decay > 0) flat_.narrow(0, 0, decayed_).mul_(1 - rate * options_.weight_decay);
    const double first = 1 - std::pow(options_.beta1, t), second = 1 - std::pow(options_.beta2, t);
    if (!has_moments) {
        flat.add_(gradient.sign(), -rate);
    } else if (options_.rule == OptimiserOptions::Rule::adamw) {
        const auto root = v.sqrt().div_(std::sqrt(second)).add_(options_.epsilon);
        flat.addcdiv_(m, root, -rate / first);
    } else {
        flat.add_(torch::atan2(m / first, (v / second).sqrt()), -rate);
    }
    if (signed_ > 0) step_by_sign(rate * options_.sign_rate);
    if (frames_.empty()) return;
    std::vector<Tensor> slopes;
    int64_t offset = free_;
    for (const auto& frame : frames_) {
        slopes.push_back(gradient_.narrow(0, offset, frame.numel()).view(frame.sizes()));
        offset += frame.numel();
    }
    frame_rule_.options().learning_rate = rate;
    frame_rule_.step(frames_, slopes);
}

void Optimiser::step_by_sign(double rate) {
    const auto sign = gradient_.narrow(0, free_ - signed_, signed_).sign();
    auto numbers = flat_.narrow(0, free_ - signed_, signed_);
    if (options_.weight_decay > 0) numbers.mul_(1 - rate * options_.weight_decay * sign.abs());
    numbers.add_(sign, -rate);
}

std::pair<Tensor, Tensor> Optimiser::moments() const {
    std::vector<Tensor> first{m_}, second{v_};
    for (const auto& [name, value] : frame_rule_.state()) {
        if (name.starts_with("momentum.")) first.push_back(value.flatten());
        if (name.starts_with("second.")) second.push_back(value.flatten());
    }
    return {torch::cat(first), torch::cat(second)};
}

std::string Optimiser::first_bad_gradient() const {
    for (const auto& [name, gradient] : gradients())
        if (!torch::isfinite(gradient).all().item<bool>()) return name;
    return "";
}

std::vector<std::pair<std::string, double>> Optimiser::gradient_norms() const {
    std::vector<std::pair<std::string, double>> norms;
    for (const auto& [name, gradient] : gradients()) norms.emplace_back(name, gradient.norm().item<double>());
    return norms;
}

Optimiser::Named Optimiser::gradients() const {
    Named named;
    int64_t offset = 0;
    for (const auto& [name, p] : parameters_) {
        named.emplace_back(name, gradient_.narrow(0, offset, p.numel()));
        offset += p.numel();
    }
    return named;
}

void Optimiser::restore(const Tensor& m, const Tensor& v, int64_t steps) {
    const auto expected = steps > 0 ? flat_.numel() : free_;
    TORCH_CHECK(m.numel() == expected && v.numel() == expected, "moments belong to a different model");
    const torch::NoGradGuard no_grad;
    m_.copy_(m.narrow(0, 0, free_));
    v_.copy_(v.narrow(0, 0, free_));
    steps_ = steps;
    if (frames_.empty() || steps == 0) return;
    Named state{{"step", torch::tensor(steps, torch::kLong)}};
    int64_t offset = free_;
    for (std::size_t i = 0; i < frames_.size(); ++i) {
        const auto of_frame = [&](const Tensor& all) {
            return all.narrow(0, offset, frames_[i].numel()).view(frames_[i].sizes()).to(flat_.device());
        };
        state.emplace_back("momentum." + std::to_string(i), of_frame(m));
        state.emplace_back("second." + std::to_string(i), of_frame(v));
        offset += frames_[i].numel();
    }
    frame_rule_.set_state(state);
}

double Schedule::operator()(int64_t step) const {
    if (step < warm_up) return peak * static_cast<double>(step) / static_cast<double>(warm_up);
    if (shape == Shape::constant) return peak;
    if (shape == Shape::steps) {
        const auto drops = (step - warm_up) / every;
        return std::max(floor, peak * std::pow(factor, static_cast<double>(drops)));
    }
    if (shape == Shape::late_drops) {
        const bool second = 10 * step >= 9 * horizon, first = 10 * step >= 8 * horizon;
        return peak * (second ? 0.1 : first ? 0.316 : 1.0);
    }
    if (step >= horizon) return floor;
    const double done = static_cast<double>(step - warm_up) / static_cast<double>(horizon - warm_up);
    return floor + 0.5 * (1 + std::cos(std::numbers::pi * done)) * (peak - floor);
}

}  // namespace spectra::train
