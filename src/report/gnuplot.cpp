#include "report/gnuplot.hpp"

#include "report/atomic_file.hpp"
#include "report/wording.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <stdexcept>

extern char** environ;

namespace spectra::report {
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

std::size_t characters(const std::string& text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

/// Lines of at most `columns` characters, broken at spaces.
std::vector<std::string> wrapped(const std::string& text, std::size_t columns) {
    std::vector<std::string> lines;
    std::string line;
    std::size_t length = 0;  // in code points
    std::size_t begin = 0;
    while (begin < text.size()) {
        const std::size_t space = std::min(text.find(' ', begin), text.size());
        const std::string word = text.substr(begin, space - begin);
        const std::size_t size = characters(word);
        if (length > 0 && length + 1 + size > columns) {
            lines.push_back(line);
            line.clear();
            length = 0;
        }
        if (!line.empty()) {
            line += ' ';
            ++length;
        }
        line += word;
        length += size;
        begin = space + 1;
    }
    if (!line.empty()) lines.push_back(line);
    return lines;
}

/// Ticks of a logarithmic axis: powers of ten over many decades, 1-2-5 over a few, round numbers within
/// one.
std::string log_ticks(const Axis& axis) {
    const double span = axis.max - axis.min;
    std::string major, minor;
    const auto tick = [](std::string& list, const std::string& label, double place, int level) {
        list += fmt::format("{}{} {:.17g} {}", list.empty() ? "" : ", ", literal(label), place, level);
    };
    if (span > 2.5) {
        const int stride = std::max(1, static_cast<int>(std::ceil(span / 8)));
        for (int e = static_cast<int>(std::ceil(axis.min)); e <= axis.max; ++e) {
            if (e % stride == 0) {
                tick(major, e == 0 ? "1" : fmt::format("10^{{{}}}", e), e, 0);
            } else if (stride <= 5) {
                tick(minor, "", e, 1);
            }
        }
        if (stride == 1) {
            for (int e = static_cast<int>(std::floor(axis.min)); e <= axis.max; ++e) {
                for (int digit = 2; digit < 10; ++digit) {
                    const double place = e + std::log10(digit);
                    if (place >= axis.min && place <= axis.max) tick(minor, "", place, 1);
                }
            }
        }
    } else if (span > 0.8) {
        for (int e = static_cast<int>(std::floor(axis.min)); e <= axis.max; ++e) {
            for (int digit = 1; digit < 10; ++digit) {
                const double place = e + std::log10(digit);
                if (place < axis.min || place > axis.max) continue;
                const bool labelled = digit == 1 || digit == 2 || digit == 5;
                tick(labelled ? major : minor, labelled ? power_of_ten(place) : "", place, labelled ? 0 : 1);
            }
        }
    } else {
        const double low = std::pow(10.0, axis.min), high = std::pow(10.0, axis.max);
        const double rough = (high - low) / 7;
        const double unit = std::pow(10.0, std::floor(std::log10(rough)));
        const double step = rough / unit > 5 ? 10 * unit : rough / unit > 2 ? 5 * unit : 2 * unit;
        for (double k = std::ceil(low / step); k * step <= high; ++k) {
            if (k > 0) tick(major, fmt::format("{:.6g}", k * step), std::log10(k * step), 0);
        }
    }
    return major + (major.empty() || minor.empty() ? "" : ", ") + minor;
}

/// The commands for an axis's ticks, "xtics" or "ytics".
std::string axis_ticks(const std::string& name, const Axis& axis) {
    if (axis.scale == Scale::linear) return "set " + name + " autofreq nomirror out\n";
    const std::string ticks = log_ticks(axis);
    return "unset " + name + "\n" + (ticks.empty() ? "" : "set " + name + " nomirror out (" + ticks + ")\n");
}

std::string data_block(const Series& series) {
    std::string rows;
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
            row(series.x[k], series.y[k]);
        } else {
            rows += "\n";  // interrupts the line
        }
    }
    return rows;
}

std::string line_style(const Series& series) {
    const char* dash = series.dash == Dash::dashed ? "(12,6)" : "1";
    return fmt::format("dashtype {} linewidth {:.3g} linecolor rgb {}", dash, series.width,
                       literal(series.colour));
}

