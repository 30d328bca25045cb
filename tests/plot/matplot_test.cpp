#include "plot/matplot.hpp"

#include "report/density_figure.hpp"
#include "report/example_report.hpp"
#include "plot/gnuplot.hpp"
#include "support/needs_program.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

/// The second renderer, where it is built in: the same picture. There are no such tests elsewhere.
namespace spectra::plot {
namespace {

#ifdef SPECTRA_MATPLOT

using spectra::testing::content;
using spectra::testing::TemporaryFolder;

TEST(Matplot, DrawsTheSamePicture) {
    SPECTRA_NEEDS_GNUPLOT();
    const TemporaryFolder folder;
    const auto collapsed = tests::collapsed_report(), isometric = tests::isometric_report();
    DensityGrid grid;
    grid.title = "it's `touch trap` $(touch trap) \\ \" {/Symbol} ^_ %";
    grid.rows = {"one", "spectral-sphere"};
    grid.columns = {"L = 1", "L = 2"};
    grid.cells = {&collapsed, &isometric, &isometric, nullptr};
    for (const auto& figure : {density_figure(collapsed), density_figure(tests::atomic_report()),
                               density_grid(grid, Scale::linear), density_grid(grid, Scale::logarithmic)}) {
        SCOPED_TRACE(figure.title);
        for (const char* extension : {".png", ".svg", ".pdf"}) {
            const auto a = folder.path() / (std::string("a") + extension);
            const auto b = folder.path() / (std::string("b") + extension);
            render_with_gnuplot(figure, a);
            render_with_matplot(figure, b);
            if (extension == std::string(".pdf")) {  // has the time in it
                EXPECT_NEAR(double(content(a).size()), double(content(b).size()),
                            0.02 * double(content(a).size()));
            } else {
                EXPECT_TRUE(content(a) == content(b)) << extension;
            }
        }
    }
    EXPECT_EQ(folder.entries(), 6u);
}

TEST(Matplot, SaysWhenGnuplotIsMissing) {
    const TemporaryFolder folder, empty;
    const std::string before = std::getenv("PATH");
    setenv("PATH", empty.path().c_str(), 1);
    try {
        render_with_matplot(density_figure(tests::isometric_report()), folder.path() / "a.png");
        ADD_FAILURE();
    } catch (const std::runtime_error& error) {
        EXPECT_EQ(std::string(error.what()), gnuplot_missing);
    }
    setenv("PATH", before.c_str(), 1);
    EXPECT_EQ(folder.entries(), 0u);
}

#endif

}  // namespace
}  // namespace spectra::plot
