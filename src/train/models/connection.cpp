#include "train/models/connection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "train/modules/layer_norm.hpp"
#include "train/modules/mappings.hpp"
#include "train/modules/maps.hpp"
#include "train/modules/streams.hpp"

namespace spectra::train {

using torch::Tensor;
namespace nn = torch::nn;

namespace {

/// Mappings stay in float32 whatever the precision of the branches: bfloat16 gives row sums off by 1e-2.
Tensor precise(const Tensor& x) {
    return x.scalar_type() == torch::kDouble ? x : x.to(torch::kFloat);
}

/// While it exists, operations run in the precision of their arguments.
using NoAutocast = c10::impl::ExcludeDispatchKeyGuard;
NoAutocast no_autocast() {
    return NoAutocast(c10::autocast_dispatch_keyset);
}

nn::Linear linear(int64_t in, int64_t out, bool bias) {
    return nn::Linear(nn::LinearOptions(in, out).bias(bias));
}

Tensor normed(nn::LayerNorm norm, const Tensor& x) {
    return layer_norm(x, norm->weight, norm->bias);
}

/// Linear, GELU, Linear: C → hidden → out.
nn::Sequential generator(int64_t channels, int64_t hidden, int64_t out) {
    return nn::Sequential(linear(channels, hidden, true), nn::GELU(), linear(hidden, out, true));
}

Tensor identity_like_bias(int64_t streams, int64_t layer) {
    auto b = torch::full({streams}, -1.0F);
    b[layer % streams] = 1.0F;
    return b;
}

class RMSNorm : public nn::Module {
public:
    RMSNorm(int64_t width, bool gain) {
        if (gain) weight_ = register_parameter("weight", torch::ones({width}));
    }
    Tensor forward(const Tensor& x) const { return rms_norm(x, weight_); }

private:
    Tensor weight_;
};

/// x + F(x), or norm(x + F(x)) with a branch that does not normalise.
class ResidualConnection final : public Connection {
public:
    ResidualConnection(int64_t channels, bool post_norm) : channels_(channels), post_norm_(post_norm) {}
    Output forward(const Tensor& x, const Branch& branch) override {
        return {post_norm_ ? branch.norm(x + branch.core(x)) : x + branch(x), {}};
    }
    Mixing mixing(const Tensor&) override { return {}; }
    int64_t branch_width() const override { return channels_; }
    int64_t streams() const override { return 1; }

private:
    int64_t channels_;
    bool post_norm_;
};

/// x ← (I − β k kᵀ) x on the channel axis, then + F; k and β from the pooled input. With value injection
/// x ← (I − β k kᵀ) x + β k v, which is x + β (v − kᵀx) k: what k reads is replaced by a scalar v, also from the
/// pooled input.
class DeltaConnection final : public Connection {
public:
    DeltaConnection(int64_t channels, Pooling pooling, bool value_injection)
        : channels_(channels), pooling_(pooling) {
        k_net_ = register_module("k_net", generator(channels, channels / 4, channels));
        beta_net_ = register_module("beta_net", generator(channels, channels / 4, 1));
        if (value_injection) v_net_ = register_module("v_net", generator(channels, channels / 4, 1));
    }
    Output forward(const Tensor& x, const Branch& branch) override {
        const auto [k, beta, value] = operator_at(x);
        const auto seen = (k * x).sum(-1, true);
        const auto next = x + beta * k * (value.defined() ? value - seen : -seen);
        return {next + branch(next), {}};
    }
    Mixing mixing(const Tensor& x) override {
        const auto [k, beta, value] = operator_at(x);
        const auto identity = torch::eye(channels_, k.options());
        return {identity - beta.unsqueeze(-1) * k.unsqueeze(-1) * k.unsqueeze(-2), {}, {}, {}};
    }
    int64_t branch_width() const override { return channels_; }
    int64_t streams() const override { return channels_; }
    std::vector<std::pair<std::string, Tensor>> statistics(const Tensor& x) override {
        return {{"beta", operator_at(x).beta}};
    }

private:
    struct Operator {
        Tensor k, beta, value;  ///< value: v, or undefined
    };
    Operator operator_at(const Tensor& x) {
        const auto guard = no_autocast();
        const auto seen = precise(pooled(x, pooling_));
        return {unit(k_net_->forward(seen)), 2 * torch::sigmoid(beta_net_->forward(seen)),
                v_net_.is_empty() ? Tensor{} : v_net_->forward(seen)};
    }

