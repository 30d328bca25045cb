#include "plot/gnuplot.hpp"

#include "base/atomic_file.hpp"
#include "plot/layout.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <thread>

extern char** environ;

namespace spectra::plot {
namespace {

/// A gnuplot string: nothing is expanded in single quotes, and '' is a quote.
std::string literal(const std::string& text) {
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'') {
            out += "''";
        } else {
            out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
        }
    }
    return out + "'";
}

/// A picture format, and its units of size in gnuplot.
struct Terminal {
    std::string command;
    double font_per_point = 1;  ///< font units per point
};

/// Line widths are in thirds of a printer's point.
constexpr double line_unit_mm = 25.4 / 72 / 3;
constexpr const char* typeface = "DejaVu Sans";

/// Every format has its own units of fonts, lines and dashes; the numbers make the pictures look the same.
Terminal terminal_for(const Layout& layout, const std::string& extension) {
    // A narrow figure has more pixels per mm, because it is viewed enlarged.
    const double pixels = std::clamp(1600 / layout.width, 10.0, 16.0);
    const double per_point = 25.4 / 72 * pixels;
    const auto size = [&](const char* kind, double font, double dash) {
        return fmt::format(
            "{} size {:.0f},{:.0f} font '{},{:.2f}' linewidth {:.3f} dashlength {} background '#ffffff'",
            kind, layout.width * pixels, layout.height * pixels, typeface, font * layout.font_size,
            line_unit_mm * pixels, dash);
    };
    if (extension == ".png")  // its font unit is 96/72 pixels
        return {size("pngcairo", 0.75 * per_point, 1.39), 0.75 * per_point};
    if (extension == ".svg") return {size("svg dynamic", per_point, 0.65), per_point};
    constexpr double pdf_font = 1.5, pdf_line = 2;  // its fonts are 2/3 of a point, its lines half of one
    return {fmt::format("pdfcairo size {:.3f}cm,{:.3f}cm font '{},{:.2f}' linewidth {:.3f} dashlength 1.03",
                        layout.width / 10, layout.height / 10, typeface, pdf_font * layout.font_size,
                        pdf_line / 3),
            pdf_font};
}

/// The commands for an axis's ticks, "xtics" or "ytics".
std::string tick_commands(const std::string& name, const std::vector<Tick>& ticks, double font) {
    std::string list;
    for (const auto& tick : ticks)
        list += fmt::format("{}{} {:.17g} {}", list.empty() ? "" : ", ", literal(tick.label), tick.place,
                            tick.minor ? 1 : 0);
    return list.empty() ? "unset " + name + "\n"
                        : fmt::format(
                              "set {} nomirror out noenhanced font '{},{:.2f}' textcolor rgb '#333333' "
                              "({})\n",
                              name, typeface, font, list);
}

/// The colours of cells as gnuplot's numbers, on a dark page too: the mixture of turned ends, because on_dark has no
/// ramp.
class CellColours {
public:
    CellColours(ColourScale scale, bool dark) : scale_(std::move(scale)) {
        if (!dark) return;
        for (auto* end : {&scale_.below, &scale_.zero, &scale_.above}) *end = on_dark(*end);
    }

    int operator()(double value) const { return std::stoi(colour_of(scale_, value).substr(1), nullptr, 16); }

private:
    ColourScale scale_;
};

std::string data_block(const Series& series, bool dark) {
    std::string rows;
    if (series.mark == Mark::cells) {
        const CellColours colours(series.scale, dark);
        for (std::size_t k = 0; k < series.value.size(); ++k)
            if (std::isfinite(series.value[k]))
                rows += fmt::format("{:.9g} {:.9g} {}\n", series.x[k], series.y[k], colours(series.value[k]));
        return rows;
    }
    const auto row = [&](double x, double y) { rows += fmt::format("{:.9g} {:.9g}\n", x, y); };
    if (series.mark == Mark::filled_steps) {
        for (std::size_t k = 0; k < series.y.size(); ++k) {
            row(series.x[k], series.y[k]);
            row(series.x[k + 1], series.y[k]);
        }
        return rows;
    }
    for (std::size_t k = 0; k < series.y.size(); ++k) {
        if (std::isfinite(series.x[k]) && std::isfinite(series.y[k])) {
            if (series.mark == Mark::band) {
                rows += fmt::format("{:.9g} {:.9g} {:.9g}\n", series.x[k], series.lower[k], series.y[k]);
            } else {
                row(series.x[k], series.y[k]);
            }
        } else {
            rows += "\n";  // interrupts the line
        }
    }
    return rows;
}

const char* dash_type(Dash dash) {
    switch (dash) {
        case Dash::dashed:
            return "(10,5)";
        case Dash::dotted:
            return "(2,4)";
        case Dash::dash_dotted:
            return "(10,4,2,4)";
        case Dash::solid:
            break;
    }
    return "1";
}

