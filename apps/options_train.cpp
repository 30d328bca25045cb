#include "options.hpp"

#include "option_group.hpp"
#include "tasks/tasks.hpp"
#include "console/values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

namespace spectra::cli {

using namespace console;
using namespace study;

namespace {

/// What a model is, besides its architecture and its width.
void add_model_details(const OptionGroup& add, TrainRequest& r) {
    add.integer("--layers", "L", "the matched set's", "blocks of attention and MLP", r.layers, 1, 10000);
    add.integer("--cycles", "K", "recursive, trm: 6; else 1",
                "number of times the blocks are applied, with shared weights", r.cycles, 1, 10000);
    add.integer("--answer-cycles", "T", "3", "trm: updates of the answer per supervision step",
                r.answer_cycles, 1, 1000);
    add.integer("--supervision-steps", "N", "16", "trm: most supervision steps of a grid",
                r.supervision_steps, 1, 1000);
    add.number("--halt-exploration", "ε", "0.1", "trm: probability of a least number of steps",
               r.halt_exploration);
    add.integer("--puzzle-tokens", "P", "16", "trm: tokens of a puzzle's embedding", r.puzzle_tokens, 1,
                1024);
    add.integer("--heads", "H", "4", "attention heads", r.heads, 1, 1024);
    add("--positions", "learned|rotary", "learned", "positional encoding",
        [&r](const auto& name, const auto& text) {
            r.rotary = to_choice(name, text, {"learned", "rotary"}) == "rotary";
        });
    add.choice("--pooling", "causal",
               "what ddl's and edelta's operators see: the mean of the tokens so far, or of all as published "
               "(which leaks the targets)",
               r.pooling, {"causal", "published"});
    add.choice("--start", "paper",
               "edelta's projections: the identity, or N(0, .02) as in the published code", r.start,
               {"paper", "published"});
    add.choice("--mappings", "dynamic",
               "hyper-connections' mixer, pre and post: from the input, or static parameters", r.mappings,
               {"dynamic", "static"});
    add.choice("--norm", "pre; post-ln, mgt-mhc, mgt-ddl: post",
               "gpt, post-ln, mgt…: LayerNorm before the branch, or after the sum", r.norm, {"pre", "post"});
    add.flag("--value-injection", "ddl: also writes, (I - βkkᵀ)x + βkv with a learned v", r.value_injection);
    add.number("--beta-scale", "λ", "1", "mgt, mgt-ddl: β = λ tanh(xW + b) + ε", r.beta_scale);
    add.number("--beta-offset", "ε", "0.01", "mgt, mgt-ddl: ε", r.beta_offset, true);
    add.number("--gate-weight", "λ", "0.1; reflection 0.5", "weight of the gates' regulariser",
               r.gate_weight);
    add.choice("--gate-regulariser", "quadratic",
               "of gates γ: 4γ(1-γ), its square, sin πγ, entropy in bits, or 1-(2γ-1)⁴", r.gate_regulariser,
               {"quadratic", "quartic", "sine", "entropy", "flat"});
    add.number("--gate-bias", "b", "0; reflection -1.5", "where gates start: γ = sigmoid(b)", r.gate_bias, true);
    add.integer("--sinkhorn-iterations", "T", "20", "bistochastic: sweeps; 0: to tolerance",
                r.sinkhorn_iterations, 0);
    add.choice("--sinkhorn-backward", "direct", "bistochastic: backward method", r.sinkhorn_backward,
               {"direct", "gauss-seidel", "unrolled"});
    add.integer("--cayley-iterations", "s", "2", "cayley: steps; 0: exact", r.cayley_iterations, 0, 1000);
    add.number("--cayley-step", "α", "0.1", "cayley: step", r.cayley_step);
    add.number("--sinkhorn-clamp", "c", "0: none", "bistochastic: logits are clamped to ±c (JPmHC: 10)",
               r.sinkhorn_clamp);
    add("--temperature", "τ", "1",
        "bistochastic, permutation, jpmhc's softmax routes: logits are divided by it",
        [&r](const auto& name, const auto& text) {
            const double typed = to_number(name, text);
            if (!(typed > 0)) throw std::invalid_argument(fmt::format("{} {}: must be > 0", name, text));
            r.temperature = typed;
        });
    add.integer("--permutations", "K", "all n!", "permutation, mhc-lite: number of permutations mixed",
                r.permutations, 1, 10000);
    add.choice(
        "--permutation-basis", "published",
        "which K: the identity, transpositions, shifts and random ones as in JPmHC, or the set of largest "
        "spectral gap (spectra figure generators)",
        r.permutation_basis, {"published", "optimal"});
}

void add_model_options(CLI::App& app, TrainRequest& r) {
    const OptionGroup add(app, "Model");
    add.choice("--architecture", "gpt",
               fmt::format("one of the papers' models: {}", fmt::join(architecture_choices(), ", ")),
               r.architecture, architecture_choices());
    add.choice(
        "--mixer", "",
        fmt::format(
            "a plain stack of hyper-connections with this mixer: {} (recursive, trm: its mixer, default cayley)",
            fmt::join(mixer_choices(), ", ")),
        r.mixer, mixer_choices());
    add.integer("--channels", "C", "the matched set's", "size of a token's state, all streams together",
                r.channels, 1, 1 << 20);
    add.integer("--streams", "n", "4", "residual streams", r.streams, 1, 512);
    add_model_details(add, r);
}

void add_data_options(CLI::App& app, TrainRequest& r) {
    const OptionGroup add(app, "Data");
    add.integer("--samples", "N", "the task's", "training sequences", r.samples, 1);
    add.integer("--validation-samples", "N", "all of the task's",
                "validation sequences: the first N. Fewer make every row of the log faster", r.validation_samples, 1);
    add("--data-seed", "N", "42", "seed of the data; 42 gives the published ones",
        [&r](const auto& name, const auto& text) { r.data_seed = to_seed(name, text); });
    add("--text", "FILE", "", "text: the file to learn", [&r](const auto&, const auto& text) { r.text = text; });
    add.integer("--context", "T", "64", "text: tokens per sequence", r.context, 1, 1 << 20);
    add.integer("--difficulty", "D", "1", "grid: recolour, turn, fall, fill or largest object", r.difficulty,
                1, 5);
    add("--grids", "PATH", "", "arc: a JSON file of puzzles, or a folder of them",
        [&r](const auto&, const auto& text) { r.grids = text; });
    add.integer("--vocabulary", "N", "0: bytes",
                "text: byte-pair tokens, learned from its first nine tenths; 256 or more", r.vocabulary, 0,
                1 << 16);
}

void add_training_options(CLI::App& app, TrainRequest& r) {
    const OptionGroup add(app, "Training");
    add.integer("--steps", "N", "2000", "steps, and the schedule's horizon; 0 writes the model as it starts",
                r.steps, 0);
    add.integer("--stop-after", "K", "", "stop and save at step K, as an interruption would", r.stop_after,
                1);
    add.integer("--batch", "B", "64; reflection 32", "sequences per batch", r.batch, 1);
    add.integer("--accumulate", "K", "1", "batches averaged per step", r.accumulate, 1,
                1 << 16);
    add.choice("--optimiser", "adamw", "update rule", r.optimiser, {"adamw", "adam-atan2", "signsgd"});
    add.choice(
        "--schedule", "cosine; reflection constant",
        "learning rate after the warm-up; late-drops: 0.316 of --lr from 80 % of the steps on, 0.1 from 90 %",
        r.schedule, {"cosine", "steps", "late-drops", "constant"});
    add.number("--lr", "η", "1e-3", "learning rate at its peak", r.rate);
    add.number("--puzzle-lr", "η", "1e-2", "trm: of puzzle embeddings, which SignSGD moves", r.puzzle_rate);
    add.number("--lr-floor", "η", "a tenth of --lr", "learning rate at the end", r.floor);
    add.integer("--warm-up", "K", "100; reflection 0", "steps of linear warm-up", r.warm_up, 0);
    add.number("--weight-decay", "w", "0.1; reflection 0.01", "of matrices (reflection: of all parameters)",
               r.weight_decay);
    add.number("--clip", "g", "1; reflection 0", "largest gradient norm; 0: no limit", r.clip);
    add("--seeds,--seed", "N,N…", "42", "seeds of weights and batches, one run per seed",
        [&r](const auto& name, const auto& text) {
            r.seeds.clear();
            for (const auto& part : split(text, ',')) r.seeds.push_back(to_seed(name, part));
        });
    add.flag("--recompute", "store only the states between blocks: less memory, more time", r.recompute);
    add.choice("--device", "auto", "where to compute", r.device, {"auto", "cpu", "cuda"});
    add.choice("--precision", "f32", "of the branches on CUDA; mixers are always f32", r.precision,
               {"f32", "bf16"});
    add.integer("--threads", "N", "OMP_NUM_THREADS, or all cores; 2 with a GPU", "threads on the CPU", r.threads, 1,
                4096);
}

void add_output_options(CLI::App& app, TrainRequest& r) {
    const OptionGroup add(app, "Output");
    add("--out", "STEM", "spectra-TASK-ARCHITECTURE", "writes STEM.ckpt, STEM.h5, STEM.csv and STEM.png",
        [&r](const auto&, const auto& text) { r.out = text; });
    add.integer("--log-every", "K", "100", "steps between rows of the log, diagnostics and checkpoints",
                r.log_every, 1);
    add("--checkpoint", "SECONDS", fmt::format("{}", r.checkpoint_seconds),
        "interval between checkpoints within rows of the log", [&r](const auto& name, const auto& text) {
            r.checkpoint_seconds = to_seconds(name, text);
        });
    add.flag("--resume", "continue STEM.ckpt, or start at the first step if there is none", r.resume);
    add.plot(r.plot);
    add.force(r.force);
    add.flag("--json", "print one JSON object", r.json);
    add.quiet(r.quiet);
}

}  // namespace

void add_options(CLI::App& app, TrainRequest& r) {
    app.add_option("TASK", r.task, "the task")
        ->type_name(fmt::format("{}", fmt::join(tasks::task_names(), "|")));
    add_model_options(app, r);
    add_data_options(app, r);
    add_training_options(app, r);
    add_output_options(app, r);
}

void add_options(CLI::App& app, CostRequest& r) {
    const OptionGroup model(app, "Model");
    const auto list = [&](const char* name, const std::string& what, auto& target, const auto& accepted) {
        model(name, fmt::format("{}", fmt::join(accepted, ",")), "", what,
              [&target, accepted](const auto& option, const auto& text) {
                  target.clear();
                  for (const auto& part : split(text, ','))
                      target.push_back(to_choice(option, part, accepted));
              });
    };
    list("--architecture", fmt::format("models of the papers: {}", fmt::join(architecture_choices(), ", ")),
         r.architectures, architecture_choices());
    list("--mixer",
         fmt::format("plain stacks of hyper-connections with these mixers: {}",
                     fmt::join(mixer_choices(), ", ")),
         r.mixers, mixer_choices());
    list("--modules", "connections alone, with the parameters of JPmHC's table 8", r.modules,
         std::vector<std::string>{"sinkhorn", "cayley", "grassmann", "permutation"});
    model("--streams", "LIST", "4", "residual streams: 4, 2:8 or 2,4,8",
          [&r](const auto& name, const auto& text) { r.streams = to_ints(name, text, 1, 64); });
    model.integer("--width", "p", "128", "channels of attention and MLP; with parallel streams, of each",
                  r.width, 1, 1 << 16);
    add_model_details(model, r.model);
    const OptionGroup run(app, "Measurement");
    run.integer("--batch", "B", "8", "sequences", r.batch, 1, 1 << 16);
    run.integer("--context", "T", "64", "tokens per sequence", r.context, 1, 1 << 16);
    run.integer("--runs", "K", "11", "runs of which the median time is shown", r.runs, 1, 10000);
    run.choice("--device", "auto", "where to compute", r.device, {"auto", "cpu", "cuda"});
    run.integer("--threads", "N", "OMP_NUM_THREADS, or all cores", "threads on the CPU", r.threads, 1, 4096);
    const OptionGroup output(app, "Output");
    output("--out", "STEM", "spectra-cost-NAME", "writes STEM.h5 and STEM.png",
           [&r](const auto&, const auto& text) { r.out = text; });
    output.plot(r.plot);
    output.force(r.force);
    output.flag("--json", "print one JSON object", r.json);
    output.quiet(r.quiet);
}

void add_options(CLI::App& app, EvaluateRequest& r) {
    app.add_option("CHECKPOINT", r.checkpoint, "a checkpoint of spectra train text")->type_name("FILE.ckpt");
    const OptionGroup add(app, "Data");
    add("--text", "FILE", "", "the text to predict", [&r](const auto&, const auto& text) { r.text = text; });
    const OptionGroup run(app, "Evaluation");
    run.choice("--device", "auto", "where to compute", r.device, {"auto", "cpu", "cuda"});
    run.integer("--threads", "N", "OMP_NUM_THREADS, or all cores", "threads on the CPU", r.threads, 1, 4096);
    const OptionGroup output(app, "Output");
    output.flag("--json", "print one JSON object", r.json);
    output.quiet(r.quiet);
}

}  // namespace spectra::cli
