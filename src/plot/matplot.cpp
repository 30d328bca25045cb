#include "plot/matplot.hpp"

#ifdef SPECTRA_MATPLOT  // if the build found Matplot++

#include "base/atomic_file.hpp"
#include "base/program.hpp"
#include "base/temporary_folder.hpp"
#include "plot/gnuplot.hpp"

#include <fmt/format.h>
#include <matplot/matplot.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>

namespace spectra::plot {
namespace {

/// Matplot++'s pipe to gnuplot, with its choice of format and size replaced by those for print.
class Pipe : public matplot::backend::gnuplot {
public:
    explicit Pipe(std::string terminal) : terminal_(std::move(terminal)) {}

    void run_command(const std::string& command) override {
        matplot::backend::gnuplot::run_command(command.starts_with("set terminal ") ? terminal_ : command);
    }

private:
    std::string terminal_;
};

/// The contents of one panel.
class PanelObject : public matplot::axes_object {
public:
    PanelObject(matplot::axes_type* parent, GnuplotPanel panel)
        : axes_object(parent), panel_(std::move(panel)) {}

    std::string set_variables_string() override { return panel_.settings; }
    std::string plot_string() override { return panel_.elements; }
    std::string unset_variables_string() override { return "unset label\nunset arrow\nunset object\n"; }

private:
    GnuplotPanel panel_;
};

void save(const GnuplotCommands& commands, const std::filesystem::path& path) {
    const auto figure = std::make_shared<matplot::figure_type>(true);
    figure->backend(std::make_shared<Pipe>("set encoding utf8\n" + commands.terminal));
    for (const auto& panel : commands.panels) {
        const auto part = [](double x) { return static_cast<float>(x); };
        const auto axes = figure->add_axes({part(panel.left), part(panel.bottom),
                                            part(panel.right - panel.left), part(panel.top - panel.bottom)});
        axes->emplace_object(std::make_shared<PanelObject>(axes.get(), panel));
    }
    figure->save(path.string());
}

}  // namespace

void render_with_matplot(const Figure& figure, const std::filesystem::path& path) {
    const std::string extension = figure_extension(path);
    AtomicFile destination(path);
    if (!find_program("gnuplot")) throw std::runtime_error(gnuplot_missing);
    const TemporaryFolder folder;  // so that no user's file name is part of a script
    const auto drawn = folder.path() / ("figure" + extension);
    save(gnuplot_commands(figure, extension), drawn);  // closes the pipe, so that everything is written
    std::ifstream in(drawn, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    if (bytes.empty()) throw std::runtime_error(path.string() + ": Matplot++ drew no picture");
    destination.write(bytes);
    destination.commit();
}

}  // namespace spectra::plot

#endif
