#include "report/runs_file.hpp"

#include "h5/file.hpp"
#include "base/atomic_file.hpp"
#include "base/text.hpp"
#include "spectrum/metrics.hpp"
#include "report/json_number.hpp"
#include "report/page.hpp"
#include "report/result_file.hpp"
#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

namespace spectra::report {
namespace {

struct DistanceName {
    const char* name;
    double Agreement::*member;
};
constexpr std::array distance_names = {
    DistanceName{"wasserstein1", &Agreement::wasserstein1},
    DistanceName{"wasserstein1_log", &Agreement::wasserstein1_log},
    DistanceName{"kolmogorov_smirnov", &Agreement::kolmogorov_smirnov},
};

/// A run's group of an open file.
class RunReader {
public:
    RunReader(const h5::File& file, std::string group) : file_(file), group_(std::move(group)) {}

    std::string path(const std::string& inner) const {
        return inner.empty() || group_.empty() ? group_ + inner : group_ + "/" + inner;
    }
    std::vector<std::string> children(const std::string& group) const { return file_.children(path(group)); }
    std::string text(const std::string& object, const std::string& name) const {
        return file_.string_attribute(path(object), name).value_or("");
    }
    int integer(const std::string& object, const std::string& name) const {
        const auto value = file_.integer_attribute(path(object), name).value_or(0);
        return std::in_range<int>(value) ? static_cast<int>(value) : -1;
    }
    double number(const std::string& object, const std::string& name) const {
        return file_.double_attribute(path(object), name).value_or(std::numeric_limits<double>::quiet_NaN());
    }
    std::uint64_t seed() const { return file_.unsigned_attribute(path(""), "seed").value_or(0); }
    std::vector<std::string> attributes(const std::string& object) const {
        return file_.attributes(path(object));
    }
    bool has(const std::string& object) const { return file_.exists(path(object)); }