std::string line_style(const Series& series) {
    return fmt::format("dashtype {} linewidth {:.3g} linecolor rgb {}", dash_type(series.dash), series.width,
                       literal(series.colour));
}

constexpr const char* outline_colour = "'#8c8c8c'";

std::string plot_element(const Series& series, std::size_t block) {
    const std::string data = fmt::format("$d{} using 1:2 {}", block, series.on_right ? "axes x1y2 " : "");
    switch (series.mark) {
        case Mark::line:
            return data + "with lines " + line_style(series) + " notitle";
        case Mark::impulses:
            return data + "with impulses " + line_style(series) + " notitle";
        case Mark::points:
            return data + fmt::format("with points pointtype 7 pointsize {:.3g} linecolor rgb {} notitle",
                                      0.12 * series.width, literal(series.colour));
        case Mark::band:
            return fmt::format(
                "$d{} using 1:2:3 with filledcurves fillstyle solid 1 noborder linecolor rgb {} "
                "notitle",
                block, literal(series.colour));
        case Mark::cells:
            return fmt::format(
                "$d{} using 1:2:($1-0.5):($1+0.5):($2-0.5):($2+0.5):3 with boxxyerror fillstyle solid 1 border linecolor rgb "
                "'#d0d0d0' linewidth 1 linecolor rgb variable notitle",
                block);
        case Mark::filled_steps:
            break;
    }
    std::string filled = data + "with filledcurves y1=0 fillstyle solid 1 noborder linecolor rgb " +
                         literal(series.colour) + " notitle";
    if (series.width <= 0) return filled;
    return filled + ", " + data +
           fmt::format("with lines linewidth {:.3g} linecolor rgb {} notitle", series.width, outline_colour);
}

/// Positions in mm as gnuplot's fractions of the figure.
class Screen {
public:
    Screen(const Layout& layout, const Terminal& terminal, bool dark)
        : layout_(layout), terminal_(terminal), dark_(dark) {}

    double font_per_point() const { return terminal_.font_per_point; }
    bool dark() const { return dark_; }
    std::string at(double x, double y) const {
        return fmt::format("screen {:.5f}, screen {:.5f}", x / layout_.width, y / layout_.height);
    }
    std::string words(const Words& w) const {
        const char* const align = w.align == Words::Align::left     ? "left"
                                  : w.align == Words::Align::centre ? "center"
                                                                    : "right";
        return fmt::format(
            "set label {} at {} {} rotate by {} font '{},{:.2f}' textcolor rgb {} noenhanced front\n",
            literal(w.text), at(w.x, w.y), align, w.angle, typeface, w.size * terminal_.font_per_point,
            literal(w.colour));
    }
    /// gnuplot's own legend is limited to the width of one panel.
    std::string sample(const Sample& sample) const {
        const Box& box = sample.box;
        const Series& series = *sample.series;
        const double middle = 0.5 * (box.bottom + box.top);
        if (series.mark == Mark::cells) return colour_bar(box, series.scale);
        if (series.mark == Mark::filled_steps || series.mark == Mark::band)
            return fmt::format(
                "set object rectangle from {} to {} fillstyle solid 1 {} fillcolor rgb {}\n",
                at(box.left, box.bottom), at(box.right, box.top),
                series.width > 0 && series.mark == Mark::filled_steps
                    ? fmt::format("border linecolor rgb {} linewidth {:.3g}", outline_colour, series.width)
                    : "noborder",
                literal(series.colour));
        if (series.mark == Mark::points)
            return fmt::format("set label '' at {} point pointtype 7 pointsize {:.3g} linecolor rgb {}\n",
                               at(0.5 * (box.left + box.right), middle), 0.12 * series.width,
                               literal(series.colour));
        return fmt::format("set arrow from {} to {} nohead {}\n", at(box.left, middle), at(box.right, middle),
                           line_style(series));
    }

private:
    /// The scale of cells, from −limit to limit.
    std::string colour_bar(const Box& box, const ColourScale& scale) const {
        constexpr int slices = 60;
        const CellColours colours(scale, dark_);
        std::string commands;
        for (int k = 0; k < slices; ++k) {
            const double from = static_cast<double>(k) / slices, to = static_cast<double>(k + 1) / slices;
            commands += fmt::format(
                "set object rectangle from {} to {} fillstyle solid 1 noborder fillcolor rgb {}\n",
                at(std::lerp(box.left, box.right, from), box.bottom),
                at(std::lerp(box.left, box.right, to), box.top), colours(scale.limit * (from + to - 1)));
        }
        return commands +
               fmt::format(
                   "set object rectangle from {} to {} fillstyle empty border linecolor rgb {} linewidth 1\n",
                   at(box.left, box.bottom), at(box.right, box.top), outline_colour);
    }

