#include "study/figure.hpp"

#include "base/atomic_file.hpp"
#include "base/nearest.hpp"
#include "base/text.hpp"
#include "h5/file.hpp"
#include "report/result_file.hpp"
#include "study/analysis.hpp"
#include "study/draw.hpp"
#include "study/output_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace spectra::study {

namespace {

const char* mark_name(plot::Mark mark) {
    switch (mark) {
        case plot::Mark::line:
            return "line";
        case plot::Mark::filled_steps:
            return "steps";
        case plot::Mark::impulses:
            return "impulses";
        case plot::Mark::points:
            return "points";
        case plot::Mark::band:
            return "band";
        case plot::Mark::cells:
            return "cells";
    }
    return "line";
}

const char* scale_name(plot::Scale scale) {
    return scale == plot::Scale::logarithmic ? "log10" : "linear";
}

bool uses(const FigureKind& kind, const std::string& field) {
    return field == "seed" ? !kind.needs_files && !kind.fields.empty() && kind.name != "generators"
                           : std::find(kind.fields.begin(), kind.fields.end(), field) != kind.fields.end();
}

std::string fields_of(const FigureKind& kind) {
    std::string words;
    for (const auto& field : kind.fields) words += (words.empty() ? "`" : ", `") + field + "`";
    return words.empty() ? "none of the network's" : words;
}

/// The requested figures; `all` includes the figure of trained models only if files were given, and never synergy, which
/// takes certain ones.
std::vector<FigureKind> chosen(const FigureRequest& request) {
    const bool all = request.name == "all";
    std::vector<FigureKind> kinds;
    std::vector<std::string> names{"all"};
    for (const auto& kind : figure_kinds()) {
        names.push_back(kind.name);
        const bool with_all = !kind.needs_files || (kind.name == "training" && !request.files.empty());
        if (kind.name == request.name || (all && with_all)) kinds.push_back(kind);
    }
    if (kinds.empty())
        throw std::invalid_argument(fmt::format("figure {}: no such figure{}", in_quotes(request.name),
                                                suggestion(request.name, names)));
    if (!all && !kinds.front().reads_files && !request.files.empty())
        throw std::invalid_argument(
            fmt::format("figure: {}: unexpected argument", in_quotes(request.files.front())));
    for (const auto& file : request.files)
        if (!h5::is_hdf5(file))
            throw std::invalid_argument(
                fmt::format("figure: {}: no such file, or not HDF5; use a file written by spectra {}", file,
                            kinds.front().of_validation ? "validate" : "train"));
    for (const auto& field : request.given)
        if (std::none_of(kinds.begin(), kinds.end(), [&](const auto& kind) { return uses(kind, field); }))
            throw std::invalid_argument(
                fmt::format("figure {}: `{}` does not apply to this figure; it uses {}", request.name, field,
                            fields_of(kinds.front())));
    if (request.max_depth && !request.depths.empty())
        throw std::invalid_argument("`depths` cannot be combined with `max_depth`: both set where curves end");
    return kinds;
}

constexpr std::size_t longest_of_files = 60;  ///< in a file's name

std::string stem_of(const FigureRequest& request, const std::string& name, const Settings& settings) {
    if (request.out) return request.name == "all" ? *request.out + "-" + name : *request.out;
    std::string of_files;
    for (const auto& file : request.files) of_files += "-" + std::filesystem::path(file).stem().string();
    if (of_files.size() > longest_of_files) of_files = fmt::format("-{}-files", request.files.size());
    return fmt::format("spectra-figure-{}{}{}", name, of_files,
                       file_name_suffix(settings, {"command", "figure", "files"}));
}

/// The request of one of the figures: with the files that it reads. Those given to `all` are of spectra train.
FigureRequest own_request(const FigureRequest& request, const FigureKind& kind) {
    FigureRequest own = request;
    if (!kind.reads_files || (request.name == "all" && kind.of_validation)) own.files.clear();
    return own;
}

/// `figure all` draws what `figure NAME` draws.
Invocation of_figure(const Invocation& invocation, const std::string& name, const FigureRequest& request) {
    const auto figure = invocation.with("figure", name);
    return request.files.empty() ? figure : figure.with("files", fmt::format("{}", fmt::join(request.files, ",")));
}

/// As it was asked to look.
plot::Figure styled(plot::Figure figure, const FigureRequest& request) {
    if (request.grey) plot::turn_grey(figure);
    figure.dark = request.dark;
    if (request.column) plot::fit_column(figure);
    return figure;
}

}  // namespace

