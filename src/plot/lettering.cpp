#include "plot/lettering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace spectra::plot {
namespace {

constexpr double mm_per_point = 25.4 / 72;

/// Advance widths of DejaVu Sans in thousandths of its size.
double advance(char c) {
    constexpr std::array<int, 26> small = {613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974,
                                           634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525};
    constexpr std::string_view thin = " .,;:!/|'()[]-", wide = "%@MW=+<>~#";
    if (c >= 'a' && c <= 'z') return small[static_cast<std::size_t>(c - 'a')];
    if (c >= 'A' && c <= 'Z') return c == 'M' || c == 'W' ? 920 : 690;
    if (thin.find(c) != std::string_view::npos) return c == '-' || c == '(' || c == ')' ? 390 : 330;
    return wide.find(c) != std::string_view::npos ? (c == '%' ? 950 : 838) : 636;
}

/// A non-breaking space: "L = 10", "seed 1", "75 %".
bool is_tie(const std::string& text, std::size_t space) {
    if (space == 0 || space + 1 >= text.size()) return false;
    const char before = text[space - 1], behind = text[space + 1];
    return before == '=' || behind == '=' || behind == '%' || (behind >= '0' && behind <= '9');
}

/// The end of the word that begins there: before a breaking space. `anywhere`: also after a hyphen or an
/// underscore, before a file's extension, or otherwise where `room` mm are full.
std::size_t word_end(const std::string& text, std::size_t begin, double points, double room, bool anywhere) {
    std::size_t end = std::min(text.find(' ', begin), text.size());
    while (end < text.size() && is_tie(text, end)) end = std::min(text.find(' ', end + 1), text.size());
    if (!anywhere) return end;
    for (std::size_t k = begin + 1; k < end; ++k)
        if (text[k - 1] == '-' || text[k - 1] == '_' || (text[k] == '.' && std::isalpha(text[k + 1] & 0x7F)))
            end = k;
    const auto inside = [&](std::size_t k) { return (text[k] & 0xC0) == 0x80; };  // a UTF-8 character
    while (end > begin + 1 && text_width(text.substr(begin, end - begin), points) > room) do
            --end;
        while (end > begin + 1 && inside(end));
    return end;
}

}  // namespace

double mm(double points) {
    return points * mm_per_point;
}

double line_height(double points) {
    return 1.4 * mm(points);
}

double text_width(const std::string& text, double points) {
    double thousandths = 0;
    for (std::size_t k = 0; k < text.size(); ++k) {
        if ((text[k] & 0xC0) == 0x80) continue;  // belongs to a character counted at its first byte
        const std::string_view rest = std::string_view(text).substr(k);
        const bool raised = rest.starts_with("²") || rest.starts_with("³") || rest.starts_with("¹") ||
                            rest.starts_with("⁻") || (rest.starts_with("\xe2\x81") && !rest.starts_with("⁻"));
        thousandths += (text[k] & 0x80) == 0   ? advance(text[k])
                       : raised                ? 420
                       : rest.starts_with("−") ? 838
                                               : 640;
    }
    return mm(points) * thousandths / 1000;
}

std::vector<std::string> wrapped(const std::string& text, double points, double room, bool anywhere) {
    std::vector<std::string> lines;
    std::string line;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = word_end(text, begin, points, room, anywhere);
        const std::string word = text.substr(begin, end - begin);
        const bool spaced = begin > 0 && text[begin - 1] == ' ';
        const std::string longer = line + (spaced && !line.empty() ? " " : "") + word;
        if (!line.empty() && text_width(longer, points) > room) {
            lines.push_back(line);
            line = word;
        } else {
            line = longer;
        }
        begin = end < text.size() && text[end] == ' ' ? end + 1 : end;
    }
    if (!line.empty()) lines.push_back(line);
    return lines;
}

std::string number_label(double value) {
    std::string text = fmt::format("{:.6g}", value + 0.0);
    if (const auto e = text.find("e-"); e != std::string::npos) text.replace(e, 2, "e−");
    return text.starts_with('-') ? "−" + text.substr(1) : text;
}

}  // namespace spectra::plot
