#include "report/comparison.hpp"

#include "base/special_values.hpp"
#include "mixers/mixer.hpp"
#include "report/density_figure.hpp"
#include "report/stored_report.hpp"
#include "report/wording.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>

namespace spectra::report {
namespace {

/// A parameter of networks, and its wording.
struct Parameter {
    const char* name;     ///< in files
    const char* heading;  ///< above a column
    std::function<std::string(const Run&)> value, words;
    bool number;
};

const std::vector<Parameter>& parameters() {
    const auto plain = [](const auto member) {
        return [member](const Run& run) { return fmt::format("{}", run.*member); };
    };
    const auto words = [](const char* name, const auto member) {
        return [name, member](const Run& run) { return fmt::format("{} = {}", name, run.*member); };
    };
    const auto mixer = [](const Run& run) { return std::filesystem::path(run.mixer).filename().string(); };
    static const std::vector<Parameter> all{
        {"mixer", "mixer", mixer, mixer, false},
        {"branch", "branch", plain(&Run::branch), plain(&Run::branch), false},
        {"activation", "activation", plain(&Run::activation), plain(&Run::activation), false},
        {"streams", "n", plain(&Run::streams), words("n", &Run::streams), true},
        {"width", "p", plain(&Run::width), words("p", &Run::width), true},
        {"noise", "Lσ²", plain(&Run::noise), words("Lσ²", &Run::noise), true},
        {"seed", "seed", plain(&Run::seed), [](const Run& run) { return fmt::format("seed {}", run.seed); },
         true},
    };
    return all;
}

/// Do the networks differ in it?
bool varies(const std::vector<Compared>& compared, const Parameter& parameter) {
    std::set<std::string> values;
    for (const auto& [run, report] : compared) values.insert(parameter.value(run));
    return values.size() > 1;
}

bool is_mixer(const Parameter& parameter) {
    return std::string(parameter.name) == "mixer";
}

/// Appends after a comma, unless the text is empty.
void append(std::string& text, const std::string& words) {
    if (!words.empty()) text += (text.empty() ? "" : ", ") + words;
}

/// The parameters that all networks have in common.
std::string common_words(const std::vector<Compared>& compared) {
    std::string words;
    for (const auto& parameter : parameters()) {
        const std::string value = parameter.words(compared.front().run);
        const bool usual = value == "isotropic" || value == "none";
        if (!is_mixer(parameter) && !usual && !varies(compared, parameter)) append(words, value);
    }
    std::set<int> samples;
    for (const auto& [run, report] : compared) samples.insert(run.samples);
    if (samples.size() == 1 && *samples.begin() > 0)
        append(words, fmt::format("{} samples", *samples.begin()));
    return words;
}

/// The mixer and all other parameters that differ.
std::string row_words(const Run& run, const std::vector<Compared>& compared) {
    std::string words;
    for (const auto& parameter : parameters())
        if (is_mixer(parameter) || varies(compared, parameter)) append(words, parameter.words(run));
    return words;
}

constexpr int last_column = std::numeric_limits<int>::max();

/// Depths that only networks from files have, one per network. If there are several, they share a column;
/// otherwise most cells would be empty.
std::set<int> own_depths(const std::vector<Compared>& compared) {
    std::map<std::string, std::set<int>> by_row;
    std::set<int> shared, own;
    for (const auto& [run, report] : compared) {
        if (mixers::find_family(run.mixer))
            shared.insert(run.depth);
        else
            by_row[row_words(run, compared)].insert(run.depth);
    }
    for (const auto& [row, depths] : by_row)
        (depths.size() > 1 ? shared : own).insert(depths.begin(), depths.end());
    std::erase_if(own, [&](int depth) { return shared.contains(depth); });
    return own.size() > 1 ? own : std::set<int>{};
}

double distance(const Run& run, const SourcePair& pair) {
    const Agreement* const agreement = find(run.agreement, pair);
    return agreement != nullptr ? agreement->wasserstein1 : nan;
}

}  // namespace

std::vector<Compared> read_compared(const std::filesystem::path& file, const std::vector<Run>& runs) {
    std::vector<Compared> compared;
    for (const auto& run : runs) compared.push_back({run, read_report({run.name, file, "runs/" + run.name})});
    return compared;
}

DensityGrid comparison_grid(const std::vector<Compared>& compared) {
    DensityGrid grid;
    if (compared.empty()) return grid;
    const std::set<int> own = own_depths(compared);
    const auto is_own = [&](int depth) { return own.contains(depth); };
    std::set<int> depths;
    for (const auto& [run, report] : compared)
        if (!is_own(run.depth)) depths.insert(run.depth);
    for (const int depth : depths) grid.columns.push_back(fmt::format("L = {}", depth));
    if (!own.empty()) {
        depths.insert(last_column);
        grid.columns.emplace_back("own depth");
    }
    std::map<std::pair<std::string, int>, const Report*> cells;
    for (const auto& [run, report] : compared) {
        std::string row = row_words(run, compared);
        if (is_own(run.depth)) append(row, fmt::format("L = {}", run.depth));
        if (std::find(grid.rows.begin(), grid.rows.end(), row) == grid.rows.end()) grid.rows.push_back(row);
        cells[{row, is_own(run.depth) ? last_column : run.depth}] = &report;
    }
    for (const auto& row : grid.rows)
        for (const int depth : depths) {
            const auto found = cells.find({row, depth});
            grid.cells.push_back(found == cells.end() ? nullptr : found->second);
        }
    grid.title = "Jacobian, " + common_words(compared);
    grid.caption = {"collapsed: share of singular values below 0.1"};
    if (std::any_of(compared.begin(), compared.end(), [](const Compared& c) { return !c.run.certified; }))
        grid.caption.front() += "; !: not certified";
    return grid;
}

Table ranked_table(const std::vector<Compared>& compared) {
    std::vector<std::size_t> order(compared.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto metric = [&](std::size_t k, double Metrics::*member) {
        const Metrics* const metrics = best_metrics(compared[k].run.metrics);
        return metrics ? metrics->*member : nan;
    };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        // Differences by rounding do not count.
        const auto level = [&](std::size_t k) { return std::round(1e9 * metric(k, &Metrics::window)); };
        const double x = level(a), y = level(b);
        return std::isnan(y) ? !std::isnan(x) : x > y;
    });

