#include "base/text.hpp"
#include "layouts/connection_names.hpp"
#include "layouts/layout.hpp"
#include "mixers/permutation.hpp"
#include "mixers/raw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

/// Manifold-constrained hyper-connections as large models have them: [n pre, n post, n² res] from one projection of all
/// streams, one scale each. Their code applies Hᵀ, so the mixer is A = Hᵀ.
namespace spectra::layouts {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr double usual_epsilon = 1e-6;
constexpr int usual_sweeps = 20;

/// What a configuration decides.
struct Settings {
    int sweeps = usual_sweeps;
    double epsilon = usual_epsilon, norm_epsilon = usual_epsilon;
    bool epsilon_outside = false;  ///< the norm divides by √(mean x²) + ε, not by √(mean x² + ε)
    bool previous_pre = false;  ///< F reads with the `pre` of the connection before; the first reads stream 1
};

/// The keys of one connection's tensors.
struct Keys {
    std::string name, projection, bias;
    std::vector<std::string> scales;  ///< one of 3 numbers, or three of 1
};

double positive_setting(const Weights& weights, std::string_view name, double otherwise) {
    const double value = weights.setting(name, otherwise);
    if (!(value >= 0 && value < 1))
        weights.refuse(fmt::format("its setting {} is {}; must be 0 to 1", name, value));
    return value;
}

void expect_streams(const Weights& weights, std::string_view setting, int streams) {
    const double said = weights.setting(setting, streams);
    if (said != streams)
        weights.refuse(
            fmt::format("its setting {} is {}, but its tensors have {} streams", setting, said, streams));
}

/// Row softmax + ε, columns, then rows and columns 19 times; ε is added to every sum.
Mixer sinkhorn(const MatrixXd& logits, const Settings& settings) {
    MatrixXd p = logits;
    for (Index i = 0; i < p.rows(); ++i)
        p.row(i) = mixers::softmax(logits.row(i)).transpose().array() + settings.epsilon;
    for (int t = 0; t < settings.sweeps; ++t) {
        if (t > 0) {
            const VectorXd rows = p.rowwise().sum().array() + settings.epsilon;
            p.array().colwise() /= rows.array();
        }
        const Eigen::RowVectorXd columns = p.colwise().sum().array() + settings.epsilon;
        p.array().rowwise() /= columns.array();
    }
    return p;
}

int streams_of(const Weights& weights, const std::string& key, Index count) {
    int n = 1;
    while (Index{n} * (n + 2) < count) ++n;
    if (Index{n} * (n + 2) != count) weights.refuse(weights.at(key), "must have n² + 2n elements");
    return n;
}

std::array<double, 3> scales_of(const Weights& weights, const Keys& keys) {
    if (keys.scales.size() == 1) {
        const VectorXd scale = weights.numbers(keys.scales.front(), 3);
        return {scale(0), scale(1), scale(2)};
    }
    return {weights.scalar(keys.scales[0]), weights.scalar(keys.scales[1]), weights.scalar(keys.scales[2])};
}

/// s · Φ x̂ + b.
VectorXd raw_numbers(const Weights& weights, const Keys& keys, const Settings& settings,
                     const InputPoint& input, Stack& stack) {
    VectorXd raw = weights.numbers(keys.bias);
    const Index n = streams_of(weights, keys.bias, raw.size());
    const auto scale = scales_of(weights, keys);
    weights.expect_shape(keys.projection, {raw.size(), -1});
    const auto channels = static_cast<Index>(weights.at(keys.projection).shape[1]);
    if (channels == 0 || channels % n != 0)
        weights.refuse(weights.at(keys.projection), fmt::format("must have columns for {} streams", n));
    stack.width = static_cast<int>(channels / n);
    if (input.is_zero()) return raw;
    const VectorXd x = input.at(channels, stack.connections.size());
    const double inside = settings.epsilon_outside ? 0 : settings.norm_epsilon;
    const double outside = settings.epsilon_outside ? settings.norm_epsilon : 0;
    const double norm = std::sqrt(x.squaredNorm() / static_cast<double>(channels) + inside) + outside;
    const VectorXd dynamic = weights.matrix(keys.projection, raw.size(), channels) * (x / norm);
    raw.head(n) += scale[0] * dynamic.head(n);
    raw.segment(n, n) += scale[1] * dynamic.segment(n, n);
    raw.tail(n * n) += scale[2] * dynamic.tail(n * n);
    return raw;
}

/// The first number in a name: the block's.
std::optional<std::uint64_t> block_of(const std::string& name) {
    for (const auto& part : split(name, '.')) {
        std::uint64_t number = 0;
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
        if (error == std::errc{} && end == part.data() + part.size()) return number;
    }
    return {};
}

/// Layers that predict further tokens are no part of the stack: "mtp.0.…", or blocks after num_hidden_layers.
bool predicts_further(const Weights& weights, const std::string& name) {
    if (name.starts_with("mtp.") || name.find(".mtp.") != std::string::npos) return true;
    const double layers = weights.setting("num_hidden_layers", 0);
    const auto block = block_of(name);
    return layers > 0 && block && static_cast<double>(*block) >= layers;
}

void read_connections(const Weights& weights, const std::vector<Keys>& all, const Settings& settings,
                      const InputPoint& input, Stack& stack) {
    VectorXd before;
    for (const auto& keys : all) {
        const VectorXd raw = raw_numbers(weights, keys, settings, input, stack);
        const int n = streams_of(weights, keys.bias, raw.size());
        if (settings.previous_pre && before.size() == 0) {
            if (const auto block = block_of(keys.name); block && *block > 0)
                weights.refuse(fmt::format(
                    "begins with block {}, which reads with pre of block {}; give the whole model", *block,
                    *block - 1));
            before = VectorXd::Unit(n, 0);
        }
        const VectorXd own = mixers::sigmoid(raw.head(n)).array() + settings.epsilon;
        Connection c{keys.name, sinkhorn(mixers::by_rows(raw.tail(Index{n} * n), n, n), settings).transpose(),
                     settings.previous_pre ? before : own, 2 * mixers::sigmoid(raw.segment(n, n))};
        before = own;
        add_connection(weights, std::move(c), stack);
    }
}

/// Has the model weights that make one stream of all at its end? Models whose last `pre` does that have none.
bool has_head(const Weights& weights) {
    const auto& keys = weights.keys();
    return std::any_of(keys.begin(), keys.end(), [](const std::string& key) {
        return key.find("hc_head") != std::string::npos || key.starts_with("output_hc_");
    });
}

// --- DeepSeek-V4 and V4.1, GLM-5.3, and NeMo Automodel's names for them

/// hc_attn_fn, …, also named attn_hc.fn, …; in GGUF with ".weight" behind.
std::optional<std::string> deepseek_name(const std::string& key) {
    for (const char* const suffix :
         {"hc_attn_fn", "hc_ffn_fn", "attn_hc.fn", "ffn_hc.fn", "hc_attn_fn.weight", "hc_ffn_fn.weight"}) {
        const std::string_view ending = suffix;
        if (!key.ends_with(ending)) continue;
        const auto before = key.size() - ending.size();
        if (before > 0 && key[before - 1] != '.') continue;
        const auto last =
            ending.ends_with(".weight") ? std::string_view("_fn.weight").size() : std::size_t{3};
        return key.substr(0, key.size() - last);
    }
    return {};
}

Keys deepseek_keys(const Weights& weights, const std::string& name) {
    if (weights.has(name + "_fn.weight"))
        return {name, name + "_fn.weight", name + "_base.weight", {name + "_scale.weight"}};
    const std::string dot = weights.has(name + ".fn") ? "." : "_";
    const std::string inner = weights.has(name + "._fp32_params.base") ? "._fp32_params." : dot;
    return {name, name + dot + "fn", name + inner + "base", {name + inner + "scale"}};
}

bool has_deepseek_keys(const Weights& weights) {
    return std::any_of(weights.keys().begin(), weights.keys().end(),
                       [](const std::string& key) { return deepseek_name(key).has_value(); });
}

/// What the configuration says of where `pre` comes from; nothing where it says nothing.
std::optional<bool> previous_pre(const Weights& weights) {
    if (const auto flag = weights.flag_setting("hc_pre_from_prev_sublayer")) return flag;
    if (const auto flag = weights.flag_setting("mhc_single_pass")) return flag;
    const auto type = weights.text_setting("model_type");
    if (type.starts_with("deepseek_v41") || type == "deepseek41") return true;
    if (type == "deepseek_v4" || type.starts_with("glm5_next") || type == "glm5next" || type == "glm5-next")
        return false;
    return has_head(weights) ? std::optional(false) : std::nullopt;
}

std::string deepseek_doubt(const Weights& weights) {
    return previous_pre(weights)
               ? ""
               : "its keys are those of DeepSeek-V4 and of V4.1, which take pre from different sublayers; give the "
                 "model's folder with its config.json, or name the layout deepseek-v4 or deepseek-v4.1";
}

bool fits_deepseek(const Weights& weights) {
    return has_deepseek_keys(weights);
}

bool fits_deepseek_v41(const Weights& weights) {
    return has_deepseek_keys(weights) && previous_pre(weights).value_or(false);
}

Settings deepseek_settings(const Weights& weights) {
    Settings settings;
    settings.sweeps = weights.count_setting("hc_sinkhorn_iters", usual_sweeps);
    settings.epsilon = positive_setting(weights, "hc_eps", usual_epsilon);
    settings.norm_epsilon = positive_setting(weights, "rms_norm_eps", usual_epsilon);
    return settings;
}

void read_deepseek_with(const Weights& weights, const Settings& settings, const InputPoint& input,
                        Stack& stack) {
    const auto names = connection_names(weights, [&](const std::string& key) {
        auto name = deepseek_name(key);
        return name && predicts_further(weights, *name) ? std::nullopt : name;
    });
    std::vector<Keys> all;
    for (const auto& name : names) all.push_back(deepseek_keys(weights, name));
    read_connections(weights, all, settings, input, stack);
    expect_streams(weights, "hc_mult", stack.streams);
}

void read_deepseek(const Weights& weights, const InputPoint& input, Stack& stack) {
    if (previous_pre(weights).value_or(false))
        weights.refuse(
            "its config.json says that pre comes from the sublayer before; that is the layout deepseek-v4.1");
    read_deepseek_with(weights, deepseek_settings(weights), input, stack);
}

void read_deepseek_v41(const Weights& weights, const InputPoint& input, Stack& stack) {
    if (!previous_pre(weights).value_or(true))
        weights.refuse(
            "its config.json or its hc_head tensors say that pre is each sublayer's own; that is the layout "
            "deepseek-v4");
    auto settings = deepseek_settings(weights);
    settings.previous_pre = true;
    read_deepseek_with(weights, settings, input, stack);
}

// --- Megatron-LM

NameOfKey megatron_name(const Weights& weights) {
    const auto plain = ending_in({"_hyper_connection.mapping_proj.weight"});
    return [&weights, plain](const std::string& key) -> std::optional<std::string> {
        const auto name = plain(key);
        if (!name || predicts_further(weights, *name)) return {};
        return *name + "_hyper_connection";
    };
}

bool fits_megatron(const Weights& weights) {
    return any_key(weights, "_hyper_connection.mapping_proj.weight");
}

std::string megatron_doubt(const Weights& weights) {
    return previous_pre(weights)
               ? ""
               : "its keys are those of Megatron's connections with mhc_single_pass and without, which take pre from "
                 "different sublayers; give the model's folder with its config.json, or name the layout megatron";
}

void read_megatron(const Weights& weights, const InputPoint& input, Stack& stack) {
    Settings settings;
    settings.sweeps = weights.count_setting("mhc_sinkhorn_iterations", usual_sweeps);
    settings.previous_pre = previous_pre(weights).value_or(false);
    settings.epsilon_outside = !settings.previous_pre;
    if (settings.previous_pre) {  // otherwise the code has its own
        settings.epsilon = positive_setting(weights, "mhc_epsilon", usual_epsilon);
        settings.norm_epsilon = positive_setting(weights, "layernorm_epsilon", 1e-5);
    }
    std::vector<Keys> all;
    for (const auto& name : connection_names(weights, megatron_name(weights)))
        all.push_back({name,
                       name + ".mapping_proj.weight",
                       name + ".bias",
                       {name + ".alpha_pre", name + ".alpha_post", name + ".alpha_res"}});
    read_connections(weights, all, settings, input, stack);
    expect_streams(weights, "num_residual_streams", stack.streams);
}

// --- Qwen's gated residuals: X' = X + post ⊗ F(…), a gate for every channel of every stream and no mixing

bool fits_qwen(const Weights& weights) {
    return any_key(weights, "_hyper_connection.block_inject_weight.weight") &&
           any_key(weights, "_hyper_connection.input_mix_weight_down.weight");
}

void read_qwen(const Weights& weights, const InputPoint& /*input*/, Stack& stack) {
    stack.input = "every input";
    const auto plain = ending_in({".block_inject_weight.weight"});
    const auto names = connection_names(weights, [&](const std::string& key) {
        auto name = plain(key);
        return name && predicts_further(weights, *name) ? std::nullopt : name;
    });
    for (const auto& name : names) {
        const auto key = name + ".block_inject_weight.weight";
        weights.expect_shape(key, {-1, -1});
        const auto& shape = weights.at(key).shape;
        if (shape[0] == 0 || shape[1] == 0 || shape[1] % shape[0] != 0)
            weights.refuse(weights.at(key), "must be streams × all channels");
        const auto n = static_cast<Index>(shape[0]);
        stack.width = static_cast<int>(shape[1] / shape[0]);
        // The gates of pre differ from channel to channel: they are part of F.
        add_connection(weights, {name, Mixer::Identity(n, n), {}, {}}, stack);
        expect_streams(weights, "hc_count", stack.streams);
    }
}

}  // namespace

const Layout deepseek_layout{"deepseek-v4", "layers.*.hc_attn_fn, hc_attn_base, hc_attn_scale", fits_deepseek,
                             read_deepseek, deepseek_doubt};
const Layout deepseek_v41_layout{"deepseek-v4.1", "layers.*.hc_attn_fn, …, and a config.json that says so",
                                 fits_deepseek_v41, read_deepseek_v41};
const Layout megatron_layout{"megatron", "*_hyper_connection.mapping_proj.weight, bias, alpha_pre",
                             fits_megatron, read_megatron, megatron_doubt};
const Layout qwen_layout{"qwen", "*_hyper_connection.block_inject_weight, input_mix_weight_down", fits_qwen,
                         read_qwen};

}  // namespace spectra::layouts
