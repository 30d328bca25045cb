#include "train/train_models.hpp"

#include "base/atomic_file.hpp"
#include "base/text.hpp"
#include "study/analysis.hpp"
#include "study/draw.hpp"
#include "study/output_files.hpp"
#include "tasks/tasks.hpp"
#include "train/checkpoint_file.hpp"
#include "train/host_threads.hpp"
#include "train/model_description.hpp"
#include "train/trainer.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <stdexcept>

namespace spectra::train {

namespace {

using namespace spectra::study;
using Json = Description;

/// Everything that the results of a run depend on: a resumed run must have the same description.
Json description(const TrainRequest& r, const TrainOptions& o, std::uint64_t seed) {
    Json all{{"task", r.task}};
    all.update(describe_model(o.model));
    all.update(Json{{"gate_weight", o.gate_weight},
                    {"samples", r.samples.value_or(0)},
                    {"data_seed", r.data_seed},
                    {"text", r.text.value_or("")},
                    {"context", r.context.value_or(0)},
                    {"steps", o.steps},
                    {"batch", o.batch},
                    {"accumulate", o.accumulate},
                    {"optimiser", r.optimiser.value_or("adamw")},
                    {"weight_decay", o.optimiser.weight_decay},
                    {"schedule", static_cast<int>(o.schedule.shape)},
                    {"lr", o.schedule.peak},
                    {"lr_floor", o.schedule.floor},
                    {"warm_up", o.schedule.warm_up},
                    {"clip", o.clip},
                    {"precision", r.precision},
                    {"log_every", o.log_every},
                    {"seed", seed}});
    // Only if given, so that checkpoints from before these options can be resumed.
    if (r.validation_samples) all["validation_samples"] = *r.validation_samples;
    if (r.vocabulary.value_or(0) > 0) all["vocabulary"] = *r.vocabulary;
    if (r.difficulty) all["difficulty"] = *r.difficulty;
    if (r.grids) all["grids"] = *r.grids;
    if (r.puzzle_rate) all["puzzle_rate"] = *r.puzzle_rate;
    return all;
}

TrainOptions train_options(const TrainRequest& r) {
    const bool reflection = r.task == "reflection";
    TrainOptions o;
    o.model = model_config(r);
    o.steps = r.steps;
    o.stop_after = r.stop_after.value_or(0);
    o.batch = r.batch.value_or(reflection ? 32 : 64);
    o.accumulate = r.accumulate.value_or(1);
    o.clip = r.clip.value_or(reflection ? 0.0 : 1.0);
    o.gate_weight = r.gate_weight.value_or(reflection ? 0.5 : 0.1);
    o.log_every = r.log_every;
    o.checkpoint_seconds = r.checkpoint_seconds;
    o.device = chosen_device(r.device);
    o.bfloat16 = r.precision == "bf16";
    if (o.bfloat16 && !o.device.is_cuda())
        throw std::invalid_argument("`precision` bf16: requires CUDA, and Torch finds no CUDA device");

    auto& s = o.schedule;
    const auto shape = r.schedule.value_or(reflection ? "constant" : "cosine");
    s.shape = shape == "cosine"       ? Schedule::Shape::cosine
              : shape == "steps"      ? Schedule::Shape::steps
              : shape == "late-drops" ? Schedule::Shape::late_drops
                                      : Schedule::Shape::constant;
    s.peak = r.rate.value_or(1e-3);
    s.floor = r.floor.value_or(s.peak / 10);
    s.warm_up = r.warm_up.value_or(reflection ? 0 : 100);
    s.horizon = r.steps;
    s.every = std::max(1, r.steps / 4);

    auto& a = o.optimiser;
    const auto rule = r.optimiser.value_or("adamw");
    a.rule = rule == "adamw"     ? OptimiserOptions::Rule::adamw
             : rule == "signsgd" ? OptimiserOptions::Rule::sign_sgd
                                 : OptimiserOptions::Rule::adam_atan2;
    a.weight_decay = r.weight_decay.value_or(reflection ? 0.01 : 0.1);
    a.decay_vectors = reflection;
    if (reflection) a.beta2 = 0.999;
    constexpr double published = 1e-2;
    a.sign_rate = r.puzzle_rate.value_or(published) / s.peak;
    return o;
}

std::string model_words(const TrainOptions& o, const tasks::Dataset& data) {
    return data.task == "reflection" ? fmt::format("an operator on {} numbers", data.dimension)
                                     : train::model_words(o.model);
}

/// The kinds of figures to draw: none of a model that is not trained, whose log has one row.
std::vector<std::string> figures_of(const TrainRequest& r) {
    return r.steps == 0 ? std::vector<std::string>{} : r.plot;
}

/// Checks that the files may be written.
void check_files(const TrainRequest& r, const std::filesystem::path& checkpoint, const OutputFiles& files,
                 const Settings& settings) {
    check_writable(files, settings, r.force || r.resume);
    remove_leftovers(checkpoint);
    if (!r.force) refuse_symbolic_link(checkpoint);
    if (!std::filesystem::exists(checkpoint) || r.resume || r.force) return;
    load_checkpoint(checkpoint);  // throws for a file not written by spectra
    // The result file says what was trained, and is written last.
    if (!std::filesystem::exists(files.result))
        throw std::invalid_argument(fmt::format(
            "`out`: {}: holds a training that was not finished; `resume` continues it, `force` replaces it",
            checkpoint.string()));
}

TrainingReport train_one(const TrainRequest& r, const tasks::Dataset& data, TrainOptions options,
                         std::uint64_t seed, const std::string& stem, const Invocation& invocation,
                         Observer& observer) {
    const auto files = output_files(stem, figures_of(r));
    options.seed = seed;
    options.checkpoint = stem + ".ckpt";
    options.resume = r.resume && std::filesystem::exists(options.checkpoint);
    options.description = description(r, options, seed).dump();

    TrainHooks hooks;
    observer.stage("training");
    hooks.progress = [&](const Progress& p) {
        observer.say(fmt::format("step {}/{}, loss {:.3e}, {:.1f} steps/s, {} left", p.step, p.steps, p.loss,
                                 p.steps_per_second, duration_text(p.seconds_left)));
    };
    hooks.evaluating = [&](const Evaluation& e) {
        if (e.done == 0) observer.stage(fmt::format("step {}/{}, {}", e.step, e.steps, e.what));
        observer.update(static_cast<int>(e.done), static_cast<int>(e.total));
    };
    hooks.interrupted = [&] { return observer.stopped(); };

    TrainingReport report;
    report.provenance = provenance(invocation, seed);
    report.task = r.task;
    report.architecture = r.architecture.value_or(r.mixer ? *r.mixer + " mixers" : "gpt");
    report.model = model_words(options, data);
    report.device = device_words(options.device);
    if (options.processes)
        report.device = fmt::format("{} processes, each on {}", options.processes->size(), report.device);
    report.seed = seed;
    report.batch = options.batch;
    report.steps = options.steps;
    report.tokens = data.tokens;
    report.baselines = tasks::baselines(data);
    report.result = train::train(data, options, hooks);
    if (report.result.log.rows.empty()) return report;  // interrupted before there was anything to keep
    if (!is_first(options.processes)) return report;
    observer.stage("writing");
    write_training_file(report, files.result);
    write_training_csv(report, stem + ".csv");
    return report;
}

tasks::Dataset dataset_of(const TrainRequest& r) {
    tasks::TaskOptions options;
    options.seed = r.data_seed;
    if (r.samples) options.samples = *r.samples;
    if (r.validation_samples) options.validation_samples = *r.validation_samples;
    options.text_file = r.text.value_or("");
    if (r.context) options.context = *r.context;
    options.vocabulary = r.vocabulary.value_or(0);
    options.difficulty = r.difficulty.value_or(options.difficulty);
    options.grids = r.grids.value_or("");
    return tasks::make_dataset(r.task, options);
}

}  // namespace

ModelConfig model_config(const TrainRequest& r) {
    const std::string architecture = r.architecture.value_or(r.mixer ? "mixer" : "gpt");
    auto m = matched_config(architecture, r.mixer.value_or(""));
    m.layers = r.layers.value_or(static_cast<int>(m.layers));
    m.cycles = r.cycles.value_or(static_cast<int>(m.cycles));
    m.channels = r.channels.value_or(static_cast<int>(m.channels));
    m.streams = r.streams.value_or(static_cast<int>(m.streams));
    m.heads = r.heads;
    m.rotary = m.rotary || r.rotary;
    m.pooling = r.pooling == "causal" ? Pooling::causal : Pooling::published;
    m.published_start = r.start == "published";
    m.static_mappings = r.mappings == "static";
    if (m.static_mappings && !has_hyper_connections(architecture))
        throw std::invalid_argument(fmt::format(
            "`mappings` static: {} makes its mappings from the input; only applies to delta, mhc, mhc-lite, shc, hc, "
            "recursive, trm and `mixer`",
            architecture));
    m.checkpoint_blocks = r.recompute;
    auto& o = m.mixer_options;
    o.gate_bias = r.gate_bias.value_or(r.task == "reflection" ? -1.5 : o.gate_bias);
    o.sinkhorn_iterations = r.sinkhorn_iterations.value_or(o.sinkhorn_iterations);
    o.sinkhorn_backward = sinkhorn_backward(r.sinkhorn_backward);
    o.cayley_iterations = r.cayley_iterations.value_or(o.cayley_iterations);
    o.cayley_step = r.cayley_step.value_or(o.cayley_step);
    o.sinkhorn_clamp = r.sinkhorn_clamp.value_or(o.sinkhorn_clamp);
    o.temperature = r.temperature.value_or(o.temperature);
    o.permutations = r.permutations.value_or(o.permutations);
    if (r.permutation_basis) o.basis = permutation_basis(*r.permutation_basis);
    if (r.gate_regulariser) o.regulariser = gate_regulariser(*r.gate_regulariser);
    if (r.norm) m.post_norm = *r.norm == "post";
    m.answer_cycles = r.answer_cycles.value_or(static_cast<int>(m.answer_cycles));
    m.supervision_steps = r.supervision_steps.value_or(static_cast<int>(m.supervision_steps));
    m.halt_exploration = r.halt_exploration.value_or(m.halt_exploration);
    m.puzzle_tokens = r.puzzle_tokens.value_or(static_cast<int>(m.puzzle_tokens));
    m.value_injection = r.value_injection;
    m.beta_scale = r.beta_scale.value_or(m.beta_scale);
    m.beta_offset = r.beta_offset.value_or(m.beta_offset);
    return m;
}

bool train_models(const TrainRequest& r, const Invocation& invocation, Observer& observer,
                  const std::function<void(TrainedRun&&)>& trained) {
    auto options = train_options(r);
    const auto processes = DataParallel::open(options.device.is_cuda());
    options.processes = processes.get();
    if (processes && options.device.is_cuda()) options.device = processes->own_gpu();
    use_threads(r.threads, options.device);
    const std::vector<std::uint64_t> seeds = r.seeds.empty() ? std::vector<std::uint64_t>{42} : r.seeds;
    const auto stem = [&](std::uint64_t seed) {
        const auto whole = stem_of(r);
        return seeds.size() == 1 ? whole : fmt::format("{}-seed{}", whole, seed);
    };
    if (is_first(options.processes))
        for (const auto seed : seeds)
            check_files(r, stem(seed) + ".ckpt", output_files(stem(seed), figures_of(r)),
                        invocation.settings);
    const auto data = dataset_of(r);

    for (const auto seed : seeds) {
        if (processes ? processes->any(observer.stopped()) : observer.stopped()) break;
        TrainedRun model;
        model.report = train_one(r, data, options, seed, stem(seed), invocation, observer);
        if (model.report.result.log.rows.empty()) return false;
        if (!is_first(options.processes)) continue;
        model.files = {stem(seed) + ".ckpt", stem(seed) + ".h5", stem(seed) + ".csv"};
        try {
            if (const auto figures = output_files(stem(seed), figures_of(r)).figures; !figures.empty())
                render_all(training_figure(model.report), figures, model.files);
        } catch (const std::runtime_error& error) {
            model.no_figure = error.what();
        }
        trained(std::move(model));
    }
    return true;
}

}  // namespace spectra::train
