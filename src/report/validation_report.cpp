#include "report/validation_report.hpp"

#include "h5/file.hpp"
#include "network/network_file.hpp"
#include "spectrum/metrics.hpp"
#include "report/json_number.hpp"
#include "report/page.hpp"
#include "report/result_file.hpp"
#include "report/terminal.hpp"
#include "report/validation_json.hpp"
#include "report/column.hpp"
#include "report/wording.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace spectra::validation {

namespace {

using Json = nlohmann::ordered_json;
using report::metrics_object;
using report::number;

std::vector<double> as_list(const Eigen::VectorXd& values) {
    return {values.begin(), values.end()};
}

std::string words_of(const std::vector<Requirement>& requirements) {
    std::vector<std::string> all;
    for (const auto& r : requirements) all.push_back(words(r));
    return fmt::format("{}", fmt::join(all, ", "));
}

// ---- result file ---------------------------------------------------------------------------------

/// One value per connection.
template <class Rows, class Get>
void write_column(h5::File& file, const std::string& path, const Rows& rows, Get get) {
    file.write("trained/" + path, report::column(rows, get));
}

template <class Rows, class Get>
void write_rows(h5::File& file, const std::string& path, const Rows& rows, Get get) {
    std::vector<std::vector<double>> table;
    for (const auto& row : rows) table.push_back(get(row));
    report::write_table(file, "trained/" + path, table);
}

/// (K, L, n, n): of a model that was run at several inputs.
void write_mixers_by_input(h5::File& file, const std::vector<layouts::Measurement>& measurements) {
    if (measurements.size() < 2) return;
    std::vector<double> entries;
    for (const auto& measurement : measurements)
        for (const auto& mixer : measurement.stack.mixers())
            for (const auto& row : mixer.rowwise()) entries.insert(entries.end(), row.begin(), row.end());
    const auto& first = measurements.front().stack;
    const auto n = static_cast<std::size_t>(first.connections.front().mixer.rows());
    file.write("trained/mixers_by_input", entries, {measurements.size(), first.connections.size(), n, n});
}

void write_mixers(h5::File& file, const Validation& v) {
    using layouts::CompositeRow;
    using layouts::MixerRow;
    report::write_matrices(file, "trained/mixers", v.stack->mixers());
    write_mixers_by_input(file, v.measurements);
    const auto& layers = v.mixers->layers;
    write_rows(file, "row_sums", layers, [](const MixerRow& r) { return as_list(r.row_sums); });
    write_rows(file, "column_sums", layers, [](const MixerRow& r) { return as_list(r.column_sums); });
    write_column(file, "spectral_norms", layers, [](const MixerRow& r) { return r.spectral_norm; });
    write_column(file, "orthogonality_defects", layers,
                 [](const MixerRow& r) { return r.orthogonality_defect; });
    write_column(file, "identity_distances", layers, [](const MixerRow& r) { return r.identity_distance; });
    const auto& connections = v.stack->connections;
    if (connections.front().pre.size() > 0)
        write_rows(file, "pre", connections, [](const auto& c) { return as_list(c.pre); });
    if (connections.front().post.size() > 0)
        write_rows(file, "post", connections, [](const auto& c) { return as_list(c.post); });
    report::write_matrices(file, "trained/composite_products", layouts::composites(*v.stack));
    write_rows(file, "composite_column_sums", v.mixers->composites, [](const CompositeRow& r) {
        return std::vector<double>{r.column_sum_min, r.column_sum_max};
    });
    write_column(file, "composite_spectral_norms", v.mixers->composites,
                 [](const CompositeRow& r) { return r.spectral_norm; });
    write_column(file, "composite_forward_gains", v.mixers->composites,
                 [](const CompositeRow& r) { return r.forward_gain; });
    write_column(file, "composite_backward_gains", v.mixers->composites,
                 [](const CompositeRow& r) { return r.backward_gain; });
}

void write_branches(h5::File& file, const Validation& v) {
    write_column(file, "branch_variance", v.layers, [](const LayerDistance& d) { return d.variance; });
    write_column(file, "branch_mixer_share", v.layers, [](const LayerDistance& d) { return d.mixer_share; });
    write_column(file, "layer_wasserstein1", v.layers, [](const LayerDistance& d) { return d.wasserstein1; });
    const auto& branches = v.measurements.front().branches;
    std::vector<Eigen::MatrixXd> by_stream;
    for (const auto& branch : branches) by_stream.push_back(branch.by_stream);
    report::write_matrices(file, "trained/branch_stream_variance", by_stream);
    write_column(file, "branch_core_variance", branches, [](const auto& b) { return b.core_variance; });
    write_rows(file, "branch_singular_values", branches, [](const auto& b) { return b.core_values; });
    write_rows(file, "layer_singular_values", branches, [](const auto& b) { return b.values; });
}

void write_alignment(h5::File& file, const Alignment& alignment) {
    const std::string group = "trained/alignment";
    file.make_group(group);
    file.write_attribute(group, "explain", alignment.explain);
    file.write_attribute(group, "width", alignment.width);
    if (alignment.rank) file.write_attribute(group, "rank", *alignment.rank);
    const auto& rows = alignment.by_rank;
    write_column(file, "alignment/ranks", rows, [](const auto& p) { return p.rank; });
    write_column(file, "alignment/draws", rows, [](const auto& p) { return p.draws; });
    write_column(file, "alignment/distances", rows, [](const auto& p) { return p.distance; });
    write_column(file, "alignment/distance_errors", rows, [](const auto& p) { return p.error; });
    write_column(file, "alignment/largest", rows, [](const auto& p) { return p.metrics.largest; });
    report::write_matrices(file, group + "/overlaps", {alignment.overlaps});
    write_column(file, "alignment/common", alignment.common, [](double t) { return t; });
    const auto& leading = alignment.leading;
    write_column(file, "alignment/leading_connection", leading, [](const auto& t) { return t.connection + 1; });
    write_column(file, "alignment/leading_triplet", leading, [](const auto& t) { return t.triplet + 1; });
    write_column(file, "alignment/leading_value", leading, [](const auto& t) { return t.value; });
    write_column(file, "alignment/leading_elasticity", leading, [](const auto& t) { return t.elasticity; });
    if (alignment.network) write_network(file, stored_network, *alignment.network);
    if (!alignment.theory) return;
    file.write_attribute(group, "theory_distance", alignment.theory->distance);
    file.write_attribute(group, "theory_certified", static_cast<int>(alignment.theory->certificate.certified));
    file.write_attribute(group, "theory_doubt",
                         alignment.theory->certificate.certified ? "" : alignment.theory->certificate.message);
    report::write_outliers(file, group, alignment.theory->outliers);
}

void write_trained(h5::File& file, const Validation& v) {
    file.make_group("trained");
    const auto attribute = [&](const char* name, const auto& value) {
        file.write_attribute("trained", name, value);
    };
    attribute("file", v.file);
    attribute("layout", v.layout);
    attribute("model", v.model);
    if (v.step) attribute("step", *v.step);
    attribute("verdict", std::string(v.verdict.pass ? "PASS" : "FAIL"));
    attribute("reasons", fmt::format("{}", fmt::join(v.verdict.reasons, "\n")));
    attribute("requirements", words_of(v.requirements));
    if (v.measured) {
        attribute("measured", v.measured->words);
        if (!v.measured->note.empty()) attribute("measured_note", v.measured->note);
        if (v.measured->error)
            for (const auto& metric : metric_names)
                attribute(fmt::format("error_{}", metric.name).c_str(), (*v.measured->error).*metric.member);
        report::write_table(file, "trained/jacobian_log_singular_values", v.measured->values);
        auto plain = v.measured->values;
        for (auto& set : plain)
            for (auto& value : set) value = std::exp(value);
        report::write_table(file, "trained/jacobian_singular_values", plain);
    }
    if (v.stack) write_mixers(file, v);
    if (!v.layers.empty()) write_branches(file, v);
    if (v.alignment) write_alignment(file, *v.alignment);
    for (std::size_t k = 0; k < v.predictions.size(); ++k) {
        const auto& p = v.predictions[k];
        const std::string group = "trained/predictions/" + name(p.part);
        file.make_group(group);
        for (const auto& metric : metric_names)
            file.write_attribute(group, metric.name, p.metrics.*metric.member);
        if (v.agreement[k]) file.write_attribute(group, "wasserstein1", v.agreement[k]->wasserstein1);
        file.write_attribute(group, "certified", static_cast<int>(p.certificate.certified));
        file.write_attribute(group, "doubt", p.certificate.certified ? "" : p.certificate.message);
        if (p.counted_error) file.write_attribute(group, "counted_error", *p.counted_error);
    }
}

// ---- page ----------------------------------------------------------------------------------------

std::string column_name(Part part) {
    if (part == Part::full) return "predicted";
    return part == Part::mixers ? "mixers alone" : "isotropic";
}

/// Two digits are enough for errors.
Metrics two_digits(Metrics error) {
    for (const auto& metric : metric_names) {
        auto& value = error.*metric.member;
        if (!(value > 0) || !std::isfinite(value)) continue;
        const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1);
        value = std::ceil(value / unit - 1e-9) * unit;
    }
    return error;
}

