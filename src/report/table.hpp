#pragma once

/// \file
/// A small table, for a page, a paper or a program.

#include <string>
#include <variant>
#include <vector>

/// A small table, for a page, a paper or a program.
namespace spectra::report {

/// One column of a table.
struct TableColumn {
    std::string name;     ///< for programs: "ov_window"
    std::string heading;  ///< for people: "in window"
    /// Strings, or numbers with NaN if missing; one kind per column, one entry per row.
    std::variant<std::vector<std::string>, std::vector<double>> cells;
};

/// A table: columns side by side, and notes below it.
struct Table {
    std::vector<TableColumn> columns;  ///< from left to right
    std::vector<std::string> notes;  ///< sentences below it

    /// Number of rows.
    std::size_t rows() const;
    /// Whether a column holds numbers.
    bool is_number(std::size_t column) const;
    /// The cell as text: numbers in less than `width` characters.
    std::string cell(std::size_t row, std::size_t column, std::size_t width = 9) const;
};

/// Comma-separated: one line of names, one line per row, numbers with all digits; no notes.
std::string to_csv(const Table& table);
/// A Markdown table, the notes below it.
std::string to_markdown(const Table& table);
/// A tabular environment that needs no package, the notes as comments.
std::string to_latex(const Table& table);
/// Columns side by side, no line wider than `columns` (at least 40) if texts allow; columns that do not fit
/// are dropped from the right.
std::string to_page(const Table& table, int columns, bool colour, bool unicode);

/// Text as a cell of comma-separated values, quoted if necessary.
std::string csv_cell(const std::string& text);

}  // namespace spectra::report
