#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

/// How a page for a person is laid out, whatever it says.
namespace spectra::report {

/// Characters on the terminal, not bytes.
std::size_t width_of(std::string_view text);

/// With spaces after it, or before it, up to the width.
std::string padded(std::string_view text, std::size_t width);
std::string right_padded(std::string_view text, std::size_t width);

/// A number in less than `width` characters, with up to five digits.
std::string cell(double value, std::size_t width);

/// "1.053 ± 0.004": digits as the error, above 0, allows.
std::string with_error(double value, double error);

/// Collects lines, keeping to the width: at least 40 columns. Escape codes only with `colour`, characters
/// beyond ASCII only with `unicode`.
class Page {
public:
    Page(int columns, bool colour, bool unicode);

    std::size_t columns() const { return columns_; }

    /// The words in what the page may show.
    std::string text(std::string_view words) const;
    /// In a colour, by its escape code ("31").
    std::string paint(const std::string& words, const char* code) const;

    void blank() { out_ += '\n'; }
    /// A line as it is.
    void verbatim(std::string line);
    /// A label and words after it, continued below their beginning.
    void entry(std::string_view label, std::string_view words, const char* code = nullptr);

    std::string take() { return std::move(out_); }

private:
    static constexpr std::size_t label_width = 12;
    std::size_t columns_;
    bool colour_, unicode_;
    std::string out_;
};

}  // namespace spectra::report
