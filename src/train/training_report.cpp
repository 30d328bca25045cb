#include "train/training_report.hpp"

#include "base/special_values.hpp"
#include "h5/file.hpp"
#include "base/atomic_file.hpp"
#include "report/json_number.hpp"
#include "report/result_file.hpp"
#include "report/wording.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace spectra::train {
namespace {

using report::baseline_words;
using Json = nlohmann::ordered_json;
using report::number;

std::vector<double> column(const TrainingLog& log, std::size_t index) {
    std::vector<double> values;
    for (const auto& row : log.rows) values.push_back(row[index]);
    return values;
}

/// The values of a diagnostic in all rows, one after the other.
std::vector<double> all_rows(const TrainingLog& log, std::size_t index) {
    std::vector<double> values;
    for (const auto& along : log.diagnostics)
        values.insert(values.end(), along[index].values.begin(), along[index].values.end());
    return values;
}

std::string loss_name(const TrainingReport& report) {
    return report.architecture == "trm" ? "stablemax cross-entropy (nats)"
           : report.tokens              ? "cross-entropy (nats)"
                                        : "mean square error";
}

std::string measure_words(const std::string& name) {
    if (name == "norm_deviation") return "norm deviation, one pass";
    if (name == "norm_deviation_rollout") return "norm deviation, roll-out";
    if (name == "cosine") return "cosine to the target";
    if (name == "perplexity") return "perplexity, per token";
    if (name == "bits_per_byte") return "bits per byte";
    if (name == "cell_accuracy") return "cells right, mean of grids";
    if (name == "exact_accuracy") return "grids exactly right";
    if (name == "halting_step") return "supervision steps to halting";
    if (name == "halt_accuracy") return "halting says if it is right";
    if (name.starts_with("pass_at_")) return "pass@" + name.substr(8) + ", of 100 samples";
    if (name == "rank_preservation") return "rank of states, last over first";
    if (name == "rank_decay") return "slope of its logarithm, per block";
    return name;
}

// Colours and dashes that also differ in grey print.
constexpr const char* colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"};

std::vector<double> log10_of(std::vector<double> values) {
    for (auto& v : values) v = v > 0 ? std::log10(v) : nan;
    return values;
}

plot::Axis axis_over(const std::string& label, plot::Scale scale,
                       const std::vector<plot::Series>& series) {
    plot::Axis axis{label, scale, INFINITY, -INFINITY};
    for (const auto& s : series)
        for (const double y : s.y)
            if (std::isfinite(y)) {
                axis.min = std::min(axis.min, y);
                axis.max = std::max(axis.max, y);
            }
    if (axis.min > axis.max) axis.min = 0, axis.max = 1;
    const double room =
        std::max(0.05 * (axis.max - axis.min), scale == plot::Scale::logarithmic ? 0.1 : 1e-3);
    axis.min -= room;
    axis.max += room;
    return axis;
}

plot::Panel loss_panel(const TrainingReport& r, double last) {
    const auto steps = column(r.result.log, 0);
    plot::Panel panel;
    panel.x = {"step", plot::Scale::whole, 0, last};
    panel.series.push_back({"training", plot::Mark::line, plot::Dash::solid, 1.5, "#999999", steps,
                            log10_of(column(r.result.log, 1))});
    panel.series.push_back({"validation", plot::Mark::line, plot::Dash::solid, 2.5, colours[0], steps,
                            log10_of(column(r.result.log, 2))});
    constexpr std::size_t most_marked = 60;
    if (steps.size() <= most_marked)
        panel.series.push_back({"", plot::Mark::points, plot::Dash::solid, 9, colours[0], steps,
                                log10_of(column(r.result.log, 2))});
    std::size_t k = 1;
    for (const auto& [name, value] : named_baselines(r.baselines)) {
        if (!(value > 0) || name == "plain_negation") continue;
        const double y = std::log10(value);
        panel.series.push_back({baseline_words(name),
                                plot::Mark::line,
                                plot::Dash::dashed,
                                1.5,
                                colours[k++ % std::size(colours)],
                                {0, last},
                                {y, y}});
    }
    panel.y = axis_over(loss_name(r), plot::Scale::logarithmic, panel.series);
    return panel;
}

/// "sublayer k" at the end of every line, moved apart if lines are close.
void label_ends(plot::Panel& panel, const std::vector<std::size_t>& places) {
    for (std::size_t k = 0; k < places.size(); ++k)
        if (const auto& y = panel.series[k].y; !y.empty() && std::isfinite(y.back()))
            panel.annotations.push_back(
                {0.98 * panel.x.max, y.back(), fmt::format("sublayer {}", places[k] + 1), true});
    auto& labels = panel.annotations;
    std::sort(labels.begin(), labels.end(), [](const auto& a, const auto& b) { return a.y < b.y; });
    const double apart = 0.06 * (panel.y.max - panel.y.min);
    for (std::size_t k = 1; k < labels.size(); ++k)
        labels[k].y = std::max(labels[k].y, labels[k - 1].y + apart);
    if (labels.empty()) return;
    const double over = labels.back().y - (panel.y.max - apart / 2);
    if (over > 0)
        for (auto& label : labels) label.y -= over;
}

/// Gates and β, or without them the effective rank, at the beginning, middle and end of the network.
std::optional<plot::Panel> depth_panel(const TrainingReport& r, double last) {
    const auto& log = r.result.log;
    if (log.diagnostics.empty() || log.diagnostics.front().empty()) return std::nullopt;
    const auto& names = log.diagnostics.front();
    auto shown = std::find_if(names.begin(), names.end(), [](const auto& d) { return d.name == "gate"; });
    if (shown == names.end())
        shown = std::find_if(names.begin(), names.end(), [](const auto& d) { return d.name == "beta"; });
    if (shown == names.end())
        shown = std::find_if(names.begin(), names.end(),
                             [](const auto& d) { return d.name == "effective_rank"; });
    if (shown == names.end()) return std::nullopt;
    const auto index = static_cast<std::size_t>(shown - names.begin());
    const auto places = shown->values.size();
    plot::Panel panel;
    panel.x = {"step", plot::Scale::whole, 0, last};
    std::vector<std::size_t> chosen{0, places / 2, places - 1};
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    for (std::size_t k = 0; k < chosen.size(); ++k) {
        std::vector<double> y;
        for (const auto& along : log.diagnostics) y.push_back(along[index].values[chosen[k]]);
        panel.series.push_back({"", plot::Mark::line,
                                k % 2 == 0 ? plot::Dash::solid : plot::Dash::dashed, 2, colours[k],
                                column(log, 0), y});
    }
    const std::string label = shown->name == "gate"   ? "gate γ"
                              : shown->name == "beta" ? "β"
                                                      : "effective rank of states";
    panel.y = axis_over(label, plot::Scale::linear, panel.series);
    if (places > 1) label_ends(panel, chosen);
    return panel;
}

}  // namespace

