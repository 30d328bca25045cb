#pragma once

#include "plot/figure.hpp"
#include "report/html_page.hpp"
#include "study/observer.hpp"

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace spectra::study {

/// Runs `draw`. A figure that cannot be drawn is a warning: the result file has all its numbers.
inline void draw_or_warn(Observer& observer, const std::function<void()>& draw) {
    try {
        draw();
    } catch (const std::runtime_error& error) {
        observer.warn(std::string("warning: no figure: ") + error.what());
    }
}

/// Writes the page of the result file beside it, STEM.html of STEM.h5; if that is not among `written`, of all result
/// files there.
inline void write_page_beside(const std::filesystem::path& path, std::vector<std::string>& written) {
    const auto beside = std::filesystem::path(path).replace_extension(".h5");
    std::vector<std::filesystem::path> results;
    for (const auto& file : written) {
        if (file == beside.string()) results = {beside};
        if (file == beside.string()) break;
        if (file.ends_with(".h5")) results.emplace_back(file);
    }
    report::write_html_page(results, path);
    written.push_back(path.string());
}

/// Renders a figure to every path, and adds those to `written`, where the result file already is. An .html path becomes
/// a page, before any figure: it needs no other program.
inline void render_all(const plot::Figure& figure, const std::vector<std::filesystem::path>& paths,
                       std::vector<std::string>& written) {
    for (const auto& path : paths)
        if (path.extension() == ".html") write_page_beside(path, written);
    for (const auto& path : paths) {
        if (path.extension() == ".html") continue;
        plot::render(figure, path);
        written.push_back(path.string());
    }
}

}  // namespace spectra::study