void add_mixer_lines(report::Page& page, const layouts::MixerTable& m) {
    const auto& whole = m.composites.back();
    page.entry("mixers", fmt::format("row sums off 1 by up to {:.3g}, column sums by {:.3g}; ‖AᵀA − I‖ "
                                     "(largest entry) up to {:.3g}, spectral norm up to {:.6g}",
                                     m.row_sum_defect, m.column_sum_defect, m.orthogonality_defect,
                                     m.spectral_norm_max));
    page.entry(" ",
               fmt::format("distance from the identity up to {:.3g}; {:.0f} % of rows have their maximum "
                           "on the diagonal",
                           m.identity_distance, 100 * m.diagonal_dominant_share));
    page.entry("product",
               fmt::format("of all {}: column sums {:.4g} to {:.4g}, spectral norm {:.6g}", m.layers.size(),
                           whole.column_sum_min, whole.column_sum_max, whole.spectral_norm));
    page.entry("gain", fmt::format("largest absolute sums of the products: forwards {:.4g} (rows), backwards {:.4g} "
                                   "(columns)",
                                   m.forward_gain, m.backward_gain));
}

/// How certain a prediction is.
std::string standing(const Prediction& p) {
    if (!p.certificate.certified) return "NOT certified: " + p.certificate.message;
    if (p.counted_error)
        return fmt::format("its distribution is certified, counted to W1 ± {:.1g}; its density is not",
                           *p.counted_error);
    return report::certificate(p.theories.front().summary);
}

