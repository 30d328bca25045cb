#include "train/model_description.hpp"
#include "base/text.hpp"
#include "tasks/tasks.hpp"
#include "train/host_threads.hpp"
#include "train/make_learner.hpp"
#include "train/modules/gate_regulariser.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <stdexcept>

namespace spectra::train {

namespace {

using Backward = MixerOptions::Backward;
using Basis = MixerOptions::Basis;

constexpr std::array backwards{std::pair{"direct", Backward::direct},
                               std::pair{"gauss-seidel", Backward::gauss_seidel},
                               std::pair{"unrolled", Backward::unrolled}};

constexpr std::array bases{std::pair{"published", Basis::published}, std::pair{"optimal", Basis::optimal}};

/// The name of a value in such a table.
template <class Table, class Value>
std::string name_of(const Table& table, Value wanted) {
    for (const auto& [name, value] : table)
        if (value == wanted) return name;
    return "";
}

/// The value of a name; throws std::invalid_argument, naming the field, if it has none.
template <class Table>
auto value_of(const Table& table, const std::string& field, const std::string& wanted) {
    for (const auto& [name, value] : table)
        if (name == wanted) return value;
    throw std::invalid_argument(fmt::format("{} '{}' is not known", field, wanted));
}

/// Options that came later: in a description only where they are not the default, so that checkpoints from before them
/// can be resumed.
void add_later_options(const ModelConfig& m, Description& d) {
    const ModelConfig plain = matched_config(m.architecture, m.mixer);
    const auto& o = m.mixer_options;
    const auto& none = plain.mixer_options;
    const auto add = [&](const char* name, const auto& value, const auto& usual) {
        if (value != usual) d[name] = value;
    };
    add("value_injection", m.value_injection, plain.value_injection);
    add("post_norm", m.post_norm, plain.post_norm);
    add("beta_scale", m.beta_scale, plain.beta_scale);
    add("beta_offset", m.beta_offset, plain.beta_offset);
    add("temperature", o.temperature, none.temperature);
    add("sinkhorn_clamp", o.sinkhorn_clamp, none.sinkhorn_clamp);
    add("permutations", o.permutations, none.permutations);
    add("permutation_basis", name_of(bases, o.basis), name_of(bases, none.basis));
    add("gate_regulariser", name_of(gate_regularisers, o.regulariser),
        name_of(gate_regularisers, none.regulariser));
    add("answer_cycles", m.answer_cycles, plain.answer_cycles);
    add("supervision_steps", m.supervision_steps, plain.supervision_steps);
    add("halt_exploration", m.halt_exploration, plain.halt_exploration);
    add("puzzle_tokens", m.puzzle_tokens, plain.puzzle_tokens);
}

void read_later_options(const Description& d, ModelConfig& m) {
    const ModelConfig plain = matched_config(m.architecture, m.mixer);
    auto& o = m.mixer_options;
    m.value_injection = d.value("value_injection", plain.value_injection);
    m.post_norm = d.value("post_norm", plain.post_norm);
    m.beta_scale = d.value("beta_scale", plain.beta_scale);
    m.beta_offset = d.value("beta_offset", plain.beta_offset);
    m.causal = plain.causal;
    m.answer_cycles = d.value("answer_cycles", plain.answer_cycles);
    m.supervision_steps = d.value("supervision_steps", plain.supervision_steps);
    m.halt_exploration = d.value("halt_exploration", plain.halt_exploration);
    m.puzzle_tokens = d.value("puzzle_tokens", plain.puzzle_tokens);
    o.temperature = d.value("temperature", o.temperature);
    o.sinkhorn_clamp = d.value("sinkhorn_clamp", o.sinkhorn_clamp);
    o.permutations = d.value("permutations", o.permutations);
    o.basis = permutation_basis(d.value("permutation_basis", name_of(bases, o.basis)));
    o.regulariser = gate_regulariser(d.value("gate_regulariser", name_of(gate_regularisers, o.regulariser)));
}

/// sHC checkpoints from before its rotation gates are plain stacks with mixers on the spectral sphere.
void read_older_shc(const Checkpoint& checkpoint, ModelConfig& m) {
    if (m.architecture != "shc") return;
    for (const auto& [name, tensor] : checkpoint.model)
        if (name.ends_with(".gamma_u")) return;
    m.architecture = "mixer";
    m.mixer = "spectral-sphere";
}

}  // namespace

Backward sinkhorn_backward(const std::string& wanted) {
    return value_of(backwards, "sinkhorn_backward", wanted);
}

MixerOptions::Regulariser gate_regulariser(const std::string& wanted) {
    return value_of(gate_regularisers, "gate_regulariser", wanted);
}

Basis permutation_basis(const std::string& wanted) {
    return value_of(bases, "permutation_basis", wanted);
}

Description describe_model(const ModelConfig& m) {
    Description d{{"architecture", m.architecture},
                  {"mixer", m.mixer},
                  {"layers", m.layers},
                  {"cycles", m.cycles},
                  {"channels", m.channels},
                  {"streams", m.streams},
                  {"heads", m.heads},
                  {"positions", m.rotary ? "rotary" : "learned"},
                  {"pooling", m.pooling == Pooling::causal ? "causal" : "published"},
                  {"start", m.published_start ? "published" : "paper"},
                  {"mappings", m.static_mappings ? "static" : "dynamic"},
                  {"gate_bias", m.mixer_options.gate_bias},
                  {"sinkhorn_iterations", m.mixer_options.sinkhorn_iterations},
                  {"sinkhorn_backward", name_of(backwards, m.mixer_options.sinkhorn_backward)},
                  {"cayley_iterations", m.mixer_options.cayley_iterations},
                  {"cayley_step", m.mixer_options.cayley_step}};
    add_later_options(m, d);
    return d;
}

ModelConfig described_model(const Description& d) {
    ModelConfig m;
    m.architecture = d.at("architecture");
    m.mixer = d.at("mixer");
    m.layers = d.at("layers");
    m.cycles = d.at("cycles");
    m.channels = d.at("channels");
    m.streams = d.at("streams");
    m.heads = d.at("heads");
    m.rotary = d.at("positions") == "rotary";
    m.pooling = d.at("pooling") == "causal" ? Pooling::causal : Pooling::published;
    m.published_start = d.at("start") == "published";
    m.static_mappings = d.value("mappings", "dynamic") == "static";
    auto& o = m.mixer_options;
    o.gate_bias = d.at("gate_bias");
    o.sinkhorn_iterations = d.at("sinkhorn_iterations");
    o.sinkhorn_backward = sinkhorn_backward(d.at("sinkhorn_backward"));
    o.cayley_iterations = d.at("cayley_iterations");
    o.cayley_step = d.at("cayley_step");
    read_later_options(d, m);
    return m;
}

namespace {

/// Before anything of that size is made: every block has at least one matrix of a stream's width.
void check_sizes(const ModelConfig& m, const Checkpoint& checkpoint) {
    constexpr int64_t most = 1 << 20;
    for (const auto size : {m.layers, m.cycles, m.channels, m.streams, m.heads, m.answer_cycles,
                            m.supervision_steps, m.puzzle_tokens})
        if (size < 1 || size > most) throw std::invalid_argument(fmt::format("a size is {}", size));
    double numbers = 0;
    for (const auto& [name, tensor] : checkpoint.model) numbers += static_cast<double>(tensor.numel());
    const auto channels_per_stream = m.channels / m.streams;
    const auto width = static_cast<double>(channels_per_stream);
    if (static_cast<double>(m.layers) * width * width > numbers)
        throw std::invalid_argument(fmt::format(
            "{} blocks of {} channels are more than its {:.0f} parameters", m.layers, m.channels, numbers));
}

void load_parameters(torch::nn::Module& module, const Checkpoint& checkpoint) {
    const torch::NoGradGuard no_grad;
    for (const auto& item : module.named_parameters()) {
        const auto found = checkpoint.model.find(item.key());
        if (found == checkpoint.model.end())
            throw std::invalid_argument(fmt::format("it has no parameter '{}'", item.key()));
        if (found->second.sizes() != item.value().sizes())
            throw std::invalid_argument(fmt::format("parameter '{}' is of shape ({}); its model has ({})",
                                                    item.key(), fmt::join(found->second.sizes(), ", "),
                                                    fmt::join(item.value().sizes(), ", ")));
        item.value().copy_(found->second);
    }
}

/// What goes wrong in f is the checkpoint's fault.
template <class F>
void blaming(const std::string& where, F f) {
    std::string why;
    try {
        f();
        return;
    } catch (const std::invalid_argument& error) {
        why = error.what();
    } catch (const Description::exception& error) {
        why = error.what();  // "[json.exception.out_of_range.403] key 'heads' not found"
        why = "its config: " + why.substr(why.find("] ") + 2);
    }
    throw std::invalid_argument(fmt::format("{}: not a whole checkpoint of spectra train: {}", where, why));
}

}  // namespace

std::string tokeniser_text(const tasks::Tokeniser& tokeniser) {
    auto symbols = Description::array();
    for (const char symbol : tokeniser.symbols) symbols.push_back(static_cast<unsigned char>(symbol));
    return Description{{"symbols", std::move(symbols)}, {"merges", tokeniser.merges}}.dump();
}

tasks::Tokeniser described_tokeniser(const std::string& text) {
    tasks::Tokeniser tokeniser;
    try {
        const auto d = Description::parse(text);
        const auto number = [](const Description& value, std::int64_t most) {
            const auto found = value.get<std::int64_t>();
            if (found < 0 || found > most)
                throw std::invalid_argument(fmt::format("token {} of {}", found, most));
            return found;
        };
        for (const auto& byte : d.at("symbols")) tokeniser.symbols += static_cast<char>(number(byte, 255));
        for (const auto& pair : d.at("merges"))
            tokeniser.merges.emplace_back(static_cast<std::uint16_t>(number(pair.at(0), 65535)),
                                          static_cast<std::uint16_t>(number(pair.at(1), 65535)));
    } catch (const Description::exception&) {
        throw std::invalid_argument("its tokens cannot be read");
    }
    tasks::check(tokeniser);
    return tokeniser;
}

TrainedModel trained_model(const Checkpoint& checkpoint, const std::string& where, const std::string& text) {
    ModelConfig config;
    tasks::TaskOptions options;
    std::string task;
    double gate_weight = 0;
    std::int64_t steps = 0;
    blaming(where, [&] {
        const auto d = Description::parse(checkpoint.config);
        config = described_model(d);
        read_older_shc(checkpoint, config);
        task = d.at("task");
        if (task != "reflection") check_sizes(config, checkpoint);
        options.seed = d.at("data_seed");
        if (d.at("samples") > 0) options.samples = d.at("samples").get<std::int64_t>();
        if (d.contains("validation_samples"))
            options.validation_samples = d.at("validation_samples").get<std::int64_t>();
        options.text_file = d.at("text");
        if (d.at("context") > 0) options.context = d.at("context");
        options.vocabulary = d.value("vocabulary", 0);
        options.difficulty = d.value("difficulty", options.difficulty);
        options.grids = d.value("grids", "");
        if (!checkpoint.tokeniser.empty()) options.tokeniser = described_tokeniser(checkpoint.tokeniser);
        gate_weight = d.at("gate_weight");
        steps = d.at("steps");
    });
    if (!text.empty()) {
        if (task != "text")
            throw std::invalid_argument(
                fmt::format("{}: trained on {}; must be a model of text", where, task));
        // Earlier checkpoints have no tokens: these are the bytes of their text.
        if (!options.tokeniser) options.tokeniser = tasks::byte_tokeniser(read_text(options.text_file));
        options.text_file = text;
        options.samples.reset();
        options.validation_samples.reset();
        options.all_for_validation = true;
    }
    TrainedModel trained;
    trained.data = tasks::make_dataset(task, options);
    blaming(where, [&] {
        trained.learner = make_learner(trained.data, config, gate_weight);
        load_parameters(trained.learner->module(), checkpoint);
    });
    trained.step = checkpoint.step;
    const std::string name = config.architecture == "mixer" ? config.mixer + " mixers" : config.architecture;
    trained.words = fmt::format("{}, {}, ", name, model_words(config));
    trained.words += checkpoint.step == 0
                         ? fmt::format("untrained, for {}", trained.data.task)
                         : fmt::format("trained on {} for {} of {} steps", trained.data.task, checkpoint.step, steps);
    return trained;
}

std::string model_words(const ModelConfig& m) {
    std::string words = fmt::format("{} block{}", m.layers, m.layers == 1 ? "" : "s");
    if (m.cycles > 1) words += fmt::format(" × {} cycles", m.cycles);
    if (m.architecture == "trm")
        words += fmt::format(" × {} answers × {} supervision steps", m.answer_cycles, m.supervision_steps);
    words += has_streams(m.architecture)
                 ? fmt::format(", {} = {} × {} channels", m.channels, m.streams, m.channels / m.streams)
                 : fmt::format(", {} channels", m.channels);
    return words;
}

std::string device_words(torch::Device device) {
    const int threads = at::get_num_threads();
    return device.is_cuda() ? "cuda" : fmt::format("cpu, {} thread{}", threads, threads == 1 ? "" : "s");
}

torch::Device chosen_device(const std::string& wanted) {
    const bool there = torch::cuda::is_available();
    if (wanted == "cuda" && !there)
        throw std::invalid_argument("`device` cuda: Torch finds no CUDA device; use auto or cpu");
    if (!there || wanted == "cpu") return torch::kCPU;
    sleep_while_gpu_works();
    return {torch::kCUDA, 0};
}

}  // namespace spectra::train
