#include "options.hpp"

#include "option_group.hpp"
#include "weightfile/tensor_file.hpp"
#include "base/text.hpp"
#include "network/network.hpp"
#include "console/values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>

namespace spectra::cli {

using namespace console;
using namespace study;

namespace {

template <class T>
void add_new(std::vector<T>& list, const T& value) {
    if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

/// FIRST, FIRST:LAST or FIRST:LAST:STEP, comma-separated.
template <class T>
std::vector<T> to_ranges(const std::string& option, const std::string& text, T least, T largest) {
    const auto refuse = [&](const std::string& part) {
        throw std::invalid_argument(
            fmt::format("{} {}: must be comma-separated integers from {} to {}, or FIRST:LAST[:STEP]",
                        option, in_quotes(part), least, largest));
    };
    const auto integer = [&](const std::string& part, const std::string& word, T low) {
        T value{};
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (end != word.data() + word.size() || error != std::errc{} || value < low || value > largest)
            refuse(part);
        return value;
    };
    std::vector<T> values;
    std::set<T> seen;
    const auto add = [&](T value) {
        if (seen.insert(value).second) values.push_back(value);
    };
    for (const auto& part : split(text, ',')) {
        const auto words = split(part, ':');
        if (words.size() > 3) refuse(part);
        const T first = integer(part, words[0], least);
        const T last = words.size() > 1 ? integer(part, words[1], least) : first;
        const T step = words.size() > 2 ? integer(part, words[2], T{1}) : T{1};
        if (last < first) refuse(part);
        if ((last - first) / step >= static_cast<T>(max_networks))
            throw std::invalid_argument(
                fmt::format("{} {}: must be up to {} values", option, in_quotes(part), max_networks));
        for (T value = first;; value += step) {
            add(value);
            if (last - value < step) break;
        }
    }
    return values;
}

}  // namespace

std::vector<int> to_ints(const std::string& option, const std::string& text, int least, int largest) {
    return to_ranges<int>(option, text, least, largest);
}

namespace {

std::vector<double> to_noises(const std::string& option, const std::string& text) {
    std::vector<double> values;
    for (const double value : to_variances(option, text)) add_new(values, value);
    return values;
}

std::vector<std::string> to_mixers(const std::string& option, const std::string& text) {
    std::vector<std::string> names;
    for (const auto& name : split(text, ',')) {
        if (name == "fixed" || name == "redrawn")
            throw std::invalid_argument(
                fmt::format("{} '{}': this option names the mixers of the grid; use --redrawn instead",
                            option, name));
        if (name.empty())
            throw std::invalid_argument(fmt::format("{} {}: must be comma-separated families or files",
                                                    option, in_quotes(text)));
        add_new(names, name);
    }
    return names;
}

/// Weight files, opened once to check that they are readable.
std::vector<std::string> to_checkpoints(const std::string& option, const std::string& text) {
    std::vector<std::string> files;
    for (const auto& name : split(text, ',')) {
        if (name.empty())
            throw std::invalid_argument(
                fmt::format("{} {}: must be comma-separated weight files", option, in_quotes(text)));
        weightfile::TensorFile::open(name);
        add_new(files, name);
    }
    return files;
}

/// Options of the analysis that a grid replaces with a list, or that do not apply to many networks at once.
constexpr const char* replaced[] = {"--mixer", "--depth", "--streams", "--width", "--seed",   "--branch",
                                    "--noise", "--model", "--mixers",  "--plot",  "--resume", "--out", "--size"};

void add_grid_options(CLI::App& app, SweepRequest& r) {
    const OptionGroup add(app, "Grid");
    add("--mixers,--mixer", fmt::format("{},FILE", fmt::join(family_names(), ",")), "",
        fmt::format("families ({}) or files of matrices, comma-separated",
                    fmt::join(family_names(), ", ")),
        [&r](const auto& name, const auto& text) { r.mixers = to_mixers(name, text); });
    add("--checkpoints", "FILE,FILE…", "",
        "weight files (docs/layouts.md), in addition to --mixers or alone: their mixers at zero input, with "
        "their own depth, streams and branch",
        [&app, &r](const auto& name, const auto& text) {
            r.checkpoints = to_checkpoints(name, text);
            if (app.count("--mixers") == 0) r.mixers.clear();
        });
    add("--branches,--branch", fmt::format("{}", fmt::join(branch_names(), ",")), default_branch,
        fmt::format("branches: {}", fmt::join(branch_names(), ", ")),
        [&r](const auto& name, const auto& text) {
            r.branches.clear();
            for (const auto& word : split(text, ','))
                add_new(r.branches, to_choice(name, word, branch_names()));
        });
    add("--streams", "n,n…", std::to_string(default_streams), "residual streams, 1 to 512",
        [&r](const auto& name, const auto& text) { r.streams = to_ints(name, text, 1, max_streams); });
    add("--widths,--width", "p,p…", std::to_string(default_width),
        "widths of a stream in the simulation, 1 to 100000",
        [&r](const auto& name, const auto& text) { r.widths = to_ints(name, text, 1, max_width); });
    add("--depths,--depth", "L,L…", std::to_string(default_depth), "layers, 1 to 1000000",
        [&r](const auto& name, const auto& text) { r.depths = to_ints(name, text, 1, max_depth); });
    add("--noises,--noise", "C,C…", fmt::format("{}", default_noise), "total variances of the branch, L·σ²",
        [&r](const auto& name, const auto& text) { r.noises = to_noises(name, text); });
    add("--seeds,--seed", "N,N…", "1",
        "seeds; any list of integers also takes FIRST:LAST[:STEP], both ends included",
        [&r](const auto& name, const auto& text) {
            r.seeds = to_ranges<std::uint64_t>(name, text, 0, std::numeric_limits<std::uint64_t>::max());
        });
    app.add_flag("--redrawn", r.each.redrawn, "redraw the mixers for every sample")->group("Simulation");
    auto* const out = app.add_option_function<std::string>(
        "--out", [&r](const std::string& text) { r.each.out = text; },
        "writes STEM.h5 and STEM.csv; finished networks are kept in STEM.parts until all are done");
    out->type_name("STEM")->default_str("spectra-sweep")->group("Output");
}

}  // namespace

void add_options(CLI::App& app, SweepRequest& request) {
    add_options(app, request.each);
    for (const char* name : replaced)
        if (auto* const option = app.get_option_no_throw(name)) app.remove_option(option);
    add_grid_options(app, request);
}

}  // namespace spectra::cli
