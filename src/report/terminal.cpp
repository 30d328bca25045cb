#include "report/terminal.hpp"

#include "base/text.hpp"
#include "report/density_figure.hpp"
#include "report/panel_height.hpp"
#include "report/page.hpp"
#include "report/wording.hpp"
#include "spectrum/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace spectra::report {
void add_metrics(Page& page, const std::vector<std::pair<std::string, Metrics>>& columns,
                 const std::string& simulated_mean_square) {
    if (columns.empty()) return;
    const bool roomy = page.columns() >= 24 + 16 * columns.size();
    const std::size_t label = roomy ? 24 : 12;
    const std::size_t column = std::min<std::size_t>(18, (page.columns() - label) / columns.size());

    std::string head(label, ' ');
    for (const auto& [heading, metrics] : columns) {
        head += right_padded(heading.size() < column ? heading : heading.substr(0, 2), column);
    }
    page.verbatim(page.paint(head, "1"));
    for (const auto& row : metric_names) {
        std::string line = padded(roomy ? row.label : row.brief, label);
        for (const auto& [heading, metrics] : columns) {
            std::string value = cell(metrics.*row.member, column);
            if (row.member == &Metrics::mean_square && heading == name(Source::montecarlo) &&
                !simulated_mean_square.empty() && width_of(simulated_mean_square) < column)
                value = simulated_mean_square;
            line += right_padded(value, column);
        }
        page.verbatim(line);
    }
}

