#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace spectra {

/// Reading text that users wrote. Every mistake throws std::invalid_argument with one line that begins with
/// the file's name.

/// Libraries name the fields of their options in backquotes, "`logit_scale` -1: must be 0 or more"; a program that has
/// options for them shows these instead.

/// A number and nothing else: optional sign, digits, exponent. "nan" and "inf" are numbers too (callers
/// decide whether to accept them). Overflow gives ±∞, underflow gives 0. Independent of the locale.
std::optional<double> parse_number(std::string_view text);

/// Text that is safe to show: characters that a terminal would interpret instead of showing become escapes
/// like \\u001b, as JSON writes them, so that JSON keeps its meaning. Escaped are control characters (C0, but
/// with `Lines::keep` not tabs and line feeds; DEL; C1), characters that reorder or hide others
/// (bidirectional marks, embeddings, overrides and isolates, zero-width spaces, tags), and line separators.
/// Bytes that are not UTF-8 become U+FFFD.
enum class Lines { escape, keep };
std::string printable(std::string_view text, Lines lines = Lines::escape);

/// `text` in quotes, printable and shortened if it is long, for a one-line message.
std::string in_quotes(std::string_view text);

/// Limits on text and JSON from users, so that a file cannot use more memory than its purpose needs.
inline constexpr std::size_t largest_text = std::size_t{64} << 20;       ///< bytes of a file
inline constexpr std::size_t most_json_values = std::size_t{1} << 22;    ///< values of all kinds, keys included
inline constexpr std::size_t deepest_json = 64;                          ///< nested arrays and objects

/// The contents of a file, without a UTF-8 byte order mark. Refuses folders, missing and unreadable files,
/// and files above `largest_text`.
std::string read_text(const std::filesystem::path& path);

/// 10^x to three digits, even if a double cannot hold it: "0.05", "2.5e-310".
std::string power_of_ten(double x);

/// `text` without blanks at either end.
std::string_view trimmed(std::string_view text);

/// The numbers of a line: separated by commas or semicolons if there are any, otherwise by blanks. For
/// messages: `number` is the number of the line, `formats` lists the formats that the file may have.
std::vector<double> numbers_of_line(std::string_view line, std::size_t number, const std::string& where,
                                    const char* formats);

/// Parses JSON; `where` names the file in messages. Refuses duplicate keys, and values beyond the limits
/// above before they take memory.
nlohmann::json parse_json(const std::string& text, const std::string& where);

/// "850 ms", "12 s", "3 min 20 s", "2 h 5 min", "3 days".
std::string duration_text(double seconds);

/// The parts between separators: one more than there are separators.
std::vector<std::string> split(const std::string& text, char separator);

/// Without blanks, tabs and carriage returns.
std::string without_blanks(std::string text);

}  // namespace spectra
