#include "options.hpp"

#include "option_group.hpp"
#include "study/figures/figures.hpp"
#include "base/text.hpp"
#include "network/network.hpp"
#include "console/values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>

namespace spectra::cli {

using namespace console;
using namespace study;

namespace {

std::vector<int> to_depths(const std::string& name, const std::string& text) {
    std::set<int> depths;
    for (const auto& d : split(text, ',')) depths.insert(static_cast<int>(to_integer(name, d, 1, max_depth)));
    return {depths.begin(), depths.end()};
}

std::vector<std::string> to_mixers(const std::string& name, const std::string& text) {
    std::vector<std::string> mixers;
    for (const auto& word : split(text, ',')) {
        if (word.empty())
            throw std::invalid_argument(
                fmt::format("{} {}: must be comma-separated families or files", name, in_quotes(text)));
        if (std::find(mixers.begin(), mixers.end(), word) == mixers.end()) mixers.push_back(word);
    }
    return mixers;
}

}  // namespace

void add_options(CLI::App& app, FigureRequest& r) {
    std::vector<std::string> names;
    for (const auto& kind : figure_kinds()) names.push_back(kind.name);
    app.add_option("NAME", r.name, fmt::format("{}, or all", fmt::join(names, ", ")))->type_name("[NAME]");
    app.add_option("FILES", r.files, "results of spectra train or validate")->type_name("[FILE.h5…]");

    constexpr const char* own = "the figure's own";
    // Records that an option was given: not every figure uses every option.
    const auto typed = [&r](const auto& set) {
        return [&r, set](const std::string& name, const std::string& text) {
            set(name, text);
            r.given.insert(field_name(name));
        };
    };
    const auto integer = [&](std::optional<int>& target, int least, int largest) {
        return typed([&target, least, largest](const std::string& name, const std::string& text) {
            target = static_cast<int>(to_integer(name, text, least, largest));
        });
    };
    const OptionGroup network(app, "Network");
    network("--mixers,--mixer", fmt::format("{},FILE", fmt::join(family_names(), ",")), own,
            fmt::format("families ({}) or files of matrices, comma-separated",
                        fmt::join(family_names(), ", ")),
            typed([&r](const auto& name, const auto& text) { r.mixers = to_mixers(name, text); }));
    network("--depths,--depth", "L,L…", own, "layers: where curves are evaluated, or one panel each",
            typed([&r](const auto& name, const auto& text) { r.depths = to_depths(name, text); }));
    network("--max-depth", "L", own, "largest depth of curves, evaluated at depths spaced evenly in ln L",
            integer(r.max_depth, 1, max_depth));
    network("--streams", "n", std::to_string(default_streams), "residual streams",
            integer(r.streams, 1, max_streams));
    network("--width", "p", own, "width of a stream in simulations; figure width: the largest",
            integer(r.width, 1, max_width));
    network("--noise", "C", own, "total variance of the branch, L·σ²",
            typed([&r](const auto& name, const auto& text) { r.noise = to_variances(name, text).front(); }));
    network("--sinkhorn-iterations", "T", "to tolerance", "composite, mixers …: sweeps (bistochastic)",
            integer(r.sinkhorn_iterations, 1, std::numeric_limits<int>::max()));
    network("--logit-scale", "X", "1", "the same: logits of bistochastic and cayley mixers are N(0, X²)",
            typed([&r](const auto& name, const auto& text) { r.logit_scale = to_number(name, text); }));
    network("--seed", "N", "1", "seed of mixers and samples",
            typed([&r](const auto& name, const auto& text) { r.seed = to_seed(name, text); }));
    network("--samples", "S", own, "samples per simulation", integer(r.samples, 2, std::numeric_limits<int>::max()));

    const OptionGroup add(app, "Output");
    add("--out", "STEM", "spectra-figure-NAME", "writes STEM.h5 and STEM.png; for all: STEM-NAME.h5 …",
        [&r](const auto&, const auto& text) { r.out = text; });
    add.force(r.force);
    add.plot(r.plots);
    add("--palette", "colour|grey|dark", "colour",
        "of the figure; lines also differ in dashes. dark: light on a dark page, for screens",
        [&r](const auto& name, const auto& text) {
            const std::string palette = to_choice(name, text, {"colour", "grey", "dark"});
            r.grey = palette == "grey";
            r.dark = palette == "dark";
        });
    add("--size", "page|column", "page",
        "width of the figure: a whole page, or one of two columns with the panels stacked",
        [&r](const auto& name, const auto& text) {
            r.column = to_choice(name, text, {"page", "column"}) == "column";
        });
    add.flag("--json", "print one JSON object and nothing else", r.json);
    add.integer("--threads", "N", "all", "threads to use; the numbers do not depend on it, except for cost",
                r.threads, 1, 4096);
    add.quiet(r.quiet);
}

}  // namespace spectra::cli
