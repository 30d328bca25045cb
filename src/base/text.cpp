#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>
#include <unordered_set>
#include <vector>

namespace spectra {

namespace {

bool starts_like_non_finite(const std::string& text, std::size_t at) {
    const auto has = [&](const char* word) {
        for (std::size_t k = 0; k < 3; ++k)
            if (at + k >= text.size() || std::tolower(static_cast<unsigned char>(text[at + k])) != word[k])
                return false;
        return true;
    };
    return has("nan") || has("inf");
}

/// The fields of a line: separated by commas or semicolons if there are any, otherwise by blanks.
std::vector<std::string_view> split_fields(std::string_view line) {
    std::vector<std::string_view> fields;
    if (line.find_first_of(",;") == std::string_view::npos) {
        while (!(line = trimmed(line)).empty()) {
            const auto length = std::min(line.find_first_of(" \t"), line.size());
            fields.push_back(line.substr(0, length));
            line.remove_prefix(length);
        }
        return fields;
    }
    for (;;) {
        const auto length = std::min(line.find_first_of(",;"), line.size());
        fields.push_back(trimmed(line.substr(0, length)));
        if (length == line.size()) return fields;
        line.remove_prefix(length + 1);
    }
}

/// A character and its number of bytes; U+FFFD and one byte if they are not UTF-8.
struct Decoded {
    char32_t character;
    std::size_t length;
};

Decoded decode(std::string_view text) {
    constexpr Decoded bad{0xFFFD, 1};
    const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
    const unsigned first = byte(0);
    if (first < 0x80) return {first, 1};
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || length > text.size()) return bad;
    char32_t character = first & (0x7FU >> length);
    for (std::size_t k = 1; k < length; ++k) {
        if ((byte(k) & 0xC0U) != 0x80) return bad;
        character = (character << 6) | (byte(k) & 0x3FU);
    }
    constexpr std::array<char32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
    if (character < smallest[length] || character > 0x10FFFF || (character >= 0xD800 && character < 0xE000))
        return bad;
    return {character, length};
}

/// Would a terminal or an editor interpret it instead of showing it?
bool is_obeyed(char32_t c) {
    struct Range {
        char32_t first, last;
    };
    constexpr std::array<Range, 10> ranges{{{0x00, 0x1F},
                                            {0x7F, 0x9F},
                                            {0x061C, 0x061C},  // Arabic letter mark
                                            {0x180E, 0x180E},  // Mongolian vowel separator
                                            {0x200B, 0x200B},  // zero-width space (joiners are for letters)
                                            {0x200E, 0x200F},  // direction marks
                                            {0x2028, 0x202E},  // separators, embeddings, overrides
                                            {0x2060, 0x206F},  // invisible operators, isolates
                                            {0xFEFF, 0xFEFF},  // byte order mark
                                            {0xE0000, 0xE0FFF}}};  // tags, variation selectors
    return std::any_of(ranges.begin(), ranges.end(), [c](Range r) { return c >= r.first && c <= r.last; });
}

std::string escape(char32_t c) {
    if (c < 0x10000) return fmt::format("\\u{:04x}", static_cast<std::uint32_t>(c));
    const auto above = static_cast<std::uint32_t>(c) - 0x10000;
    return fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (above >> 10), 0xDC00 + (above & 0x3FF));
}

/// Keys of the objects that are open while JSON is parsed, and the number of values parsed.
class JsonGuard {
public:
    explicit JsonGuard(const std::string& where) : where_(where) {}

    void see(int depth, nlohmann::json::parse_event_t event, const nlohmann::json& parsed) {
        using Event = nlohmann::json::parse_event_t;
        if (event == Event::object_end) {
            open_.pop_back();
            return;
        }
        if (event == Event::array_end) return;
        if (++values_ > most_json_values)
            refuse(fmt::format("has more than {} values", most_json_values));
        if (static_cast<std::size_t>(depth) >= deepest_json && event != Event::value && event != Event::key)
            refuse(fmt::format("nests more than {} levels deep", deepest_json));
        if (event == Event::object_start) open_.emplace_back();
        if (event == Event::key) {
            const auto& key = parsed.get_ref<const std::string&>();
            if (!open_.back().insert(key).second) refuse(fmt::format("duplicate key {}", in_quotes(key)));
        }
    }

private:
    [[noreturn]] void refuse(const std::string& what) const {
        throw std::invalid_argument(where_ + ": " + what);
    }

    const std::string& where_;
    std::vector<std::unordered_set<std::string>> open_;
    std::size_t values_ = 0;
};

}  // namespace

std::string printable(std::string_view text, Lines lines) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const auto [character, length] = decode(text);
        const bool kept = lines == Lines::keep && (character == '\t' || character == '\n');
        if (is_obeyed(character) && !kept)
            out += escape(character);
        else if (character == 0xFFFD)
            out += "\uFFFD";
        else
            out += text.substr(0, length);
        text.remove_prefix(length);
    }
    return out;
}

