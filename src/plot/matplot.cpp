#include "plot/matplot.hpp"

#ifdef SPECTRA_MATPLOT  // if the build found Matplot++

#include "base/atomic_file.hpp"
#include "plot/gnuplot.hpp"

#include <fmt/format.h>
#include <matplot/matplot.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
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

bool gnuplot_found() {
    const char* const search = std::getenv("PATH");
    std::istringstream folders(search ? search : "");
    for (std::string folder; std::getline(folders, folder, ':');)
        if (::access((std::filesystem::path(folder) / "gnuplot").c_str(), X_OK) == 0) return true;
    return false;
}

/// A private folder, so that no user's file name is part of a script.
class Folder {
public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "spectra-XXXXXX").string();
        if (!::mkdtemp(name.data()))
            throw std::runtime_error("cannot create a temporary folder for the figure");
        path_ = name;
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
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
    if (!gnuplot_found()) throw std::runtime_error(gnuplot_missing);
    const Folder folder;
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