const std::vector<std::string>& TrainingLog::columns() {
    static const std::vector<std::string> names{"step", "loss", "val_loss", "learning_rate", "gradient_norm"};
    return names;
}

std::vector<std::pair<std::string, double>> named_baselines(const tasks::Baselines& b) {
    std::vector<std::pair<std::string, double>> named;
    const auto add = [&](const char* name, const std::optional<double>& value) {
        if (value) named.emplace_back(name, *value);
    };
    add("copy", b.copy);
    add("zero", b.zero);
    add("negation", b.negation);
    add("plain_negation", b.plain_negation);
    add("running_mean", b.running_mean);
    add("uniform", b.uniform);
    add("unigram", b.unigram);
    add("noise_floor", b.noise_floor);
    return named;
}

std::vector<std::pair<std::string, double>> grid_baselines(const tasks::Baselines& b) {
    if (!b.copy_cells) return {};
    return {
        {"copy_cells", *b.copy_cells}, {"copy_exact", *b.copy_exact}, {"frequent_cells", *b.frequent_cells}};
}

void write_training_file(const TrainingReport& r, const std::filesystem::path& path) {
    auto file = h5::File::create(path);
    report::write_provenance(file, r.provenance);
    file.make_group("training");
    const auto& log = r.result.log;
    for (std::size_t k = 0; k < TrainingLog::columns().size(); ++k)
        file.write("training/" + TrainingLog::columns()[k], column(log, k));
    file.make_group("training/diagnostics");
    if (!log.diagnostics.empty())
        for (std::size_t k = 0; k < log.diagnostics.front().size(); ++k)
            file.write("training/diagnostics/" + log.diagnostics.front()[k].name, all_rows(log, k),
                       {log.rows.size(), log.diagnostics.front()[k].values.size()});
    const auto attribute = [&](const std::string& name, const auto& value) {
        file.write_attribute("training", name, value);
    };
    attribute("task", r.task);
    attribute("architecture", r.architecture);
    attribute("model", r.model);
    attribute("device", r.device);
    attribute("parameters", static_cast<std::int64_t>(r.result.parameters));
    attribute("steps", static_cast<std::int64_t>(r.result.steps));
    attribute("batch", static_cast<std::int64_t>(r.batch));
    attribute("seconds", r.result.seconds);
    attribute("evaluation_seconds", r.result.evaluation_seconds);
    attribute("steps_per_second", r.result.steps_per_second);
    attribute("final_val_loss", r.result.final_val_loss);
    for (const auto& [name, value] : r.result.measures) attribute(name, value);
    for (const auto& list : {named_baselines(r.baselines), grid_baselines(r.baselines)})
        for (const auto& [name, value] : list) attribute("baseline_" + name, value);
    AtomicFile whole(path);
    whole.write(file.image());
    whole.commit();
}

void write_training_csv(const TrainingReport& r, const std::filesystem::path& path) {
    std::string text = fmt::format("{}\n", fmt::join(TrainingLog::columns(), ","));
    for (const auto& row : r.result.log.rows) {
        std::string line;
        for (const double value : row)
            line += fmt::format("{}{}", line.empty() ? "" : ",",
                                std::isnan(value) ? "" : fmt::format("{}", value));
        text += line + "\n";
    }
    AtomicFile file(path);
    file.write(text);
    file.commit();
}

