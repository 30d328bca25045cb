#include "report/html_data.hpp"

#include "base/text.hpp"
#include "h5/file.hpp"
#include "report/json_number.hpp"
#include "report/result_format.hpp"
#include "report/runs_file.hpp"
#include "report/stored_report.hpp"
#include "report/wording.hpp"
#include "spectrum/metrics.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <stdexcept>

namespace spectra::report {
namespace {

using Json = nlohmann::ordered_json;

// Limits of a page.
constexpr std::size_t longest_text = 4000;                  // characters of a text …
constexpr std::size_t longest_command = 20000;              // … and of a command
constexpr std::size_t most_attributes = 200;                // of a group
constexpr std::size_t most_numbers = 40000;                 // of a dataset
constexpr std::size_t most_values = 16384;                  // of a simulated law
constexpr std::size_t few_runs = 8;                         // networks with all their numbers
constexpr std::size_t few_points = 90, few_values = 128;    // of each of more networks
constexpr std::size_t most_laws = 2000, most_runs = 10000;  // networks with curves, networks at all
constexpr int all_digits = 17;                              // of a double
constexpr std::size_t most_panels = 48, most_series = 64;   // of a figure

/// How much of a law is kept.
struct Detail {
    std::size_t points = most_numbers;  ///< of a curve
    std::size_t values = most_values;   ///< of a sample
    int digits = 9;                     ///< of their numbers
    bool attributes = true;             ///< all of them, or those that say whether it is certified
};

/// A number of so many digits, which JSON then writes with no more.
double rounded(double value, int digits) {
    if (!std::isfinite(value) || value == 0) return value;
    char text[40];
    const auto end =
        std::to_chars(text, text + sizeof text, value, std::chars_format::scientific, digits - 1).ptr;
    double result = value;
    std::from_chars(text, end, result);
    return result;
}

std::string cut(const std::string& text, std::size_t most = longest_text) {
    if (text.size() <= most) return printable(text, Lines::keep);
    std::size_t end = most;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
        --end;  // not within a character
    return printable(text.substr(0, end), Lines::keep) + fmt::format("… ({} bytes)", text.size());
}

Json numbers(const std::vector<double>& values, int digits = 9) {
    Json list = Json::array();
    for (const double v : values) list.push_back(number(rounded(v, digits)));
    return list;
}

/// A group of an open file, or nothing at all.
class Group {
public:
    Group(const h5::File& file, std::string path) : file_(file), path_(std::move(path)) {}

    std::string at(const std::string& name) const { return path_.empty() ? name : path_ + "/" + name; }
    Group operator/(const std::string& name) const { return {file_, at(name)}; }
    bool exists() const { return path_.empty() || file_.is_group(path_); }
    bool has(const std::string& name) const { return file_.is_dataset(at(name)); }
    std::vector<std::string> children() const { return file_.children(path_); }
    std::string text(const std::string& name, std::size_t most = longest_text) const {
        return cut(file_.string_attribute(path_, name).value_or(""), most);
    }

    /// All attributes, by name.
    Json attributes() const {
        Json object = Json::object();
        for (const auto& name : file_.attributes(path_)) {
            if (object.size() >= most_attributes) break;
            const std::string key = cut(name, 200);
            if (const auto text = file_.string_attribute(path_, name))
                object[key] = cut(*text);
            else if (const auto whole = file_.integer_attribute(path_, name))
                object[key] = *whole;
            else if (const auto value = file_.double_attribute(path_, name))
                object[key] = number(*value);
        }
        return object;
    }

    std::vector<double> doubles(const std::string& name, h5::Shape& shape) const {
        shape.clear();
        return has(name) ? file_.read_doubles(at(name), shape) : std::vector<double>();
    }

    /// A dataset, row by row, without the last rows if it is large: {"shape": [3, 4, 4], "of": 10, "data": […]}.
    void add(Json& object, const std::string& name, int digits = 7, std::size_t most = most_numbers) const {
        h5::Shape shape;
        auto values = doubles(name, shape);
        if (values.empty() || shape.empty()) return;
        const std::size_t row = values.size() / shape.front(),
                          kept = std::min(shape.front(), most / std::max<std::size_t>(row, 1));
        if (kept == 0) return;
        Json& entry = object[name];
        entry["of"] = shape.front();
        shape.front() = kept;
        entry["shape"] = shape;
        values.resize(kept * row);
        entry["data"] = numbers(values, digits);
    }