    int64_t channels_;
    Pooling pooling_;
    nn::Sequential k_net_, beta_net_, v_net_{nullptr};
};

/// A X + post ⊗ F(pre · X), the form of every connection with parallel streams.
class StreamConnection : public Connection {
public:
    StreamConnection(int64_t channels, std::unique_ptr<Mixer> mixer, bool tile = false)
        : channels_(channels), mixer_(std::move(mixer)), tile_(tile) {}

    Output forward(const Tensor& x, const Branch& branch) override {
        const auto m = mixing(x);
        return {write_streams(m.matrix, x, m.post, branch(read_streams(m.pre, x, tile_))), penalty(m.raw)};
    }
    int64_t branch_width() const override { return tile_ ? channels_ : channels_ / streams(); }
    int64_t streams() const override { return mixer_->streams(); }
    const Mixer* mixer() const override { return mixer_.get(); }
    std::vector<std::pair<std::string, Tensor>> statistics(const Tensor& x) override {
        const auto m = mixing(x);
        return m.raw.defined() ? mixer_->statistics(m.raw) : std::vector<std::pair<std::string, Tensor>>{};
    }

protected:
    int64_t channels() const { return channels_; }
    Tensor penalty(const Tensor& raw) const {
        if (!raw.defined()) return {};
        const auto r = mixer_->regulariser(raw);
        return r.defined() ? r.mean() : Tensor{};
    }
    const Mixer& family() const { return *mixer_; }

private:
    int64_t channels_;
    std::unique_ptr<Mixer> mixer_;
    bool tile_;
};

/// How a HyperConnection maps H̃ = α φ(norm x) + b.
struct HyperOptions {
    bool tile = false;    ///< F reads n copies of the aggregate, at C channels (EΔ's mHC)
    bool gain = true;     ///< the norm has a learned gain
    bool bounded = true;  ///< pre = σ, post = 2σ; otherwise both unbounded, and tanh of the dynamic part
    bool scales_per_stream = false;  ///< α per stream (JPmHC's Table 8), not per mapping
    bool zero_projections = true;    ///< φ starts at zero, pre and post at one stream
    bool dynamic = true;             ///< otherwise no φ: H̃ = b
    /// sHC: the skews are γ tanh H̃, one γ each for U and V, and U, V and Σ have a scale τ each in place of α.
    bool rotation_gates = false;
    /// The Delta residual block X + β k (vᵀ − kᵀX) with v = F(pre · X): post is β k of the mixer I − β k kᵀ.
    bool delta = false;
    int64_t layer = 0;
};

/// mHC and its variants: H̃ = α φ(RMSNorm x) + b for pre, post and the mixer's raw numbers, or H̃ = b.
class HyperConnection final : public StreamConnection {
public:
    HyperConnection(int64_t channels, std::unique_ptr<Mixer> mixer, const HyperOptions& options, Tensor start)
        : StreamConnection(channels, std::move(mixer), options.tile), options_(options) {
        const auto n = streams();
        const bool start_at_one_stream = options.zero_projections;
        const auto linear_pre = torch::zeros({n}).index_fill_(0, torch::tensor({options.layer % n}), 1.0);
        b_pre_ = register_parameter("b_pre", !options.bounded      ? linear_pre
                                             : start_at_one_stream ? identity_like_bias(n, options.layer)
                                                                   : torch::zeros({n}));
        if (!options.delta)
            b_post_ =
                register_parameter("b_post", !options.bounded      ? torch::ones({n})
                                             : start_at_one_stream ? identity_like_bias(n, options.layer)
                                                                   : torch::zeros({n}));
        if (family().size() > 0)
            b_res_ = register_parameter("b_res", start.defined() ? start : family().start());
        if (options.rotation_gates && family().size() > 0) {
            gamma_u_ = register_parameter("gamma_u", torch::tensor(1.0F));
            gamma_v_ = register_parameter("gamma_v", torch::tensor(1.0F));
        }
        if (options.dynamic) register_dynamic_part();
    }