    const Layout& layout_;
    const Terminal& terminal_;
    bool dark_;
};

struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using Scratch = std::unique_ptr<std::FILE, Close>;

/// An unnamed file: it cannot block like a pipe, and it leaves nothing behind.
Scratch scratch() {
    Scratch file(std::tmpfile());
    if (!file)
        throw std::runtime_error(
            fmt::format("cannot create a temporary file for the figure: {}", std::strerror(errno)));
    return file;
}

std::string first_complaint(std::FILE* file) {
    std::string text;
    std::rewind(file);
    char buffer[4096];
    while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, file)) text.append(buffer, got);
    // "line 12: what was wrong", after the offending line and a caret.
    const std::size_t found = text.find("line ");
    std::string line = found == std::string::npos ? text : text.substr(found);
    line.resize(std::min(line.find('\n'), line.size()));
    return line;
}

struct Outcome {
    int status = 0;
    std::string complaint;
};

/// Its status; ends it and throws after `seconds`.
int wait_for(pid_t child, double seconds) {
    using Clock = std::chrono::steady_clock;
    using std::chrono::milliseconds;
    const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    for (auto pause = milliseconds(1);; pause = std::min(2 * pause, milliseconds(20))) {
        int status = 0;
        const pid_t ended = ::waitpid(child, &status, WNOHANG);
        if (ended == child) return status;
        if (ended < 0 && errno != EINTR) throw std::runtime_error("lost contact with gnuplot");
        if (Clock::now() >= end) {
            ::kill(child, SIGKILL);
            while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
            }
            throw std::runtime_error(fmt::format("gnuplot did not finish within {:g} s", seconds));
        }
        std::this_thread::sleep_for(pause);
    }
}

/// Whether the file has the end of its format. gnuplot reports no error where the disk is full.
bool is_whole(int descriptor, const std::string& extension) {
    struct stat written {};
    std::array<char, 64> last{};
    if (::fstat(descriptor, &written) != 0) return false;
    const off_t from = std::max<off_t>(0, written.st_size - static_cast<off_t>(last.size()));
    const ssize_t count = ::pread(descriptor, last.data(), last.size(), from);
    if (count <= 0) return false;
    const std::string_view end(last.data(), static_cast<std::size_t>(count));
    return end.find(extension == ".png" ? "IEND" : extension == ".svg" ? "</svg>" : "%%EOF") != end.npos;
}

Outcome run_gnuplot(const std::string& script, int output, double seconds) {
    const Scratch input = scratch(), complaints = scratch();
    if (std::fwrite(script.data(), 1, script.size(), input.get()) != script.size() ||
        std::fflush(input.get()) != 0) {
        throw std::runtime_error(fmt::format("cannot store the figure's data: {}", std::strerror(errno)));
    }
    std::rewind(input.get());

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fileno(input.get()), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(complaints.get()), STDERR_FILENO);
    char program[] = "gnuplot", defaults[] = "-d";  // -d: without the user's settings
    char* arguments[] = {program, defaults, nullptr};
    pid_t child = 0;
    const int error = posix_spawnp(&child, program, &actions, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        throw std::runtime_error(error == ENOENT
                                     ? gnuplot_missing
                                     : fmt::format("gnuplot cannot be started: {}", std::strerror(error)));
    }
    const int status = wait_for(child, seconds);
    return {status, first_complaint(complaints.get())};
}

/// Data and commands of one panel.
GnuplotPanel panel_commands(const Panel& panel, const PlacedPanel& placed, const Layout& layout,
                            const Screen& screen, std::size_t& block) {
    const Box& box = placed.box;
    GnuplotPanel out{box.left / layout.width,
                     box.bottom / layout.height,
                     box.right / layout.width,
                     box.top / layout.height,
                     {},
                     {}};
    for (const auto& note : placed.notes) out.settings += screen.words(note);
    out.settings += fmt::format("set xrange [{:.9g}:{:.9g}]\nset yrange [{:.9g}:{:.9g}]\n", panel.x.min,
                                panel.x.max, panel.y.min, panel.y.max);
    const double font = layout.font_size * screen.font_per_point();
    out.settings +=
        tick_commands("xtics", placed.x_ticks, font) + tick_commands("ytics", placed.y_ticks, font);
    if (!placed.right_ticks.empty())
        out.settings += fmt::format("set y2range [{:.9g}:{:.9g}]\nset border 11\nset y2tics offset -0.45,0\n",
                                    panel.right.min, panel.right.max) +
                        tick_commands("y2tics", placed.right_ticks, font);
    for (const auto& series : panel.series) {
        const std::string rows = data_block(series, screen.dark());
        if (rows.find_first_not_of('\n') == std::string::npos) continue;
        out.settings += fmt::format("$d{} << END\n{}END\n", block, rows);
        out.elements += (out.elements.empty() ? "" : ", ") + plot_element(series, block);
        ++block;
    }
    if (out.elements.empty()) out.elements = "1/0 notitle";
    return out;
}

