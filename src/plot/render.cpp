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

}  // namespace spectra::plot
