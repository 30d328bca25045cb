#include "train/model_description.hpp"
#include "train/host_threads.hpp"
#include "tasks/tasks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <stdexcept>

namespace spectra::train {

namespace {

using Backward = MixerOptions::Backward;

constexpr std::array backwards{std::pair{"direct", Backward::direct},
                               std::pair{"gauss-seidel", Backward::gauss_seidel},
                               std::pair{"unrolled", Backward::unrolled}};

std::string name_of(Backward backward) {
    for (const auto& [name, value] : backwards)
        if (value == backward) return name;
    return "";
}

}  // namespace

Backward sinkhorn_backward(const std::string& wanted) {
    for (const auto& [name, value] : backwards)
        if (name == wanted) return value;
    throw std::invalid_argument(fmt::format("sinkhorn_backward '{}' is not known", wanted));
}

Description describe_model(const ModelConfig& m) {
    return {{"architecture", m.architecture},
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
            {"sinkhorn_backward", name_of(m.mixer_options.sinkhorn_backward)},
            {"cayley_iterations", m.mixer_options.cayley_iterations},
            {"cayley_step", m.mixer_options.cayley_step}};
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
    return m;
}

namespace {

/// Before anything of that size is made: every block has at least one matrix of a stream's width.
void check_sizes(const ModelConfig& m, const Checkpoint& checkpoint) {
    constexpr int64_t most = 1 << 20;
    for (const auto size : {m.layers, m.cycles, m.channels, m.streams, m.heads})
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

TrainedModel trained_model(const Checkpoint& checkpoint, const std::string& where) {
    ModelConfig config;
    tasks::TaskOptions options;
    std::string task;
    double gate_weight = 0;
    std::int64_t steps = 0;
    blaming(where, [&] {
        const auto d = Description::parse(checkpoint.config);
        config = described_model(d);
        task = d.at("task");
        if (task != "reflection") check_sizes(config, checkpoint);
        options.seed = d.at("data_seed");
        if (d.at("samples") > 0) options.samples = d.at("samples").get<std::int64_t>();
        if (d.contains("validation_samples"))
            options.validation_samples = d.at("validation_samples").get<std::int64_t>();
        options.text_file = d.at("text");
        if (d.at("context") > 0) options.context = d.at("context");
        gate_weight = d.at("gate_weight");
        steps = d.at("steps");
    });
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
    const bool one_stream = m.architecture == "gpt" || m.architecture == "ddl" || m.architecture == "mgt";
    words += one_stream
                 ? fmt::format(", {} channels", m.channels)
                 : fmt::format(", {} = {} × {} channels", m.channels, m.streams, m.channels / m.streams);
    return words;
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
