#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spectra {

/// Reading what users wrote. Every mistake is a std::invalid_argument of one line that begins with the
/// file's name.

/// A number and nothing else: optional sign, digits, exponent; "nan" and "inf" are numbers too (callers
/// say what they think of them). Overflow gives ±∞, underflow gives 0. Independent of the locale.
std::optional<double> parse_number(std::string_view text);

/// text in quotes, cut where it is long, without control characters: fit for a one-line message.
std::string in_quotes(std::string_view text);

/// The whole of a file, without a UTF-8 byte order mark. Folders, missing and unreadable files and files
/// above 1 GiB are refused.
std::string read_text(const std::filesystem::path& path);

/// Without blanks at either end.
std::string_view trimmed(std::string_view text);

/// The numbers of a line: apart by commas or semicolons where there are any, by blanks otherwise. `number` is
/// the line's, `formats` what the file may be, for messages.
std::vector<double> numbers_of_line(std::string_view line, std::size_t number, const std::string& where,
                                    const char* formats);

/// JSON from text; `where` names the file in messages.
nlohmann::json parse_json(const std::string& text, const std::string& where);

}  // namespace spectra