/// The triplets to shrink, if the largest value is too large.
void add_leading_line(report::Page& page, const std::vector<LeadingTriplet>& leading) {
    std::vector<std::pair<double, std::string>> triplets;
    for (const auto& t : leading)
        triplets.emplace_back(t.elasticity,
                              fmt::format("triplet {} of branch {}", t.triplet + 1, t.connection + 1));
    if (const auto words = report::triplets_to_shrink(triplets); !words.empty()) page.entry(" ", words);
}

/// What training did to the branches, in words.
void add_alignment_lines(report::Page& page, const Validation& v) {
    const Alignment& a = *v.alignment;
    const AlignedPrediction &none = a.by_rank.front(), &best = a.best();
    const auto share = [&](int rank) { return 100.0 * rank / std::max(1, a.width); };
    if (a.rank && *a.rank == 0) {
        page.entry("alignment",
                   fmt::format("none is needed: branches free of each other explain the measurement (W1 is {:.4f} ± "
                               "{:.4f} of the root mean square)",
                               none.distance, none.error));
    } else if (a.rank) {
        page.entry("alignment",
                   fmt::format("rank {} of {} ({:.0f} %): keeping the {} largest triplets of every branch explains the "
                               "measurement",
                               *a.rank, a.width, share(*a.rank), *a.rank));
    } else {
        page.entry("alignment", fmt::format("keeping {} of {} triplets of every branch does not explain the measurement "
                                            "to {:.2g}",
                                            best.rank, a.width, a.explain));
    }
    std::string curve;
    for (const auto& p : a.by_rank)
        curve += fmt::format("{}{}: {:.4f}", curve.empty() ? "" : ", ", p.rank, p.distance);
    page.entry(" ", fmt::format("W1 over the root mean square by triplets kept: {} (± {:.4f}, {} draws of the rest)",
                                curve, best.error, best.draws));
    const auto [least, most] = std::minmax_element(a.common.begin(), a.common.end());
    constexpr double worth_saying = 0.01;
    if (least != a.common.end() && std::max(-*least, *most) >= worth_saying)
        page.entry(
            " ", fmt::format(
                     "branches also multiply all channels alike, by {:.2g} to {:.2g}: this counts as part of "
                     "the mixers here",
                     *least, *most));
    if (best.rank == 0) return;
    page.entry(" ", fmt::format("largest singular value: measured {:.4g}, branches free {:.4g}, {} kept {:.4g}",
                                v.measured->metrics.largest, none.metrics.largest, best.rank, best.metrics.largest));
    if (a.theory)
        page.entry(" ", fmt::format("theory with {} kept, first input: W1 {:.4f} of the root mean square; {}",
                                    a.theory->rank, a.theory->distance,
                                    a.theory->certificate.certified ? "certified"
                                                                    : "NOT certified: " + a.theory->certificate.message));
    if (a.theory && !a.theory->outliers.empty())
        page.entry(" ", fmt::format("its outliers above the bulk: {}; the largest at {:.4g} ± {:.2g}",
                                    a.theory->outliers.size(), a.theory->outliers.front().position,
                                    a.theory->outliers.front().spread));
    Eigen::Index l = 0, k = 0;
    const double overlap = a.overlaps.maxCoeff(&l, &k);
    if (overlap > 2 * share(best.rank) / 100)
        page.entry(
            " ",
            fmt::format("most aligned: branch {} reads {:.0f} % of what branch {} writes; {:.0f} % by chance",
                        l + 1, 100 * overlap, k + 1, share(best.rank)));
    add_leading_line(page, a.leading);
}

