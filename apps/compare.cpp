#include "compare.hpp"

#include "console.hpp"
#include "base/atomic_file.hpp"
#include "base/text.hpp"
#include "report/comparison.hpp"
#include "report/density_figure.hpp"
#include "report/terminal.hpp"
#include "sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

namespace spectra::cli {

namespace {

/// Most panels of a figure.
constexpr std::size_t most_rows = 24, most_columns = 12;

std::filesystem::path ending_in(const std::filesystem::path& result, const std::string& ending) {
    return std::filesystem::path(result).replace_extension() += ending;
}

/// Everything that may be written.
OutputFiles files_of(const CompareRequest& request) {
    OutputFiles files = output_files(request.grid.each.out.value_or("spectra-compare"), {});
    for (const auto& format : request.grid.each.plots)
        for (const char* view : {".", "-log."})
            files.figures.push_back(ending_in(files.result, view + format));
    for (const auto& format : request.tables) files.figures.push_back(ending_in(files.result, "." + format));
    return files;
}

void write_tables(const CompareRequest& request, const report::Table& table, report::RunsReport& report,
                  const std::filesystem::path& result) {
    for (const auto& format : request.tables) {
        const auto path = ending_in(result, "." + format);
        AtomicFile file(path);
        file.write(format == "md"    ? report::to_markdown(table)
                   : format == "csv" ? report::to_csv(table)
                                     : report::to_latex(table));
        file.commit();
        report.files.push_back(path.string());
    }
}

/// A figure that cannot be drawn is a warning: the result file has everything.
void draw_figures(const CompareRequest& request, const std::vector<report::Compared>& compared,
                  report::RunsReport& report, const std::filesystem::path& result) {
    const auto& formats = request.grid.each.plots;
    if (formats.empty()) return;
    try {
        const auto grid = report::comparison_grid(compared);
        if (grid.rows.size() > most_rows || grid.columns.size() > most_columns)
            throw std::runtime_error(fmt::format("{} × {} panels; accepted: up to {} × {}", grid.rows.size(),
                                                 grid.columns.size(), most_rows, most_columns));
        for (const auto scale : {plot::Scale::linear, plot::Scale::logarithmic}) {
            auto figure = report::density_grid(grid, scale);
            if (request.grey) plot::turn_grey(figure);
            for (const auto& format : formats) {
                const auto path =
                    ending_in(result, (scale == plot::Scale::linear ? "." : "-log.") + format);
                plot::render(figure, path);
                report.files.push_back(path.string());
            }
        }
    } catch (const std::runtime_error& error) {
        print_error(fmt::format("warning: no figure: {}", error.what()));
    }
}

/// The samples are part of a network's description whether they were typed or not: what sweep has by default
/// is another number.
SweepRequest described(SweepRequest grid) {
    std::erase_if(grid.typed, [](const auto& option) { return option.first == "--samples"; });
    grid.typed.emplace_back("--samples", std::to_string(grid.each.samples));
    return grid;
}

}  // namespace

int compare(const CompareRequest& request, const std::string& command) {
    report::Table table;
    GridOutput output;
    output.files = files_of(request);
    const auto& result = output.files.result;
    output.write = [&](report::RunsReport& report) {
        const auto compared = report::read_compared(result, report.runs);
        table = report::ranked_table(compared);
        draw_figures(request, compared, report, result);
        write_tables(request, table, report, result);
    };
    output.page = [&](const report::RunsReport& report) {
        std::string page =
            report::to_page(table, page_columns(), use_colour(), report::locale_is_utf8()) + "\n";
        for (const auto& file : report.files) page += "wrote " + printable(file) + "\n";
        return page;
    };
    return run_grid(described(request.grid), command, output);
}

}  // namespace spectra::cli