std::vector<std::string> series_names(const plot::Panel& panel) {
    std::vector<std::string> names;
    for (const auto& series : panel.series) {
        std::string name;
        for (const char c : series.label.substr(0, series.label.find(" (")))
            if (std::isalnum(static_cast<unsigned char>(c)) != 0)
                name += c;
            else if (!name.empty() && name.back() != '-')
                name += '-';
        while (name.ends_with('-')) name.pop_back();
        if (name.empty()) name = "series";
        std::string unique = name;
        for (int k = 2; std::find(names.begin(), names.end(), unique) != names.end(); ++k)
            unique = fmt::format("{}-{}", name, k);
        names.push_back(unique);
    }
    return names;
}

void write_figure_file(const std::string& name, const Drawing& drawing, const report::Provenance& provenance,
                       const std::filesystem::path& path, const std::function<void(h5::File&)>& more) {
    auto file = h5::File::create(path);
    report::write_provenance(file, provenance);
    if (more) more(file);
    file.make_group("figure");
    file.write_attribute("figure", "name", name);
    file.write_attribute("figure", "title", drawing.figure.title);
    file.write_attribute("figure", "caption", fmt::format("{}", fmt::join(drawing.figure.caption, "\n")));
    file.write_attribute("figure", "points", drawing.points);
    file.write_attribute("figure", "uncertified", drawing.uncertified);
    for (const auto& [key, value] : drawing.numbers) file.write_attribute("figure", key, value);
    for (std::size_t k = 0; k < drawing.figure.panels.size(); ++k) {
        const auto& panel = drawing.figure.panels[k];
        const std::string group = fmt::format("figure/panel-{}", k + 1);
        file.make_group(group);
        file.write_attribute(group, "heading", panel.heading);
        file.write_attribute(group, "x_label", panel.x.label);
        file.write_attribute(group, "y_label", panel.y.label);
        file.write_attribute(group, "x_scale", scale_name(panel.x.scale));
        file.write_attribute(group, "y_scale", scale_name(panel.y.scale));
        const auto names = series_names(panel);
        for (std::size_t s = 0; s < names.size(); ++s) {
            const auto& series = panel.series[s];
            const std::string place = group + "/" + names[s];
            file.write(place + "/x", series.x);
            file.write(place + "/y", series.y);
            if (series.mark == plot::Mark::band) file.write(place + "/lower", series.lower);
            if (series.mark == plot::Mark::cells) file.write(place + "/value", series.value);
            file.write_attribute(place, "label", series.label);
            file.write_attribute(place, "mark", mark_name(series.mark));
        }
    }
    AtomicFile whole(path);
    whole.write(file.image());
    whole.commit();
}

std::optional<std::string> draw_figures(const FigureRequest& request, const Invocation& invocation, Observer& observer,
                                        const std::function<void(const DrawnFigure&)>& drawn) {
    const auto kinds = chosen(request);
    std::vector<OutputFiles> files;
    for (const auto& kind : kinds) {
        const auto own = own_request(request, kind);
        const auto settings = of_figure(invocation, kind.name, own).settings;
        files.push_back(output_files(stem_of(own, kind.name, settings), request.plots));
        check_writable(files.back(), settings, request.force);
    }
    for (std::size_t k = 0; k < kinds.size(); ++k) {
        if (kinds.size() > 1) observer.prefix(fmt::format("{} of {}, ", k + 1, kinds.size()));
        observer.stage(kinds[k].name);
        const auto own = own_request(request, kinds[k]);
        DrawnFigure figure{kinds[k].name, {}, {}};
        try {
            figure.drawing = kinds[k].draw(own, observer);
        } catch (const Stopped&) {
            return kinds[k].name;
        }
        write_figure_file(figure.name, figure.drawing,
                          provenance(of_figure(invocation, figure.name, own), request.seed), files[k].result);
        figure.files.push_back(files[k].result.string());
        draw_or_warn(observer, [&] {
            render_all(styled(figure.drawing.figure, request), files[k].figures, figure.files);
        });
        drawn(figure);
    }
    return std::nullopt;
}

}  // namespace spectra::study