    /// Σ σ_l² to twelve digits: the same for all networks with the same total noise, whatever their depth.
    double total_noise() const {
        h5::Shape shape;
        double sum = 0;
        for (const double v : file_.read_doubles(path("network/sigma2"), shape)) sum += v;
        return std::strtod(fmt::format("{:.12g}", sum).c_str(), nullptr);
    }
    bool all(const std::string& dataset) const {
        h5::Shape shape;
        const auto flags = file_.read_bytes(path(dataset), shape);
        return std::find(flags.begin(), flags.end(), std::uint8_t{0}) == flags.end();
    }

private:
    const h5::File& file_;
    std::string group_;
};

std::vector<std::string> uncertified_parts(const RunReader& in) {
    std::vector<std::string> parts;
    std::vector<Source> theories;
    for (const auto& method : in.children("theory"))
        if (const auto source = find_source(method); source && in.integer("theory/" + method, "certified") == 0)
            theories.push_back(*source);
    std::sort(theories.begin(), theories.end());
    for (const auto source : theories) parts.push_back(name(source));
    const std::string sensitivity = "theory/ov/sensitivity";
    const auto metrics = in.children(sensitivity);
    if (std::any_of(metrics.begin(), metrics.end(), [&](const auto& metric) {
            return in.integer(sensitivity + "/" + metric, "certified") == 0;
        }))
        parts.emplace_back("sensitivity");
    const std::string average = "theory/ov/average";
    if (in.has(average) && in.integer(average, "certified") < in.integer(average, "draws"))
        parts.emplace_back("average");
    if (in.has("green/certified") && !in.all("green/certified")) parts.emplace_back("green");
    return parts;
}

SourceMetrics read_metrics(const RunReader& in) {
    SourceMetrics all;
    for (const auto& group : in.children("metrics")) {
        const auto source = find_source(group);
        if (!source) continue;
        Metrics metrics;
        for (const auto& metric : metric_names)
            metrics.*metric.member = in.number("metrics/" + group, metric.name);
        all.emplace_back(*source, metrics);
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    return all;
}

PairAgreement read_agreement(const RunReader& in) {
    const std::string group = "metrics/agreement";
    const std::string ending = fmt::format("_{}", distance_names.front().name);
    PairAgreement all;
    for (const auto& attribute : in.attributes(group)) {
        if (!attribute.ends_with(ending)) continue;
        const std::string key = attribute.substr(0, attribute.size() - ending.size());
        const auto pair = find_pair(key);
        if (!pair) continue;
        Agreement agreement;
        for (const auto& distance : distance_names)
            agreement.*distance.member = in.number(group, fmt::format("{}_{}", key, distance.name));
        all.emplace_back(*pair, agreement);
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    return all;
}

/// Can these be the numbers of a run? Files may have been changed since they were written.
bool sound(const Run& run) {
    if (run.depth < 1 || run.streams < 1 || run.width < 1 || run.samples < 0 || !(run.noise >= 0)) return false;
    const auto is_share = [](double x) { return x >= 0 && x <= 1 + 1e-9; };
    for (const auto& [source, m] : run.metrics) {
        const bool complete = std::none_of(metric_names.begin(), metric_names.end(), [&m = m](const auto& metric) {
            return std::isnan(m.*metric.member);
        });
        if (!complete && run.certified) return false;
        if (complete && !(m.mean_square >= 0 && is_share(m.window) && is_share(m.collapsed) &&
                          is_share(m.effective_rank) && m.smallest >= 0 && m.smallest <= m.largest))
            return false;
    }
    return std::all_of(run.agreement.begin(), run.agreement.end(), [&](const auto& entry) {
        const Agreement& a = entry.second;
        return !run.certified || (a.wasserstein1 >= 0 && is_share(a.kolmogorov_smirnov));
    });
}

/// Keys that occur in any run, in the usual order.
template <class Key, class T>
std::vector<Key> keys_of(const std::vector<Run>& runs, std::vector<std::pair<Key, T>> Run::*entries) {
    std::set<Key> keys;
    for (const auto& run : runs)
        for (const auto& [key, value] : run.*entries) keys.insert(key);
    return {keys.begin(), keys.end()};
}

template <class T, class Of>
h5::Column column(const std::string& name, const std::vector<Run>& runs, const Of& of) {
    std::vector<T> values;
    values.reserve(runs.size());
    for (const auto& run : runs) values.push_back(static_cast<T>(of(run)));
    return {name, std::move(values)};
}

/// NaN where a run does not have it.
template <class Key, class T>
h5::Column column(const Key& key, const char* number, const std::vector<Run>& runs,
                  std::vector<std::pair<Key, T>> Run::*entries, double T::*member) {
    return column<double>(fmt::format("{}_{}", name(key), number), runs, [&](const Run& run) {
        const T* const entry = find(run.*entries, key);
        return entry ? entry->*member : std::numeric_limits<double>::quiet_NaN();
    });
}

std::vector<h5::Column> summary_columns(const std::vector<Run>& runs) {
    std::vector<h5::Column> columns;
    columns.push_back(column<std::string>("name", runs, [](const Run& r) { return r.name; }));
    columns.push_back(column<std::string>("mixer", runs, [](const Run& r) { return r.mixer; }));
    columns.push_back(column<std::string>("branch", runs, [](const Run& r) { return r.branch; }));
    columns.push_back(column<std::string>("activation", runs, [](const Run& r) { return r.activation; }));
    columns.push_back(column<int>("depth", runs, [](const Run& r) { return r.depth; }));
    columns.push_back(column<int>("streams", runs, [](const Run& r) { return r.streams; }));
    columns.push_back(column<int>("width", runs, [](const Run& r) { return r.width; }));
    columns.push_back(column<double>("noise", runs, [](const Run& r) { return r.noise; }));
    columns.push_back(column<std::uint64_t>("seed", runs, [](const Run& r) { return r.seed; }));
    columns.push_back(column<std::uint8_t>("certified", runs, [](const Run& r) { return r.certified; }));
    columns.push_back(column<int>("samples", runs, [](const Run& r) { return r.samples; }));
    for (const auto& source : keys_of(runs, &Run::metrics))
        for (const auto& metric : metric_names)
            columns.push_back(column(source, metric.name, runs, &Run::metrics, metric.member));
    for (const auto& pair : keys_of(runs, &Run::agreement))
        for (const auto& distance : distance_names)
            columns.push_back(column(pair, distance.name, runs, &Run::agreement, distance.member));
    return columns;
}

template <class T>
std::string csv_cell(const T& value) {
    return fmt::format("{}", value);
}

using Json = nlohmann::ordered_json;

Json run_object(const Run& run) {
    Json object;
    object["name"] = run.name;
    object["title"] = run.title;
    object["mixer"] = run.mixer;
    object["branch"] = run.branch;
    object["activation"] = run.activation;
    object["depth"] = run.depth;
    object["streams"] = run.streams;
    object["width"] = run.width;
    object["noise"] = number(run.noise);
    object["seed"] = run.seed;
    object["certified"] = run.certified;
    object["uncertified"] = run.doubts;
    object["samples"] = run.samples;
    object["metrics"] = Json::object();
    for (const auto& [source, metrics] : run.metrics)
        for (const auto& metric : metric_names)
            object["metrics"][name(source)][metric.name] = number(metrics.*metric.member);
    object["agreement"] = Json::object();
    for (const auto& [pair, agreement] : run.agreement)
        for (const auto& distance : distance_names)
            object["agreement"][name(pair)][distance.name] = number(agreement.*distance.member);
    return object;
}

/// Between the best theory and the simulation; else between two theories.
const Agreement* best_agreement(const Run& run) {
    if (const Agreement* const agreement = find(run.agreement, SourcePair{Source::ov, Source::montecarlo})) return agreement;
    return run.agreement.empty() ? nullptr : &run.agreement.front().second;
}

constexpr std::size_t cell_width = 11;

std::string row_of(const Run& run) {
    std::string row;
    const auto add = [&](double value) { row += right_padded(cell(value, cell_width), cell_width); };
    const double none = std::numeric_limits<double>::quiet_NaN();
    const Metrics* const metrics = best_metrics(run.metrics);
    for (const auto member :
         {&Metrics::window, &Metrics::collapsed, &Metrics::effective_rank, &Metrics::largest})
        add(metrics ? metrics->*member : none);
    const Agreement* const agreement = best_agreement(run);
    add(agreement ? agreement->wasserstein1 : none);
    return row + (run.certified ? "" : "  !");
}

/// The distinct values of a parameter, in order: "10, 50, 100".
template <class Of>
std::string values_of(const std::vector<Run>& runs, const Of& of) {
    constexpr std::size_t shown = 12;
    std::set<std::decay_t<decltype(of(runs.front()))>> values;
    for (const auto& run : runs) values.insert(of(run));
    std::string list;
    std::size_t k = 0;
    for (const auto& value : values) {
        if (k++ == shown) return fmt::format("{} and {} more", list, values.size() - shown);
        list += fmt::format("{}{}", list.empty() ? "" : ", ", value);
    }
    return list;
}

}  // namespace

std::optional<std::string> stored_description(const StoredRun& stored) {
    try {
        if (!h5::is_hdf5(stored.file)) return std::nullopt;
        return stored_description(h5::File::open_read(stored.file), stored);
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

std::optional<std::string> stored_description(const h5::File& file, const StoredRun& stored) {
    try {
        if (!is_result_file(file)) return std::nullopt;
        if (!stored.group.empty() && !file.is_group(stored.group)) return std::nullopt;
        auto description = file.string_attribute(stored.group, "description");
        if (description && file.exists(stored.group.empty() ? "metrics" : stored.group + "/metrics") &&
            !sound(read_run(file, stored)))
            return std::nullopt;
        return description;
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

std::vector<std::string> run_names(const std::filesystem::path& file) {
    return h5::File::open_read(file).children("runs");
}

Run read_run(const StoredRun& stored) {
    return read_run(h5::File::open_read(stored.file), stored);
}

Run read_run(const h5::File& file, const StoredRun& stored) {
    const RunReader in(file, stored.group);
    Run run;
    run.name = stored.name;
    run.title = in.text("network", "title");
    run.mixer = in.text("network", "mixer");
    run.branch = in.text("network", "branch");
    run.activation = in.text("network", "activation");
    run.depth = in.integer("network", "depth");
    run.streams = in.integer("network", "streams");
    run.width = in.integer("network", "width");
    run.noise = in.total_noise();
    run.seed = in.seed();
    run.doubts = uncertified_parts(in);
    run.certified = run.doubts.empty();
    run.samples = in.integer("montecarlo", "samples");
    run.metrics = read_metrics(in);
    run.agreement = read_agreement(in);
    return run;
}

void write_runs_file(RunsReport& report, const std::vector<StoredRun>& stored,
                     const std::filesystem::path& path) {
    AtomicFile destination(path);  // first, to detect a folder that cannot be written before the work
    h5::File file = h5::File::create(path);
    write_provenance(file, report.provenance);
    file.make_group("runs");
    report.runs.clear();
    // A file with many runs is opened once.
    std::map<std::filesystem::path, h5::File> shared;
    for (const auto& run : stored) {
        const auto add = [&](const h5::File& source) {
            file.copy(source, run.group, "runs/" + run.name);
            report.runs.push_back(read_run(source, run));
        };
        if (run.group.empty()) {
            add(h5::File::open_read(run.file));
        } else {
            auto opened = shared.find(run.file);
            if (opened == shared.end())
                opened = shared.emplace(run.file, h5::File::open_read(run.file)).first;
            add(opened->second);
        }
    }
    file.write_table("summary", summary_columns(report.runs));
    destination.write(file.image());
    destination.commit();
}

std::string describe_runs(const std::filesystem::path& path, int columns, bool unicode) {
    constexpr std::size_t most = 1000, rows = 10;
    const auto file = h5::File::open_read(path);
    const auto names = file.children("runs");
    if (names.empty()) return "";
    RunsReport report;
    for (std::size_t k = 0; k < std::min(most, names.size()); ++k)
        report.runs.push_back(read_run(file, {names[k], path, "runs/" + names[k]}));

    const auto entry = [](const char* label, const std::string& text) {
        return text.empty() ? "" : fmt::format("  {:<14}{}\n", label, printable(text));
    };
    const auto& runs = report.runs;
    const auto certified = std::count_if(runs.begin(), runs.end(), [](const Run& run) { return run.certified; });
    std::string page = names.size() > most ? fmt::format("\ngrid (the first {} networks)\n", most) : "\ngrid\n";
    page += entry("mixers", values_of(runs, [](const Run& run) { return run.mixer; }));
    page += entry("branches", values_of(runs, [](const Run& run) { return run.branch; }));
    page += entry("streams", values_of(runs, [](const Run& run) { return run.streams; }));
    page += entry("widths", values_of(runs, [](const Run& run) { return run.width; }));
    page += entry("depths", values_of(runs, [](const Run& run) { return run.depth; }));
    page += entry("noises", values_of(runs, [](const Run& run) { return run.noise; }));
    page += entry("seeds", values_of(runs, [](const Run& run) { return run.seed; }));
    page += entry("certified", fmt::format("{} of {} networks", certified, runs.size()));
    return page + "\n" + terminal_page(report, columns, false, unicode, rows);
}

std::string summary_csv(const RunsReport& report) {
    const auto columns = summary_columns(report.runs);
    std::string text;
    for (const auto& entry : columns) text += (text.empty() ? "" : ",") + entry.name;
    text += '\n';
    for (std::size_t row = 0; row < report.runs.size(); ++row) {
        for (std::size_t k = 0; k < columns.size(); ++k) {
            if (k > 0) text += ',';
            text += std::visit([&](const auto& values) { return csv_cell(values[row]); }, columns[k].values);
        }
        text += '\n';
    }
    return text;
}

std::string to_json(const RunsReport& report) {
    Json root;
    root["runs"] = Json::array();
    for (const auto& run : report.runs) root["runs"].push_back(run_object(run));
    root["failed"] = Json::array();
    for (const auto& [name, reason] : report.failed)
        root["failed"].push_back({{"name", name}, {"reason", reason}});
    root["files"] = report.files;
    // Names and paths may hold bytes that are not UTF-8.
    return root.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string terminal_page(const RunsReport& report, int columns, bool colour, bool unicode,
                          std::size_t rows) {
    Page page(columns, colour, unicode);
    constexpr std::array headings = {"in window", "collapsed", "eff. rank", "largest", "W1"};
    const std::size_t room = page.columns() - headings.size() * cell_width - 3;
    std::size_t widest = 8;
    for (const auto& run : report.runs) widest = std::max(widest, width_of(run.name));
    const std::size_t first = std::min(widest, room);
    std::string heading = padded("network", first);
    for (const char* words : headings) heading += right_padded(words, cell_width);
    page.verbatim(page.paint(heading, "1"));
    const std::size_t shown = std::min(rows, report.runs.size());
    for (std::size_t k = 0; k < shown; ++k) {
        const Run& run = report.runs[k];
        const std::string name = page.text(run.name);
        if (width_of(name) > first) page.verbatim(name);
        const std::string line = padded(width_of(name) > first ? "" : name, first) + row_of(run);
        page.verbatim(run.certified ? page.text(line) : page.paint(line, "31"));
    }
    if (shown < report.runs.size()) page.entry("", fmt::format("and {} more", report.runs.size() - shown));
    page.blank();
    page.entry("",
               "In window: mass in [0.75, 1.25]; collapsed: below 0.1; by the theory ov where there is one, "
               "else the simulation. W1: between these two.");
    if (std::any_of(report.runs.begin(), report.runs.end(), [](const Run& run) { return !run.certified; }))
        page.entry("", "!: not certified.");
    if (!report.files.empty()) {
        page.blank();
        for (const auto& file : report.files) page.verbatim(page.text("wrote " + file));
    }
    return page.take();
}

}  // namespace spectra::report
