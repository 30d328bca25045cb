#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

/// Formatting of a text page for users, independent of its contents.
namespace spectra::report {

/// Columns on the terminal, not bytes.
std::size_t width_of(std::string_view text);

/// Padded with spaces after it, or before it, up to the width.
std::string padded(std::string_view text, std::size_t width);
std::string right_padded(std::string_view text, std::size_t width);

/// A number in less than `width` characters, with up to five digits.
std::string cell(double value, std::size_t width);

/// "1.053 ± 0.004": as many digits as the error (> 0) justifies.
std::string with_error(double value, double error);

/// Collects lines within the width, at least 40 columns. Uses escape codes only with `colour`, and characters
/// beyond ASCII only with `unicode`.
class Page {
public:
    Page(int columns, bool colour, bool unicode);

    std::size_t columns() const { return columns_; }

    /// The words in the page's character set.
    std::string text(std::string_view words) const;
    /// In a colour, given by its escape code ("31").
    std::string paint(const std::string& words, const char* code) const;

    void blank() { out_ += '\n'; }
    /// A line, unchanged.
    void verbatim(std::string line);
    /// A label followed by words; further lines are indented like the first word.
    void entry(std::string_view label, std::string_view words, const char* code = nullptr);

    std::string take() { return std::move(out_); }

private:
    static constexpr std::size_t label_width = 12;
    std::size_t columns_;
    bool colour_, unicode_;
    std::string out_;
};

}  // namespace spectra::report