    Mixing mixing(const Tensor& x) override {
        const auto guard = no_autocast();
        const auto seen = options_.dynamic ? norm_->forward(precise(x)) : Tensor{};
        const auto pre = logits(alpha_pre_, phi_pre_, seen, b_pre_);
        Mixing m;
        m.pre = options_.bounded ? torch::sigmoid(pre) : pre;
        if (b_res_.defined()) {
            m.raw = logits(residual_scale(), phi_res_, seen, b_res_.flatten());
            if (options_.rotation_gates) m.raw = gated(m.raw);
            m.matrix = family().matrix(m.raw);
        }
        if (options_.delta) {
            const auto parts = m.raw.split_with_sizes({streams(), 1}, -1);
            m.post = 2 * torch::sigmoid(parts[1]) * unit(parts[0]);
        } else {
            const auto post = logits(alpha_post_, phi_post_, seen, b_post_);
            m.post = options_.bounded ? 2 * torch::sigmoid(post) : post;
        }
        if (!options_.dynamic) spread(m, x.size(0), x.size(1));
        return m;
    }

    std::vector<Tensor> frames() const override {
        if (options_.dynamic || family().name() != "grassmann") return {};
        return {b_res_.view({streams(), -1})};
    }

    void start() override {
        if (!options_.zero_projections) return;
        const torch::NoGradGuard no_grad;
        for (const auto& item : named_parameters())
            if (item.key().starts_with("phi_")) item.value().zero_();
    }

private:
    void register_dynamic_part() {
        const auto n = streams(), size = family().size();
        norm_ = register_module("rms_norm", std::make_shared<RMSNorm>(channels(), options_.gain));
        phi_pre_ = register_module("phi_pre", linear(channels(), n, false));
        if (!options_.delta) phi_post_ = register_module("phi_post", linear(channels(), n, false));
        const int64_t scales = options_.scales_per_stream ? n : 0;
        alpha_pre_ = register_scale("alpha_pre", scales);
        if (!options_.delta) alpha_post_ = register_scale("alpha_post", scales);
        if (size == 0) return;
        phi_res_ = register_module("phi_res", linear(channels(), size, false));
        if (options_.rotation_gates) {
            tau_u_ = register_scale("tau_u", 0);
            tau_v_ = register_scale("tau_v", 0);
            tau_s_ = register_scale("tau_s", 0);
            return;
        }
        // The weight of a permutation belongs to no stream: the paper's count leaves it unscaled.
        if (!options_.scales_per_stream || size % n == 0) alpha_res_ = register_scale("alpha_res", scales);
    }
    /// What the dynamic part of the mixer's raw numbers is multiplied by.
    Tensor residual_scale() const {
        if (tau_u_.defined()) {
            const auto skews = skew_count(), rest = streams() - 1;
            return torch::cat({tau_u_.expand({skews}), tau_v_.expand({skews}), tau_s_.expand({rest})});
        }
        return alpha_res_.defined() && alpha_res_.dim() == 1
                   ? alpha_res_.repeat_interleave(family().size() / streams())
                   : alpha_res_;
    }
    /// Entries above the diagonal of sHC's (n−1)×(n−1) skews.
    int64_t skew_count() const { return (streams() - 1) * (streams() - 2) / 2; }
    /// Raw numbers of the spectral sphere with γ tanh of the skews.
    Tensor gated(const Tensor& raw) const {
        const auto skews = skew_count();
        const auto parts = raw.split_with_sizes({skews, skews, streams() - 1}, -1);
        return torch::cat({gamma_u_ * torch::tanh(parts[0]), gamma_v_ * torch::tanh(parts[1]), parts[2]}, -1);
    }
    /// Expands one mapping for all inputs to the shape of one per input.
    static void spread(Mixing& m, int64_t batch, int64_t steps) {
        const auto n = m.pre.size(0);
        m.pre = m.pre.expand({batch, steps, n});
        m.post = m.post.expand({batch, steps, n});
        if (!m.raw.defined()) return;
        m.raw = m.raw.expand({batch, 1, m.raw.size(0)});
        m.matrix = m.matrix.expand({batch, 1, n, n});
    }
    Tensor register_scale(const char* name, int64_t count) {
        const auto start = count > 0 ? torch::full({count}, 0.01F) : torch::tensor(0.01F);
        return register_parameter(name, start);
    }
    Tensor logits(const Tensor& scale, nn::Linear phi, const Tensor& seen, const Tensor& bias) const {
        if (!seen.defined()) return precise(bias);
        const auto dynamic = phi->forward(seen);
        const auto moving = options_.bounded ? dynamic : torch::tanh(dynamic);
        return scale.defined() ? scale * moving + bias : moving + bias;
    }

