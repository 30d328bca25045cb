#include "figure.hpp"

#include "console/progress.hpp"
#include "console/terminal.hpp"
#include "exit_status.hpp"
#include "console/interrupt.hpp"
#include "report/json_number.hpp"
#include "study/figure.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace spectra::cli {

using namespace console;

namespace {

using Json = nlohmann::ordered_json;

std::string list_of_figures() {
    std::string page = "Figures (spectra figure NAME [options], or spectra figure all):\n\n";
    for (const auto& kind : study::figure_kinds()) page += fmt::format("  {:<11}{}\n", kind.name, kind.shows);
    return page;
}

Json to_json(const study::DrawnFigure& drawn) {
    const auto& drawing = drawn.drawing;
    Json object;
    object["name"] = drawn.name;
    object["title"] = drawing.figure.title;
    object["points"] = drawing.points;
    object["uncertified"] = drawing.uncertified;
    object["numbers"] = Json::object();
    for (const auto& [key, value] : drawing.numbers) object["numbers"][key] = report::number(value);
    object["remarks"] = drawing.remarks;
    object["series"] = Json::array();
    for (std::size_t k = 0; k < drawing.figure.panels.size(); ++k)
        for (const auto& series : study::series_names(drawing.figure.panels[k]))
            object["series"].push_back(fmt::format("figure/panel-{}/{}", k + 1, series));
    object["files"] = drawn.files;
    return object;
}

std::string page_of(const study::DrawnFigure& drawn) {
    const auto& drawing = drawn.drawing;
    std::string page = drawing.figure.title + "\n";
    for (const auto& [key, value] : drawing.numbers) page += fmt::format("  {:<44}{:>12.4g}\n", key, value);
    for (const auto& line : drawing.remarks) page += "  " + line + "\n";
    for (const auto& file : drawn.files) page += "wrote " + file + "\n";
    return page;
}

}  // namespace

int figure(const study::FigureRequest& request, const study::Invocation& invocation) {
    if (request.name.empty()) {
        print(list_of_figures());
        return done;
    }
    catch_interrupts(was_interrupted);
    Progress progress(!request.quiet);
    Json figures = Json::array();
    bool uncertified = false, undrawn = false, first = true;
    const auto stopped = study::draw_figures(request, invocation, progress, [&](const study::DrawnFigure& drawn) {
        progress.clear();
        if (request.json)
            figures.push_back(to_json(drawn));
        else if (!request.quiet)
            print((first ? "" : "\n") + page_of(drawn));
        first = false;
        undrawn = undrawn || drawn.files.size() < 1 + request.plots.size();
        if (drawn.drawing.uncertified == 0) return;
        uncertified = true;
        print_error(fmt::format("figure {}: {} of {} points are not certified", drawn.name,
                                drawn.drawing.uncertified, drawn.drawing.points));
    });
    progress.clear();
    if (stopped) {
        print_error(fmt::format("interrupted: {} is not drawn", *stopped));
        return was_interrupted;
    }
    if (request.json)
        print_json(Json{{"figures", std::move(figures)}});
    else if (request.name == "all" && request.files.empty() && !request.quiet)
        print(
            "\ntraining is left out: it needs files that spectra train wrote, after the word all; so do streams and synergy, by "
            "their own names\n");
    return uncertified || undrawn ? not_finished : done;
}

}  // namespace spectra::cli
