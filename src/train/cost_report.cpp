#include "train/cost_report.hpp"

#include "base/special_values.hpp"
#include "h5/file.hpp"
#include "report/json_number.hpp"
#include "report/table.hpp"
#include "study/figure.hpp"
#include "study/figures/panels.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace spectra::train {

namespace {

using Json = nlohmann::ordered_json;
using plot::Scale;

/// At least three digits, never a power of ten.
std::string three_digits(double value) {
    return value < 999.5 ? fmt::format("{:.3g}", value) : fmt::format("{:.0f}", value);
}

/// 1234 -> "1.23k".
std::string in_thousands(double value) {
    constexpr const char* units[] = {"", "k", "M", "G", "T", "P"};
    std::size_t unit = 0;
    for (; std::abs(value) >= 999.5 && unit + 1 < std::size(units); ++unit) value /= 1000;
    return fmt::format("{:.3g}{}", value, units[unit]);
}

/// A number of a part, by its name in the file and in JSON.
struct Column {
    const char* name;
    double (*value)(const PartCost&);
};

const std::vector<Column>& columns() {
    static const std::vector<Column> all{
        {"parameters", [](const PartCost& c) { return static_cast<double>(c.parameters); }},
        {"forward_flops", [](const PartCost& c) { return c.forward.flops(); }},
        {"backward_flops", [](const PartCost& c) { return c.backward.flops(); }},
        {"forward_product_flops", [](const PartCost& c) { return c.forward.product_flops; }},
        {"backward_product_flops", [](const PartCost& c) { return c.backward.product_flops; }},
        {"kept_bytes", [](const PartCost& c) { return static_cast<double>(c.kept_bytes); }},
        {"nodes", [](const PartCost& c) { return static_cast<double>(c.nodes); }},
        {"forward_operations", [](const PartCost& c) { return static_cast<double>(c.forward.operations); }},
        {"backward_operations", [](const PartCost& c) { return static_cast<double>(c.backward.operations); }},
        {"forward_seconds", [](const PartCost& c) { return c.forward_seconds; }},
        {"backward_seconds", [](const PartCost& c) { return c.backward_seconds; }}};
    return all;
}

double flops(const PartCost& c) {
    return c.forward.flops() + c.backward.flops();
}

double seconds(const PartCost& c) {
    return c.forward_seconds + c.backward_seconds;
}

/// "connections: 1.2M parameters, 12 % of attention's and MLP's; 5 % of their floating-point operations; …"
std::string overhead_words(const ModelCost& model) {
    const auto* const connection = model.find("connection");
    const auto* const attention = model.find("attention");
    const auto* const mlp = model.find("mlp");
    if (connection == nullptr || attention == nullptr || mlp == nullptr) return "";
    const auto share = [&](const auto& of) {
        return three_digits(200 * of(*connection) / (of(*attention) + of(*mlp))) + " %";
    };
    return fmt::format(
        "The connections of a block add to its attention and MLP: {} parameters, {} floating-point operations, {} bytes "
        "kept, {} time.",
        share([](const PartCost& c) { return static_cast<double>(c.parameters); }), share(flops),
        share([](const PartCost& c) { return static_cast<double>(c.kept_bytes); }), share(seconds));
}

report::Table table_of(const ModelCost& model, double tokens) {
    using Texts = std::vector<std::string>;
    Texts part, flop, kept, operations, time;
    std::vector<double> parameters, nodes;
    for (const auto& c : model.parts) {
        const auto two = [](double there, double back) {
            return in_thousands(there) + " + " + in_thousands(back);
        };
        part.push_back(c.part);
        parameters.push_back(static_cast<double>(c.parameters));
        flop.push_back(two(c.forward.flops() / tokens, c.backward.flops() / tokens));
        kept.push_back(in_thousands(static_cast<double>(c.kept_bytes) / tokens));
        nodes.push_back(static_cast<double>(c.nodes));
        operations.push_back(fmt::format("{} + {}", c.forward.operations, c.backward.operations));
        time.push_back(three_digits(1e3 * c.forward_seconds) + " + " +
                       three_digits(1e3 * c.backward_seconds));
    }
    // Counts have up to nine digits here, which a number's cell would round.
    Texts counted;
    for (const double count : parameters) counted.push_back(fmt::format("{:.0f}", count));
    report::Table table;
    table.columns = {{"part", "part", part},        {"parameters", "parameters", counted},
                     {"flops", "flop/token", flop}, {"kept", "B/token", kept},
                     {"nodes", "nodes", nodes},     {"operations", "operations", operations},
                     {"milliseconds", "ms", time}};
    if (auto words = overhead_words(model); !words.empty()) table.notes.push_back(std::move(words));
    return table;
}

std::string heading_of(const ModelCost& model) {
    return model.streams > 1 ? fmt::format("{}, n = {}", model.name, model.streams) : model.name;
}

std::string runs_words(const CostReport& r) {
    return fmt::format("{} run{}", r.runs, r.runs == 1 ? "" : "s");
}

std::vector<std::string> caption_of(const CostReport& r) {
    return {fmt::format("Forward and backward pass of {}, {}; times: median of {}.", r.batch, r.device,
                        runs_words(r))};
}

/// The names of models that were not refused, in order, each once.
std::vector<std::string> names_of(const CostReport& r) {
    std::vector<std::string> names;
    for (const auto& model : r.models)
        if (model.refused.empty() && std::find(names.begin(), names.end(), model.name) == names.end())
            names.push_back(model.name);
    return names;
}

struct Quantity {
    const char* label;
    const char* part;  ///< whose cost it is over the number of streams
    double (*value)(const PartCost&, double tokens);
};

double parameters(const PartCost& c, double) {
    return static_cast<double>(c.parameters);
}
double kiloflops_per_token(const PartCost& c, double tokens) {
    return flops(c) / tokens / 1e3;
}
double kilobytes_per_token(const PartCost& c, double tokens) {
    return static_cast<double>(c.kept_bytes) / tokens / 1e3;
}
double microseconds_per_token(const PartCost& c, double tokens) {
    return 1e6 * seconds(c) / tokens;
}
double kilotokens_per_second(const PartCost& c, double tokens) {
    return tokens / seconds(c) / 1e3;
}

/// The costs of a connection and the speed of models over the number of streams; models without streams as a level.
plot::Figure streams_figure(const CostReport& r, double least, double most) {
    std::vector<Quantity> quantities{{"parameters", "connection", parameters},
                                     {"kflop per token", "connection", kiloflops_per_token},
                                     {"kB kept per token", "connection", kilobytes_per_token},
                                     {"thousand tokens/s", "model", kilotokens_per_second}};
    plot::Figure figure;
    figure.title = "One connection; lower right: speed of the whole model";
    if (r.models.front().blocks == 0) {  // modules alone
        figure.title = "One connection";
        quantities.back() = {"µs per token", "connection", microseconds_per_token};
    }
    for (const auto& quantity : quantities) {
        plot::Panel panel;
        std::size_t index = 0;
        for (const auto& name : names_of(r)) {
            std::vector<double> x, y;
            for (const auto& model : r.models) {
                const auto* const part = model.find(quantity.part);
                if (model.name != name || part == nullptr) continue;
                x.push_back(static_cast<double>(model.streams));
                y.push_back(study::log10_of(quantity.value(*part, static_cast<double>(r.tokens))));
            }
            auto curve = study::line(name, index++, x, y);
            if (x.size() == 1 && x.front() < least) {
                curve.x = {least, most};
                curve.y = {y.front(), y.front()};
                panel.series.push_back(std::move(curve));
            } else {
                study::add_dotted(panel, std::move(curve));
            }
        }
        study::frame_x(panel, "streams n", Scale::whole);
        study::frame_y(panel, quantity.label, Scale::logarithmic);
        figure.panels.push_back(std::move(panel));
    }
    return figure;
}

/// What a block costs, one bar per model: attention and MLP, and above them the connections.
plot::Figure blocks_figure(const CostReport& r, double streams) {
    plot::Figure figure;
    const bool alone = r.models.front().blocks == 0;  // modules
    const auto bars = static_cast<double>(r.models.size());
    const double width = std::min(36.0, 240 / bars);
    const std::string what =
        alone ? "Two connections" : "One block: attention, MLP and their two connections";
    figure.title = what + (streams > 1 ? fmt::format(", n = {}", streams) : "");
    std::string key;
    for (const auto& quantity :
         {Quantity{"thousand parameters", "",
                   [](const PartCost&c, double) { return static_cast<double>(c.parameters) / 1e3; }},
          Quantity{"kflop per token", "", kiloflops_per_token},
          Quantity{"kB kept per token", "", kilobytes_per_token},
          Quantity{"µs per token", "", microseconds_per_token}}) {
        plot::Series all{"connections", plot::Mark::impulses, plot::Dash::solid, width, "#0072b2", {}, {}};
        plot::Series branches{
            "attention and MLP", plot::Mark::impulses, plot::Dash::solid, width, "#bbbbbb", {}, {}};
        double place = 0;
        key.clear();
        for (const auto& model : r.models) {
            const auto of = [&](const char* part) {
                const auto* const found = model.find(part);
                return found == nullptr ? 0.0 : quantity.value(*found, static_cast<double>(r.tokens));
            };
            if (!model.refused.empty()) continue;
            place += 1;
            key += fmt::format("{}{:.0f} {}", key.empty() ? "" : ", ", place, model.name);
            branches.x.push_back(place);
            branches.y.push_back(of("attention") + of("mlp"));
            all.x.push_back(place);
            all.y.push_back(branches.y.back() + 2 * of("connection"));
        }
        plot::Panel panel;
        const double top = *std::max_element(all.y.begin(), all.y.end());
        panel.x = {"model", Scale::whole, 0.4, place + 0.6};
        panel.y = {quantity.label, Scale::linear, 0, top > 0 ? 1.08 * top : 1};
        panel.series.push_back(std::move(all));
        if (!alone) panel.series.push_back(std::move(branches));
        figure.panels.push_back(std::move(panel));
    }
    figure.caption.push_back("Models: " + key + ".");
    return figure;
}

}  // namespace

