#include "report/result_file.hpp"

#include "base/atomic_file.hpp"
#include "base/text.hpp"
#include "h5/file.hpp"
#include "report/branch_fields.hpp"
#include "spectrum/metrics.hpp"
#include "report/column.hpp"
#include "report/result_format.hpp"
#include "report/simulation_group.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

namespace spectra::report {
void write_table(h5::File& file, const std::string& path, const std::vector<std::vector<double>>& rows) {
    std::size_t columns = 0;
    for (const auto& row : rows) columns = std::max(columns, row.size());
    std::vector<double> entries;
    entries.reserve(rows.size() * columns);
    for (const auto& row : rows) {
        entries.insert(entries.end(), row.begin(), row.end());
        entries.insert(entries.end(), columns - row.size(), std::numeric_limits<double>::quiet_NaN());
    }
    file.write(path, entries, {rows.size(), columns});
}

void write_matrices(h5::File& file, const std::string& path, const std::vector<Eigen::MatrixXd>& matrices) {
    const auto n = static_cast<std::size_t>(matrices.front().rows());
    std::vector<double> entries;
    entries.reserve(matrices.size() * n * n);
    for (const auto& matrix : matrices) {
        for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
            for (Eigen::Index j = 0; j < matrix.cols(); ++j) entries.push_back(matrix(i, j));
        }
    }
    file.write(path, entries, {matrices.size(), n, n});
}

void write_outliers(h5::File& file, const std::string& group, const std::vector<dyson::Outlier>& outliers) {
    if (outliers.empty()) return;
    std::vector<double> entries;
    for (const dyson::Outlier& outlier : outliers)
        entries.insert(entries.end(),
                       {outlier.position, outlier.spread, static_cast<double>(outlier.values)});
    file.write(group + "/outliers", entries, {outliers.size(), 3});
}