    HyperOptions options_;
    std::shared_ptr<RMSNorm> norm_;
    nn::Linear phi_pre_{nullptr}, phi_post_{nullptr}, phi_res_{nullptr};
    Tensor b_pre_, b_post_, b_res_, alpha_pre_, alpha_post_, alpha_res_;
    Tensor tau_u_, tau_v_, tau_s_, gamma_u_, gamma_v_;
};

/// JPmHC: LayerNorm, one projection to 3n² numbers; pre row softmax, post column softmax (both of logits over the
/// temperature), A a Cayley map.
class JpmhcConnection final : public StreamConnection {
public:
    JpmhcConnection(int64_t channels, std::unique_ptr<Mixer> mixer, bool bias, double temperature)
        : StreamConnection(channels, std::move(mixer)), temperature_(temperature) {
        const auto n = streams();
        norm_ = register_module("norm", nn::LayerNorm(nn::LayerNormOptions({channels})));
        fused_proj_ = register_module("fused_proj", linear(channels, 2 * n * n + family().size(), bias));
    }
    Mixing mixing(const Tensor& x) override {
        const auto guard = no_autocast();
        const auto n = streams();
        const auto all = fused_proj_->forward(normed(norm_, precise(x)));
        const auto parts = all.split_with_sizes({2 * n * n, family().size()}, -1);
        const auto [pre, post] = softmax_routes(parts[0], n, temperature_);
        return {family().matrix(parts[1]), pre, post, parts[1]};
    }

private:
    double temperature_;
    nn::LayerNorm norm_{nullptr};
    nn::Linear fused_proj_{nullptr};
};

/// EΔ hybrid, in series: X' = (γQ + (1−γ)H₂) X, then X' + post(F(pre(LN X'))) with full C×C projections. With the
/// mixer rotation X' = QX, without k and γ.
class EdeltaConnection final : public StreamConnection {
public:
    EdeltaConnection(int64_t channels, std::unique_ptr<Mixer> mixer, Pooling pooling, bool published_start,
                     double gate_bias)
        : StreamConnection(channels, std::move(mixer), true),
          pooling_(pooling),
          published_start_(published_start),
          gate_bias_(gate_bias) {
        const auto n = streams(), hidden = channels / 4;
        u_net_ = register_module("u_net", generator(channels, hidden, n));
        v_net_ = register_module("v_net", generator(channels, hidden, n));
        beta_net_ = register_module("beta_net", generator(channels, hidden, 1));
        if (family().name() == "cayley-hybrid") {
            k_net_ = register_module("k_net", generator(channels, hidden, n));
            gate_net_ = register_module("gate_net", linear(channels, 1, true));
        }
        pre_ = linear(channels, channels, false);
        post_ = linear(channels, channels, false);
    }
    void register_projections(nn::Module& block, const std::string& sublayer) override {
        block.register_module("h_pre_" + sublayer, pre_.ptr());
        block.register_module("h_post_" + sublayer, post_.ptr());
    }
    void start() override {
        const torch::NoGradGuard no_grad;
        if (!gate_net_.is_empty()) {
            gate_net_->weight.zero_();
            gate_net_->bias.fill_(gate_bias_);
        }
        if (published_start_) return;
        for (auto* const projection : {&pre_, &post_}) torch::nn::init::eye_((*projection)->weight);
    }
    Output forward(const Tensor& x, const Branch& branch) override {
        const auto m = mixing(x);
        const auto turned = apply_mixer(m.matrix, x);
        return {turned + post_->forward(branch.core(pre_->forward(branch.norm(turned)))), penalty(m.raw)};
    }
    Mixing mixing(const Tensor& x) override {
        const auto guard = no_autocast();
        const auto seen = precise(pooled(x, pooling_));
        std::vector<Tensor> numbers{u_net_->forward(seen), v_net_->forward(seen), beta_net_->forward(seen)};
        if (!gate_net_.is_empty()) {
            numbers.push_back(k_net_->forward(seen));
            numbers.push_back(gate_net_->forward(seen));
        }
        const auto raw = torch::cat(numbers, -1);
        return {family().matrix(raw), {}, {}, raw};
    }

private:
    Pooling pooling_;
    bool published_start_;
    double gate_bias_;
    nn::Sequential u_net_, v_net_, beta_net_, k_net_{nullptr};
    nn::Linear gate_net_{nullptr}, pre_{nullptr}, post_{nullptr};
};

/// EΔ-stream: the hybrid from one small network per token (or from the pooled input, as published), softmax
/// routers that read X', F at p channels.
class EdeltaStreamConnection final : public StreamConnection {
public:
    EdeltaStreamConnection(int64_t channels, std::unique_ptr<Mixer> mixer, Pooling pooling, double gate_bias)
        : StreamConnection(channels, std::move(mixer)), pooling_(pooling), gate_bias_(gate_bias) {
        const auto n = streams();
        norm_ = register_module("norm", nn::LayerNorm(nn::LayerNormOptions({channels})));
        geo_proj_ = register_module("geo_proj", generator(channels, 48, family().size()));
        router_ = std::make_shared<Router>(channels, n);
    }
    void register_projections(nn::Module& block, const std::string& sublayer) override {
        block.register_module("router_" + sublayer, router_);
    }
    void start() override {
        const torch::NoGradGuard no_grad;
        geo_proj_->named_parameters()["2.bias"][-1] = gate_bias_;
    }
    Output forward(const Tensor& x, const Branch& branch) override {
        const auto m = turn(x);
        const auto turned = apply_mixer(m.matrix, x);
        const auto [pre, post] = routes(turned);
        return {write_streams({}, turned, post, branch(read_streams(pre, turned))), penalty(m.raw)};
    }
    /// F reads pre · (A X) = (Aᵀ pre) · X.
    Mixing mixing(const Tensor& x) override {
        const auto guard = no_autocast();
        auto m = turn(x);
        const auto [pre, post] = routes(apply_mixer(m.matrix, x));
        m.pre = torch::matmul(pre.unsqueeze(-2), m.matrix).squeeze(-2);
        m.post = post;
        return m;
    }

private:
    struct Router : nn::Module {
        Router(int64_t channels, int64_t n)
            : norm(register_module("norm", nn::LayerNorm(nn::LayerNormOptions({channels})))),
              proj(register_module("proj", linear(channels, 2 * n * n, true))) {}
        nn::LayerNorm norm;
        nn::Linear proj;
    };
    Mixing turn(const Tensor& x) {
        const auto guard = no_autocast();
        const auto seen = precise(pooling_ == Pooling::published ? pooled(x, pooling_) : x);
        const auto raw = geo_proj_->forward(normed(norm_, seen));
        return {family().matrix(raw), {}, {}, raw};
    }
    std::pair<Tensor, Tensor> routes(const Tensor& x) const {
        const auto guard = no_autocast();
        const auto n = streams();
        return softmax_routes(router_->proj->forward(normed(router_->norm, precise(x))), n, 1);
    }

