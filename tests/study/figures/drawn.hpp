#pragma once

#include "study/figures/figures.hpp"

#include <stdexcept>
#include <string>

namespace spectra::study {

/// The figure of that name.
inline Drawing drawn(const std::string& name, FigureRequest request) {
    request.name = name;
    Observer silent;
    for (const auto& kind : figure_kinds())
        if (kind.name == name) return kind.draw(request, silent);
    throw std::logic_error(name);
}

/// One of its numbers. Throws std::out_of_range if it has none of that name.
inline double number(const Drawing& drawing, const std::string& name) {
    for (const auto& [key, value] : drawing.numbers)
        if (key == name) return value;
    throw std::out_of_range(name);
}

}  // namespace spectra::study