std::string plot_element(const Series& series, std::size_t block) {
    const std::string data = fmt::format("$d{} using 1:2 ", block);
    if (series.mark != Mark::filled_steps) {
        return data + (series.mark == Mark::impulses ? "with impulses " : "with lines ") +
               line_style(series) + " notitle";
    }
    return data + "with filledcurves y1=0 fillstyle solid 1 noborder linecolor rgb " +
           literal(series.colour) + " notitle, " + data +
           fmt::format("with lines linewidth {:.3g} linecolor rgb '#8c8c8c' notitle", series.width);
}

/// One row of samples and names, centred at a height of the figure; gnuplot's own legend is bound to
/// one panel's width.
std::string legend(const std::vector<Series>& all, double height) {
    constexpr double per_character = 0.0066, sample = 0.03, gap = 0.008, between = 0.03;
    double total = -between;
    for (const auto& series : all) {
        if (series.label.empty()) continue;
        total += sample + gap + per_character * static_cast<double>(characters(series.label)) + between;
    }
    double x = 0.5 - 0.5 * total;
    std::string script;
    for (const auto& series : all) {
        if (series.label.empty()) continue;
        if (series.mark == Mark::filled_steps) {
            script += fmt::format(
                "set object rectangle from screen {:.4f}, screen {:.4f} to screen {:.4f}, screen {:.4f} "
                "fillstyle solid 1 border linecolor rgb '#8c8c8c' fillcolor rgb {}\n",
                x, height - 0.012, x + sample, height + 0.012, literal(series.colour));
        } else {
            script += fmt::format(
                "set arrow from screen {:.4f}, screen {:.4f} to screen {:.4f}, screen {:.4f} nohead {}\n", x,
                height, x + sample, height, line_style(series));
        }
        x += sample + gap;
        script += fmt::format("set label {} at screen {:.4f}, screen {:.4f} left noenhanced\n",
                              literal(series.label), x, height);
        x += per_character * static_cast<double>(characters(series.label)) + between;
    }
    return script;
}

struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using Scratch = std::unique_ptr<std::FILE, Close>;

/// A nameless file: it cannot block as a pipe can, and it leaves nothing behind.
Scratch scratch() {
    Scratch file(std::tmpfile());
    if (!file)
        throw std::runtime_error(fmt::format("no temporary file for the figure: {}", std::strerror(errno)));
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

Outcome run_gnuplot(const std::string& script, int output) {
    const Scratch input = scratch(), complaints = scratch();
    if (std::fwrite(script.data(), 1, script.size(), input.get()) != script.size() ||
        std::fflush(input.get()) != 0) {
        throw std::runtime_error(fmt::format("no room for the figure's data: {}", std::strerror(errno)));
    }
    std::rewind(input.get());

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fileno(input.get()), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(complaints.get()), STDERR_FILENO);
    char program[] = "gnuplot", defaults[] = "-d";  // -d: no settings of the user's
    char* arguments[] = {program, defaults, nullptr};
    pid_t child = 0;
    const int error = posix_spawnp(&child, program, &actions, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        throw std::runtime_error(error == ENOENT
                                     ? "gnuplot not found: install gnuplot, or use --plot none"
                                     : fmt::format("gnuplot cannot be started: {}", std::strerror(error)));
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) throw std::runtime_error("gnuplot was lost");
    }
    return {status, first_complaint(complaints.get())};
}

std::string terminal_for(const std::filesystem::path& path) {
    const std::string extension = path.extension().string();
    if (extension == ".png") return "pngcairo size 1600,700 font 'DejaVu Sans,14' background '#ffffff'";
    if (extension == ".svg") return "svg size 1600,700 dynamic font 'DejaVu Sans,18' background '#ffffff'";
    if (extension == ".pdf") return "pdfcairo size 16.0cm,7.0cm font 'DejaVu Sans,7' linewidth 0.5";
    throw std::invalid_argument(path.string() + ": no such kind of figure, use .png, .svg or .pdf");
}

}  // namespace

