#include "study/compare.hpp"

#include "study/observer.hpp"
#include "base/atomic_file.hpp"
#include "report/comparison.hpp"
#include "report/density_figure.hpp"
#include "study/draw.hpp"
#include "study/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

namespace spectra::study {

namespace {

/// Most panels of a figure.
constexpr std::size_t most_rows = 24, most_columns = 12;

std::filesystem::path ending_in(const std::filesystem::path& result, const std::string& ending) {
    return std::filesystem::path(result).replace_extension() += ending;
}

/// Everything that may be written.
OutputFiles files_of(const CompareRequest& request) {
    OutputFiles files = output_files(request.grid.each.out.value_or("spectra-compare"), {});
    for (const auto& format : request.grid.each.plots) {
        files.figures.push_back(ending_in(files.result, "." + format));
        if (format != "html") files.figures.push_back(ending_in(files.result, "-log." + format));
    }
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

void draw_figures(const CompareRequest& request, const std::vector<report::Compared>& compared,
                  report::RunsReport& report, const std::filesystem::path& result, Observer& observer) {
    auto formats = request.grid.each.plots;
    if (std::erase(formats, "html") > 0) {
        const auto page = ending_in(result, ".html");
        report::write_html_page({result}, page);
        report.files.push_back(page.string());
    }
    if (formats.empty()) return;
    draw_or_warn(observer, [&] {
        const auto grid = report::comparison_grid(compared);
        if (grid.rows.size() > most_rows || grid.columns.size() > most_columns)
            throw std::runtime_error(fmt::format("{} × {} panels; must be at most {} × {}", grid.rows.size(),
                                                 grid.columns.size(), most_rows, most_columns));
        for (const auto scale : {plot::Scale::linear, plot::Scale::logarithmic}) {
            auto figure = report::density_grid(grid, scale);
            if (request.grey) plot::turn_grey(figure);
            figure.dark = request.dark;
            std::vector<std::filesystem::path> paths;
            for (const auto& format : formats)
                paths.push_back(ending_in(result, (scale == plot::Scale::linear ? "." : "-log.") + format));
            render_all(figure, paths, report.files);
        }
    });
}

/// The samples are a setting even if they were not given: the default of sweep differs.
Invocation with_samples(Invocation invocation, int samples) {
    std::erase_if(invocation.settings, [](const auto& field) { return field.first == "samples"; });
    return invocation.with("samples", std::to_string(samples));
}

}  // namespace

CompareRequest::CompareRequest() {
    grid.command = "compare";
    grid.mixers = {"identity", "bistochastic", "orthogonal", "cayley-hybrid", "spectral-sphere", "gaussian"};
    grid.depths = {1, 2, 10};
    grid.each.samples = 250;
}

Comparison compare(const CompareRequest& request, const Invocation& invocation, Observer& observer) {
    Comparison comparison;
    GridOutput output;
    output.files = files_of(request);
    const auto& result = output.files.result;
    output.write = [&](report::RunsReport& report) {
        const auto compared = report::read_compared(result, report.runs);
        comparison.table = report::ranked_table(compared);
        draw_figures(request, compared, report, result, observer);
        write_tables(request, comparison.table, report, result);
    };
    comparison.outcome = run_grid(request.grid, with_samples(invocation, request.grid.each.samples), output, observer);
    return comparison;
}

}  // namespace spectra::study
