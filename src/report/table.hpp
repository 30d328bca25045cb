#pragma once

#include <string>
#include <variant>
#include <vector>

/// A small table, for a page, a paper or a program.
namespace spectra::report {

struct TableColumn {
    std::string name;     ///< for programs: "ov_window"
    std::string heading;  ///< for people: "in window"
    /// Texts, or numbers with NaN where there is none; one kind a column, one a row.
    std::variant<std::vector<std::string>, std::vector<double>> cells;
};

struct Table {
    std::vector<TableColumn> columns;
    std::vector<std::string> notes;  ///< sentences below it

    std::size_t rows() const;
    bool is_number(std::size_t column) const;
    /// What a person reads: numbers in less than `width` characters.
    std::string cell(std::size_t row, std::size_t column, std::size_t width = 9) const;
};

/// Comma-separated: a line of names, a line a row, numbers with all their digits; no notes.
std::string to_csv(const Table& table);
std::string to_markdown(const Table& table);
/// A tabular environment that needs no package, the notes as comments.
std::string to_latex(const Table& table);
/// Columns beside each other, no line wider than `columns` (at least 40) where texts allow: names of columns
/// that would not fit are left out from the right.
std::string to_page(const Table& table, int columns, bool colour, bool unicode);

/// Text as a cell of comma-separated values: quoted where it must be.
std::string csv_cell(const std::string& text);

}  // namespace spectra::report