void add_distances(report::Page& page, const Validation& v) {
    for (std::size_t k = 0; k < v.predictions.size(); ++k) {
        const auto& p = v.predictions[k];
        if (!v.agreement[k]) continue;
        const char* const what = p.part == Part::full        ? "branches as measured"
                                 : p.part == Part::isotropic ? "isotropic branches of the measured variances"
                                                             : "mixers alone";
        page.entry(k == 0 ? "distance" : " ",
                   fmt::format("W1 {:.4f} to theory with {}", v.agreement[k]->wasserstein1, what));
    }
    if (v.layers.empty()) return;
    double variance = 0, mixer_variance = 0, sum = 0;
    std::size_t known = 0, worst = 0;
    for (std::size_t l = 0; l < v.layers.size(); ++l) {
        const auto& layer = v.layers[l];
        variance += layer.variance;
        mixer_variance += layer.variance * layer.mixer_share;
        if (std::isnan(layer.wasserstein1)) continue;
        if (known == 0 || layer.wasserstein1 > v.layers[worst].wasserstein1) worst = l;
        sum += layer.wasserstein1;
        ++known;
    }
    if (known > 0)
        page.entry(" ",
                   fmt::format("one connection by itself: W1 {:.4f} in the mean, {:.4f} at most (connection "
                               "{}){}",
                               sum / static_cast<double>(known), v.layers[worst].wasserstein1, worst + 1,
                               known < v.layers.size()
                                   ? fmt::format("; of {} of {} connections", known, v.layers.size())
                                   : ""));
    const double share = variance > 0 ? 100 * mixer_variance / variance : 0.0;
    page.entry("branches", fmt::format("Σσ² = {:.4g}{}", variance,
                                       std::isnan(share) ? std::string()  // not told apart from the branch
                                                         : fmt::format(", of it {:.1f} % by the mixers' own derivative",
                                                                       share)));
}

Json alignment_json(const Alignment& a) {
    Json rows = Json::array();
    for (const auto& p : a.by_rank)
        rows.push_back({{"kept", p.rank},
                        {"distance", number(p.distance)},
                        {"error", number(p.error)},
                        {"draws", p.draws},
                        {"metrics", metrics_object(p.metrics)}});
    Json leading = Json::array();
    for (const auto& t : a.leading)
        leading.push_back({{"connection", t.connection + 1},
                           {"triplet", t.triplet + 1},
                           {"value", number(t.value)},
                           {"elasticity", number(t.elasticity)}});
    Json object{{"rank", a.rank ? Json(*a.rank) : Json(nullptr)},
                {"width", a.width},
                {"explain", number(a.explain)},
                {"by_rank", std::move(rows)},
                {"common", a.common},
                {"leading", std::move(leading)},
                {"theory", nullptr}};
    if (a.theory)
        object["theory"] = {{"kept", a.theory->rank},
                            {"distance", number(a.theory->distance)},
                            {"certified", a.theory->certificate.certified},
                            {"outliers", report::outlier_list(a.theory->outliers)},
                            {"metrics", metrics_object(a.theory->metrics)}};
    return object;
}

}  // namespace

