#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace spectra {

/// Reading what users wrote. Every mistake is a std::invalid_argument of one line that begins with the
/// file's name.

/// Libraries name the fields of their options in backquotes, "`logit_scale` -1: must be 0 or more"; a program that has
/// options for them shows these instead.

/// A number and nothing else: optional sign, digits, exponent; "nan" and "inf" are numbers too (callers
/// say what they think of them). Overflow gives ±∞, underflow gives 0. Independent of the locale.
std::optional<double> parse_number(std::string_view text);

/// Text as it may be shown: whatever a terminal would obey rather than show becomes an escape such as \\u001b, as
/// JSON writes it, so that JSON stays the same JSON. Escaped are control characters (C0, but with
/// `Lines::keep` not tabs and line feeds; DEL; C1), characters that reorder or hide others (bidirectional marks, embeddings,
/// overrides and isolates, zero-width spaces, tags), and separators of lines. Bytes that are not UTF-8 become U+FFFD.
enum class Lines { escape, keep };
std::string printable(std::string_view text, Lines lines = Lines::escape);

/// text in quotes, cut where it is long, printable: fit for a one-line message.
std::string in_quotes(std::string_view text);

/// Bounds on text and JSON that users give, so that a file cannot ask for more memory than its purpose needs.
inline constexpr std::size_t largest_text = std::size_t{64} << 20;       ///< bytes of a file
inline constexpr std::size_t most_json_values = std::size_t{1} << 22;    ///< values of all kinds, keys included
inline constexpr std::size_t deepest_json = 64;                          ///< arrays and objects inside each other

/// The whole of a file, without a UTF-8 byte order mark. Folders, missing and unreadable files and files
/// above `largest_text` are refused.
std::string read_text(const std::filesystem::path& path);

/// 10^x to three digits, also where a double cannot hold it: "0.05", "2.5e-310".
std::string power_of_ten(double x);

/// Without blanks at either end.
std::string_view trimmed(std::string_view text);

/// The numbers of a line: apart by commas or semicolons where there are any, by blanks otherwise. `number` is
/// the line's, `formats` what the file may be, for messages.
std::vector<double> numbers_of_line(std::string_view line, std::size_t number, const std::string& where,
                                    const char* formats);

/// JSON from text; `where` names the file in messages. Duplicate keys are refused, and so is what exceeds the bounds
/// above, before it takes memory.
nlohmann::json parse_json(const std::string& text, const std::string& where);

}  // namespace spectra