/// For every panel: axes on the left and at the bottom.
constexpr const char* style =
    "set border 3 linewidth 1 linecolor rgb '#333333'\n"
    "set tics nomirror out scale 0.45, 0.25\n"
    "set xtics offset 0,0.35\nset ytics offset 0.45,0\n"
    "unset y2tics\n"
    "set decimalsign '.'\n"
    "set clip two\n"
    "unset key\n";

/// Every colour as on a dark page. Text cannot be taken for one: its quotes are doubled.
void turn_dark(std::string& commands) {
    constexpr std::size_t length = 7;  // of #rrggbb
    for (const std::string before : {"rgb '", "background '"})
        for (auto at = commands.find(before + '#'); at != std::string::npos;
             at = commands.find(before + '#', at + 1)) {
            const auto colour = at + before.size();
            if (commands.size() > colour + length && commands[colour + length] == '\'')
                commands.replace(colour, length, on_dark(commands.substr(colour, length)));
        }
}

std::string margins(const GnuplotPanel& panel) {
    return fmt::format(
        "set lmargin at screen {:.5f}\nset rmargin at screen {:.5f}\n"
        "set bmargin at screen {:.5f}\nset tmargin at screen {:.5f}\n",
        panel.left, panel.right, panel.bottom, panel.top);
}

}  // namespace

GnuplotCommands gnuplot_commands(const Figure& figure, const std::string& extension) {
    const Layout layout = lay_out(figure);
    const Terminal terminal = terminal_for(layout, extension);
    const Screen screen(layout, terminal, figure.dark);
    GnuplotCommands out;
    out.terminal = "set terminal " + terminal.command;
    std::size_t block = 0;
    for (std::size_t k = 0; k < figure.panels.size(); ++k)
        if (!figure.panels[k].absent) {
            out.panels.push_back(panel_commands(figure.panels[k], layout.panels[k], layout, screen, block));
            if (figure.matrices) out.panels.back().settings += "unset border\n";
        }
    if (out.panels.empty()) out.panels.push_back({0.1, 0.1, 0.9, 0.9, "unset tics\n", "1/0 notitle"});
    std::string words;
    for (const auto& text : layout.words) words += screen.words(text);
    for (const auto& sample : layout.samples) words += screen.sample(sample);
    for (auto& panel : out.panels) panel.settings.insert(0, style + margins(panel));
    out.panels.front().settings += words;
    if (figure.dark) {
        if (extension == ".pdf") out.terminal += " background '#ffffff'";  // otherwise the paper's
        turn_dark(out.terminal);
        for (auto& panel : out.panels) {
            turn_dark(panel.settings);
            turn_dark(panel.elements);
        }
    }
    return out;
}

std::string gnuplot_script(const Figure& figure, const std::string& extension) {
    const auto commands = gnuplot_commands(figure, extension);
    std::string script = "set encoding utf8\n" + commands.terminal + "\nset multiplot\n";
    for (const auto& panel : commands.panels)
        script += panel.settings + "plot " + panel.elements + "\nunset label\nunset arrow\nunset object\n";
    return script + "unset multiplot\n";
}

std::string figure_extension(const std::filesystem::path& path) {
    std::string extension = path.extension().string();
    if (extension != ".png" && extension != ".svg" && extension != ".pdf")
        throw std::invalid_argument(path.string() + ": unsupported figure format; use .png, .svg or .pdf");
    return extension;
}

void render_with_gnuplot(const Figure& figure, const std::filesystem::path& path, double seconds) {
    const std::string extension = figure_extension(path);
    const std::string script = gnuplot_script(figure, extension);
    AtomicFile destination(path);
    const auto failed = [&](const std::string& why) {
        return std::runtime_error(fmt::format("{}: gnuplot failed: {}", path.string(), why));
    };
    const Outcome outcome = run_gnuplot(script, destination.descriptor(), seconds);
    struct stat written {};
    const bool empty = ::fstat(destination.descriptor(), &written) != 0 || written.st_size == 0;
    if (!WIFEXITED(outcome.status) || WEXITSTATUS(outcome.status) != 0 || empty)
        throw failed(outcome.complaint.empty() ? "no picture" : outcome.complaint);
    if (!is_whole(destination.descriptor(), extension))
        throw failed("the picture is incomplete; is the disk full?");
    destination.commit();
}

}  // namespace spectra::plot