const PartCost* ModelCost::find(const std::string& part) const {
    const auto found =
        std::find_if(parts.begin(), parts.end(), [&](const auto& c) { return c.part == part; });
    return found == parts.end() ? nullptr : &*found;
}

std::vector<std::pair<std::string, std::string>> cost_sources(const CostReport& r) {
    const std::string counted = "counted operator by operator from the shapes of one recorded pass",
                      timed = fmt::format("measured on {}: median of {}, after {} not counted", r.device,
                                          runs_words(r), r.warm_up);
    return {
        {"parameters", "counted; of a mixer the numbers per matrix"},
        {"forward_flops", counted},
        {"backward_flops", counted},
        {"forward_product_flops", counted},
        {"backward_product_flops", counted},
        {"kept_bytes", fmt::format("measured on {}: allocated by one pass and kept by its graph", r.device)},
        {"nodes", "counted in the graph of one pass"},
        {"forward_operations", "counted in one recorded pass; views and allocations are none"},
        {"backward_operations", "counted in one recorded pass; views and allocations are none"},
        {"forward_seconds", timed},
        {"backward_seconds", timed}};
}

std::string cost_page(const CostReport& r, int columns_of_page, bool colour, bool unicode) {
    std::string page;
    for (const auto& model : r.models) {
        if (!model.refused.empty()) {
            page += fmt::format("{}: refused: {}\n\n", heading_of(model), model.refused);
            continue;
        }
        page += fmt::format("{}: {}\n", heading_of(model), model.words);
        page += report::to_page(table_of(model, static_cast<double>(r.tokens)), columns_of_page, colour,
                                unicode) +
                "\n";
    }
    page += fmt::format(
        "a + b: forward and backward pass. Parameters (of a mixer: numbers per matrix), floating-point\n"
        "operations, nodes of the graph and operations launched are counted; bytes kept for the backward\n"
        "pass are measured once, times are medians of {}: {}, {}.\n",
        runs_words(r), r.batch, r.device);
    return page;
}

