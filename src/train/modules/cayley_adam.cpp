#include "train/modules/cayley_adam.hpp"

#include <cmath>
#include <stdexcept>
#include <tuple>

#include "train/modules/maps.hpp"

namespace spectra::train {
namespace {

using torch::Tensor;

Tensor horizontal(const Tensor& frame, const Tensor& direction) {
    return direction - torch::matmul(frame, torch::matmul(frame.mT(), direction));
}

/// The orthonormal factor of QR with the diagonal of R positive: an orthonormal frame is unchanged.
Tensor orthonormalised(const Tensor& frame) {
    const auto [q, r] = torch::linalg_qr(frame);
    const Tensor diagonal = r.diagonal(0, -2, -1);
    return q *
           torch::where(diagonal < 0, -torch::ones_like(diagonal), torch::ones_like(diagonal)).unsqueeze(-2);
}

Tensor entry(const std::vector<std::pair<std::string, Tensor>>& state, const std::string& name) {
    for (const auto& [key, value] : state)
        if (key == name) return value;
    throw std::invalid_argument("CayleyAdam: the state has no '" + name + "'");
}

}  // namespace

void CayleyAdam::step(const std::vector<Tensor>& frames, const std::vector<Tensor>& gradients) {
    const torch::NoGradGuard no_graph;
    if (frames.size() != gradients.size())
        throw std::invalid_argument("CayleyAdam: " + std::to_string(frames.size()) + " frames but " +
                                    std::to_string(gradients.size()) + " gradients");
    if (momentum_.empty()) {
        for (const Tensor& frame : frames) {
            momentum_.push_back(torch::zeros_like(frame));
            second_.push_back(torch::zeros_like(frame));
        }
    }
    if (momentum_.size() != frames.size())
        throw std::invalid_argument("CayleyAdam: " + std::to_string(frames.size()) + " frames, but " +
                                    std::to_string(momentum_.size()) + " in earlier steps");
    for (std::size_t i = 0; i < frames.size(); ++i)
        if (momentum_[i].sizes() != frames[i].sizes() || gradients[i].sizes() != frames[i].sizes())
            throw std::invalid_argument("CayleyAdam: frame " + std::to_string(i) +
                                        " and its gradient or state differ in shape");
    ++steps_;
    for (std::size_t i = 0; i < frames.size(); ++i) move(frames[i], gradients[i], momentum_[i], second_[i]);
}

void CayleyAdam::move(const Tensor& frame, const Tensor& gradient, Tensor& momentum, Tensor& second) const {
    const Tensor slope = horizontal(frame, gradient);
    momentum = options_.beta1 * horizontal(frame, momentum) + (1 - options_.beta1) * slope;
    second = options_.beta2 * second + (1 - options_.beta2) * slope * slope;
    Tensor direction = momentum;
    if (options_.adaptive) {
        const auto t = static_cast<double>(steps_);
        const Tensor mean_square = second / (1 - std::pow(options_.beta2, t));
        direction = horizontal(
            frame, momentum / (1 - std::pow(options_.beta1, t)) / (mean_square + options_.epsilon).sqrt());
    }
    const Tensor skew = torch::matmul(frame, direction.mT()) - torch::matmul(direction, frame.mT());
    const double step = options_.learning_rate;
    const Tensor rotation = options_.retraction_iterations == 0
                                ? cayley_exact(0.5 * step * skew)
                                : cayley_iterative(skew, step, options_.retraction_iterations);
    Tensor moved = frame;
    moved.copy_(orthonormalised(torch::matmul(rotation, frame)));
}

std::vector<std::pair<std::string, Tensor>> CayleyAdam::state() const {
    std::vector<std::pair<std::string, Tensor>> state;
    if (momentum_.empty()) return state;
    state.emplace_back("step", torch::tensor(steps_, torch::kLong));
    for (std::size_t i = 0; i < momentum_.size(); ++i) {
        state.emplace_back("momentum." + std::to_string(i), momentum_[i].clone());
        state.emplace_back("second." + std::to_string(i), second_[i].clone());
    }
    return state;
}

void CayleyAdam::set_state(const std::vector<std::pair<std::string, Tensor>>& state) {
    std::vector<Tensor> momentum;
    std::vector<Tensor> second;
    const std::size_t frames = state.empty() ? 0 : (state.size() - 1) / 2;
    for (std::size_t i = 0; i < frames; ++i) {
        momentum.push_back(entry(state, "momentum." + std::to_string(i)).clone());
        second.push_back(entry(state, "second." + std::to_string(i)).clone());
    }
    steps_ = state.empty() ? 0 : entry(state, "step").item<int64_t>();
    momentum_ = std::move(momentum);
    second_ = std::move(second);
}

}  // namespace spectra::train