namespace {

void add_computed(Page& page, const Report& report) {
    const char* label = "theory";
    for (const auto& theory : report.theories) {
        const auto& summary = theory.summary;
        std::string words =
            fmt::format("{}: {} points, {}, {} Newton steps, {:.3g} s", long_name(source_of(theory.method)),
                        summary.points, certificate(summary), summary.newton_steps, summary.seconds);
        if (theory.eta > 0) words += fmt::format(", curve smoothed at η = {:.3g}", theory.eta);
        page.entry(std::exchange(label, "      "), words, summary.certified ? nullptr : "31");
    }
    if (report.green) {
        const auto& certified = report.green->certified;
        const auto good = std::count_if(certified.begin(), certified.end(), [](auto c) { return c != 0; });
        page.entry("green", fmt::format("g at {} points, {} certified", certified.size(), good));
    }
    if (report.simulation) {
        const auto& simulation = *report.simulation;
        page.entry("simulation",
                   fmt::format("{}, {} {}, {:.3g} s{}", sample_size(report), simulation.device,
                               simulation.precision, simulation.seconds,
                               simulation.interrupted() ? " (stopped early)"
                               : simulation.converged   ? " (to the error asked for)"
                                                        : ""),
                   simulation.interrupted() ? "33" : nullptr);
    }
}

/// "1.053 ± 0.004", if the error is known.
std::string simulated_mean_square(const Page& page, const Report& report) {
    if (!report.simulation || !(report.simulation->mean_square_error > 0)) return "";
    return page.text(with_error(report.simulation->mean_square, report.simulation->mean_square_error));
}

/// The label of a metric on this page.
std::string metric_label(const std::string& name) {
    if (name == "mean_square") return "mean square";
    if (name == "log_mean") return "mean of ln s";
    if (name == "window") return "share in [0.75, 1.25]";
    return "share below 0.1";
}

/// The value of largest modulus, and its index; NaN is ignored.
template <class Values>
std::pair<Eigen::Index, double> largest_of(const Values& values) {
    Eigen::Index at = 0;
    for (Eigen::Index k = 1; k < values.size(); ++k)
        if (std::isnan(values(at)) || std::abs(values(k)) > std::abs(values(at))) at = k;
    return {at, values(at)};
}

void add_largest_by_triplet(Page& page, const dyson::LargestByTriplet& largest) {
    std::vector<std::pair<double, std::string>> triplets;
    for (const auto& t : largest.triplets)
        triplets.emplace_back(t.elasticity,
                              fmt::format("triplet {} of layer {}", t.triplet + 1, t.layer + 1));
    const auto words = triplets_to_shrink(triplets);
    page.blank();
    page.entry("",
               fmt::format("the largest value (around {:.4g}){}{}", std::exp(largest.log_s),
                           words.empty() ? ": no kept triplet lowers it" : ": ", words),
               largest.certified ? nullptr : "31");
}

/// Derivatives with respect to the total noise, the noise of the most important layer, and the most important
/// entry of a mixer.
void add_sensitivity(Page& page, const Report& report) {
    constexpr std::size_t label = 24, number = 12, place = 14;
    const bool roomy = page.columns() >= label + 3 * number + 2 * place;
    page.blank();
    if (roomy) {
        std::string head = padded("change of", label);
        for (const char* words : {"per noise", "layer", "per its σ²", "entry", "per unit"})
            head += right_padded(page.text(words), words[0] == 'l' || words[0] == 'e' ? place : number);
        page.verbatim(page.paint(head, "1"));
    }
    for (const auto& [name, sensitivity] : report.sensitivity->by_name()) {
        const double total = dyson::by_total_noise(report.network, *sensitivity);
        const auto& noises = sensitivity->sigma2;
        const auto [layer, by_layer] = largest_of(
            Eigen::Map<const Eigen::VectorXd>(noises.data(), static_cast<Eigen::Index>(noises.size())));
        std::size_t mixer = 0;
        for (std::size_t l = 1; l < sensitivity->mixers.size(); ++l)
            if (sensitivity->mixers[l].cwiseAbs().maxCoeff() >
                sensitivity->mixers[mixer].cwiseAbs().maxCoeff())
                mixer = l;
        const auto& a = sensitivity->mixers[mixer];
        const auto [entry, by_entry] = largest_of(a.reshaped());
        const std::string layer_name = by_layer == 0 ? "-" : std::to_string(layer + 1);
        const std::string entry_name =
            by_entry == 0 ? "-"
                          : fmt::format("A{}[{},{}]", mixer + 1, entry % a.rows() + 1, entry / a.rows() + 1);
        const char* const code = sensitivity->certified ? nullptr : "31";
        if (std::isnan(total)) {
            page.entry(roomy ? padded(metric_label(name), label) : metric_label(name) + ":",
                       "no derivative: it is not finite", code);
            continue;
        }
        if (!roomy) {
            page.entry("",
                       fmt::format("{}: {} per total noise, {} per σ² of layer {}, {} per unit of {}",
                                   metric_label(name), cell(total, number), cell(by_layer, number),
                                   layer_name, cell(by_entry, number), entry_name),
                       code);
            continue;
        }
        const std::string line =
            padded(metric_label(name), label) + right_padded(cell(total, number), number) +
            right_padded(layer_name, place) + right_padded(cell(by_layer, number), number) +
            right_padded(entry_name, place) + right_padded(cell(by_entry, number), number);
        page.verbatim(code ? page.paint(line, code) : line);
    }
}

void add_average(Page& page, const Report& report) {
    const auto& average = *report.average;
    page.blank();
    std::string words = fmt::format("{} draws of the mixers", average.draws);
    if (average.certified < average.draws)
        words += fmt::format(", {} of them certified and kept", average.certified);
    if (average.certified < 2) {
        page.entry("average", words + ": too few to say more", "31");
        return;
    }
    const double root = std::sqrt(average.certified);
    words += ": mean ± standard error (standard deviation over draws)";
    page.entry("average", words, average.certified < average.draws ? "33" : nullptr);
    const bool roomy = page.columns() >= 60;
    for (const auto& [name, member] :
         {std::pair{"mean_square", &Metrics::mean_square}, std::pair{"log_mean", &Metrics::log_mean},
          std::pair{"window", &Metrics::window}, std::pair{"collapsed", &Metrics::collapsed}}) {
        const double mean = average.mean.*member, spread = average.deviation.*member;
        std::string value = fmt::format("{:.5g}", mean);
        if (spread > 1e-12 * std::abs(mean)) value = fmt::format("{} ({:.2g})", with_error(mean, spread / root), spread);
        if (roomy)
            page.verbatim(page.text(padded(metric_label(name), 24) + value));
        else
            page.entry("", fmt::format("{}: {}", metric_label(name), value));
    }
}

void add_agreement(Page& page, const Report& report) {
    for (const auto& compared : compared_words(report))
        page.entry("", compared.words,
                   compared.closeness == Closeness::agree   ? "32"
                   : compared.closeness == Closeness::close ? "33"
                                                            : "31");
    if (!report.expected || !report.simulation) return;
    const auto& e = *report.expected;
    page.entry("", fmt::format("Expected from finite width and sampling alone (N = {}, {} samples): W1 = {}, "
                               "{} in ln s, KS = {} (from simulations of widths {} and {}).",
                               report.network.size(), report.simulation->samples,
                               with_error(e.wasserstein1.mean, e.wasserstein1.deviation),
                               with_error(e.wasserstein1_log.mean, e.wasserstein1_log.deviation),
                               with_error(e.kolmogorov_smirnov.mean, e.kolmogorov_smirnov.deviation),
                               e.widths[0], e.widths[1]));
}

/// At most `count` round positions on an axis, with their labels.
std::vector<std::pair<double, std::string>> ticks(const plot::Axis& axis, std::size_t count) {
    const double most = static_cast<double>(std::max<std::size_t>(count, 2));
    const double rough = (axis.max - axis.min) / most;
    double step = 0;
    if (axis.scale == plot::Scale::logarithmic) {
        step = std::max(1.0, std::ceil(rough));
    } else {
        const double unit = std::pow(10.0, std::floor(std::log10(rough)));
        step = rough > 5 * unit ? 10 * unit : rough > 2 * unit ? 5 * unit : rough > unit ? 2 * unit : unit;
    }
    std::vector<std::pair<double, std::string>> found;
    for (double k = std::ceil(axis.min / step); k * step <= axis.max; ++k) {
        const double place = k * step;
        found.emplace_back(place, axis.scale == plot::Scale::logarithmic ? power_of_ten(place)
                                                                   : fmt::format("{:.6g}", place + 0.0));
    }
    return found;
}

void add_plot(Page& page, const Report& report) {
    static constexpr std::array<const char*, 9> blocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    constexpr std::size_t rows = 8;
    const plot::Figure figure = density_figure(report);
    const plot::Panel& all_scales = figure.panels[1];
    const bool logarithmic = all_scales.x.max - all_scales.x.min > 1;
    const plot::Panel& panel = logarithmic ? all_scales : figure.panels[0];
    constexpr std::size_t indent = 2;
    const std::size_t columns = std::min<std::size_t>(60, page.columns() - 2 * indent);

    struct Cell {
        const char* glyph = " ";
        const char* code = nullptr;
    };
    std::vector<std::vector<Cell>> grid(rows, std::vector<Cell>(columns));
    std::string legend;
    const auto name = [&](const char* glyph, const std::string& words, const char* code) {
        legend += (legend.empty() ? "" : "   ") + page.paint(page.text(glyph), code) + " " + page.text(words);
    };
    bool drawn = false;
    double height = 0;  // without the figure's headroom
    for (const auto& series : panel.series) {
        if (series.mark == plot::Mark::impulses) continue;
        for (const double y : series.y) height = std::isfinite(y) ? std::max(height, y) : height;
    }
    height = std::min(height, panel.y.max);
    const double step = (panel.x.max - panel.x.min) / static_cast<double>(columns);
    // The most important theory is drawn last, on top.
    for (const int turn : {0, 1, 2}) {
        for (const auto& series : panel.series) {
            const bool bars = series.mark == plot::Mark::filled_steps;
            const bool dashed = series.dash != plot::Dash::solid;
            if (series.mark == plot::Mark::impulses || (bars ? 0 : dashed ? 1 : 2) != turn) continue;
            drawn = true;
            const char* glyph = bars ? "█" : dashed ? "∘" : "•";
            const char* code = bars ? "90" : dashed ? "33" : "1;36";
            const bool narrow = page.columns() < 50;
            // "scalar theory (not certified)" → "scalar"
            const std::string method = series.label.substr(0, series.label.find(" theory"));
            name(glyph, bars ? "simulation" : narrow && !dashed ? "ov" : method, code);
            for (std::size_t c = 0; c < columns; ++c) {
                const double from = panel.x.min + step * static_cast<double>(c);
                const double share = height > 0 ? mean_height(series, from, from + step) / height : 0.0;
                const auto level = static_cast<std::size_t>(
                    std::clamp(std::round(share * 8 * rows), 0.0, 8.0 * static_cast<double>(rows)));
                if (bars) {
                    for (std::size_t r = 0; r < rows; ++r) {
                        const std::size_t filled = std::clamp<std::size_t>(level, 8 * r, 8 * r + 8) - 8 * r;
                        if (filled > 0) grid[r][c] = {blocks[filled], code};
                    }
                } else if (level > 0) {
                    grid[std::min(rows - 1, (level - 1) / 8)][c] = {glyph, code};
                }
            }
        }
    }
    if (!drawn) return;

    page.blank();
    page.entry("", panel.y.label);
    for (std::size_t r = rows; r-- > 0;) {
        std::string line(indent, ' ');
        std::size_t end = columns;
        while (end > 0 && std::string_view(grid[r][end - 1].glyph) == " ") --end;
        for (std::size_t c = 0; c < end; ++c) {
            const Cell& place = grid[r][c];
            const std::string glyph = page.text(place.glyph);
            line += place.code ? page.paint(glyph, place.code) : glyph;
        }
        page.verbatim(line);
    }
    // Labels below the axis, each centred under its tick if there is room.
    std::vector<bool> ticked(columns, false);
    std::string labels(columns, ' ');
    std::size_t free = 0;
    for (const auto& [place, label] : ticks(panel.x, columns / 10)) {
        const auto at = static_cast<std::size_t>(
            std::clamp((place - panel.x.min) / step, 0.0, static_cast<double>(columns - 1)));
        const std::size_t begin = std::min(columns - label.size(), at - std::min(at, label.size() / 2));
        if (begin < free) continue;
        ticked[at] = true;
        labels.replace(begin, label.size(), label);
        free = begin + label.size() + 1;
    }
    std::string rule;
    for (std::size_t c = 0; c < columns; ++c) rule += ticked[c] ? "┬" : "─";
    page.verbatim(std::string(indent, ' ') + page.text(rule));
    page.verbatim(std::string(indent, ' ') + labels);
    page.verbatim(std::string(indent, ' ') + legend);
}

}  // namespace

