#include "options.hpp"

#include "option_group.hpp"
#include "console/values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

namespace spectra::cli {

using namespace console;
using namespace study;

void add_options(CLI::App& app, study::CompareRequest& request) {
    add_options(app, request.grid);
    app.get_option("--mixers")->default_str(fmt::format("{}", fmt::join(request.grid.mixers, ",")));
    app.get_option("--depths")->default_str(fmt::format("{}", fmt::join(request.grid.depths, ",")));
    app.remove_option(app.get_option("--out"));
    const OptionGroup add(app, "Output");
    add("--out", "STEM", "spectra-compare",
        "writes STEM.h5, the figures STEM.png over s and STEM-log.png over ln s, and the tables",
        [&request](const auto&, const auto& text) { request.grid.each.out = text; });
    add.plot(request.grid.each.plots);
    add("--table", "md,csv,tex|none", "md,csv,tex", "files of the ranked table: Markdown, CSV, LaTeX",
        [&request](const auto& name, const auto& text) {
            request.tables = to_choices(name, text, {"md", "csv", "tex"});
        });
    add("--palette", "colour|grey|dark", "colour",
        "of the figures; their lines differ in dashes too. dark: light on a dark page, for screens",
        [&request](const auto& name, const auto& text) {
            const std::string palette = to_choice(name, text, {"colour", "grey", "dark"});
            request.grey = palette == "grey";
            request.dark = palette == "dark";
        });
}

}  // namespace spectra::cli
