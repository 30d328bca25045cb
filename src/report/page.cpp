#include "report/page.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace spectra::report {
namespace {

/// The same in ASCII.
std::string ascii(std::string_view text) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 23> table = {{
        {"σ", "sigma"}, {"²", "^2"},  {"ρ", "rho"}, {"×", "x"},  {"−", "-"},  {"–", "-"},
        {"±", "+-"},    {"η", "eta"}, {"·", "*"},   {"≤", "<="}, {"≥", ">="}, {"•", "o"},
        {"∘", "x"},     {"▁", "."},   {"▂", "."},   {"▃", ":"},  {"▄", ":"},  {"▅", "|"},
        {"▆", "|"},     {"▇", "#"},   {"█", "#"},   {"┬", "+"},  {"─", "-"},
    }};
    std::string out;
    for (std::size_t k = 0; k < text.size();) {
        if (static_cast<unsigned char>(text[k]) < 0x80) {
            out += text[k++];
            continue;
        }
        const auto found = std::find_if(table.begin(), table.end(), [&](const auto& entry) {
            return text.substr(k).starts_with(entry.first);
        });
        if (found != table.end()) {
            out += found->second;
            k += found->first.size();
            continue;
        }
        out += '?';
        for (++k; k < text.size() && (text[k] & 0xC0) == 0x80;) ++k;
    }
    return out;
}

/// Represents a non-breaking space.
constexpr char no_break = '\x1f';

/// A number stays with its "=" and its "%".
std::string unbroken(std::string text) {
    for (const std::string_view tie : {" = ", " %", " ± ", "ln s"}) {
        for (std::size_t at = text.find(tie); at != std::string::npos; at = text.find(tie, at + tie.size())) {
            std::replace(text.begin() + static_cast<std::ptrdiff_t>(at),
                         text.begin() + static_cast<std::ptrdiff_t>(at + tie.size()), ' ', no_break);
        }
    }
    return text;
}

}  // namespace

std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string padded(std::string_view text, std::size_t width) {
    return std::string(text) + std::string(width - std::min(width, width_of(text)), ' ');
}

std::string right_padded(std::string_view text, std::size_t width) {
    return std::string(width - std::min(width, width_of(text)), ' ') + std::string(text);
}

std::string cell(double value, std::size_t width) {
    if (std::isnan(value)) return "-";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    std::string text;
    for (int digits = 5; digits > 0 && (text.empty() || text.size() >= width); --digits) {
        text = fmt::format("{:.{}g}", value, digits);
    }
    return text;
}

/// "1.053 ± 0.004": as many digits as the error (> 0) justifies.
std::string with_error(double value, double error) {
    if (std::abs(value) < 1e-3 || std::abs(value) >= 1e5) return fmt::format("{:.3g} ± {:.1g}", value, error);
    const int digits = std::clamp(1 - static_cast<int>(std::floor(std::log10(error))), 0, 6);
    return fmt::format("{:.{}f} ± {:.{}f}", value, digits, error, digits);
}

Page::Page(int columns, bool colour, bool unicode)
    : columns_(static_cast<std::size_t>(std::max(columns, 40))), colour_(colour), unicode_(unicode) {}

std::string Page::text(std::string_view words) const {
    const std::string shown = printable(words);
    return unicode_ ? shown : ascii(shown);
}

std::string Page::paint(const std::string& words, const char* code) const {
    const std::string shown = printable(words);
    return colour_ && !shown.empty() ? fmt::format("\033[{}m{}\033[0m", code, shown) : shown;
}

void Page::verbatim(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    out_ += line + '\n';
}

void Page::entry(std::string_view label, std::string_view words, const char* code) {
    const std::size_t indent = label.empty() ? 0 : std::max<std::size_t>(label_width, width_of(label) + 2);
    std::string line = unbroken(text(words)), part;
    bool first = true;
    std::size_t length = 0;
    const auto flush = [&] {
        std::replace(part.begin(), part.end(), no_break, ' ');
        const std::string head = first ? padded(label, indent) : std::string(indent, ' ');
        out_ += (first ? paint(head, "1") : head) + (code ? paint(part, code) : part) + '\n';
        first = false;
        part.clear();
        length = 0;
    };
    const std::size_t room = columns_ - indent;
    for (std::size_t begin = 0; begin < line.size();) {
        const std::size_t end = std::min(line.find(' ', begin), line.size());
        std::string word = line.substr(begin, end - begin);
        begin = end + 1;
        if (length > 0 && length + 1 + width_of(word) > room) flush();
        while (width_of(word) > room) {  // a word longer than a line
            std::size_t cut = 0, taken = 0;
            while (taken < room || (cut < word.size() && (word[cut] & 0xC0) == 0x80)) {
                if ((word[cut] & 0xC0) != 0x80) ++taken;
                ++cut;
            }
            part = word.substr(0, cut);
            word.erase(0, cut);
            flush();
        }
        if (length > 0) {
            part += ' ';
            ++length;
        }
        part += word;
        length += width_of(word);
    }
    if (length > 0 || first) flush();
}

}  // namespace spectra::report