    Pooling pooling_;
    double gate_bias_;
    nn::LayerNorm norm_{nullptr};
    nn::Sequential geo_proj_;
    std::shared_ptr<Router> router_;
};

/// MGT: X + β⊙(V⊙σ(LN(X W_gate)) − αX), V = F(X), β = λ tanh(X W_β + b) + ε. The paper gives no values;
/// λ = 1, ε = 1e-2, α = 0 and b = 1 start it as a residual connection at tanh 1 = 0.76 of its strength. Its ablations
/// have the gate alone, X + V⊙σ(LN(X W_gate)), or β alone, X + β⊙(V − αX). After the sum comes the norm of a post-norm
/// model, in which V is F without a norm.
class MgtConnection final : public Connection {
public:
    /// What of the block it has, with λ and ε.
    struct Parts {
        bool gate, delta, post_norm;
        double scale, offset;
    };
    MgtConnection(int64_t channels, const Parts& parts) : channels_(channels), parts_(parts) {
        if (parts.gate) {
            gate_ = register_module("w_gate", linear(channels, channels, false));
            norm_ = register_module("norm", nn::LayerNorm(nn::LayerNormOptions({channels})));
        }
        if (!parts.delta) return;
        beta_ = register_module("w_beta", linear(channels, channels, true));
        alpha_ = register_parameter("alpha", torch::zeros({}));
    }
    void start() override {
        const torch::NoGradGuard no_grad;
        if (parts_.delta) beta_->bias.fill_(1.0);
    }
    Output forward(const Tensor& x, const Branch& branch) override {
        auto update = parts_.post_norm ? branch.core(x) : branch(x);
        if (parts_.gate) update = update * torch::sigmoid(normed(norm_, gate_->forward(x)));
        if (parts_.delta) update = beta(x) * (update - alpha_ * x);
        return {parts_.post_norm ? branch.norm(x + update) : x + update, {}};
    }
    Mixing mixing(const Tensor& x) override {
        if (!parts_.delta) return {};
        return {torch::diag_embed(1 - alpha_ * beta(x)), {}, {}, {}};
    }
    int64_t branch_width() const override { return channels_; }
    int64_t streams() const override { return parts_.delta ? channels_ : 1; }
    std::vector<std::pair<std::string, Tensor>> statistics(const Tensor& x) override {
        if (!parts_.delta) return {};
        return {{"beta", beta(x)}, {"erasure", alpha_}};
    }

private:
    Tensor beta(const Tensor& x) { return parts_.scale * torch::tanh(beta_->forward(x)) + parts_.offset; }