namespace {


std::vector<double> exponentials(const std::vector<double>& logs) {
    std::vector<double> values(logs.size());
    std::transform(logs.begin(), logs.end(), values.begin(), [](double x) { return std::exp(x); });
    return values;
}

void write_complex(h5::File& file, const std::string& path, const std::vector<std::complex<double>>& values) {
    std::vector<double> pairs;
    pairs.reserve(2 * values.size());
    for (const auto& z : values) {
        pairs.push_back(z.real());
        pairs.push_back(z.imag());
    }
    file.write(path, pairs, {values.size(), 2});
}

void write_network(h5::File& file, const Network& network) {
    file.make_group("network");
    file.write_attribute("network", "streams", network.streams);
    file.write_attribute("network", "width", network.width);
    file.write_attribute("network", "depth", network.depth());
    file.write_attribute("network", "mixer", network.mixer_name);
    const BranchFields fields = branch_fields(network);
    file.write_attribute("network", "branch", fields.branch);
    file.write_attribute("network", "activation", fields.activation);
    if (fields.activation_probability)
        file.write_attribute("network", "activation_probability", *fields.activation_probability);
    file.write_attribute("network", "title", network.title);
    write_matrices(file, "network/mixers", network.mixers);
    file.write("network/sigma2", fields.sigma2);
    if (!fields.sigma_w2.empty()) file.write("network/sigma_w2", fields.sigma_w2);
    if (!fields.preactivation_variance.empty())
        file.write("network/preactivation_variance", fields.preactivation_variance);
    if (!fields.pre.empty()) {
        write_table(file, "network/pre", fields.pre);
        write_table(file, "network/post", fields.post);
    }
    if (!fields.weights.empty()) file.write("network/weights", fields.weights, {fields.weights.size()});
    if (!fields.branch_singular_values.empty())
        write_table(file, "network/branch_singular_values", fields.branch_singular_values);
}

/// Continuous mass below the first point of a theory's curve, without atoms.
double mass_below_range(const dyson::Theory& theory) {
    const Density& density = theory.law.density();
    const auto& points = theory.curve.log_s;
    if (points.empty() || theory.law.empty() || points == density.log_s) return density.mass_below;
    double mass = theory.law.cdf(points.front(), true);
    for (const auto& atom : density.atoms) {
        if (atom.log_place < points.front()) mass -= atom.mass;
    }
    return std::max(mass, 0.0);
}

void write_theory(h5::File& file, const dyson::Theory& theory) {
    const std::string group = "theory/" + dyson::name(theory.method);
    const std::string in = group + "/";
    const dyson::Curve& curve = theory.curve;
    const Density& density = theory.law.density();

    std::vector<double> density_s(curve.size());
    for (std::size_t k = 0; k < curve.size(); ++k) {
        density_s[k] = std::exp(std::log(curve.density_log[k]) - curve.log_s[k]);
    }
    file.make_group(group);
    file.write(in + "s", exponentials(curve.log_s));
    file.write(in + "log_s", curve.log_s);
    file.write(in + "density", density_s);
    file.write(in + "density_log", curve.density_log);
    write_complex(file, in + "g", curve.g);
    write_complex(file, in + "omega", curve.omega);
    file.write(in + "residual", curve.residual);
    if (curve.floor.size() == curve.size()) file.write(in + "floor", curve.floor);
    file.write(in + "iterations", curve.iterations, {curve.iterations.size()});
    file.write(in + "certified", curve.certified, {curve.certified.size()});

    if (curve.log_s == density.log_s && theory.eta == 0) {
        file.write(in + "weight", density.weight);
        file.write(in + "cumulative", density.cumulative);
    } else {
        file.write(in + "law/log_s", density.log_s);
        file.write(in + "law/density_log", density.density_log);
        file.write(in + "law/weight", density.weight);
        file.write(in + "law/cumulative", density.cumulative);
    }

    std::vector<double> support, log_support, atoms, log_atoms;
    for (const auto& band : density.support) {
        support.insert(support.end(), {std::exp(band.log_lower), std::exp(band.log_upper)});
        log_support.insert(log_support.end(), {band.log_lower, band.log_upper});
    }
    for (const auto& atom : density.atoms) {
        atoms.insert(atoms.end(), {std::exp(atom.log_place), atom.mass});
        log_atoms.insert(log_atoms.end(), {atom.log_place, atom.mass});
    }
    file.write(in + "support", support, {density.support.size(), 2});
    file.write(in + "log_support", log_support, {density.support.size(), 2});
    file.write(in + "atoms", atoms, {density.atoms.size(), 2});
    file.write(in + "log_atoms", log_atoms, {density.atoms.size(), 2});

    const dyson::Summary& summary = theory.summary;
    file.write_attribute(group, "mass", summary.mass);
    file.write_attribute(group, "mean_square", summary.mean_square);
    file.write_attribute(group, "mass_below_range", mass_below_range(theory));
    file.write_attribute(group, "eta", theory.eta);
    file.write_attribute(group, "seconds", summary.seconds);
    file.write_attribute(group, "certified", static_cast<int>(summary.certified));
    file.write_attribute(group, "message", summary.message);
    file.write_attribute(group, "points", summary.points);
    file.write_attribute(group, "uncertified", summary.uncertified);
    file.write_attribute(group, "newton_steps", summary.newton_steps);
    file.write_attribute(group, "passes", summary.passes);
    file.write_attribute(group, "descents", summary.descents);
    file.write_attribute(group, "mean_square_exact", summary.mean_square_exact);
    file.write_attribute(group, "log_mean", summary.log_mean);
    const auto where_known = [&](const char* name, const std::optional<double>& value) {
        if (value) file.write_attribute(group, name, *value);
    };
    where_known("log_mean_exact", summary.log_mean_exact);
    file.write_attribute(group, "mean_fourth", summary.mean_fourth);
    where_known("mean_fourth_exact", summary.mean_fourth_exact);
    file.write_attribute(group, "tail_exponent", summary.tail_exponent);
    where_known("tail_exponent_exact", summary.tail_exponent_exact);
    if (summary.unresolved) {
        file.write_attribute(group, "unresolved_mass", summary.unresolved->mass);
        file.write_attribute(group, "unresolved_log_below", summary.unresolved->log_below);
    }
    write_outliers(file, group, theory.outliers);
    where_known("average_error", summary.average_error);
    file.write_attribute(group, "largest_residual", summary.largest_residual);
}

void write_largest_by_triplet(h5::File& file, const dyson::LargestByTriplet& largest) {
    const std::string group = "theory/ov/sensitivity/largest";
    file.make_group("theory/ov/sensitivity");
    file.make_group(group);
    const auto& triplets = largest.triplets;
    file.write(group + "/layer", column(triplets, [](const auto& t) { return t.layer + 1; }));
    file.write(group + "/triplet", column(triplets, [](const auto& t) { return t.triplet + 1; }));
    file.write(group + "/value", column(triplets, [](const auto& t) { return t.value; }));
    file.write(group + "/elasticity", column(triplets, [](const auto& t) { return t.elasticity; }));
    file.write_attribute(group, "log_s", largest.log_s);
    file.write_attribute(group, "certified", static_cast<int>(largest.certified));
}

void write_sensitivity(h5::File& file, const Report& report) {
    file.make_group("theory/ov/sensitivity");
    for (const auto& [name, sensitivity] : report.sensitivity->by_name()) {
        const std::string group = "theory/ov/sensitivity/" + name;
        file.make_group(group);
        file.write(group + "/sigma2", sensitivity->sigma2);
        write_matrices(file, group + "/mixers", sensitivity->mixers);
        file.write_attribute(group, "total_noise", dyson::by_total_noise(report.network, *sensitivity));
        file.write_attribute(group, "certified", static_cast<int>(sensitivity->certified));
    }
}

void write_green(h5::File& file, const dyson::Green& green) {
    write_complex(file, "green/omega", green.omega);
    write_complex(file, "green/g", green.g);
    file.write("green/certified", green.certified, {green.certified.size()});
    file.write("green/residual", green.residual);
    file.write("green/iterations", green.iterations, {green.iterations.size()});
}

void write_metrics(h5::File& file, const std::string& group, const Metrics& metrics) {
    file.make_group(group);
    for (const auto& metric : metric_names) {
        file.write_attribute(group, metric.name, metrics.*metric.member);
    }
}

void write_average(h5::File& file, const dyson::Average& average) {
    const std::string group = "theory/ov/average";
    file.make_group(group);
    file.write(group + "/log_s", average.log_s);
    file.write(group + "/density_log_mean", average.density_log_mean);
    file.write(group + "/density_log_std", average.density_log_deviation);
    file.write_attribute(group, "draws", average.draws);
    file.write_attribute(group, "certified", average.certified);
    file.write_attribute(group, "mass_below_range", average.mass_below_range);
    write_metrics(file, group + "/mean", average.mean);
    write_metrics(file, group + "/std", average.deviation);
}

void write_metrics(h5::File& file, const Report& report) {
    file.make_group("metrics");
    for (const auto& [source, metrics] : report.metrics) write_metrics(file, "metrics/" + name(source), metrics);
    if (report.agreement.empty()) return;
    file.make_group("metrics/agreement");
    for (const auto& [pair, agreement] : report.agreement) {
        const auto attribute = [&, key = name(pair)](const std::string& distance, auto value) {
            file.write_attribute("metrics/agreement", key + "_" + distance, value);
        };
        attribute("wasserstein1", agreement.wasserstein1);
        attribute("wasserstein1_log", agreement.wasserstein1_log);
        attribute("kolmogorov_smirnov", agreement.kolmogorov_smirnov);
        attribute("log_floor", agreement.log_floor);
        attribute("left_out", agreement.left_out);
        if (!report.expected || pair.second != Source::montecarlo) continue;
        const auto expected = [&](const std::string& distance, const montecarlo::Expected& e) {
            attribute(distance + "_expected", e.mean);
            attribute(distance + "_expected_std", e.deviation);
        };
        expected("wasserstein1", report.expected->wasserstein1);
        expected("wasserstein1_log", report.expected->wasserstein1_log);
        expected("kolmogorov_smirnov", report.expected->kolmogorov_smirnov);
    }
}

// Reading, for users: missing entries are left out.

/// Text from a file that another program may have written, safe for a line of the page.
std::string shown(const std::optional<std::string>& text, const char* otherwise) {
    return text ? printable(*text) : otherwise;
}

std::string number(std::optional<double> value) {
    return value ? fmt::format("{:.6g}", *value) : "-";
}

void append(std::string& page, const std::string& label, const std::string& text) {
    if (!text.empty()) page += fmt::format("  {:<14}{}\n", printable(label), printable(text));
}

void describe_theory(std::string& page, const h5::File& file, const std::string& method) {
    const std::string group = "theory/" + method;
    std::string text;
    if (const auto points = file.integer_attribute(group, "points"))
        text += fmt::format("{} points", *points);
    if (const auto certified = file.integer_attribute(group, "certified")) {
        if (*certified != 0) {
            text += ", certified";
        } else {
            text += fmt::format(", NOT certified ({})",
                                shown(file.string_attribute(group, "message"), "no reason stored"));
        }
    }
    text += ", mass " + number(file.double_attribute(group, "mass"));
    text += ", mean square " + number(file.double_attribute(group, "mean_square"));
    if (const auto exact = file.double_attribute(group, "mean_square_exact")) {
        text += " (exact " + number(exact) + ")";
    }
    if (const auto eta = file.double_attribute(group, "eta"); eta && *eta > 0) {
        text += ", smoothed at eta = " + number(eta);
    }
    append(page, method, text);

    h5::Shape shape;
    if (file.is_dataset(group + "/support")) {
        const auto support = file.read_doubles(group + "/support", shape);
        const auto logs = file.is_dataset(group + "/log_support")
                              ? file.read_doubles(group + "/log_support", shape)
                              : std::vector<double>();
        // Deep networks have bands below what a double can hold.
        const auto place = [&](std::size_t k) {
            const bool too_small = support[k] == 0 && k < logs.size() && std::isfinite(logs[k]);
            return too_small ? power_of_ten(logs[k] / std::numbers::ln10) : fmt::format("{:.4g}", support[k]);
        };
        std::string bands;
        constexpr std::size_t shown = 4;
        for (std::size_t k = 0; 2 * k + 1 < support.size() && k < shown; ++k)
            bands += fmt::format("{}[{}, {}]", k == 0 ? "" : " ", place(2 * k), place(2 * k + 1));
        if (support.size() / 2 > shown) bands += fmt::format(" and {} more", support.size() / 2 - shown);
        if (!bands.empty()) append(page, "", "support " + bands);
    }
    if (file.is_dataset(group + "/atoms")) {
        const auto atoms = file.read_doubles(group + "/atoms", shape);
        constexpr std::size_t shown = 64;  // a small file can declare a million
        for (std::size_t k = 0; 2 * k + 1 < atoms.size() && k < shown; ++k) {
            append(page, "", fmt::format("atom at {:.4g}, mass {:.6g}", atoms[2 * k], atoms[2 * k + 1]));
        }
        if (atoms.size() / 2 > shown) append(page, "", fmt::format("and {} atoms more", atoms.size() / 2 - shown));
    }
}

/// The results of a theory beside the law.
void describe_design(std::string& page, const h5::File& file) {
    if (const auto metrics = file.children("theory/ov/sensitivity"); !metrics.empty())
        append(page, "", fmt::format("sensitivities of {}", fmt::join(metrics, ", ")));
    if (const auto draws = file.integer_attribute("theory/ov/average", "draws"))
        append(page, "",
               fmt::format("average over {} draws of the mixers, {} certified", *draws,
                           file.integer_attribute("theory/ov/average", "certified").value_or(0)));
}

void describe_depth_limit(std::string& page, const h5::File& file) {
    const std::string group = "depth_limit";
    page += "\ndepth limit\n";
    append(page, "", shown(file.string_attribute(group, "title"), ""));
    const bool reached = file.integer_attribute(group, "reached").value_or(0) != 0;
    append(page, "limit",
           fmt::format("{}{} layers keep a share of {} at or above {}{}", reached ? "" : "at least ",
                       file.integer_attribute(group, "limit").value_or(0),
                       number(file.double_attribute(group, "keep")),
                       number(file.double_attribute(group, "above")),
                       file.integer_attribute(group, "certified").value_or(0) != 0 ? "" : ", NOT certified"));
    h5::Shape shape;
    if (file.is_dataset(group + "/draws"))
        append(page, "draws",
               fmt::format("{} of the mixers", file.read_doubles(group + "/draws", shape).size()));
}

void describe_trained(std::string& page, const h5::File& file) {
    page += "\ntrained model\n";
    for (const char* name : {"file", "layout", "model", "measured", "verdict", "reasons"})
        append(page, name, shown(file.string_attribute("trained", name), ""));
}

void describe_metrics(std::string& page, const h5::File& file) {
    std::vector<std::string> sources;
    for (const char* known : {"ov", "scalar"}) {
        if (file.is_group(std::string("metrics/") + known)) sources.emplace_back(known);
    }
    for (const auto& source : file.children("metrics")) {
        if (source != "ov" && source != "scalar" && source != "agreement") sources.push_back(source);
    }
    if (sources.empty()) return;
    page += "\nmetrics\n" + fmt::format("  {:<16}", "");
    for (const auto& source : sources) page += fmt::format("{:>14}", printable(source));
    page += "\n";
    for (const auto& metric : metric_names) {
        page += fmt::format("  {:<16}", metric.name);
        for (const auto& source : sources) {
            page += fmt::format("{:>14}", number(file.double_attribute("metrics/" + source, metric.name)));
        }
        page += "\n";
    }
}

void describe_agreement(std::string& page, const h5::File& file) {
    const std::string group = "metrics/agreement";
    const std::string suffix = "_wasserstein1";
    bool first = true;
    for (const auto& name : file.attributes(group)) {
        if (!name.ends_with(suffix)) continue;
        const std::string pair = name.substr(0, name.size() - suffix.size());
        if (std::exchange(first, false)) {
            page += fmt::format("\nagreement\n  {:<20}{:>14}{:>14}{:>14}\n", "", "W1", "W1 in ln s", "KS");
        }
        page += fmt::format("  {:<20}{:>14}{:>14}{:>14}\n", printable(pair), number(file.double_attribute(group, name)),
                            number(file.double_attribute(group, name + "_log")),
                            number(file.double_attribute(group, pair + "_kolmogorov_smirnov")));
    }
}

/// The results of spectra train.
void describe_training(std::string& page, const h5::File& file) {
    page += fmt::format("\ntraining\n  {}, {}: {}\n", shown(file.string_attribute("training", "task"), "?"),
                        shown(file.string_attribute("training", "architecture"), "?"),
                        shown(file.string_attribute("training", "model"), "?"));
    append(page, "parameters", std::to_string(file.integer_attribute("training", "parameters").value_or(0)));
    append(
        page, "steps",
        fmt::format("{} of {} sequences, {} s ({})", file.integer_attribute("training", "steps").value_or(0),
                    file.integer_attribute("training", "batch").value_or(0),
                    number(file.double_attribute("training", "seconds")),
                    shown(file.string_attribute("training", "device"), "?")));
    append(page, "validation", number(file.double_attribute("training", "final_val_loss")));
    for (const auto* name : {"copy", "running_mean", "noise_floor", "uniform"})
        if (const auto value = file.double_attribute("training", std::string("baseline_") + name))
            append(page, name, number(value));
}

}  // namespace