    const h5::File& file() const { return file_; }

private:
    const h5::File& file_;
    std::string path_;
};

// ---- laws ----------------------------------------------------------------------------------------

/// Places of a curve that are kept: every so many, all extremes, and both sides of every gap between bands.
std::vector<std::size_t> kept_points(const std::vector<double>& x, const std::vector<double>& y,
                                     std::size_t most) {
    std::vector<std::size_t> kept;
    const std::size_t count = std::min(x.size(), y.size()),
                      stride = count / std::max<std::size_t>(most, 1) + 1;
    const double usual = count > 1 ? (x[count - 1] - x[0]) / static_cast<double>(count) : 0;
    const auto is_gap = [&](std::size_t k) { return x[k + 1] - x[k] > 4 * usual; };
    for (std::size_t k = 0; k < count; ++k) {
        const bool inner = k > 0 && k + 1 < count, room = kept.size() < 4 * most;
        const bool extreme = inner && room && (y[k] - y[k - 1]) * (y[k + 1] - y[k]) <= 0;
        const bool side = inner && room && (is_gap(k) || is_gap(k - 1));
        if (!inner || k % stride == 0 || extreme || side) kept.push_back(k);
    }
    return kept;
}

Json some_of(const std::vector<double>& values, const std::vector<std::size_t>& kept, int digits) {
    Json list = Json::array();
    for (const std::size_t k : kept)
        if (k < values.size()) list.push_back(number(rounded(values[k], digits)));
    return list;
}

void add_density(Json& object, const Density& density, const Detail& detail) {
    const auto kept = kept_points(density.log_s, density.density_log, detail.points);
    object["log_s"] = some_of(density.log_s, kept, detail.digits);
    object["density_log"] = some_of(density.density_log, kept, detail.digits);
    object["cumulative"] = some_of(density.cumulative, kept, detail.digits);
}

Json theory_object(const Group& run, const dyson::Theory& theory, const Detail& detail) {
    const Group group = run / "theory" / dyson::name(theory.method);
    Json object;
    object["name"] = cut(long_name(source_of(theory.method)));
    object["certificate"] = cut(certificate(theory.summary));
    if (detail.attributes) {
        object["attributes"] = group.attributes();
    } else {
        const auto& summary = theory.summary;
        object["attributes"] = {{"certified", summary.certified ? 1 : 0},
                                {"message", cut(summary.message)},
                                {"points", summary.points},
                                {"uncertified", summary.uncertified},
                                {"mass", number(summary.mass)},
                                {"seconds", number(summary.seconds)},
                                {"tail_exponent", number(theory.law.density().tail_exponent)}};
    }
    const Density& density = theory.law.density();
    add_density(object, density, detail);
    if (theory.curve.log_s != density.log_s) {  // a grid that was asked for, or a smoothed curve
        const auto kept = kept_points(theory.curve.log_s, theory.curve.density_log, detail.points);
        object["curve"]["log_s"] = some_of(theory.curve.log_s, kept, detail.digits);
        object["curve"]["density_log"] = some_of(theory.curve.density_log, kept, detail.digits);
    }
    object["support"] = Json::array();
    object["atoms"] = Json::array();
    for (std::size_t k = 0; k < std::min(density.support.size(), most_numbers / 8); ++k)
        object["support"].push_back(
            {number(density.support[k].log_lower), number(density.support[k].log_upper)});
    for (std::size_t k = 0; k < std::min(density.atoms.size(), most_numbers / 8); ++k)
        object["atoms"].push_back({number(density.atoms[k].log_place), density.atoms[k].mass});
    object["mass_below"] = number(density.mass_below);
    return object;
}

/// A sample as values of equal weight: all of them, or as many quantiles. Zeros are only counted.
Json sample_object(const Spectrum& law, const Detail& detail) {
    Json object;
    std::vector<double> values;
    if (law.is_empirical() && law.log_values().size() <= detail.values) {
        values = law.log_values();
        object["exact"] = true;
    } else if (!law.empty()) {
        for (std::size_t k = 0; k < detail.values; ++k)
            values.push_back(
                law.log_quantile((static_cast<double>(k) + 0.5) / static_cast<double>(detail.values)));
        object["exact"] = false;
    }
    const auto zeros =
        std::count_if(values.begin(), values.end(), [](double x) { return !std::isfinite(x); });
    std::erase_if(values, [](double x) { return !std::isfinite(x); });
    object["zeros"] = zeros;
    object["log_values"] = numbers(values, std::min(detail.digits, 8));
    object["log_floor"] = number(law.log_floor());
    return object;
}

const char* name_of(Closeness closeness) {
    if (closeness == Closeness::agree) return "agree";
    return closeness == Closeness::close ? "close" : "differ";
}

void add_agreement(Json& object, const Report& report) {
    object["agreement"] = Json::object();
    for (const auto& [pair, agreement] : report.agreement) {
        Json& entry = object["agreement"][name(pair)];
        entry["wasserstein1"] = number(agreement.wasserstein1);
        entry["wasserstein1_log"] = number(agreement.wasserstein1_log);
        entry["kolmogorov_smirnov"] = number(agreement.kolmogorov_smirnov);
        entry["left_out"] = agreement.left_out;
        if (!report.expected || pair.second != Source::montecarlo) continue;
        entry["expected"] = {{"wasserstein1", expected_object(report.expected->wasserstein1)},
                             {"wasserstein1_log", expected_object(report.expected->wasserstein1_log)},
                             {"kolmogorov_smirnov", expected_object(report.expected->kolmogorov_smirnov)}};
    }
    for (const auto& compared : compared_words(report)) {
        object["agreement"][name(compared.pair)]["words"] = compared.words;
        object["agreement"][name(compared.pair)]["closeness"] = name_of(compared.closeness);
    }
}

Json network_object(const Group& run, bool whole) {
    const Group group = run / "network";
    Json object;
    object["attributes"] = group.attributes();
    group.add(object, "sigma2");
    if (!whole) return object;
    group.add(object, "mixers");
    for (const char* name : {"sigma_w2", "preactivation_variance", "pre", "post", "weights"})
        group.add(object, name);
    return object;
}

void add_design(Json& object, const Group& run) {
    const Group sensitivity = run / "theory" / "ov" / "sensitivity",
                average = run / "theory" / "ov" / "average";
    for (const auto& metric : metric_names) {
        const Group group = sensitivity / metric.name;
        if (!group.exists() || group.has("elasticity")) continue;
        Json& entry = object["sensitivity"][metric.name];
        entry["attributes"] = group.attributes();
        group.add(entry, "sigma2");
        group.add(entry, "mixers");
    }
    if (const Group largest = sensitivity / "largest"; largest.has("elasticity")) {
        Json& entry = object["largest_by_triplet"];
        entry["attributes"] = largest.attributes();
        for (const char* name : {"layer", "triplet", "value", "elasticity"})
            largest.add(entry, name, all_digits);
    }
    if (!average.exists()) return;
    Json& entry = object["average"];
    entry["attributes"] = average.attributes();
    entry["mean"] = (average / "mean").attributes();
    entry["std"] = (average / "std").attributes();
    for (const char* name : {"log_s", "density_log_mean", "density_log_std"}) average.add(entry, name);
}

/// A model without a network that is known: metrics and distances alone.
Json metrics_alone(const Group& root) {
    Json object;
    object["name"] = "";
    object["network"]["attributes"] = Json::object();
    object["doubts"] = Json::array();
    object["noise"] = nullptr;
    object["metrics"] = Json::object();
    for (const auto& source : (root / "metrics").children())
        if (find_source(source)) object["metrics"][source] = (root / "metrics" / source).attributes();
    const Json distances = (root / "metrics" / "agreement").attributes();
    constexpr std::string_view ending = "_wasserstein1";
    for (const auto& [key, value] : distances.items()) {
        if (!key.ends_with(ending)) continue;
        const std::string pair = key.substr(0, key.size() - ending.size());
        for (const char* distance : {"wasserstein1", "wasserstein1_log", "kolmogorov_smirnov"})
            if (const auto found = distances.find(pair + "_" + distance);
                find_pair(pair) && found != distances.end())
                object["agreement"][pair][distance] = *found;
    }
    return object;
}

/// One network: its description, laws, metrics and distances, and the sentences about them.
Json run_object(const h5::File& file, const StoredRun& stored, const Detail& detail, bool whole, bool laws) {
    const Group group(file, stored.group);
    Json object;
    object["name"] = cut(stored.name, 200);
    if (!laws) {
        const Run run = read_run(file, stored);
        object["network"] = network_object(group, false);
        object["doubts"] = run.doubts;
        object["noise"] = number(run.noise);
        for (const auto& [source, metrics] : run.metrics)
            object["metrics"][name(source)] = metrics_object(metrics);
        for (const auto& [pair, agreement] : run.agreement)
            object["agreement"][name(pair)]["wasserstein1"] = number(agreement.wasserstein1);
        return object;
    }
    const Report report = read_report(file, stored);
    object["network"] = network_object(group, whole);
    object["seed"] = std::to_string(report.provenance.seed);
    object["theory"] = Json::object();
    for (const auto& theory : report.theories)
        object["theory"][dyson::name(theory.method)] = theory_object(group, theory, detail);
    if (report.simulation) {
        object["simulation"] = sample_object(report.simulation->law, detail);
        if (detail.attributes) object["simulation"]["attributes"] = (group / "montecarlo").attributes();
        if (detail.attributes) object["simulation"]["attributes"].erase("fingerprint");
    }
    object["metrics"] = Json::object();
    for (const auto& [source, metrics] : report.metrics)
        object["metrics"][name(source)] = metrics_object(metrics);
    add_agreement(object, report);
    object["answer"] = answer(report);
    const Run run = read_run(file, stored);
    object["doubts"] = run.doubts;
    object["noise"] = number(run.noise);
    if (whole) add_design(object, group);
    return object;
}

// ---- other kinds of results ----------------------------------------------------------------------

std::vector<StoredRun> stored_runs(const h5::File& file) {
    std::vector<std::string> names;
    // The summary has the order that was asked for.
    if (file.is_dataset("summary")) names = file.read_texts("summary", "name");
    std::erase_if(names,
                  [&](const std::string& name) { return name.empty() || !file.is_group("runs/" + name); });
    if (names.empty()) names = file.children("runs");
    std::vector<StoredRun> runs;
    for (const auto& name : names) runs.push_back({name, {}, "runs/" + name});
    return runs;
}

Json runs_object(const h5::File& file, const std::filesystem::path& path) {
    auto stored = stored_runs(file);
    const std::size_t count = stored.size();
    const bool few = count <= few_runs;
    const Detail detail = few ? Detail{} : Detail{few_points, few_values, 6, false};
    Json runs = Json::array();
    for (std::size_t k = 0; k < std::min(count, most_runs); ++k) {
        stored[k].file = path;
        runs.push_back(run_object(file, stored[k], detail, few, k < most_laws));
    }
    return runs;
}

/// The values at these shares of every row, NaN left out: (L, 5).
Json row_quantiles(const Group& group, const std::string& name) {
    h5::Shape shape;
    const auto values = group.doubles(name, shape);
    Json rows = Json::array();
    if (shape.size() != 2 || shape[1] == 0) return rows;
    for (std::size_t l = 0; l < std::min(shape[0], most_numbers / 5); ++l) {
        std::vector<double> row(values.begin() + static_cast<std::ptrdiff_t>(l * shape[1]),
                                values.begin() + static_cast<std::ptrdiff_t>((l + 1) * shape[1]));
        std::erase_if(row, [](double x) { return !std::isfinite(x); });
        std::sort(row.begin(), row.end());
        Json quantiles = Json::array();
        for (const double u : {0.0, 0.1, 0.5, 0.9, 1.0})
            quantiles.push_back(
                row.empty()
                    ? Json(nullptr)
                    : number(rounded(row[static_cast<std::size_t>(u * static_cast<double>(row.size() - 1))],
                                     7)));
        rows.push_back(std::move(quantiles));
    }
    return rows;
}

/// Predictions that keep the largest triplets of every branch.
Json alignment_object(const Group& group) {
    Json object;
    object["attributes"] = group.attributes();
    for (const char* name : {"ranks", "draws", "distances", "distance_errors", "largest", "overlaps"})
        group.add(object, name);
    for (const char* name : {"leading_connection", "leading_triplet", "leading_value", "leading_elasticity"})
        group.add(object, name, all_digits);
    return object;
}

Json trained_object(const h5::File& file) {
    const Group group(file, "trained");
    Json object;
    object["attributes"] = group.attributes();
    for (const char* name : {"mixers", "composite_products", "branch_stream_variance"})
        group.add(object, name, 6);
    for (const char* name :
         {"pre", "post", "row_sums", "column_sums", "spectral_norms", "orthogonality_defects",
          "identity_distances", "composite_column_sums", "composite_spectral_norms", "branch_variance",
          "branch_mixer_share", "branch_core_variance", "layer_wasserstein1"})
        group.add(object, name);
    if (group.has("layer_singular_values"))
        object["layer_quantiles"] = row_quantiles(group, "layer_singular_values");
    object["predictions"] = Json::object();
    for (const char* name : {"full", "isotropic", "mixers"})
        if ((group / "predictions" / name).exists())
            object["predictions"][name] = (group / "predictions" / name).attributes();
    if (const Group alignment = group / "alignment"; alignment.exists())
        object["alignment"] = alignment_object(alignment);
    h5::Shape shape;
    auto values = group.doubles("jacobian_log_singular_values", shape);
    std::erase_if(values, [](double x) { return std::isnan(x); });
    if (!values.empty()) object["measured"] = sample_object(Spectrum::from_log_values(std::move(values)), {});
    return object;
}

Json training_object(const h5::File& file) {
    const Group group(file, "training"), diagnostics = group / "diagnostics";
    Json object;
    object["attributes"] = group.attributes();
    object["baselines"] = Json::array();
    for (const auto& name : baseline_names())
        if (const auto value = file.double_attribute("training", "baseline_" + name))
            object["baselines"].push_back(
                {{"name", name}, {"words", baseline_words(name)}, {"value", number(*value)}});
    for (const char* name : {"step", "loss", "val_loss", "learning_rate", "gradient_norm"})
        group.add(object, name, 7, 10000);
    object["diagnostics"] = Json::object();
    if (!diagnostics.exists()) return object;
    for (const auto& name : diagnostics.children()) {
        if (object["diagnostics"].size() >= most_series) break;
        Json entry;
        diagnostics.add(entry, name, 6);
        if (!entry.empty()) object["diagnostics"][cut(name, 200)] = entry.front();
    }
    return object;
}

Json depth_object(const h5::File& file) {
    const Group group(file, "depth_limit");
    Json object;
    object["attributes"] = group.attributes();
    for (const char* name : {"depth", "share", "certified", "draws"}) group.add(object, name);
    return object;
}

Json figure_object(const h5::File& file) {
    const Group group(file, "figure");
    Json object;
    object["attributes"] = group.attributes();
    object["panels"] = Json::array();
    for (std::size_t k = 1; k <= most_panels; ++k) {
        const Group panel = group / fmt::format("panel-{}", k);
        if (!panel.exists()) break;
        Json entry;
        entry["attributes"] = panel.attributes();
        entry["series"] = Json::array();
        for (const auto& name : panel.children()) {
            if (entry["series"].size() >= most_series) break;
            Json series;
            series["attributes"] = (panel / name).attributes();
            for (const char* column : {"x", "y", "lower", "value"}) (panel / name).add(series, column, 7, 10000);
            entry["series"].push_back(std::move(series));
        }
        object["panels"].push_back(std::move(entry));
    }
    return object;
}

Json green_object(const h5::File& file) {
    const Group group(file, "green");
    Json object;
    for (const char* name : {"omega", "g", "certified", "residual"}) group.add(object, name, 9, 4000);
    return object;
}

/// What the file is of.
const char* kind_of(const h5::File& file) {
    if (file.is_group("runs")) return "runs";
    if (file.is_group("trained")) return "validation";
    if (file.is_group("training")) return "training";
    if (file.is_group("depth_limit")) return "depth-limit";
    if (file.is_group("figure")) return "figure";
    return "analysis";
}

Json file_object(const std::filesystem::path& path) {
    const auto file = h5::File::open_read(path);
    check_result_format(file, path.string());
    const Group root(file, "");
    Json object;
    object["name"] = cut(path.filename().string(), 200);
    object["kind"] = kind_of(file);
    Json& origin = object["provenance"];
    for (const char* name : {"program_version", "git", "created", "settings"}) origin[name] = root.text(name);
    origin["command"] = root.text("command", longest_command);
    if (const auto seed = file.unsigned_attribute("", "seed")) origin["seed"] = std::to_string(*seed);
    if (file.is_group("runs")) {
        object["networks"] = file.children("runs").size();
        object["runs"] = runs_object(file, path);
    } else if (file.is_dataset("network/sigma2")) {
        object["run"] = run_object(file, {.name = {}, .file = path}, {}, true, true);
    } else if (!file.children("metrics").empty()) {
        object["run"] = metrics_alone(root);
    }
    if (file.is_group("trained")) object["trained"] = trained_object(file);
    if (file.is_group("training")) object["training"] = training_object(file);
    if (file.is_group("depth_limit")) object["depth_limit"] = depth_object(file);
    if (file.is_group("figure")) object["figure"] = figure_object(file);
    if (file.is_group("green")) object["green"] = green_object(file);
    return object;
}

}  // namespace

std::string page_data(const std::vector<std::filesystem::path>& files) {
    Json root;
    root["metrics"] = Json::array();
    for (const auto& metric : metric_names)
        root["metrics"].push_back({{"name", metric.name}, {"label", metric.label}, {"brief", metric.brief}});
    root["files"] = Json::array();
    for (const auto& path : files) root["files"].push_back(file_object(path));
    return root.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace spectra::report
