#include "options.hpp"

#include "option_group.hpp"
#include "layouts/layouts.hpp"
#include "console/values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <stdexcept>

namespace spectra::cli {

using namespace console;
using namespace study;

namespace {

void add_model_options(CLI::App& app, ValidateRequest& r) {
    const OptionGroup add(app, "Model");
    add("--layout", "NAME|MAP.json", "recognised",
        fmt::format("tensor-name layout: {}; or your own mapping file (docs/layouts.md)",
                    fmt::join(layouts::layout_names(), ", ")),
        [&r](const auto&, const auto& text) { r.layout = text; });
    add.flag("--list", "list the contents of the files and exit", r.list);
    add.flag("--run-script", "run TorchScript modules, which are programs (SECURITY.md); without it, ask", r.run_script);
    add.number("--noise", "C", "0.05",
               "weight files: total branch variance to assume, since branches are not run", r.noise);
}

void add_measurement_options(CLI::App& app, ValidateRequest& r) {
    const OptionGroup add(app, "Measurement");
    add("--at", "zero|data", "data; weight files: zero",
        "where input-dependent mixers are evaluated: at zero input, or at the task's validation data (weight "
        "files: at random inputs)",
        [&r](const auto& name, const auto& text) {
            r.at = to_choice(name, text, {"zero", "data"});
        });
    add("--input", "FILE", "",
        "input of the model: the array of a NumPy file (.npy, .npz), or the tensor of a torch.save or safetensors "
        "file; of several, the one called input or x",
        [&r](const auto&, const auto& text) { r.input = text; });
    add("--shape", "A,B,…", "", "TorchScript: draw N(0, 1) inputs of this shape",
        [&r](const auto& name, const auto& text) {
            r.shape.clear();
            for (const auto& part : split(text, ','))
                r.shape.push_back(to_integer(name, part, 1, std::int64_t{1} << 30));
        });
    add.integer("--inputs", "K", "8", "number of inputs; their singular values are pooled", r.inputs, 1,
                10000);
    add("--token", "last|K|all", "last",
        "whose state: the last token's, token K's (from 0), or all together",
        [&r](const auto& name, const auto& text) {
            r.all_tokens = text == "all";
            if (text != "all" && text != "last")
                r.token = static_cast<int>(to_integer(name, text, 0, 1 << 20));
        });
    add("--aligned", "R|auto|none", "auto; --token all: none",
        "triplets of every branch to keep in the prediction; auto: the fewest that explain the measurement",
        [&r](const auto& name, const auto& text) {
            r.alignment = text != "none";
            r.aligned.reset();
            if (text != "none" && text != "auto") r.aligned = static_cast<int>(to_integer(name, text, 0, 1 << 20));
        });
    add.number("--explain", "X", "0.02", "largest W1, relative to the root mean square, that counts as explained", r.explain);
    add.integer("--triplets", "R", "0",
                "store the R largest triplets of every branch at the first input: spectra --model RESULT.h5 then repeats "
                "the prediction without the model",
                r.triplets, 0, 1 << 20);
    add.choice("--device", "auto", "where the model runs", r.device, {"auto", "cpu", "cuda"});
    add.choice("--precision", "f64", "precision of the model: f64 converts it, f32 leaves it as it is", r.precision,
               {"f64", "f32"});
    add("--seed", "N", "1", "random seed",
        [&r](const auto& name, const auto& text) { r.seed = to_seed(name, text); });
    add.integer("--threads", "N", "OMP_NUM_THREADS, or all cores", "threads on the CPU", r.threads, 1, 4096);
}

void add_verdict_options(CLI::App& app, ValidateRequest& r) {
    const OptionGroup add(app, "Verdict");
    add("--require", "NAME>=X,…", "window>=0.9,collapsed<=0.05,largest<=2",
        fmt::format(
            "what must hold for the measured values, or, without any, for the predicted law: {}",
            fmt::join(validation::required_names(), ", ")),
        [&r](const auto& name, const auto& text) {
            try {
                r.require = validation::parse_requirements(text);
            } catch (const std::invalid_argument& error) {
                throw std::invalid_argument(name + " " + error.what());
            }
        });
}

void add_output_options(CLI::App& app, ValidateRequest& r) {
    const OptionGroup add(app, "Output");
    add("--out", "STEM", "spectra-validate-FILE", "writes STEM.h5 and STEM.png",
        [&r](const auto&, const auto& text) { r.out = text; });
    add.plot(r.plot);
    add.force(r.force);
    add.flag("--json", "print one JSON object and nothing else", r.json);
    add.quiet(r.quiet);
}

}  // namespace

void add_options(CLI::App& app, ValidateRequest& r) {
    app.add_option("FILE", r.files, "checkpoints, weight files, or folders of published models")->type_name("FILE…")->expected(0, 10000);
    add_model_options(app, r);
    add_measurement_options(app, r);
    add_verdict_options(app, r);
    add_output_options(app, r);
}

}  // namespace spectra::cli
