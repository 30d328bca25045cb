#include "options.hpp"

#include "option_group.hpp"
#include "study/figures/figures.hpp"
#include "base/text.hpp"
#include "network/network.hpp"
#include "values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>

namespace spectra::cli {

using namespace study;

namespace {

std::vector<int> to_depths(const std::string& name, const std::string& text) {
    std::vector<int> depths;
    for (const auto& word : split(text, ','))
        depths.push_back(static_cast<int>(to_integer(name, word, 1, max_depth)));
    std::sort(depths.begin(), depths.end());
    depths.erase(std::unique(depths.begin(), depths.end()), depths.end());
    return depths;
}

std::vector<std::string> to_mixers(const std::string& name, const std::string& text) {
    std::vector<std::string> mixers;
    for (const auto& word : split(text, ',')) {
        if (word.empty())
            throw std::invalid_argument(
                fmt::format("{} {}: accepted: families or files with commas between", name, in_quotes(text)));
        if (std::find(mixers.begin(), mixers.end(), word) == mixers.end()) mixers.push_back(word);
    }
    return mixers;
}

}  // namespace

void add_options(CLI::App& app, FigureRequest& r) {
    std::vector<std::string> names;
    for (const auto& kind : figure_kinds()) names.push_back(kind.name);
    app.add_option("NAME", r.name, fmt::format("{}, or all of them: all", fmt::join(names, ", ")))
        ->type_name("[NAME]");
    app.add_option("FILES", r.files, "training, rank: files that spectra train wrote")
        ->type_name("[FILE.h5…]");

    constexpr const char* own = "the figure's own";
    // Remembers that an option was typed: not every figure reads every one.
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
            fmt::format("families ({}) or files of matrices, with commas between",
                        fmt::join(family_names(), ", ")),
            typed([&r](const auto& name, const auto& text) { r.mixers = to_mixers(name, text); }));
    network("--depths,--depth", "L,L…", own, "layers: where curves are evaluated, or one panel each",
            typed([&r](const auto& name, const auto& text) { r.depths = to_depths(name, text); }));
    network("--max-depth", "L", own, "of curves against depth, evaluated at depths spaced evenly in ln L",
            integer(r.max_depth, 1, max_depth));
    network("--streams", "n", std::to_string(default_streams), "residual streams",
            integer(r.streams, 1, max_streams));
    network("--width", "p", own, "width of a stream in simulations; of the figure width the largest",
            integer(r.width, 1, max_width));
    network("--noise", "C", own, "total variance of the branch, L·σ²",
            typed([&r](const auto& name, const auto& text) { r.noise = to_variances(name, text).front(); }));
    network("--seed", "N", "1", "of mixers and samples",
            typed([&r](const auto& name, const auto& text) { r.seed = to_seed(name, text); }));
    network("--samples", "S", own, "of a simulation", integer(r.samples, 2, std::numeric_limits<int>::max()));

    const OptionGroup add(app, "Output");
    add("--out", "STEM", "spectra-figure-NAME", "writes STEM.h5 and STEM.png; of all figures STEM-NAME.h5 …",
        [&r](const auto&, const auto& text) { r.out = text; });
    add.flag("--force", "replace files that are not result files of ours", r.force);
    add.plot(r.plots);
    add("--palette", "colour|grey", "colour", "of the figure; its lines differ in dashes too",
        [&r](const auto& name, const auto& text) {
            r.grey = to_choice(name, text, {"colour", "grey"}) == "grey";
        });
    add("--size", "page|column", "page",
        "of the figure: as wide as the page, or as one of two columns, its panels below each other",
        [&r](const auto& name, const auto& text) {
            r.column = to_choice(name, text, {"page", "column"}) == "column";
        });
    add.flag("--json", "print one JSON object and nothing else", r.json);
    add.integer("--threads", "N", "all", "threads to use; the numbers do not depend on it, but for cost",
                r.threads, 1, 4096);
    add.flag("--quiet", "print nothing but errors (and what --json asks for)", r.quiet);
}

}  // namespace spectra::cli
