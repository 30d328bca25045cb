#pragma once

#include "plot/figure.hpp"
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

/// Renders a figure to every path, and adds those to `written`.
inline void render_all(const plot::Figure& figure, const std::vector<std::filesystem::path>& paths,
                       std::vector<std::string>& written) {
    for (const auto& path : paths) {
        plot::render(figure, path);
        written.push_back(path.string());
    }
}

}  // namespace spectra::study