Json cost_json(const CostReport& r) {
    Json object{{"tokens", r.tokens}, {"batch", r.batch}, {"device", r.device}, {"runs", r.runs}};
    object["models"] = Json::array();
    for (const auto& model : r.models) {
        Json one{{"name", model.name}, {"streams", model.streams}};
        if (!model.refused.empty()) {
            one["refused"] = model.refused;
        } else {
            one["model"] = model.words;
            one["blocks"] = model.blocks;
            one["parts"] = Json::object();
            for (const auto& part : model.parts)
                for (const auto& column : columns())
                    one["parts"][part.part][column.name] = report::number(column.value(part));
        }
        object["models"].push_back(std::move(one));
    }
    for (const auto& [column, source] : cost_sources(r)) object["sources"][column] = source;
    object["files"] = r.files;
    return object;
}

study::Drawing cost_drawing(const CostReport& r) {
    std::set<double> streams;
    for (const auto& model : r.models)
        if (model.refused.empty() && model.streams > 1) streams.insert(static_cast<double>(model.streams));
    study::Drawing drawing;
    drawing.figure = streams.size() > 1 ? streams_figure(r, *streams.begin(), *streams.rbegin())
                                        : blocks_figure(r, streams.empty() ? 1 : *streams.begin());
    drawing.figure.columns = 2;
    for (auto& line : caption_of(r)) drawing.figure.caption.push_back(std::move(line));
    for (const auto& model : r.models)
        if (!model.refused.empty())
            drawing.figure.caption.push_back(
                fmt::format("{}: refused: {}", heading_of(model), model.refused));
    return drawing;
}