std::optional<double> parse_number(std::string_view text) {
    if (text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+') text.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end != text.data() + text.size() || error == std::errc::invalid_argument) return std::nullopt;
    if (error != std::errc::result_out_of_range) return value;
    // from_chars does not report whether the number is too large or too small.
    const auto exponent = text.find_first_of("eE");
    const bool tiny = exponent != std::string_view::npos ? text.substr(exponent + 1).starts_with('-')
                                                         : text.find_first_not_of("+-0.") > text.find('.');
    const double magnitude = tiny ? 0.0 : std::numeric_limits<double>::infinity();
    return text.starts_with('-') ? -magnitude : magnitude;
}

std::string in_quotes(std::string_view text) {
    constexpr std::size_t longest = 120;
    std::string shown = text.size() > longest ? std::string(text.substr(0, longest)) : std::string(text);
    if (text.size() > longest) {
        // Not within a UTF-8 sequence.
        while (!shown.empty() && (static_cast<unsigned char>(shown.back()) & 0xC0U) == 0x80U) shown.pop_back();
        if (!shown.empty() && static_cast<unsigned char>(shown.back()) >= 0xC0U) shown.pop_back();
    }
    return "'" + printable(shown) + (text.size() > longest ? "…'" : "'");
}

std::string read_text(const std::filesystem::path& path) {
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    if (!std::filesystem::exists(status))
        throw std::invalid_argument(fmt::format("{}: no such file", path.string()));
    if (std::filesystem::is_directory(status))
        throw std::invalid_argument(fmt::format("{}: is a folder, not a file", path.string()));
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::invalid_argument(fmt::format("{}: cannot be opened for reading", path.string()));

    std::string text;
    std::string block(1 << 16, '\0');
    while (file.read(block.data(), static_cast<std::streamsize>(block.size())) || file.gcount() > 0) {
        text.append(block, 0, static_cast<std::size_t>(file.gcount()));
        if (text.size() > largest_text)
            throw std::invalid_argument(
                fmt::format("{}: is larger than {} MiB", path.string(), largest_text >> 20));
    }
    if (file.bad()) throw std::invalid_argument(fmt::format("{}: cannot be read", path.string()));
    if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
    return text;
}

std::string power_of_ten(double x) {
    if (x > -4 && x < 5) return fmt::format("{:.3g}", std::pow(10.0, x));
    double exponent = std::floor(x);
    double mantissa = std::pow(10.0, x - exponent);
    if (mantissa >= 9.995) {
        mantissa = 1;
        exponent += 1;
    }
    return fmt::format("{:.3g}e{:.0f}", mantissa, exponent);
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\v\f";
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<double> numbers_of_line(std::string_view line, std::size_t number, const std::string& where,
                                    const char* formats) {
    if (line.find(',') != std::string_view::npos && line.find(';') != std::string_view::npos)
        throw std::invalid_argument(fmt::format(
            "{}: line {} has both ',' and ';'; use one of them between entries, and decimal points", where,
            number));
    std::vector<double> row;
    for (const auto field : split_fields(line)) {
        if (field.empty())
            throw std::invalid_argument(
                fmt::format("{}: line {}: entry {} is empty", where, number, row.size() + 1));
        const auto value = parse_number(field);
        if (!value)
            throw std::invalid_argument(fmt::format("{}: line {}: {} is not a number; expected {}", where,
                                                    number, in_quotes(field), formats));
        row.push_back(*value);
    }
    return row;
}

nlohmann::json parse_json(const std::string& text, const std::string& where) {
    JsonGuard guard(where);
    const auto see = [&](int depth, nlohmann::json::parse_event_t event, const nlohmann::json& parsed) {
        guard.see(depth, event, parsed);
        return true;
    };
    try {
        return nlohmann::json::parse(text, see);
    } catch (const nlohmann::json::parse_error& error) {
        const std::size_t at = std::min(error.byte > 0 ? error.byte - 1 : 0, text.size());
        const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
        if (starts_like_non_finite(text, at) || (at > 0 && starts_like_non_finite(text, at - 1)))
            throw std::invalid_argument(
                fmt::format("{}: line {}: NaN or infinity; numbers must be finite", where, line));
        if (at >= text.size())
            throw std::invalid_argument(fmt::format("{}: not JSON: unexpected end (line {})", where, line));
        throw std::invalid_argument(fmt::format("{}: not JSON: unexpected {} at line {}", where,
                                                in_quotes(text.substr(at, 12)), line));
    } catch (const nlohmann::json::out_of_range& error) {
        throw std::invalid_argument(fmt::format("{}: a number is too large; numbers must be finite", where));
    } catch (const nlohmann::json::exception& error) {
        throw std::invalid_argument(fmt::format("{}: not JSON", where));
    }
}

std::string duration_text(double seconds) {
    if (seconds < 0.95) return fmt::format("{:.0f} ms", 1000 * seconds);
    const auto whole = std::lround(seconds);
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
    if (whole < 48 * 3600) return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
    return fmt::format("{} days", (whole + 43200) / 86400);
}

std::string without_blanks(std::string text) {
    std::erase_if(text, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
    return text;
}

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    for (;;) {
        const auto end = text.find(separator, begin);
        parts.push_back(text.substr(begin, end - begin));
        if (end == std::string::npos) return parts;
        begin = end + 1;
    }
}

}  // namespace spectra
