#pragma once

#include "figure_request.hpp"
#include "figures/figures.hpp"
#include "report/report.hpp"

#include <filesystem>
#include <string>

namespace spectra::cli {

/// The command figure: draws a figure of the catalogue (figures.hpp), or all, each with its numbers beside it
/// (write_figure_file); lists them where no name is given. Returns the exit status; throws
/// std::invalid_argument before anything is computed or written.
int figure(const FigureRequest& request, const std::string& command);

/// The numbers of a figure:
///
///     / attributes               those of every result file (report/result_file.hpp)
///     /figure                    attributes name, title, caption, points and uncertified (of theory), and the
///                                figure's single numbers by name
///     /figure/panel-<i>          attributes heading, x_label, y_label, x_scale, y_scale: "linear", or "log10",
///                                where the datasets hold log10 of the quantity
///     /figure/panel-<i>/<name>   a series: `x`, `y`, of a band `lower`; attributes label, mark. Of filled steps
///                                x has one more, the edges
void write_figure_file(const std::string& name, const Drawing& drawing, const report::Provenance& provenance,
                       const std::filesystem::path& path);

/// What the series of a panel are called in the file: its label, fit for a path, with a number where that is
/// empty or taken.
std::vector<std::string> series_names(const plot::Panel& panel);

}  // namespace spectra::cli
