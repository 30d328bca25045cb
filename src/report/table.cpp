#include "report/table.hpp"

#include "report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace spectra::report {
namespace {

using Texts = std::vector<std::string>;
using Numbers = std::vector<double>;

std::string escaped(const std::string& text, char special, const std::string& by) {
    std::string out;
    for (const char c : text) out += c == special ? by : std::string(1, c);
    return out;
}

/// Text in LaTeX: commands escaped, Greek letters and signs in math mode, powers of ten typeset.
std::string latex(const std::string& text) {
    static constexpr std::array<std::pair<const char*, const char*>, 12> signs = {{{"W1", "$W_1$"},
                                                                                   {"σ²", "$\\sigma^2$"},
                                                                                   {"σ", "$\\sigma$"},
                                                                                   {"²", "$^2$"},
                                                                                   {"±", "$\\pm$"},
                                                                                   {"≤", "$\\le$"},
                                                                                   {"≥", "$\\ge$"},
                                                                                   {"×", "$\\times$"},
                                                                                   {"−", "$-$"},
                                                                                   {"–", "--"},
                                                                                   {"ρ", "$\\rho$"},
                                                                                   {"·", "$\\cdot$"}}};
    std::string out;
    for (const char c : text) {
        if (c == '\\') {
            out += "\\textbackslash{}";
        } else if (c == '~' || c == '^') {
            out += std::string("\\") + c + "{}";
        } else {
            if (std::string_view("#$%&_{}").find(c) != std::string_view::npos) out += '\\';
            out += c;
        }
    }
    for (const auto& [sign, command] : signs)
        for (auto at = out.find(sign); at != std::string::npos; at = out.find(sign))
            out.replace(at, std::string_view(sign).size(), command);
    return out;
}

std::string latex_number(const std::string& text) {
    const auto e = text.find('e');
    if (text.empty() || text == "-") return "--";
    if (e == std::string::npos) return "$" + text + "$";
    return fmt::format("${}\\times10^{{{}}}$", text.substr(0, e), std::stoi(text.substr(e + 1)));
}

}  // namespace

std::size_t Table::rows() const {
    if (columns.empty()) return 0;
    return std::visit([](const auto& cells) { return cells.size(); }, columns.front().cells);
}

bool Table::is_number(std::size_t column) const {
    return std::holds_alternative<Numbers>(columns[column].cells);
}

std::string Table::cell(std::size_t row, std::size_t column, std::size_t width) const {
    if (!is_number(column)) return std::get<Texts>(columns[column].cells)[row];
    const double value = std::get<Numbers>(columns[column].cells)[row];
    return report::cell(std::isfinite(value) ? std::stod(fmt::format("{:.4g}", value)) : value, width);
}

std::string csv_cell(const std::string& text) {
    if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
    return '"' + escaped(text, '"', "\"\"") + '"';
}

std::string to_csv(const Table& table) {
    std::string text;
    for (const auto& column : table.columns) text += (text.empty() ? "" : ",") + csv_cell(column.name);
    text += '\n';
    for (std::size_t row = 0; row < table.rows(); ++row) {
        for (std::size_t k = 0; k < table.columns.size(); ++k) {
            if (k > 0) text += ',';
            text += table.is_number(k) ? fmt::format("{}", std::get<Numbers>(table.columns[k].cells)[row])
                                       : csv_cell(table.cell(row, k));
        }
        text += '\n';
    }
    return text;
}

std::string to_markdown(const Table& table) {
    std::string head = "|", rule = "|", body;
    for (std::size_t k = 0; k < table.columns.size(); ++k) {
        head += " " + escaped(table.columns[k].heading, '|', "\\|") + " |";
        rule += table.is_number(k) ? "---:|" : "---|";
    }
    for (std::size_t row = 0; row < table.rows(); ++row) {
        body += '|';
        for (std::size_t k = 0; k < table.columns.size(); ++k)
            body += " " + escaped(table.cell(row, k), '|', "\\|") + " |";
        body += '\n';
    }
    std::string text = head + "\n" + rule + "\n" + body;
    for (const auto& note : table.notes) text += "\n" + note + "\n";
    return text;
}

std::string to_latex(const Table& table) {
    std::string kinds, head, body;
    for (std::size_t k = 0; k < table.columns.size(); ++k) {
        kinds += table.is_number(k) ? 'r' : 'l';
        head += (k > 0 ? " & " : "") + latex(table.columns[k].heading);
    }
    for (std::size_t row = 0; row < table.rows(); ++row) {
        for (std::size_t k = 0; k < table.columns.size(); ++k)
            body += (k > 0 ? " & " : "") +
                    (table.is_number(k) ? latex_number(table.cell(row, k)) : latex(table.cell(row, k)));
        body += " \\\\\n";
    }
    std::string text = "\\begin{tabular}{" + kinds + "}\n\\hline\n" + head + " \\\\\n\\hline\n" + body +
                       "\\hline\n\\end{tabular}\n";
    for (const auto& note : table.notes) text += "% " + escaped(note, '\n', " ") + "\n";
    return text;
}

std::string to_page(const Table& table, int columns, bool colour, bool unicode) {
    constexpr std::size_t between = 2, number_width = 9;
    Page page(columns, colour, unicode);
    std::string head;
    std::vector<std::string> lines(table.rows());
    std::size_t taken = 0;
    for (std::size_t k = 0; k < table.columns.size(); ++k) {
        const std::string heading = page.text(table.columns[k].heading);
        std::size_t width = width_of(heading);
        for (std::size_t row = 0; row < lines.size(); ++row)
            width = std::max(width, width_of(page.text(table.cell(row, k, number_width))));
        if (k > 0 && taken + between + width > page.columns()) break;
        const auto add = [&](std::string& line, const std::string& words) {
            line += std::string(k > 0 ? between : 0, ' ') +
                    (table.is_number(k) ? right_padded(words, width) : padded(words, width));
        };
        add(head, heading);
        for (std::size_t row = 0; row < lines.size(); ++row)
            add(lines[row], page.text(table.cell(row, k, number_width)));
        taken += (k > 0 ? between : 0) + width;
    }
    head.erase(head.find_last_not_of(' ') + 1);
    page.verbatim(page.paint(head, "1"));
    for (const auto& line : lines) page.verbatim(line);
    if (!table.notes.empty()) page.blank();
    for (const auto& note : table.notes) page.entry("", note);
    return page.take();
}

}  // namespace spectra::report
