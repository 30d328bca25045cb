#include "network/input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>

namespace spectra {

namespace {

constexpr std::size_t largest_file = std::size_t{1} << 30;

bool starts_like_non_finite(const std::string& text, std::size_t at) {
    const auto has = [&](const char* word) {
        for (std::size_t k = 0; k < 3; ++k)
            if (at + k >= text.size() || std::tolower(static_cast<unsigned char>(text[at + k])) != word[k])
                return false;
        return true;
    };
    return has("nan") || has("inf");
}

/// The fields of a line: apart by commas or semicolons where there are any, by blanks otherwise.
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

}  // namespace

std::optional<double> parse_number(std::string_view text) {
    if (text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+') text.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end != text.data() + text.size() || error == std::errc::invalid_argument) return std::nullopt;
    if (error != std::errc::result_out_of_range) return value;
    // from_chars does not say which end of the range was left.
    const auto exponent = text.find_first_of("eE");
    const bool tiny = exponent != std::string_view::npos ? text.substr(exponent + 1).starts_with('-')
                                                         : text.find_first_not_of("+-0.") > text.find('.');
    const double magnitude = tiny ? 0.0 : std::numeric_limits<double>::infinity();
    return text.starts_with('-') ? -magnitude : magnitude;
}

std::string in_quotes(std::string_view text) {
    constexpr std::size_t longest = 120;
    std::string result = "'";
    for (const char c : text.substr(0, longest))
        result += std::iscntrl(static_cast<unsigned char>(c)) ? '?' : c;
    if (text.size() > longest) {
        // Not within a UTF-8 sequence.
        while ((static_cast<unsigned char>(result.back()) & 0xC0U) == 0x80U) result.pop_back();
        if (static_cast<unsigned char>(result.back()) >= 0xC0U) result.pop_back();
        result += "…";
    }
    return result + "'";
}

std::string read_text(const std::filesystem::path& path) {
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    if (!std::filesystem::exists(status))
        throw std::invalid_argument(fmt::format("{}: no such file", path.string()));
    if (std::filesystem::is_directory(status))
        throw std::invalid_argument(fmt::format("{}: is a folder; accepted: a file", path.string()));
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::invalid_argument(fmt::format("{}: cannot be opened for reading", path.string()));

    std::string text;
    std::string block(1 << 16, '\0');
    while (file.read(block.data(), static_cast<std::streamsize>(block.size())) || file.gcount() > 0) {
        text.append(block, 0, static_cast<std::size_t>(file.gcount()));
        if (text.size() > largest_file)
            throw std::invalid_argument(fmt::format("{}: is larger than 1 GiB", path.string()));
    }
    if (file.bad()) throw std::invalid_argument(fmt::format("{}: cannot be read", path.string()));
    if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
    return text;
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
            "{}: line {} has both ',' and ';'; accepted: one of them between entries, and decimal points",
            where, number));
    std::vector<double> row;
    for (const auto field : split_fields(line)) {
        if (field.empty())
            throw std::invalid_argument(
                fmt::format("{}: line {}: entry {} is empty", where, number, row.size() + 1));
        const auto value = parse_number(field);
        if (!value)
            throw std::invalid_argument(fmt::format("{}: line {}: {} is not a number; accepted: {}", where,
                                                    number, in_quotes(field), formats));
        row.push_back(*value);
    }
    return row;
}

nlohmann::json parse_json(const std::string& text, const std::string& where) {
    try {
        return nlohmann::json::parse(text);
    } catch (const nlohmann::json::parse_error& error) {
        const std::size_t at = std::min(error.byte > 0 ? error.byte - 1 : 0, text.size());
        const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
        if (starts_like_non_finite(text, at) || (at > 0 && starts_like_non_finite(text, at - 1)))
            throw std::invalid_argument(
                fmt::format("{}: line {}: NaN or infinity; accepted: finite numbers", where, line));
        if (at >= text.size())
            throw std::invalid_argument(
                fmt::format("{}: not JSON: it ends too early (line {})", where, line));
        throw std::invalid_argument(fmt::format("{}: not JSON: unexpected {} at line {}", where,
                                                in_quotes(text.substr(at, 12)), line));
    } catch (const nlohmann::json::out_of_range& error) {
        throw std::invalid_argument(
            fmt::format("{}: a number is too large; accepted: finite numbers", where));
    } catch (const nlohmann::json::exception& error) {
        throw std::invalid_argument(fmt::format("{}: not JSON", where));
    }
}

}  // namespace spectra
