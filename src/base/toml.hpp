#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace spectra {

/// One `key = value` of a TOML file.
struct TomlEntry {
    enum class Kind { text, number, truth, list };
    std::string table;                ///< of [table]; empty at the top
    std::string key;                  ///< without quotes
    Kind kind = Kind::text;
    std::vector<std::string> values;  ///< one, or those of a list: texts unquoted, numbers as written
    std::size_t line = 1;             ///< where it stands
};

/// The entries of a TOML file that sets options: tables of one name, bare or quoted keys, texts in one line ("…" with
/// escapes, '…' without), numbers, true and false, and lists of texts and numbers, which may span lines. # begins a
/// comment. Refuses dates, inline tables, dotted keys, arrays of tables, and duplicate tables and keys, with
/// std::invalid_argument in one line that begins with `where` and the line's number.
std::vector<TomlEntry> parse_toml(std::string_view text, const std::string& where);

/// "…", with everything escaped that TOML requires.
std::string toml_text(std::string_view text);

}  // namespace spectra