    int64_t channels_;
    Parts parts_;
    nn::Linear gate_{nullptr}, beta_{nullptr};
    nn::LayerNorm norm_{nullptr};
    Tensor alpha_;
};

std::shared_ptr<Connection> hyper(const ConnectionConfig& c, const std::string& family, HyperOptions options,
                                  Tensor start = {}) {
    options.layer = c.layer;
    options.dynamic = !c.static_mappings;
    return std::make_shared<HyperConnection>(c.channels, make_mixer(family, c.streams, c.mixer_options),
                                             options, std::move(start));
}

}  // namespace

std::vector<std::pair<std::string, Tensor>> Connection::statistics(const Tensor& /*x*/) {
    return {};
}

Tensor pooled(const Tensor& x, Pooling pooling) {
    if (pooling == Pooling::published) return x.mean(1, true);
    const auto counts = torch::arange(1, x.size(1) + 1, x.options());
    return x.cumsum(1) / counts.unsqueeze(-1);
}

namespace {

bool is_one_of(const std::string& name, std::initializer_list<const char*> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

bool has_hyper_connections(const std::string& architecture) {
    return is_one_of(architecture, {"mhc", "mhc-lite", "shc", "hc", "delta", "mixer", "recursive", "trm"});
}

bool has_movable_norm(const std::string& architecture) {
    return is_one_of(architecture, {"gpt", "post-ln", "mgt", "mgt-mhc", "mgt-ddl"});
}

bool has_streams(const std::string& architecture) {
    return !has_movable_norm(architecture) && architecture != "ddl";
}

std::shared_ptr<Connection> make_connection(const ConnectionConfig& c) {
    const auto& a = c.architecture;
    if (c.static_mappings && !has_hyper_connections(a))
        throw std::invalid_argument(fmt::format("architecture '{}' has no static mappings", a));
    if (c.post_norm && !has_movable_norm(a))
        throw std::invalid_argument(fmt::format("architecture '{}' has its norms before the branches", a));
    if (c.value_injection && a != "ddl")
        throw std::invalid_argument(fmt::format("architecture '{}' has no value injection", a));
    const auto mixer = [&](const char* family) { return make_mixer(family, c.streams, c.mixer_options); };
    if (a == "gpt" || a == "post-ln") return std::make_shared<ResidualConnection>(c.channels, c.post_norm);
    if (a == "ddl") return std::make_shared<DeltaConnection>(c.channels, c.pooling, c.value_injection);
    if (a == "mgt" || a == "mgt-mhc" || a == "mgt-ddl")
        return std::make_shared<MgtConnection>(
            c.channels,
            MgtConnection::Parts{a != "mgt-ddl", a != "mgt-mhc", c.post_norm, c.beta_scale, c.beta_offset});
    if (a == "jpmhc")
        return std::make_shared<JpmhcConnection>(c.channels, mixer("cayley"), true,
                                                 c.mixer_options.temperature);
    if (a == "edelta" || a == "edelta-cayley")
        return std::make_shared<EdeltaConnection>(c.channels,
                                                  mixer(a == "edelta" ? "cayley-hybrid" : "rotation"),
                                                  c.pooling, c.published_start, c.mixer_options.gate_bias);
    if (a == "edelta-stream")
        return std::make_shared<EdeltaStreamConnection>(c.channels, mixer("cayley-hybrid"), c.pooling,
                                                        c.mixer_options.gate_bias);
    if (a == "mhc") {
        HyperOptions options;
        options.tile = true;
        options.zero_projections = false;
        return hyper(c, "bistochastic", options, 2 * torch::eye(c.streams));
    }
    if (a == "hc") {
        HyperOptions options;
        options.bounded = false;
        return hyper(c, "hyper", options);
    }
    if (a == "mhc-lite") return hyper(c, "permutation", {});
    if (a == "shc") {
        HyperOptions options;
        options.rotation_gates = true;
        return hyper(c, "spectral-sphere", options);
    }
    if (a == "delta") {
        HyperOptions options;
        options.delta = true;
        return hyper(c, "householder", options);
    }
    if (a == "mixer") return hyper(c, c.mixer, {});
    throw std::invalid_argument(fmt::format("architecture '{}' has no connection", a));
}

std::string connection_name(const ConnectionConfig& c) {
    const auto& a = c.architecture;
    if (a == "ddl") return "delta";
    if (a == "edelta" || a == "edelta-stream" || a == "edelta-cayley") return "geo";
    if (a == "mhc" || a == "jpmhc") return a;
    return a.starts_with("mgt") ? "mgt" : "hc";
}

std::shared_ptr<Connection> make_jpmhc_module(const std::string& variant, int64_t n, int64_t p) {
    MixerOptions options;
    options.permutations = 6;
    if (variant == "cayley")
        return std::make_shared<JpmhcConnection>(n * p, make_mixer(variant, n, options), false, 1.0);
    HyperOptions hyper_options;
    hyper_options.gain = false;
    hyper_options.scales_per_stream = true;
    const std::string family = variant == "sinkhorn" ? "bistochastic" : variant;
    return std::make_shared<HyperConnection>(n * p, make_mixer(family, n, options), hyper_options, Tensor{});
}

}  // namespace spectra::train