void write_provenance(h5::File& file, const Provenance& provenance) {
    file.write_attribute("", "format", format_name);
    file.write_attribute("", "format_version", format_version);
    file.write_attribute("", "program_version", provenance.program_version);
    file.write_attribute("", "git", provenance.git);
    file.write_attribute("", "command", provenance.command);
    file.write_attribute("", "created", provenance.created);
    file.write_attribute("", "seed", provenance.seed);
    if (!provenance.description.empty()) file.write_attribute("", "description", provenance.description);
    if (!provenance.settings.empty()) file.write_attribute("", "settings", provenance.settings);
}

Provenance read_provenance(const std::filesystem::path& path) {
    const auto file = h5::File::open_read(path);
    check_result_format(file, path.string());
    const auto text = [&](const char* name) { return file.string_attribute("", name).value_or(""); };
    return {text("program_version"), text("git"), text("command"), text("created"),
            file.unsigned_attribute("", "seed").value_or(0)};
}

void write_result_file(const DepthReport& report, const std::filesystem::path& path) {
    AtomicFile destination(path);
    h5::File file = h5::File::create(path);
    write_provenance(file, report.provenance);
    const std::string group = "depth_limit";
    file.make_group(group);
    std::vector<int> depth;
    std::vector<double> share;
    std::vector<std::uint8_t> certified;
    for (const auto& p : report.limit.points) {
        depth.push_back(p.depth);
        share.push_back(p.share);
        certified.push_back(p.certified ? 1 : 0);
    }
    file.write(group + "/depth", depth, {depth.size()});
    file.write(group + "/share", share);
    file.write(group + "/certified", certified, {certified.size()});
    if (!report.draws.empty()) {
        std::vector<int> limits;
        for (const auto& draw : report.draws) limits.push_back(draw.depth);
        file.write(group + "/draws", limits, {limits.size()});
    }
    file.write_attribute(group, "limit", report.limit.depth);
    file.write_attribute(group, "reached", static_cast<int>(report.limit.failed));
    file.write_attribute(group, "certified", static_cast<int>(report.limit.certified));
    file.write_attribute(group, "keep", report.keep);
    file.write_attribute(group, "above", report.above);
    file.write_attribute(group, "max_depth", report.max_depth);
    file.write_attribute(group, "title", report.title);
    file.write_attribute(group, "mixer", report.mixer_name);
    file.write_attribute(group, "streams", report.streams);
    destination.write(file.image());
    destination.commit();
}