bool locale_is_utf8() {
    for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const char* value = std::getenv(variable);
        if (!value || !*value) continue;
        std::string name(value);
        std::transform(name.begin(), name.end(), name.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        return name.find("utf-8") != std::string::npos || name.find("utf8") != std::string::npos;
    }
    return false;
}

std::string terminal_page(const Report& report, int columns, bool colour, bool unicode) {
    Page page(columns, colour, unicode);
    page.entry("", report.network.title, "1");
    page.blank();
    add_computed(page, report);
    if (!report.metrics.empty()) {
        page.blank();
        std::vector<std::pair<std::string, Metrics>> sources;
        for (const auto& [source, metrics] : report.metrics) sources.emplace_back(name(source), metrics);
        add_metrics(page, sources, simulated_mean_square(page, report));
        page.blank();
        if (const auto words = answer(report); !words.empty()) page.entry("", words, "1");
        add_agreement(page, report);
    }
    if (report.sensitivity) add_sensitivity(page, report);
    if (report.largest_by_triplet) add_largest_by_triplet(page, *report.largest_by_triplet);
    if (report.average) add_average(page, report);
    add_plot(page, report);
    if (!report.files.empty()) {
        page.blank();
        for (const auto& file : report.files) page.verbatim(page.text("wrote " + file));
    }
    return page.take();
}

}  // namespace spectra::report
