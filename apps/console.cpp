#include "console.hpp"

#include "montecarlo/ranks/launch.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace spectra::cli {

std::string one_line(std::string_view message) {
    std::string line;
    for (const char c : message) line += std::iscntrl(static_cast<unsigned char>(c)) ? ' ' : c;
    while (!line.empty() && line.back() == ' ') line.pop_back();
    return line;
}

namespace {

/// Of several processes of one run the first speaks.
bool speaks() {
    static const bool first = montecarlo::launch().rank == 0;
    return first;
}

}  // namespace

void print_error(std::string_view message) {
    if (!speaks()) return;
    const std::string line = "spectra: " + one_line(message) + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
}

void print(std::string_view text) {
    if (!speaks()) return;
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
        throw std::runtime_error("cannot write to standard output");
}

int page_columns() {
    winsize size{};
    if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return 100;
    return std::clamp(static_cast<int>(size.ws_col), 80, 100);
}

bool use_colour() {
    const char* const no_colour = std::getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) != 0 && (no_colour == nullptr || *no_colour == '\0');
}

std::string duration_text(double seconds) {
    if (seconds < 0.95) return fmt::format("{:.0f} ms", 1000 * seconds);
    const auto whole = static_cast<long>(seconds + 0.5);
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
    return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

Progress::Progress(bool wanted) : visible_(wanted && speaks() && isatty(STDERR_FILENO) != 0) {}

void Progress::stage(const std::string& name) {
    stage_ = prefix_ + name;
    stage_began_ = Clock::now();
    show(stage_);
}

void Progress::update(int done, int total) {
    const auto now = Clock::now();
    if (!visible_ || now - last_shown_ < std::chrono::milliseconds(100)) return;
    std::string line = fmt::format("{} {}/{}", stage_, done, total);
    if (done > 0) {
        const double spent = std::chrono::duration<double>(now - stage_began_).count();
        line += fmt::format(", {} left", duration_text(spent * (total - done) / done));
    }
    show(line);
}

void Progress::say(const std::string& words) {
    if (visible_ && Clock::now() - last_shown_ >= std::chrono::milliseconds(100)) show(prefix_ + words);
}

void Progress::clear() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
    shown_ = false;
}

void Progress::show(const std::string& line) {
    if (!visible_) return;
    last_shown_ = Clock::now();
    shown_ = true;
    const std::string text = "\r\x1b[K" + line;
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
}

}  // namespace spectra::cli