std::string gnuplot_script(const Figure& figure, const std::string& terminal) {
    constexpr std::size_t columns = 150;
    std::vector<std::string> caption;
    for (const auto& line : figure.caption) {
        for (auto& part : wrapped(line, columns)) caption.push_back(std::move(part));
    }
    const std::vector<std::string> title = wrapped(figure.title, 110);

    // Fractions of the height, from below: caption, axis, panel, legend, title.
    constexpr double line = 0.042;
    const double caption_height = 0.02 + line * static_cast<double>(caption.size());
    const double title_height = 0.03 + 0.05 * static_cast<double>(title.size());
    const double bottom = caption_height + 0.145;
    const double top = 1 - title_height - 0.085;

    std::string script = "set encoding utf8\nset terminal " + terminal + " enhanced\n";
    script +=
        "set multiplot\n"
        "set border 3 linewidth 1 linecolor rgb '#333333'\n"
        "set tics nomirror out scale 0.6, 0.3\n"
        "set decimalsign '.'\n"
        "set clip two\n"
        "set format x '%g'\nset format y '%g'\n"
        "unset key\n";
    std::size_t block = 0;
    const double count = static_cast<double>(figure.panels.size());
    for (std::size_t k = 0; k < figure.panels.size(); ++k) {
        const Panel& panel = figure.panels[k];
        const double slot = 0.985 / count, left = 0.005 + slot * static_cast<double>(k);
        script += fmt::format(
            "set lmargin at screen {:.4f}\nset rmargin at screen {:.4f}\n"
            "set bmargin at screen {:.4f}\nset tmargin at screen {:.4f}\n",
            left + 0.065, left + slot - 0.02, bottom, top);
        script += "unset label\nunset arrow\nunset object\n";
        if (k == 0) {
            for (std::size_t i = 0; i < title.size(); ++i) {
                script +=
                    fmt::format("set label {} at screen 0.5, screen {:.4f} center font ',{}' noenhanced\n",
                                literal(title[i]), 0.955 - 0.05 * static_cast<double>(i),
                                terminal.starts_with("svg")   ? 22
                                : terminal.starts_with("pdf") ? 8
                                                              : 17);
            }
            for (std::size_t i = 0; i < caption.size(); ++i) {
                script += fmt::format(
                    "set label {} at screen 0.5, screen {:.4f} center textcolor rgb '#333333' noenhanced\n",
                    literal(caption[i]), caption_height - line * (static_cast<double>(i) + 0.3));
            }
            script += legend(panel.series, 1 - title_height - 0.03);
        }
        for (const auto& note : panel.annotations) {
            script += fmt::format(
                "set label {} at first {:.9g}, first {:.9g} {} textcolor rgb '#333333' noenhanced front\n",
                literal(note.text), note.x, note.y, note.to_the_left ? "right" : "left");
        }
        script +=
            fmt::format("set xlabel {} noenhanced offset 0,0.3\nset ylabel {} noenhanced offset 0.5,0\n",
                        literal(panel.x.label), literal(panel.y.label));
        script += fmt::format("set xrange [{:.9g}:{:.9g}]\nset yrange [{:.9g}:{:.9g}]\n", panel.x.min,
                              panel.x.max, panel.y.min, panel.y.max);
        script += axis_ticks("xtics", panel.x) + axis_ticks("ytics", panel.y);
        std::string plot;
        for (const auto& series : panel.series) {
            const std::string rows = data_block(series);
            if (rows.find_first_not_of('\n') == std::string::npos) continue;
            script += fmt::format("$d{} << END\n{}END\n", block, rows);
            plot += (plot.empty() ? "plot " : ", ") + plot_element(series, block);
            ++block;
        }
        script += (plot.empty() ? "plot 1/0 notitle" : plot) + "\n";
    }
    return script + "unset multiplot\n";
}

void render_with_gnuplot(const Figure& figure, const std::filesystem::path& path) {
    const std::string script = gnuplot_script(figure, terminal_for(path));
    AtomicFile destination(path);
    const Outcome outcome = run_gnuplot(script, destination.descriptor());
    struct stat written {};
    const bool empty = ::fstat(destination.descriptor(), &written) != 0 || written.st_size == 0;
    if (!WIFEXITED(outcome.status) || WEXITSTATUS(outcome.status) != 0 || empty) {
        throw std::runtime_error(fmt::format("{}: gnuplot failed: {}", path.string(),
                                             outcome.complaint.empty() ? "no picture" : outcome.complaint));
    }
    destination.commit();
}

void render(const Figure& figure, const std::filesystem::path& path) {
    render_with_gnuplot(figure, path);
}

}  // namespace spectra::report
