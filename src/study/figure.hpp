#pragma once

/// \file
/// Draws the figures of the catalogue, each with its numbers in a file beside it.

#include "report/report.hpp"
#include "study/invocation.hpp"
#include "study/figure_request.hpp"
#include "study/figures/figures.hpp"
#include "study/observer.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace spectra::h5 {
class File;
}

namespace spectra::study {

/// A figure with its numbers, on the disk.
struct DrawnFigure {
    std::string name;                ///< of the catalogue
    Drawing drawing;                 ///< with its numbers
    std::vector<std::string> files;  ///< written
};

/// Draws a figure of the catalogue (figures.hpp), or all of them, each with its numbers beside it
/// (write_figure_file), and calls `drawn` with each. Returns the name of the figure at which the observer stopped it.
/// `invocation` goes into the files. Throws std::invalid_argument before anything is computed or written.
std::optional<std::string> draw_figures(const FigureRequest& request, const Invocation& invocation, Observer& observer,
                                        const std::function<void(const DrawnFigure&)>& drawn);

/// The numbers of a figure:
///
///     / attributes               those of every result file (report/result_file.hpp)
///     /figure                    attributes name, title, caption, points and uncertified (of theory), and the
///                                figure's single numbers by name
///     /figure/panel-<i>          attributes heading, x_label, y_label, x_scale, y_scale: "linear", or "log10",
///                                where the datasets hold log10 of the quantity
///     /figure/panel-<i>/<name>   a series: `x`, `y`, of a band `lower`, of the cells of a matrix (row after row) `value`;
///                                attributes label, mark. Of filled steps x has one more, the edges
///
/// and what `more` adds to the open file.
void write_figure_file(const std::string& name, const Drawing& drawing, const report::Provenance& provenance,
                       const std::filesystem::path& path, const std::function<void(h5::File&)>& more = {});

/// What the series of a panel are called in the file: its label, fit for a path, with a number where that is
/// empty or taken.
std::vector<std::string> series_names(const plot::Panel& panel);

}  // namespace spectra::study
