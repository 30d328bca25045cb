#include "options.hpp"

#include "option_group.hpp"
#include "weightfile/npy.hpp"
#include "base/text.hpp"
#include "network/network.hpp"
#include "network/number_files.hpp"
#include "console/values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <stdexcept>

namespace spectra::cli {

using namespace console;
using namespace study;

namespace {

int to_int(const std::string& name, const std::string& text, int least, int largest) {
    return static_cast<int>(to_integer(name, text, least, largest));
}

/// `sizes`: also add depth and width.
void add_network_options(CLI::App& app, Request& r, bool sizes) {
    const OptionGroup add(app, "Network");
    add("--mixer", fmt::format("{}|FILE", fmt::join(family_names(), "|")), "",
        fmt::format(
            "the mixers: a family ({}) or a file of matrices (JSON, HDF5, NumPy or CSV: one n×n for all layers, "
            "or L of them)",
            fmt::join(family_names(), ", ")),
        [&r](const auto&, const auto& text) { r.mixer = text; });
    if (sizes)
        add("--depth", "L", std::to_string(default_depth), "layers, 1 to 1000000",
            [&r](const auto& name, const auto& text) { r.depth = to_int(name, text, 1, max_depth); });
    add("--streams", "n", std::to_string(default_streams), "residual streams, 1 to 512",
        [&r](const auto& name, const auto& text) { r.streams = to_int(name, text, 1, max_streams); });
    if (sizes)
        add("--width", "p", std::to_string(default_width),
            "width of a stream in the simulation, 1 to 100000; theory is the limit of large p",
            [&r](const auto& name, const auto& text) { r.width = to_int(name, text, 1, max_width); });
    add("--draws", "independent|shared", "independent", "draw one mixer per layer, or one shared by all",
        [&r](const auto& name, const auto& text) {
            r.shared_draws = to_choice(name, text, {"independent", "shared"}) == "shared";
        });
    add("--seed", "N", "1", "random seed; the same seed gives bit-identical results",
        [&r](const auto& name, const auto& text) { r.seed = to_seed(name, text); });
    add("--model", "FILE.json", "",
        "read the whole network from one file: streams, depth, mixers, noise; or a weight file "
        "(docs/layouts.md), with its mixers at zero input",
        [&r](const auto&, const auto& text) { r.model = text; });
}

void add_family_options(CLI::App& app, Request& r) {
    const OptionGroup add_plain(app, "Mixer families");
    const auto add = [&](const std::string& name, const std::string& value, const std::string& initial,
                         const std::string& description,
                         const std::function<void(const std::string&, const std::string&)>& set) {
        add_plain(name, value, initial, description, [&r, set](const auto& option, const auto& text) {
            set(option, text);
            r.family_fields.push_back(field_name(option));
        });
    };
    constexpr int any = std::numeric_limits<int>::max();
    const mixers::Recipe d;
    add("--logit-scale", "X", fmt::format("{}", d.logit_scale), "bistochastic, cayley: logits are N(0, X²)",
        [&r](const auto& name, const auto& text) { r.recipe.logit_scale = to_number(name, text); });
    add("--sinkhorn-iterations", "T", "to tolerance", "bistochastic: sweeps over rows and columns",
        [&r](const auto& name, const auto& text) {
            r.recipe.sinkhorn_iterations = to_int(name, text, 0, any);
        });
    add("--cayley-iterations", "N|exact", fmt::format("{}", *d.cayley_iterations),
        "cayley: fixed-point steps, or the exact transform", [&r](const auto& name, const auto& text) {
            r.recipe.cayley_iterations =
                text == "exact" ? std::optional<int>() : std::optional<int>(to_int(name, text, 0, any));
        });
    add("--cayley-step", "α", fmt::format("{}", d.cayley_step), "cayley: step of the projection",
        [&r](const auto& name, const auto& text) { r.recipe.cayley_step = to_number(name, text); });
    add("--gate", "γ", fmt::format("{}", d.gate),
        "cayley-hybrid: γQ + (1−γ)H₂; trained gates end near 0 or 1",
        [&r](const auto& name, const auto& text) { r.recipe.gate = to_number(name, text); });
    add("--beta", "β", fmt::format("{}", d.beta), "cayley-hybrid: rotation strength; householder: I − βkkᵀ",
        [&r](const auto& name, const auto& text) { r.recipe.beta = to_number(name, text); });
    add("--rank", "K", "half of n, rounded up", "grassmann: rank of the projector",
        [&r](const auto& name, const auto& text) { r.recipe.rank = to_int(name, text, 0, any); });
    add("--permutations", "K", fmt::format("{}", d.permutations), "permutation: number of permutations mixed",
        [&r](const auto& name, const auto& text) { r.recipe.permutations = to_int(name, text, 1, any); });
}

/// `name` without its dashes is the array to take from an archive.
StreamWeights to_stream_weights(const std::string& name, const std::string& text) {
    if (text == "drawn") return {StreamWeights::Choice::drawn};
    if (text == "mean") return {StreamWeights::Choice::mean};
    if (weightfile::is_numpy_file(text)) {
        auto table = read_number_rows(text, field_name(name), name + " " + text);
        return {StreamWeights::Choice::given, std::move(table.values), table.rows};
    }
    try {
        return {StreamWeights::Choice::given, to_numbers(name, text)};
    } catch (const std::invalid_argument&) {
        throw std::invalid_argument(fmt::format("{} {}: must be drawn, mean, comma-separated finite numbers, one per "
                                                "stream, or a NumPy file",
                                                name, in_quotes(text)));
    }
}

void add_branch_options(CLI::App& app, Request& r) {
    const OptionGroup add(app, "Branch");
    add("--branch", fmt::format("{}", fmt::join(branch_names(), "|")), default_branch,
        "the random branch; isotropic: independent Gaussian entries; activation: Gaussian entries times slopes "
        "φ'(h); hyper-connection: reads one mix of the streams, writes all; tied: one isotropic branch for "
        "all layers, or a hyper-connection with --pre or --post",
        [&r](const auto& name, const auto& text) { r.branch = to_choice(name, text, branch_names()); });
    add("--noise", "C", fmt::format("{}", default_noise),
        "total variance of the branch, L·σ² (activation: L·σ_w²·Eφ'²); each layer gets C/L",
        [&r](const auto& name, const auto& text) {
            r.noise = to_number(name, text);
            if (*r.noise < 0)
                throw std::invalid_argument(fmt::format("{} '{}': must be ≥ 0", name, text));
        });
    add("--sigma2", "v[,v…]", "",
        "σ² per layer instead of --noise (activation: σ_w²): one value for all, or L values",
        [&r](const auto& name, const auto& text) { r.sigma2 = to_variances(name, text); });
    add("--activation", fmt::format("{}", fmt::join(activation_names(), "|")), default_activation,
        fmt::format("activation: φ, one of {}", fmt::join(activation_names(), ", ")),
        [&r](const auto& name, const auto& text) {
            r.activation = to_choice(name, text, activation_names());
        });
    add("--preactivation-variance", "q[,q…]", "propagated from 1 at the input",
        "activation: variance of h, one value for all layers, or L values",
        [&r](const auto& name, const auto& text) { r.preactivation_variance = to_variances(name, text); });
    add("--branch-law", "FILE", "",
        "isotropic, hyper-connection: singular values of the branch instead of a Gaussian, one set or one "
        "per layer; JSON, NumPy, or text with one set per line",
        [&r](const auto&, const auto& text) { r.branch_law = text; });
    add("--pre", "drawn|mean|v,v…|FILE", "drawn",
        "hyper-connection, tied: weights for reading the streams: softmax of N(0, 1) logits drawn from the "
        "seed, 1/n, n values, or a NumPy file of n or L×n",
        [&r](const auto& name, const auto& text) { r.pre = to_stream_weights(name, text); });
    add("--post", "drawn|mean|v,v…|FILE", "drawn",
        "hyper-connection, tied: weights for writing them: 2/(1 + e⁻ˣ) of such logits, 1, n values, or a file",
        [&r](const auto& name, const auto& text) { r.post = to_stream_weights(name, text); });
}

void add_average_option(const OptionGroup& add, Request& r, const std::string& description) {
    add("--average", "K", "", description,
        [&r](const auto& name, const auto& text) { r.average = to_int(name, text, 2, 100000); });
}

void add_theory_options(CLI::App& app, Request& r) {
    const OptionGroup add(app, "Theory");
    add("--theory", "ov,scalar,s-transform,printed|none", "ov,scalar",
        "ov: the operator-valued chain, exact at every depth; scalar: layers multiplied as free scalars; "
        "s-transform: a second exact method for orthogonal mixers, and for two layers of any; printed: the source "
        "paper's equation (7). All but ov support isotropic Gaussian branches only",
        [&r](const auto& name, const auto& text) {
            constexpr std::array all{dyson::Method::operator_valued, dyson::Method::scalar,
                                     dyson::Method::s_transform, dyson::Method::printed};
            std::vector<std::string> names;
            for (const auto method : all) names.push_back(dyson::name(method));
            r.methods.clear();
            r.methods_given = true;
            for (const auto& word : to_choices(name, text, names))
                r.methods.push_back(all[static_cast<std::size_t>(std::find(names.begin(), names.end(), word) -
                                                                 names.begin())]);
        });
    add("--eta", "auto|VALUE", "auto", "auto: the density itself; VALUE: smoothed at that Im ω",
        [&r](const auto& name, const auto& text) {
            if (text == "auto") {
                r.eta.reset();
                return;
            }
            try {
                r.eta = to_number(name, text);
            } catch (const std::invalid_argument&) {
                r.eta = 0;
            }
            if (!(*r.eta > 0))
                throw std::invalid_argument(
                    fmt::format("{} '{}': must be auto, or a finite number above 0", name, text));
        });
    add("--grid", "MIN:MAX:POINTS[:log]", "adaptive", "singular values at which to evaluate the density",
        [&r](const auto& name, const auto& text) { r.grid = to_grid(name, text); });
    add("--omega", "FILE|\"0.3+0.05i,…\"", "",
        "also evaluate g(ω) by the chain at these points (Im ω > 0), whatever --theory is; file: one per "
        "line, JSON with [re, im] pairs, or NumPy (complex, or K×2)",
        [&r](const auto& name, const auto& text) { r.omega = to_omega(name, text); });
}

void add_design_options(CLI::App& app, Request& r) {
    const OptionGroup add(app, "Design");
    add.flag(
        "--sensitivity",
        "derivatives of the ov metrics with respect to each layer's noise and each mixer entry; where triplets "
        "are kept, of the largest value with respect to each of them",
        r.sensitivity);
    add_average_option(add, r, "mean and spread of ov over K draws of the mixers, 2 to 100000");
}

void add_simulation_options(CLI::App& app, Request& r) {
    const OptionGroup add(app, "Simulation");
    add("--samples", "S", std::to_string(r.samples),
        "sampled Jacobians, 0 for none; where each takes long, the default is fewer, at least 25",
        [&r](const auto& name, const auto& text) {
            r.samples = to_int(name, text, 0, std::numeric_limits<int>::max());
            r.samples_given = true;
        });
    add("--until-error", "E", "",
        "stop once the standard errors of the mean square (relative), of the shares in [0.75, 1.25] and "
        "below 0.1 and of the law (W1 over the rms) are at most E; limited by --samples, 1000000 unless given",
        [&r](const auto& name, const auto& text) {
            r.until_error = to_number(name, text);
            if (!(*r.until_error > 0 && *r.until_error < 1))
                throw std::invalid_argument(
                    fmt::format("{} '{}': must be a number between 0 and 1", name, text));
        });
    add.flag("--resume", "continue the simulation in STEM.h5, or start it if there is none",
             r.resume);
    add("--checkpoint", "SECONDS", fmt::format("{}", r.checkpoint_seconds),
        "interval between saves of the samples to STEM.h5", [&r](const auto& name, const auto& text) {
            r.checkpoint_seconds = to_seconds(name, text);
        });
    add("--slopes", "drawn|propagated", "drawn",
        "activation: φ'(h) at independent h, or in a forward pass from a random input",
        [&r](const auto& name, const auto& text) {
            r.slopes = to_choice(name, text, {"drawn", "propagated"}) == "propagated"
                           ? montecarlo::Slopes::propagated
                           : montecarlo::Slopes::drawn;
        });
    add("--method", "auto|dense|quadrature", "auto",
        fmt::format(
            "all singular values of every Jacobian, or their law by Golub-Kahan quadrature, for large "
            "N; auto: dense to N = {}",
            montecarlo::largest_dense),
        [&r](const auto& name, const auto& text) {
            const auto choice = to_choice(name, text, {"auto", "dense", "quadrature"});
            r.method = choice == "dense"        ? montecarlo::Method::dense
                       : choice == "quadrature" ? montecarlo::Method::quadrature
                                                : montecarlo::Method::automatic;
        });
    add("--mixers", "fixed|redrawn", "fixed", "the same mixers for every sample, or redrawn for each",
        [&r](const auto& name, const auto& text) {
            r.redrawn = to_choice(name, text, {"fixed", "redrawn"}) == "redrawn";
        });
    add("--device", "auto|cpu|cuda", "auto",
        "where to simulate; auto: a GPU if the work is large enough",
        [&r](const auto& name, const auto& text) {
            const auto choice = to_choice(name, text, {"auto", "cpu", "cuda"});
            r.device = choice == "cpu"    ? montecarlo::Device::cpu
                       : choice == "cuda" ? montecarlo::Device::cuda
                                          : montecarlo::Device::automatic;
        });
    add("--precision", "f64|f32", "f64", "precision of the matrices; f32 only on a GPU",
        [&r](const auto& name, const auto& text) {
            r.precision = to_choice(name, text, {"f64", "f32"}) == "f32" ? montecarlo::Precision::f32
                                                                         : montecarlo::Precision::f64;
        });
    add("--keep", "histogram|values", "values while they fit 256 MB",
        "what the result file keeps of the samples", [&r](const auto& name, const auto& text) {
            r.keep = to_choice(name, text, {"histogram", "values"}) == "values" ? montecarlo::Keep::values
                                                                                : montecarlo::Keep::histogram;
        });
}

void add_output_options(CLI::App& app, Request& r, const std::string& stem, const std::string& threads) {
    const OptionGroup add(app, "Output");
    add("--out", "STEM", stem, "writes STEM.h5 and STEM.png",
        [&r](const auto&, const auto& text) { r.out = text; });
    add.force(r.force);
    add.plot(r.plots);
    add("--size", "page|column", "page",
        "width of the figure: a whole page, or one of two columns with the panels stacked",
        [&r](const auto& name, const auto& text) {
            r.column = to_choice(name, text, {"page", "column"}) == "column";
        });
    add.flag("--json", "print one JSON object and nothing else", r.json);
    add("--threads", "N", "all", threads,
        [&r](const auto& name, const auto& text) { r.threads = to_int(name, text, 1, 4096); });
    add.quiet(r.quiet);
}

}  // namespace

void add_options(CLI::App& app, Request& request) {
    add_network_options(app, request, true);
    add_family_options(app, request);
    add_branch_options(app, request);
    add_theory_options(app, request);
    add_design_options(app, request);
    add_simulation_options(app, request);
    add_output_options(app, request, "spectra-<mixer>-L<depth>",
                       "threads to use; results do not depend on it");
}

void add_options(CLI::App& app, DepthLimitRequest& request) {
    const OptionGroup add(app, "Question");
    add("--keep", "SHARE", fmt::format("{}", request.keep),
        "least share of the singular values to keep, above 0 and at most 1",
        [&request](const auto& name, const auto& text) {
            request.keep = to_number(name, text);
            if (!(request.keep > 0 && request.keep <= 1))
                throw std::invalid_argument(
                    fmt::format("{} '{}': must be above 0 and at most 1", name, text));
        });
    add("--above", "s", fmt::format("{}", request.above), "at or above this singular value",
        [&request](const auto& name, const auto& text) {
            request.above = to_number(name, text);
            if (!(request.above > 0))
                throw std::invalid_argument(
                    fmt::format("{} '{}': must be a finite number above 0", name, text));
        });
    add("--max-depth", "L", std::to_string(default_max_depth),
        "largest depth to search, 1 to 1000000; at most the layers in a file of mixers or a model",
        [&request](const auto& name, const auto& text) {
            request.max_depth = to_int(name, text, 1, max_depth);
        });
    add_average_option(add, request.network,
                       "also the limit for K more draws of the mixers, 2 to 100000: median and spread");
    add_network_options(app, request.network, false);
    add_family_options(app, request.network);
    add_branch_options(app, request.network);
    add_output_options(app, request.network, "spectra-depth-limit-<mixer>",
                       "threads for the draws of --average; results do not depend on it");
}

}  // namespace spectra::cli
