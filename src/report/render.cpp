#include "report/figure.hpp"
#include "report/gnuplot.hpp"
#include "report/matplot.hpp"

namespace spectra::report {

void render(const Figure& figure, const std::filesystem::path& path) {
#ifdef SPECTRA_MATPLOT
    render_with_matplot(figure, path);
#else
    render_with_gnuplot(figure, path);
#endif
}

}  // namespace spectra::report