plot::Figure training_figure(const TrainingReport& r) {
    const double last = std::max(1.0, r.result.log.rows.back()[0]);
    const bool interrupted = std::isnan(r.result.final_val_loss);
    plot::Figure figure;
    figure.title = fmt::format("{}, {}: {}, seed {}: validation loss {:.3g} {}", r.task, r.architecture, r.model, r.seed,
                               interrupted ? r.result.log.rows.back()[2] : r.result.final_val_loss,
                               interrupted ? "in the last row before an interruption"
                                           : fmt::format("after {} steps", r.result.steps));
    figure.panels.push_back(loss_panel(r, last));
    if (auto panel = depth_panel(r, last)) figure.panels.push_back(std::move(*panel));
    figure.caption.push_back(
        fmt::format("{} parameters, {} sequences per step; {}; dashed: losses of trivial predictors",
                    r.result.parameters, r.batch, r.device));
    return figure;
}

nlohmann::ordered_json training_json(const TrainingReport& r) {
    Json object;
    object["task"] = r.task;
    object["architecture"] = r.architecture;
    object["model"] = r.model;
    object["parameters"] = r.result.parameters;
    if (r.result.core_parameters > 0) object["core_parameters"] = r.result.core_parameters;
    object["steps"] = r.result.steps;
    object["finished"] = r.result.finished;
    object["seed"] = r.seed;
    object["device"] = r.device;
    object["final_val_loss"] = number(r.result.final_val_loss);
    object["best_val_loss"] = number(r.result.best_val_loss);
    Json baselines = Json::object();
    for (const char* name : {"copy", "zero", "negation", "running_mean", "noise_floor"})
        baselines[name] = nullptr;
    for (const auto& list : {named_baselines(r.baselines), grid_baselines(r.baselines)})
        for (const auto& [name, value] : list) baselines[name] = number(value);
    object["baselines"] = std::move(baselines);
    for (const auto& [name, value] : r.result.measures) object[name] = number(value);
    object["seconds"] = number(r.result.seconds);
    object["evaluation_seconds"] = number(r.result.evaluation_seconds);
    object["steps_per_second"] = number(r.result.steps_per_second);
    return object;
}

std::string training_page(const TrainingReport& r) {
    std::string page = fmt::format("{}, {}: {}, {} parameters, seed {}\n", r.task, r.architecture, r.model,
                                   r.result.parameters, r.seed);
    const bool untrained = r.steps == 0;
    page += untrained ? fmt::format("the model as it starts, untrained ({})\n", r.device)
                      : fmt::format("{} of {} steps of {} sequences, {:.1f} steps/s ({})\n", r.result.steps, r.steps,
                                    r.batch, r.result.steps_per_second, r.device);
    page += fmt::format("{:.1f} s, of which evaluation {:.1f} s\n\n", r.result.seconds,
                        r.result.evaluation_seconds);
    const auto line = [&](const std::string& name, double value) {
        page += fmt::format("  {:<34}{:>12.4g}\n", name, value);
    };
    page += fmt::format("{}, validation\n", loss_name(r));
    if (std::isnan(r.result.final_val_loss))
        page += fmt::format("  {:<34}{:>12}\n", "trained", "interrupted");
    else
        line(untrained ? "untrained" : "trained", r.result.final_val_loss);
    for (const auto& [name, value] : named_baselines(r.baselines)) line(baseline_words(name), value);
    const auto beaten = named_baselines(r.baselines);
    const auto better = std::find_if(beaten.begin(), beaten.end(), [&](const auto& b) {
        return b.first != "noise_floor" && b.second < r.result.final_val_loss;
    });
    if (better != beaten.end() && !untrained)
        page += fmt::format("  A trivial predictor ({}) is better than the trained model.\n",
                            baseline_words(better->first));
    if (!r.result.measures.empty()) {
        page += "\nmeasured\n";
        for (const auto& [name, value] : r.result.measures) line(measure_words(name), value);
    }
    if (r.baselines.copy_cells) {
        page += "\ntrivial predictors of grids\n";
        line("copy of the input: cells right", *r.baselines.copy_cells);
        line("copy of the input: grids right", *r.baselines.copy_exact);
        line("most frequent token: cells right", *r.baselines.frequent_cells);
    }
    return page;
}

std::string seeds_line(const std::vector<TrainingReport>& reports) {
    double mean = 0, square = 0;
    const auto count = static_cast<double>(reports.size());
    for (const auto& r : reports) mean += r.result.final_val_loss / count;
    for (const auto& r : reports) square += std::pow(r.result.final_val_loss - mean, 2);
    const double deviation = reports.size() > 1 ? std::sqrt(square / (count - 1)) : 0;
    return fmt::format("{} seeds: validation loss {:.4g} ± {:.2g} (standard deviation)\n", reports.size(),
                       mean, deviation);
}

}  // namespace spectra::train
