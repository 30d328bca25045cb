#include "figure.hpp"

#include "analyse.hpp"
#include "console.hpp"
#include "exit_status.hpp"
#include "h5/file.hpp"
#include "interrupt.hpp"
#include "nearest.hpp"
#include "base/text.hpp"
#include "output_files.hpp"
#include "base/atomic_file.hpp"
#include "report/result_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace spectra::cli {

namespace {

using Json = nlohmann::ordered_json;

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
    }
    return "line";
}

const char* scale_name(plot::Scale scale) {
    return scale == plot::Scale::logarithmic ? "log10" : "linear";
}

std::string list_of_figures() {
    std::string page = "Figures (spectra figure NAME [options], or spectra figure all):\n\n";
    for (const auto& kind : figure_kinds()) page += fmt::format("  {:<11}{}\n", kind.name, kind.shows);
    return page;
}

bool reads(const FigureKind& kind, const std::string& option) {
    return option == "--seed"
               ? kind.name != "training"
               : std::find(kind.options.begin(), kind.options.end(), option) != kind.options.end();
}

/// Those asked for; of all, the figure of trained models where there are files of some.
std::vector<FigureKind> chosen(const FigureRequest& request) {
    const bool all = request.name == "all";
    std::vector<FigureKind> kinds;
    std::vector<std::string> names{"all"};
    for (const auto& kind : figure_kinds()) {
        names.push_back(kind.name);
        if (kind.name == request.name || (all && (kind.name != "training" || !request.files.empty())))
            kinds.push_back(kind);
    }
    if (kinds.empty())
        throw std::invalid_argument(fmt::format("figure {}: no such figure{}", in_quotes(request.name),
                                                suggestion(request.name, names)));
    if (!all && !kinds.front().reads_files && !request.files.empty())
        throw std::invalid_argument(
            fmt::format("figure: {}: one word too many", in_quotes(request.files.front())));
    for (const auto& file : request.files)
        if (!h5::is_hdf5(file))
            throw std::invalid_argument(fmt::format(
                "figure: {}: no such file, or not HDF5; accepted: STEM.h5 of spectra train", file));
    for (const auto& option : request.typed)
        if (std::none_of(kinds.begin(), kinds.end(), [&](const auto& kind) { return reads(kind, option); }))
            throw std::invalid_argument(fmt::format(
                "figure {}: {}: not an option of this figure; accepted: {}", request.name, option,
                kinds.front().options.empty() ? "none of the network's"
                                              : fmt::format("{}", fmt::join(kinds.front().options, ", "))));
    if (request.max_depth && !request.depths.empty())
        throw std::invalid_argument("--depths and --max-depth do not go together: both say where curves end");
    return kinds;
}

std::string stem_of(const FigureRequest& request, const std::string& name) {
    const std::string stem = request.out.value_or("spectra-figure");
    return request.out && request.name != "all" ? stem : stem + "-" + name;
}

/// A figure that cannot be drawn is a warning: the file has its numbers.
void render_all(plot::Figure figure, const FigureRequest& request, const OutputFiles& files,
                std::vector<std::string>& written) {
    if (request.grey) plot::turn_grey(figure);
    if (request.column) plot::fit_column(figure);
    try {
        for (const auto& path : files.figures) {
            plot::render(figure, path);
            written.push_back(path.string());
        }
    } catch (const std::runtime_error& error) {
        print_error(fmt::format("warning: no figure: {}", error.what()));
    }
}

Json to_json(const std::string& name, const Drawing& drawing, const std::vector<std::string>& files) {
    Json object;
    object["name"] = name;
    object["title"] = drawing.figure.title;
    object["points"] = drawing.points;
    object["uncertified"] = drawing.uncertified;
    object["numbers"] = Json::object();
    for (const auto& [key, value] : drawing.numbers)
        object["numbers"][key] = std::isfinite(value) ? Json(value) : Json(nullptr);
    object["series"] = Json::array();
    for (std::size_t k = 0; k < drawing.figure.panels.size(); ++k)
        for (const auto& series : series_names(drawing.figure.panels[k]))
            object["series"].push_back(fmt::format("figure/panel-{}/{}", k + 1, series));
    object["files"] = files;
    return object;
}

std::string page_of(const Drawing& drawing, const std::vector<std::string>& files) {
    std::string page = drawing.figure.title + "\n";
    for (const auto& [key, value] : drawing.numbers) page += fmt::format("  {:<44}{:>12.4g}\n", key, value);
    for (const auto& line : drawing.remarks) page += "  " + line + "\n";
    for (const auto& file : files) page += "wrote " + file + "\n";
    return page;
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
                       const std::filesystem::path& path) {
    auto file = h5::File::create(path);
    report::write_provenance(file, provenance);
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
            file.write_attribute(place, "label", series.label);
            file.write_attribute(place, "mark", mark_name(series.mark));
        }
    }
    AtomicFile whole(path);
    whole.write(file.image());
    whole.commit();
}

int figure(const FigureRequest& request, const std::string& command) {
    if (request.name.empty()) {
        print(list_of_figures());
        return done;
    }
    const auto kinds = chosen(request);
    std::vector<OutputFiles> files;
    for (const auto& kind : kinds) {
        files.push_back(output_files(stem_of(request, kind.name), request.plots));
        check_writable(files.back(), request.force);
    }
    catch_interrupts();
    Json figures = Json::array();
    bool uncertified = false;
    for (std::size_t k = 0; k < kinds.size(); ++k) {
        std::vector<std::string> written;
        Drawing drawing;
        {
            Progress progress(!request.quiet);
            if (kinds.size() > 1) progress.prefix(fmt::format("{} of {}, ", k + 1, kinds.size()));
            progress.stage(kinds[k].name);
            try {
                drawing = kinds[k].draw(request, progress);
            } catch (const Stopped&) {
                progress.clear();
                print_error(fmt::format("interrupted: {} is not drawn", kinds[k].name));
                return was_interrupted;
            }
            write_figure_file(kinds[k].name, drawing, provenance(command, request.seed), files[k].result);
            written.push_back(files[k].result.string());
            progress.clear();
            render_all(drawing.figure, request, files[k], written);
        }
        if (request.json)
            figures.push_back(to_json(kinds[k].name, drawing, written));
        else if (!request.quiet)
            print((k > 0 ? "\n" : "") + page_of(drawing, written));
        if (drawing.uncertified > 0) {
            uncertified = true;
            print_error(fmt::format("figure {}: {} of {} points are not certified", kinds[k].name,
                                    drawing.uncertified, drawing.points));
        }
    }
    if (request.json)
        print_json(Json{{"figures", std::move(figures)}});
    else if (request.name == "all" && request.files.empty() && !request.quiet)
        print("\ntraining is left out: it wants files that spectra train wrote, behind the word all\n");
    return uncertified ? not_finished : done;
}

}  // namespace spectra::cli
