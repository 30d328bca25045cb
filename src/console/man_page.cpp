#include "console/man_page.hpp"

#include "base/text.hpp"
#include "console/help_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <vector>

namespace spectra::console {

namespace {

constexpr unsigned no_break = 0xA0;

/// The code point at text[at]; advances `at` to the next.
unsigned code_point(const std::string& text, std::size_t& at) {
    const auto byte = [&](std::size_t k) {
        return static_cast<unsigned>(static_cast<unsigned char>(text[k]));
    };
    const unsigned first = byte(at++);
    if (first < 0x80U) return first;
    const unsigned length = first >= 0xF0U ? 3 : first >= 0xE0U ? 2 : 1;
    unsigned point = first & (0x3FU >> length);
    for (unsigned k = 0; k < length && at < text.size(); ++k) point = point << 6U | (byte(at++) & 0x3FU);
    return point;
}

/// Characters that groff would read as a request, an escape or a typographic quote are escaped by name.
std::string roff_character(unsigned c) {
    switch (c) {
        case '\\':
            return "\\e";
        case '-':
            return "\\-";
        case '\'':
            return "\\(aq";
        case '"':
            return "\\(dq";
        case '`':
            return "\\(ga";
        case '^':
            return "\\(ha";
        case '~':
            return "\\(ti";
        case '\n':
            return " ";
        case no_break:
            return "\\ ";
        default:
            return c < 0x80U ? std::string(1, static_cast<char>(c)) : fmt::format("\\[u{:04X}]", c);
    }
}

std::string bold(const std::string& text) {
    return "\\fB" + roff_text(text) + "\\fP";
}

std::string italic(const std::string& text) {
    return "\\fI" + roff_text(text) + "\\fP";
}

/// A title in capitals, as manual pages write it.
std::string capitals(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return roff_text(text);
}

std::string section(const std::string& name) {
    return fmt::format(".SH \"{}\"\n", capitals(name));
}

/// `tag` is roff already.
std::string item(const std::string& tag, const std::string& text) {
    return fmt::format(".TP\n{}\n{}\n", tag, roff_text(text));
}

std::string items(const std::string& title, const std::vector<Entry>& entries) {
    if (entries.empty()) return "";
    std::string lines = section(title);
    for (const auto& entry : entries) lines += item(bold(entry.name), entry.text);
    return lines;
}

/// Literal words in bold, placeholders in italics.
std::string typed_words(const std::string& line) {
    std::vector<std::string> words;
    for (const auto& word : split(line, ' ')) {
        const bool is_typed = std::all_of(
            word.begin(), word.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '-' || c == '|'; });
        words.push_back(is_typed ? bold(word) : word.starts_with('[') ? roff_text(word) : italic(word));
    }
    return fmt::format("{}", fmt::join(words, " "));
}

std::string usage_lines(const Command& command) {
    std::vector<std::string> lines;
    for (const auto& line : command.usage) lines.push_back(typed_words(line));
    return fmt::format("{}\n", fmt::join(lines, "\n.br\n"));
}

std::string options(const Command& command) {
    std::string lines;
    for (const auto& group : shown_groups(command)) {
        lines += fmt::format(".SS \"{}\"\n", roff_text(group.name));
        for (const auto& option : group.options)
            lines +=
                item(bold(option.names) + (option.value.empty() ? "" : " " + italic(option.value)),
                     option.description +
                         (option.initial.empty() ? "" : fmt::format(" [default:\u00A0{}]", option.initial)));
    }
    return lines;
}

/// The sections of the whole program, one per command, or of one command.
std::string sections(const Command& command, const Manual& manual) {
    if (!command.is_program()) return section("Options") + options(command);
    std::string lines = section("Description");
    for (const auto& paragraph : manual.description) lines += fmt::format(".PP\n{}\n", roff_text(paragraph));
    lines += section("Commands");
    for (const auto& one : command.commands)
        lines += item(typed_words(name_with_positionals(one)), one.description);
    lines += section("Options") + options(command);
    for (const auto& one : command.commands)
        lines += section(command.name + " " + one.name) + usage_lines(one) + ".PP\n" +
                 roff_text(one.description) + "\n" + options(one);
    return lines;
}

/// "gnuplot" as "gnuplot(1)".
std::string see_also(const std::vector<std::string>& programs, const std::string& elsewhere) {
    std::vector<std::string> pages;
    for (const auto& program : programs) pages.push_back(bold(program) + "(1)");
    return fmt::format("{}{}\n", fmt::join(pages, ", "),
                       elsewhere.empty() ? "" : "; " + roff_text(elsewhere));
}

/// For whatis(1): begins in lower case and has no full stop.
std::string short_description(const Command& command) {
    std::string text = command.description;
    if (text.ends_with('.')) text.pop_back();
    if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
    return text;
}

}  // namespace

std::string roff_text(const std::string& text) {
    constexpr std::size_t long_word = 40;
    std::string roff;
    std::size_t word = 0;  // start of the current word
    for (std::size_t at = 0; at < text.size();) {
        const unsigned c = code_point(text, at);
        roff += roff_character(c);
        if (c == '.' && at == 1) roff = "\\&.";
        if (c == ' ') word = at;
        const bool goes_on = at < text.size() && text[at] != ' ';
        if ((c == ',' || c == '|') && goes_on &&
            std::min(text.find(' ', word), text.size()) - word > long_word)
            roff += "\\:";
    }
    return roff;
}

std::string man_page(const Command& command, const Manual& manual) {
    const bool is_whole = command.is_program();
    const std::string name = is_whole ? command.name : command.program + "-" + command.name;
    const std::string program = is_whole ? command.name : command.program;
    return fmt::format(".\\\" {}\n.TH \"{}\" 1 \"\" \"{} {}\" \"User Commands\"\n.nh\n.ad l\n", manual.origin,
                       capitals(name), roff_text(program), roff_text(manual.version)) +
           section("Name") +
           fmt::format("{} \\- {}\n", roff_text(name), roff_text(short_description(command))) +
           section("Synopsis") + usage_lines(command) + sections(command, manual) +
           items("Exit status", command.exit_statuses) +
           (is_whole ? items("Environment", manual.environment) + items("Files", manual.files) : "") +
           items("Examples", command.examples) + section("See also") +
           (is_whole ? see_also(manual.programs, manual.elsewhere) : see_also({program}, ""));
}

}  // namespace spectra::console
