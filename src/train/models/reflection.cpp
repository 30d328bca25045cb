#include "train/models/reflection.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "train/modules/gate_regulariser.hpp"
#include "train/modules/maps.hpp"

namespace spectra::train {

using torch::Tensor;
namespace nn = torch::nn;

namespace {

nn::Sequential network(int64_t in, int64_t hidden, int64_t out) {
    return nn::Sequential(nn::Linear(in, hidden), nn::GELU(), nn::Linear(hidden, out));
}

Tensor scalar_product(const Tensor& a, const Tensor& b) {
    return (a * b).sum(-1, true);
}

class Ddl final : public ReflectionModel {
public:
    Ddl(int64_t d, int64_t hidden)
        : k_net_(register_module("k_net", network(d, hidden, d))),
          beta_net_(register_module("beta_net", network(d, hidden, 1))) {}
    Output forward(const Tensor& x) override {
        const auto k = unit(k_net_->forward(x));
        const auto beta = 2 * torch::sigmoid(beta_net_->forward(x));
        return {x - beta * scalar_product(k, x) * k, {}, {}, beta};
    }

private:
    nn::Sequential k_net_, beta_net_;
};

class Jpmhc final : public ReflectionModel {
public:
    Jpmhc(int64_t d, int64_t hidden) : d_(d), w_net_(register_module("W_net", network(d, hidden, d * d))) {}
    Output forward(const Tensor& x) override {
        const auto raw = w_net_->forward(x).view({-1, d_, d_});
        const auto w = raw - raw.transpose(-1, -2);
        // Y₀ = I here, two steps: Y x = x + (α/2) W (x + Y₁ x), and Y₁ x = x + α W x.
        const double step = 0.1;
        const auto turn = [&](const Tensor& v) { return torch::matmul(w, v.unsqueeze(-1)).squeeze(-1); };
        const auto first = x + step * turn(x);
        return {x + step / 2 * turn(x + first), {}, {}, {}};
    }

private:
    int64_t d_;
    nn::Sequential w_net_;
};

class Hybrid final : public ReflectionModel {
public:
    Hybrid(int64_t d, int64_t hidden, double gate_weight, double gate_bias,
           MixerOptions::Regulariser regulariser)
        : gate_weight_(gate_weight),
          regulariser_(regulariser),
          u_net_(register_module("u_net", network(d, hidden, d))),
          v_net_(register_module("v_net", network(d, hidden, d))),
          beta_net_(register_module("cayley_beta_net", network(d, hidden, 1))),
          k_net_(register_module("k_net", network(d, hidden, d))),
          gate_(register_module("gate_linear", nn::Linear(d, 1))) {
        const torch::NoGradGuard no_grad;
        gate_->weight.zero_();
        gate_->bias.fill_(gate_bias);
    }
    Output forward(const Tensor& x) override {
        const auto u = unit(u_net_->forward(x)), raw_v = unit(v_net_->forward(x));
        const auto v = unit(raw_v - scalar_product(u, raw_v) * u);
        const auto beta = torch::softplus(beta_net_->forward(x));
        const auto k = unit(k_net_->forward(x));
        const auto logit = gate_->forward(x), gamma = torch::sigmoid(logit);
        const auto reflected = x - 2 * scalar_product(k, x) * k;
        return {gamma * rotated(x, u, v, beta / 2) + (1 - gamma) * reflected,
                gate_weight_ * gate_regulariser(regulariser_, logit).mean(), gamma, beta};
    }

private:
    /// (I + M)⁻¹(I − M) x with M = t (uvᵀ − vuᵀ), u and v orthonormal: a rotation of the plane (u, v) by
    /// the angle φ with tan(φ/2) = t.
    static Tensor rotated(const Tensor& x, const Tensor& u, const Tensor& v, const Tensor& t) {
        const auto a = scalar_product(u, x), b = scalar_product(v, x);
        const auto scale = 2 * t / (1 + t * t);
        return x - scale * ((t * a + b) * u + (t * b - a) * v);
    }

    double gate_weight_;
    MixerOptions::Regulariser regulariser_;
    nn::Sequential u_net_, v_net_, beta_net_, k_net_;
    nn::Linear gate_;
};

}  // namespace

std::shared_ptr<ReflectionModel> make_reflection_model(const std::string& architecture, int64_t d,
                                                       int64_t hidden, double gate_weight, double gate_bias,
                                                       MixerOptions::Regulariser regulariser) {
    if (architecture == "ddl") return std::make_shared<Ddl>(d, hidden);
    if (architecture == "jpmhc") return std::make_shared<Jpmhc>(d, hidden);
    if (architecture == "edelta")
        return std::make_shared<Hybrid>(d, hidden, gate_weight, gate_bias, regulariser);
    throw std::invalid_argument(fmt::format(
        "architecture '{}' has no operator for the reflection task; use ddl, jpmhc or edelta", architecture));
}

}  // namespace spectra::train