void write_result_file(const Report& report, const std::filesystem::path& path,
                       const std::function<void(h5::File&)>& more) {
    AtomicFile destination(path);  // first, to detect a folder that cannot be written before the work
    h5::File file = h5::File::create(path);
    write_provenance(file, report.provenance);
    if (report.network.depth() > 0) write_network(file, report.network);
    for (const auto& theory : report.theories) write_theory(file, theory);
    if (report.sensitivity) write_sensitivity(file, report);
    if (report.largest_by_triplet) write_largest_by_triplet(file, *report.largest_by_triplet);
    if (report.average) write_average(file, *report.average);
    if (report.green) write_green(file, *report.green);
    if (report.simulation) write_simulation(file, *report.simulation);
    write_metrics(file, report);
    if (more) more(file);
    destination.write(file.image());
    destination.commit();
}

std::string describe_result_file(const std::filesystem::path& path) {
    return describe_result_file(h5::File::open_read(path), path.string());
}

std::string describe_result_file(const h5::File& file, const std::string& name) {
    check_result_format(file, name);
    std::string page = fmt::format("{}: spectra result, format {}\n", printable(name),
                                   file.integer_attribute("", "format_version").value_or(0));
    if (file.is_group("network")) {
        page += "\nnetwork\n";
        append(page, "", shown(file.string_attribute("network", "title"), ""));
        append(page, "mixer", shown(file.string_attribute("network", "mixer"), ""));
        const auto n = file.integer_attribute("network", "streams");
        const auto p = file.integer_attribute("network", "width");
        const auto depth = file.integer_attribute("network", "depth");
        if (n && p && depth) {
            append(page, "size",
                   fmt::format("{} layers, {} streams of width {} (N = {:.10g})", *depth, *n, *p,
                               static_cast<double>(*n) * static_cast<double>(*p)));
        }
        std::string branch = shown(file.string_attribute("network", "branch"), "");
        const auto activation = shown(file.string_attribute("network", "activation"), "none");
        if (activation != "none") branch += " " + activation;
        if (file.is_dataset("network/pre") && branch == "tied") branch += " hyper-connection";
        if (file.is_dataset("network/branch_singular_values")) branch += " of given singular values";
        if (file.is_dataset("network/sigma2")) {
            h5::Shape shape;
            const auto variances = file.read_doubles("network/sigma2", shape);
            double total = 0;
            for (const double v : variances) total += v;
            branch += fmt::format(", total noise {:.6g}", total);
        }
        append(page, "branch", branch);
    }
    if (const auto methods = file.children("theory"); !methods.empty()) {
        page += "\ntheory\n";
        for (const auto& method : methods) {
            describe_theory(page, file, method);
            if (method == "ov") describe_design(page, file);
        }
    }
    if (file.is_group("depth_limit")) describe_depth_limit(page, file);
    if (file.is_group("figure")) {
        page += "\nfigure\n";
        append(page, "", shown(file.string_attribute("figure", "title"), ""));
    }
    if (file.is_group("trained")) describe_trained(page, file);
    if (file.is_group("training")) describe_training(page, file);
    if (file.is_dataset("green/omega")) {
        h5::Shape shape;
        const auto certified = file.read_bytes("green/certified", shape);
        const auto good = std::count_if(certified.begin(), certified.end(), [](auto c) { return c != 0; });
        page += fmt::format("\ngreen\n  g at {} points, {} certified\n", certified.size(), good);
    }
    if (file.is_group("montecarlo")) {
        const auto done = file.integer_attribute("montecarlo", "samples").value_or(0);
        const auto asked = file.integer_attribute("montecarlo", "samples_requested").value_or(done);
        std::string text = done < asked ? fmt::format("{} of {} samples (interrupted)", done, asked)
                                        : fmt::format("{} samples", done);
        text += file.is_dataset("montecarlo/counts") ? ", histogram" : ", all singular values";
        text += fmt::format(", {} {}", shown(file.string_attribute("montecarlo", "device"), "?"),
                            shown(file.string_attribute("montecarlo", "precision"), "?"));
        text += ", " + number(file.double_attribute("montecarlo", "seconds")) + " s";
        page += "\nsimulation\n  " + text + "\n";
        append(page, "mean square",
               number(file.double_attribute("montecarlo", "mean_square")) + " +- " +
                   number(file.double_attribute("montecarlo", "mean_square_error")));
        append(page, "range",
               fmt::format("[{}, {}]", number(file.double_attribute("montecarlo", "smallest")),
                           number(file.double_attribute("montecarlo", "largest"))));
    }
    describe_metrics(page, file);
    describe_agreement(page, file);
    if (const auto runs = file.children("runs"); !runs.empty()) {
        page += fmt::format("\nruns\n  {} networks under /runs\n", runs.size());
    }

    page += "\nwhere it came from\n";
    append(page, "command", shown(file.string_attribute("", "command"), ""));
    append(page, "created", shown(file.string_attribute("", "created"), ""));
    append(page, "program",
           fmt::format("spectra {} ({})", shown(file.string_attribute("", "program_version"), "?"),
                       shown(file.string_attribute("", "git"), "?")));
    if (const auto seed = file.unsigned_attribute("", "seed")) append(page, "seed", std::to_string(*seed));
    return page;
}

}  // namespace spectra::report
