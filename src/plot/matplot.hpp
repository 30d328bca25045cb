#pragma once

#include "plot/figure.hpp"

#include <filesystem>

namespace spectra::plot {

/// As report::render, by Matplot++, where the build found it. That library starts gnuplot in its turn; what
/// its own marks cannot say (dashes, rotated words, sizes in print) reaches it as objects of ours in its
/// axes, so that the picture is the same as gnuplot's own. Throws std::runtime_error where gnuplot is missing
/// or nothing was drawn.
void render_with_matplot(const Figure& figure, const std::filesystem::path& path);

}  // namespace spectra::plot
