#include "plot/figure.hpp"
#include "plot/gnuplot.hpp"
#include "plot/matplot.hpp"

namespace spectra::plot {

void render(const Figure& figure, const std::filesystem::path& path) {
#ifdef SPECTRA_MATPLOT
    render_with_matplot(figure, path);
#else
    render_with_gnuplot(figure, path);
#endif
}

bool matplot_is_used() {
#ifdef SPECTRA_MATPLOT
    return true;
#else
    return false;
#endif
}

}  // namespace spectra::plot
