#pragma once

#include "study/invocation.hpp"
#include "study/figure_request.hpp"

#include <string>

namespace spectra::cli {

/// The command figure: study::draw_figures, printed; lists the figures where no name is given. `command` is what was
/// typed. Returns the exit status; throws std::invalid_argument before anything is computed or written.
int figure(const study::FigureRequest& request, const study::Invocation& invocation);

}  // namespace spectra::cli