void write_validation_file(const Validation& v, const report::Provenance& provenance,
                           const std::filesystem::path& path) {
    report::Report r;
    r.provenance = provenance;
    if (const auto* p = v.predicted(); p != nullptr && !p->law.empty()) {
        r.network = p->networks.front();
        r.theories.push_back(p->theories.front());
        r.metrics.emplace_back(report::Source::ov, p->metrics);
        if (v.agreement.back()) r.agreement.emplace_back(report::SourcePair{report::Source::ov, report::Source::measured}, *v.agreement.back());
    }
    if (v.measured) r.metrics.emplace_back(report::Source::measured, v.measured->metrics);
    report::write_result_file(r, path, [&](h5::File& file) { write_trained(file, v); });
}

namespace {

/// One number per depth.
Json gains_of(const layouts::MixerTable& table, double layouts::CompositeRow::*gain) {
    auto all = Json::array();
    for (const auto& row : table.composites) all.push_back(number(row.*gain));
    return all;
}

}  // namespace

Json validation_json(const Validation& v) {
    Json object;
    object["file"] = v.file;
    object["layout"] = v.layout;
    object["model"] = v.model.empty() ? Json(nullptr) : Json(v.model);
    object["step"] = v.step ? Json(*v.step) : Json(nullptr);
    object["layers"] = v.stack ? Json(v.stack->depth()) : Json(nullptr);
    object["streams"] = v.stack ? Json(v.stack->streams) : Json(nullptr);
    object["input"] = v.stack ? Json(v.stack->input) : Json(nullptr);
    object["mixers"] = nullptr;
    object["composite"] = nullptr;
    if (v.mixers) {
        const auto& m = *v.mixers;
        object["mixers"] = {{"row_sum_defect", number(m.row_sum_defect)},
                            {"column_sum_defect", number(m.column_sum_defect)},
                            {"orthogonality_defect", number(m.orthogonality_defect)},
                            {"spectral_norm_max", number(m.spectral_norm_max)},
                            {"identity_distance", number(m.identity_distance)},
                            {"diagonal_dominant_share", number(m.diagonal_dominant_share)}};
        const auto& c = m.composites.back();
        object["composite"] = {{"column_sum_min", number(c.column_sum_min)},
                               {"column_sum_max", number(c.column_sum_max)},
                               {"spectral_norm", number(c.spectral_norm)},
                               {"forward_gain", number(m.forward_gain)},
                               {"backward_gain", number(m.backward_gain)},
                               {"forward_gains", gains_of(m, &layouts::CompositeRow::forward_gain)},
                               {"backward_gains", gains_of(m, &layouts::CompositeRow::backward_gain)}};
    }
    object["measured"] = v.measured ? metrics_object(v.measured->metrics) : Json(nullptr);
    if (v.measured) object["measured_at"] = v.measured->words;
    object["measured_note"] =
        v.measured && !v.measured->note.empty() ? Json(v.measured->note) : Json(nullptr);
    object["measured_error"] = v.measured && v.measured->error ? metrics_object(*v.measured->error) : Json(nullptr);
    const auto* const predicted = v.predicted();
    object["predicted"] = predicted && !predicted->law.empty() ? metrics_object(predicted->metrics) : Json(nullptr);
    object["certified"] = predicted ? Json(v.certified()) : Json(nullptr);
    object["agreement"] = nullptr;
    if (!v.agreement.empty() && v.agreement.back()) {
        Json by_part = Json::object();
        for (std::size_t k = 0; k < v.predictions.size(); ++k)
            by_part[name(v.predictions[k].part)] =
                v.agreement[k] ? number(v.agreement[k]->wasserstein1) : Json(nullptr);
        object["agreement"] = {{"wasserstein1", number(v.agreement.back()->wasserstein1)},
                               {"wasserstein1_log", number(v.agreement.back()->wasserstein1_log)},
                               {"kolmogorov_smirnov", number(v.agreement.back()->kolmogorov_smirnov)},
                               {"wasserstein1_by_part", by_part}};
    }
    if (!v.layers.empty()) {
        Json rows = Json::array();
        for (const auto& layer : v.layers)
            rows.push_back({{"variance", number(layer.variance)},
                            {"mixer_share", number(layer.mixer_share)},
                            {"smallest", number(layer.smallest)},
                            {"largest", number(layer.largest)},
                            {"wasserstein1", number(layer.wasserstein1)}});
        object["connections"] = std::move(rows);
    }
    object["alignment"] = v.alignment ? alignment_json(*v.alignment) : Json(nullptr);
    object["identity"] = v.identity ? metrics_object(*v.identity) : Json(nullptr);
    object["requirements"] = words_of(v.requirements);
    object["verdict"] = v.verdict.pass ? "PASS" : "FAIL";
    object["reasons"] = v.verdict.reasons;
    return object;
}

