#include "console/terminal.hpp"

#include "base/text.hpp"
#include "parallel/launch.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace spectra::console {

std::string one_line(std::string_view message) {
    std::string line(message);
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
    while (!line.empty() && line.back() == ' ') line.pop_back();
    return printable(line);
}

std::string with_options(std::string_view message) {
    std::string out;
    while (true) {
        const auto open = message.find('`'), close = message.find('`', open + 1);
        if (open == message.npos || close == message.npos) return out.append(message);
        std::string name(message.substr(open + 1, close - open - 1));
        const bool field = !name.empty() && std::islower(static_cast<unsigned char>(name[0])) != 0 &&
                           name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == name.npos;
        std::replace(name.begin(), name.end(), '_', '-');
        out.append(message.substr(0, open));
        if (field) out += "--" + name;
        message.remove_prefix(field ? close + 1 : open + 1);
        if (!field) out += '`';
    }
}

std::string message_of(const std::exception& error) {
    return with_options(error.what());
}

namespace {

/// In a run of several processes only the first one prints.
bool speaks() {
    static const bool first = parallel::launch().rank == 0;
    return first;
}

/// Length of the colour code that begins `text` ("\x1b[1;36m"); 0 if there is none.
std::size_t colour_code(std::string_view text) {
    if (!text.starts_with("\x1b[")) return 0;
    const auto end = text.find_first_not_of("0123456789;", 2);
    return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

std::string printable_page(std::string_view page) {
    std::string out;
    while (!page.empty()) {
        const auto code = colour_code(page);
        const auto end = code > 0 ? code : std::min(page.find('\x1b', 1), page.size());
        const auto part = page.substr(0, end);
        out += code > 0 ? std::string(part) : printable(part, Lines::keep);
        page.remove_prefix(end);
    }
    return out;
}

}  // namespace

void print_error(std::string_view message) {
    // Other processes report their own errors too: the first one may not exist (shells started by a launcher keep
    // its variables after it has ended).
    const auto launch = parallel::launch();
    const std::string who = speaks() ? "" : fmt::format("process {} of {}: ", launch.rank + 1, launch.size);
    const std::string line = "spectra: " + who + one_line(message) + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
}

void print(std::string_view text, Colours colours) {
    if (!speaks()) return;
    const std::string shown = colours == Colours::kept ? printable_page(text) : printable(text, Lines::keep);
    if (std::fwrite(shown.data(), 1, shown.size(), stdout) != shown.size() || std::fflush(stdout) != 0)
        throw std::runtime_error("cannot write to standard output");
}

void print_json(const nlohmann::ordered_json& object) {
    print(object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

bool ask(std::string_view question) {
    if (isatty(STDIN_FILENO) == 0 || isatty(STDERR_FILENO) == 0) return false;
    const std::string line = "spectra: " + one_line(question) + " [y/N] ";
    std::fwrite(line.data(), 1, line.size(), stderr);
    std::string answer;
    for (int c = std::getchar(); c != EOF && c != '\n' && answer.size() < 16; c = std::getchar())
        answer += static_cast<char>(std::tolower(c));
    return answer == "y" || answer == "yes";
}

int page_columns() {
    winsize size{};
    if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return 100;
    return std::clamp(static_cast<int>(size.ws_col), 80, 100);
}

namespace {

/// Also where nothing says what the terminal obeys.
bool terminal_is_dumb() {
    const char* const kind = std::getenv("TERM");
    return kind == nullptr || *kind == '\0' || std::string_view(kind) == "dumb";
}

}  // namespace

bool no_colour() {
    const char* const set = std::getenv("NO_COLOR");
    return set != nullptr && *set != '\0';
}

bool use_colour() {
    return isatty(STDOUT_FILENO) != 0 && !no_colour() && !terminal_is_dumb();
}

bool can_rewrite_lines() {
    return speaks() && isatty(STDERR_FILENO) != 0 && !terminal_is_dumb();
}

}  // namespace spectra::console