void write_cost_file(const CostReport& r, const std::filesystem::path& path) {
    std::vector<std::string> names, parts, refused;
    std::vector<double> streams, blocks;
    std::vector<std::vector<double>> numbers(columns().size());
    const auto add = [&](const ModelCost& model, const PartCost* part) {
        names.push_back(model.name);
        streams.push_back(static_cast<double>(model.streams));
        blocks.push_back(static_cast<double>(model.blocks));
        parts.push_back(part == nullptr ? "" : part->part);
        for (std::size_t k = 0; k < columns().size(); ++k)
            numbers[k].push_back(part == nullptr ? nan : columns()[k].value(*part));
        refused.push_back(model.refused);
    };
    for (const auto& model : r.models) {
        for (const auto& part : model.parts) add(model, &part);
        if (!model.refused.empty()) add(model, nullptr);
    }
    std::vector<h5::Column> table{
        {"model", names}, {"streams", streams}, {"blocks", blocks}, {"part", parts}};
    for (std::size_t k = 0; k < columns().size(); ++k) table.push_back({columns()[k].name, numbers[k]});
    table.push_back({"refused", refused});
    study::write_figure_file("cost", cost_drawing(r), r.provenance, path, [&](h5::File& file) {
        file.write_table("cost", table);
        file.write_attribute("cost", "tokens", r.tokens);
        file.write_attribute("cost", "batch", r.batch);
        file.write_attribute("cost", "device", r.device);
        file.write_attribute("cost", "runs", r.runs);
        for (const auto& [column, source] : cost_sources(r))
            file.write_attribute("cost", "source_" + column, source);
    });
}

}  // namespace spectra::train