std::string to_json(const Validation& validation) {
    return validation_json(validation).dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string validation_page(const Validation& v, int columns, bool colour, bool unicode) {
    report::Page page(columns, colour, unicode);
    page.verbatim(page.paint(page.text(v.file), "1"));
    if (!v.model.empty()) page.entry("model", v.model);
    if (v.stack) {
        page.entry("layout",
                   fmt::format("{}: {} connections of {} streams{}, {}", v.layout, v.stack->depth(),
                               v.stack->streams,
                               v.stack->width > 0 ? fmt::format(" × {} channels", v.stack->width) : "",
                               v.stack->input));
    } else {
        page.entry("layout", v.layout);
    }
    if (v.measured) {
        page.entry("measured", v.measured->words);
        if (!v.measured->note.empty()) page.entry(" ", v.measured->note, "33");
    }
    if (const auto* p = v.predicted())
        page.entry("theory", fmt::format("{}; {}", p->networks.front().title, standing(*p)),
                   p->certificate.certified ? nullptr : "31");
    page.blank();
    std::vector<std::pair<std::string, Metrics>> sources;
    if (v.measured) sources.emplace_back("measured", v.measured->metrics);
    if (const auto* const error = v.judged_error()) sources.emplace_back(page.text("±"), two_digits(*error));
    for (auto p = v.predictions.rbegin(); p != v.predictions.rend(); ++p)
        if (!p->law.empty()) sources.emplace_back(column_name(p->part), p->metrics);
    report::add_metrics(page, sources);
    page.blank();
    if (v.measured) add_distances(page, v);
    if (v.alignment) add_alignment_lines(page, v);
    if (v.mixers) add_mixer_lines(page, *v.mixers);
    if (v.mixers || !v.predictions.empty()) page.blank();
    const bool of_law = std::any_of(v.requirements.begin(), v.requirements.end(), [](const Requirement& r) {
        return std::any_of(metric_names.begin(), metric_names.end(),
                           [&](const auto& metric) { return r.name == metric.name; });
    });
    const char* const whose = v.measured ? " (of the measured values)" : " (of the predicted law)";
    page.entry("required", words_of(v.requirements) + (of_law ? whose : ""));
    if (v.verdict.pass) {
        page.verbatim(page.paint("PASS", "32"));
    } else {
        for (std::size_t k = 0; k < v.verdict.reasons.size(); ++k)
            page.entry(k == 0 ? "FAIL" : " ", v.verdict.reasons[k], "31");
    }
    return page.take();
}

std::string evolution_table(const std::vector<Validation>& all) {
    std::size_t width = 4;
    for (const auto& v : all) width = std::max(width, report::width_of(v.file));
    std::string table = report::padded("file", width) +
                        fmt::format("{:>10}{:>10}{:>11}{:>11}{:>11}{:>10}{:>9}\n", "step", "window",
                                    "predicted", "collapsed", "largest", "W1", "verdict");
    for (const auto& v : all) {
        const auto* const m = v.judged();
        const auto value = [](bool there, double number) {
            return there ? fmt::format("{:.4g}", number) : "-";
        };
        const bool predicted = v.predicted() != nullptr && !v.predicted()->law.empty();
        const bool agreed = !v.agreement.empty() && v.agreement.back().has_value();
        table +=
            report::padded(v.file, width) +
            fmt::format("{:>10}{:>10}{:>11}{:>11}{:>11}{:>10}{:>9}\n",
                        v.step ? fmt::format("{}", *v.step) : "-", value(m != nullptr, m ? m->window : 0),
                        value(predicted, predicted ? v.predicted()->metrics.window : 0),
                        value(m != nullptr, m ? m->collapsed : 0), value(m != nullptr, m ? m->largest : 0),
                        value(agreed, agreed ? v.agreement.back()->wasserstein1 : 0),
                        v.verdict.pass ? "PASS" : "FAIL");
    }
    return table;
}

}  // namespace spectra::validation
