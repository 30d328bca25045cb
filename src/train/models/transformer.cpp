#include "train/models/transformer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "train/models/recompute.hpp"
#include "train/modules/attention.hpp"
#include "train/modules/layer_norm.hpp"

namespace spectra::train {

using torch::Tensor;
namespace nn = torch::nn;

namespace {

/// The largest number of heads up to `wanted` that divides the width.
int64_t fitting_heads(int64_t width, int64_t wanted) {
    auto heads = std::min(wanted, width);
    while (width % heads != 0) --heads;
    return heads;
}

/// Pairs (x_i, x_{i+h/2}) rotated by position · 10000^(−2i/h), positions from `first` on.
Tensor rotated(const Tensor& x, int64_t first) {
    const auto steps = x.size(-2), half = x.size(-1) / 2;
    const auto options = x.options().dtype(torch::kDouble);
    const auto rate = torch::exp(torch::arange(half, options) * (-std::log(1e4) / static_cast<double>(half)));
    const auto angle = torch::outer(torch::arange(first, first + steps, options), rate);
    const auto c = torch::cos(angle).to(x.scalar_type()), s = torch::sin(angle).to(x.scalar_type());
    const auto a = x.narrow(-1, 0, half), b = x.narrow(-1, half, half);
    auto turned = torch::cat({a * c - b * s, a * s + b * c}, -1);
    const auto rest = x.size(-1) - 2 * half;
    return rest > 0 ? torch::cat({turned, x.narrow(-1, 2 * half, rest)}, -1) : turned;
}

nn::Linear plain_linear(int64_t in, int64_t out) {
    return nn::Linear(nn::LinearOptions(in, out).bias(false));
}

/// A module that only groups names.
std::shared_ptr<nn::Module> scope() {
    return std::make_shared<nn::Module>();
}

/// The same blocks in several cycles, with a mixer of choice.
bool is_recursive(const std::string& architecture) {
    return architecture == "recursive" || architecture == "trm";
}

ConnectionConfig connection_config(const ModelConfig& m, int64_t sublayer) {
    ConnectionConfig c;
    c.architecture = is_recursive(m.architecture) ? "mixer" : m.architecture;
    c.mixer = m.mixer;
    c.channels = m.channels;
    c.streams = m.streams;
    c.layer = sublayer;
    c.pooling = m.pooling;
    c.published_start = m.published_start;
    c.static_mappings = m.static_mappings;
    c.value_injection = m.value_injection;
    c.post_norm = m.post_norm;
    c.beta_scale = m.beta_scale;
    c.beta_offset = m.beta_offset;
    c.mixer_options = m.mixer_options;
    return c;
}

bool has_published_tables(const std::string& architecture) {
    static const std::vector<std::string> names{"gpt", "ddl", "mhc", "jpmhc", "edelta", "edelta-stream"};
    return std::find(names.begin(), names.end(), architecture) != names.end();
}

}  // namespace

const std::vector<std::string>& architecture_names() {
    static const std::vector<std::string> names{
        "gpt",   "post-ln", "ddl",           "delta",         "mhc", "mhc-lite",
        "jpmhc", "edelta",  "edelta-cayley", "edelta-stream", "shc", "hc",
        "mgt",   "mgt-mhc", "mgt-ddl",       "recursive",     "trm"};
    return names;
}

ModelConfig matched_config(const std::string& architecture, const std::string& mixer) {
    struct Size {
        const char* name;
        int64_t layers, channels;
    };
    static constexpr Size sizes[] = {
        {"gpt", 9, 128},           {"post-ln", 9, 128},       {"ddl", 8, 128},     {"delta", 8, 512},
        {"mhc", 9, 128},           {"mhc-lite", 8, 512},      {"jpmhc", 7, 512},   {"edelta", 6, 128},
        {"edelta-cayley", 6, 128}, {"edelta-stream", 6, 512}, {"shc", 8, 512},     {"hc", 8, 512},
        {"mgt", 7, 128},           {"mgt-mhc", 8, 128},       {"mgt-ddl", 8, 128}, {"recursive", 2, 512},
        {"trm", 2, 512},           {"mixer", 8, 512}};
    ModelConfig config;
    config.architecture = architecture;
    config.mixer = mixer;
    const auto* const size = std::find_if(std::begin(sizes), std::end(sizes),
                                          [&](const Size& s) { return architecture == s.name; });
    if (size == std::end(sizes))
        throw std::invalid_argument(fmt::format("unknown architecture '{}'; must be one of {}", architecture,
                                                fmt::join(architecture_names(), ", ")));
    config.layers = size->layers;
    config.channels = size->channels;
    config.post_norm = architecture == "post-ln" || architecture == "mgt-mhc" || architecture == "mgt-ddl";
    if (is_recursive(architecture)) {
        config.cycles = 6;
        if (mixer.empty()) config.mixer = "cayley";
    }
    if (architecture == "trm") {
        config.rotary = true;
        config.causal = false;
    }
    return config;
}

Block::Block(const ModelConfig& config, int64_t layer) : rotary_(config.rotary), causal_(config.causal) {
    const auto first = connection_config(config, 2 * layer),
               second = connection_config(config, 2 * layer + 1);
    attn_connection_ = make_connection(first);
    mlp_connection_ = make_connection(second);
    const auto width = attn_connection_->branch_width();
    heads_ = fitting_heads(width, config.heads);

    const auto attn = register_module("attn", scope()), mlp = register_module("mlp", scope());
    const auto norm_1 = register_module("ln_1", scope()), norm_2 = register_module("ln_2", scope());
    ln_1_ = norm_1->register_parameter("weight", torch::ones({width}));
    ln_2_ = norm_2->register_parameter("weight", torch::ones({width}));
    c_attn_ = attn->register_module("c_attn", plain_linear(width, 3 * width));
    attn_proj_ = attn->register_module("c_proj", plain_linear(width, width));
    c_fc_ = mlp->register_module("c_fc", plain_linear(width, 4 * width));
    mlp_proj_ = mlp->register_module("c_proj", plain_linear(4 * width, width));

    const auto name = connection_name(first);
    register_module(name + "_attn", attn_connection_);
    register_module(name + "_mlp", mlp_connection_);
    attn_connection_->register_projections(*this, "attn");
    mlp_connection_->register_projections(*this, "mlp");
}

std::array<Tensor, 3> Block::projected(const Tensor& x, int64_t first) {
    const auto parts = c_attn_->forward(x).chunk(3, -1);
    const auto by_head = [&](const Tensor& part) {
        return part.view({x.size(0), x.size(1), heads_, x.size(2) / heads_}).transpose(1, 2);
    };
    const auto q = by_head(parts[0]), k = by_head(parts[1]), v = by_head(parts[2]);
    if (!rotary_) return {q, k, v};
    return {rotated(q, first), rotated(k, first), v};
}

Connection::Branch Block::branch(int sublayer) {
    if (sublayer == 0)
        return {[this](const Tensor& x) { return layer_norm(x, ln_1_); },
                [this](const Tensor& x) {
                    if (!rotary_)
                        return attn_proj_->forward(self_attention(c_attn_->forward(x), heads_, causal_));
                    const auto [q, k, v] = projected(x, 0);
                    const auto y = attention(q, k, v, causal_);
                    return attn_proj_->forward(y.transpose(1, 2).reshape(x.sizes()));
                }};
    return {[this](const Tensor& x) { return layer_norm(x, ln_2_); },
            [this](const Tensor& x) { return mlp_proj_->forward(torch::gelu(c_fc_->forward(x))); }};
}

Connection::Branch Block::branch_at(int sublayer, const Tensor& fed, int64_t t) {
    if (sublayer == 1) return branch(1);
    // Of the tokens that this one sees besides itself.
    const auto held = projected(causal_ ? fed.narrow(1, 0, t) : fed, 0);
    const auto others = [&](const Tensor& all) {
        return torch::cat({all.narrow(1, 0, t), all.slice(1, t + 1)}, 1);
    };
    const auto keys = others(held[1][0]).transpose(-2, -1), values = others(held[2][0]);
    const auto count = values.size(1);
    return {branch(0).norm, [this, keys, values, t, count](const Tensor& x) {
                // Heads first: all rows are multiplied by the fixed keys and values in one product per head.
                const auto rows = [](const Tensor& one) { return one.squeeze(2).transpose(0, 1); };
                const auto own = projected(x, t);
                const auto q = rows(own[0]) / std::sqrt(static_cast<double>(own[0].size(-1)));
                const auto k = rows(own[1]), v = rows(own[2]);
                const auto scores = torch::cat({torch::matmul(q, keys), (q * k).sum(-1, true)}, -1);
                const auto weights = torch::softmax(scores, -1);
                const auto y =
                    torch::matmul(weights.narrow(-1, 0, count), values) + weights.narrow(-1, count, 1) * v;
                return attn_proj_->forward(y.transpose(0, 1).reshape(x.sizes()));
            }};
}

Connection::Output Block::forward(const Tensor& x) {
    const auto first = attn_connection_->forward(x, branch(0));
    auto second = mlp_connection_->forward(first.state, branch(1));
    if (first.penalty.defined()) second.penalty = first.penalty + second.penalty;
    return second;
}

Transformer::Transformer(const ModelConfig& config) : config_(config) {
    const auto streams = config.streams;
    if (config.channels % streams != 0)
        throw std::invalid_argument(
            fmt::format("{} channels cannot be split into {} streams", config.channels, streams));
    const auto core = register_module("core", scope());
    const auto transformer = core->register_module("transformer", scope());
    const auto table = [&](nn::Module& parent, const char* name, int64_t rows, bool trained) {
        const auto holder = parent.register_module(name, scope());
        return holder->register_parameter("weight", torch::empty({rows, config.channels}).normal_(0, 0.02),
                                          trained);
    };
    if (config.tokens) {
        embedding_ = table(*transformer, "wte", config.dimension, true);
    } else {
        input_proj_ = register_module("input_proj", nn::Linear(config.dimension, config.channels));
        output_proj_ = register_module("output_proj", nn::Linear(config.channels, config.dimension));
    }
    if (has_published_tables(config.architecture) && !config.tokens) {
        // Never used, but included in the published models and their parameter counts.
        table(*transformer, "wte", 1, false);
        table(*transformer, "wpe", config.context, false);
    }
    if (!config.rotary)
        positions_ = register_parameter("pos_emb", torch::empty({1, config.context, config.channels}));

    const auto h = transformer->register_module("h", scope());
    for (int64_t layer = 0; layer < config.layers; ++layer)
        blocks_.push_back(h->register_module(std::to_string(layer), std::make_shared<Block>(config, layer)));
    ln_f_ = transformer->register_module("ln_f", scope())
                ->register_parameter("weight", torch::ones({config.channels}));

    const torch::NoGradGuard no_grad;
    const auto residual_scale = 0.02 / std::sqrt(2.0 * static_cast<double>(config.layers * config.cycles));
    for (const auto& item : named_modules("", false)) {
        auto* const linear = item.value()->as<nn::Linear>();
        if (linear == nullptr) continue;
        const bool into_residual = item.key().ends_with("c_proj");
        linear->weight.normal_(0, into_residual ? residual_scale : 0.02);
        if (linear->bias.defined()) linear->bias.zero_();
    }
    if (positions_.defined()) positions_.normal_(0, 0.02);
    for (const auto& block : blocks_)
        for (const int sublayer : {0, 1}) block->connection(sublayer).start();
}

Tensor Transformer::embed(const Tensor& x) {
    const auto steps = x.size(1);
    if (positions_.defined() && steps > config_.context)
        throw std::invalid_argument(
            fmt::format("{} tokens exceed the model's {} positions", steps, config_.context));
    const auto state = config_.tokens ? torch::embedding(embedding_, x) : input_proj_->forward(x);
    return positions_.defined() ? state + positions_.narrow(1, 0, steps) : state;
}

Connection::Output Transformer::pass(const Tensor& state) {
    Connection::Output out{state, {}};
    const bool keep_states_only = config_.checkpoint_blocks && torch::GradMode::is_enabled();
    for (const auto& block : blocks_) {
        auto next = keep_states_only
                        ? recompute([&b = *block](const Tensor& x) { return b.forward(x); }, out.state)
                        : block->forward(out.state);
        if (out.penalty.defined()) next.penalty = out.penalty + next.penalty;
        out = std::move(next);
    }
    return out;
}

Connection::Output Transformer::propagate(const Start& from) {
    auto out = pass(from.state);
    for (int64_t cycle = 1; cycle < config_.cycles; ++cycle) {
        auto next = pass(next_cycle(out.state, from));
        if (out.penalty.defined()) next.penalty = out.penalty + next.penalty;
        out = std::move(next);
    }
    return out;
}

void Transformer::walk(const Start& from, const See& see) {
    auto before = from.state;
    for (int64_t cycle = 0; cycle < config_.cycles; ++cycle) {
        if (cycle > 0) before = next_cycle(before, from);
        for (const auto& block : blocks_)
            for (const int sublayer : {0, 1}) {
                auto& connection = block->connection(sublayer);
                const auto after = connection.forward(before, block->branch(sublayer)).state;
                see(connection, before, after);
                before = after;
            }
    }
}

Tensor Transformer::normalised(const Tensor& state) const {
    return layer_norm(state, ln_f_);
}

Tensor Transformer::read_out(const Tensor& state) {
    const auto normed = normalised(state);
    return config_.tokens ? torch::matmul(normed, embedding_.t()) : output_proj_->forward(normed);
}

std::vector<Tensor> Transformer::frames() const {
    std::vector<Tensor> all;
    for (const auto& block : blocks_)
        for (const int sublayer : {0, 1})
            for (const auto& frame : block->connection(sublayer).frames()) all.push_back(frame);
    return all;
}

Transformer::Output Transformer::forward(const Tensor& x) {
    const auto last = propagate(embed(x));
    return {read_out(last.state), last.penalty};
}

int64_t parameter_count(const nn::Module& module) {
    int64_t count = 0;
    for (const auto& p : module.parameters()) count += p.numel();
    return count;
}

int64_t core_parameter_count(const Transformer& model) {
    const auto channels = model.config().channels;
    int64_t count = channels + channels + 64 * channels;  // final norm, one-row embedding, 64 positions
    for (const auto& block : model.blocks()) count += parameter_count(*block);
    return count;
}

}  // namespace spectra::train