    Table table;
    const auto numbers = [&](const std::string& name, const std::string& heading, const auto& of) {
        std::vector<double> cells;
        for (const std::size_t k : order) cells.push_back(of(k));
        if (std::all_of(cells.begin(), cells.end(), [](double x) { return std::isnan(x); })) return;
        table.columns.push_back({name, heading, std::move(cells)});
    };
    std::vector<double> rank(order.size());
    std::iota(rank.begin(), rank.end(), 1.0);
    table.columns.push_back({"rank", "rank", rank});
    for (const auto& parameter : parameters()) {
        if (!is_mixer(parameter) && !varies(compared, parameter)) continue;
        if (parameter.number) {
            numbers(parameter.name, parameter.heading,
                    [&](std::size_t k) { return std::stod(parameter.value(compared[k].run)); });
            continue;
        }
        std::vector<std::string> cells;
        for (const std::size_t k : order) cells.push_back(parameter.value(compared[k].run));
        table.columns.push_back({parameter.name, parameter.heading, std::move(cells)});
    }
    numbers("depth", "L", [&](std::size_t k) { return double(compared[k].run.depth); });
    numbers("window", "in window", [&](std::size_t k) { return metric(k, &Metrics::window); });
    numbers("collapsed", "collapsed", [&](std::size_t k) { return metric(k, &Metrics::collapsed); });
    numbers("effective_rank", "eff. rank",
            [&](std::size_t k) { return metric(k, &Metrics::effective_rank); });
    for (const auto theory : {Source::ov, Source::scalar, Source::s_transform, Source::printed}) {
        const SourcePair pair{theory, Source::montecarlo};
        numbers(name(pair) + "_wasserstein1", "W1 " + name(theory),
                [&](std::size_t k) { return distance(compared[k].run, pair); });
    }
    const auto expected = [&](double montecarlo::Expected::*member) {
        return [&, member](std::size_t k) {
            const auto& known = compared[k].report.expected;
            return known ? known->wasserstein1.*member : nan;
        };
    };
    numbers("wasserstein1_expected", "expected", expected(&montecarlo::Expected::mean));
    numbers("wasserstein1_expected_std", "±", expected(&montecarlo::Expected::deviation));
    const bool judged = table.columns.back().name == "wasserstein1_expected_std";
    numbers("largest", "largest", [&](std::size_t k) { return metric(k, &Metrics::largest); });

    std::vector<std::string> doubts;
    for (const std::size_t k : order)
        doubts.push_back(fmt::format("{}", fmt::join(compared[k].run.doubts, " ")));
    if (std::any_of(doubts.begin(), doubts.end(), [](const std::string& text) { return !text.empty(); }))
        table.columns.push_back({"not_certified", "not certified", std::move(doubts)});

    table.notes.push_back(
        fmt::format("{}. Ranked by the share of singular values in the window [0.75, 1.25]; "
                    "collapsed: share below 0.1; by the theory ov where there is one, else the "
                    "simulation.",
                    common_words(compared)));
    if (judged)
        table.notes.emplace_back(
            "W1: Wasserstein-1 distance of a theory to the simulation; expected: what width "
            "and samples alone explain of it.");
    return table;
}

}  // namespace spectra::report
