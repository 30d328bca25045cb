#include "values.hpp"

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "weightfile/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

namespace spectra::cli {

namespace {

constexpr std::int64_t most_points = 10'000'000;

[[noreturn]] void refuse(const std::string& option, const std::string& text, const std::string& what) {
    throw std::invalid_argument(fmt::format("{} {}: {}", option, in_quotes(text), what));
}

std::string without_blanks(std::string text) {
    std::erase_if(text, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
    return text;
}

std::optional<std::int64_t> parse_integer(const std::string& text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end != text.data() + text.size() || error == std::errc::invalid_argument) return std::nullopt;
    if (error == std::errc::result_out_of_range)
        return text.starts_with('-') ? std::numeric_limits<std::int64_t>::min()
                                     : std::numeric_limits<std::int64_t>::max();
    return value;
}

/// With the option in messages.
weightfile::NumpyArray read_numpy(const std::string& where, const std::string& path, const std::string& wanted) {
    return weightfile::read_numpy(weightfile::MappedFile(path).bytes(), where, wanted);
}

/// re, re±im i, ±im i, with i or j at the end, "i" alone being 1i; no blanks.
std::optional<std::complex<double>> parse_complex(std::string text) {
    if (text.empty()) return std::nullopt;
    if (text.back() != 'i' && text.back() != 'j') {
        const auto real = parse_number(text);
        return real ? std::optional<std::complex<double>>(*real) : std::nullopt;
    }
    text.pop_back();
    // The sign between the parts: the last one that does not begin an exponent.
    std::size_t sign = text.size();
    for (std::size_t k = text.size(); k-- > 0;)
        if ((text[k] == '+' || text[k] == '-') && (k == 0 || (text[k - 1] != 'e' && text[k - 1] != 'E'))) {
            sign = k;
            break;
        }
    const std::size_t cut = sign == text.size() ? 0 : sign;
    std::string imaginary = text.substr(cut);
    if (imaginary.empty() || imaginary == "+" || imaginary == "-") imaginary += '1';
    const auto re = cut == 0 ? std::optional<double>(0.0) : parse_number(text.substr(0, cut));
    const auto im = parse_number(imaginary);
    if (!re || !im) return std::nullopt;
    return std::complex<double>(*re, *im);
}

std::complex<double> checked_omega(std::complex<double> omega, const std::string& where) {
    if (!std::isfinite(omega.real()) || !std::isfinite(omega.imag()) || !(omega.imag() > 0))
        throw std::invalid_argument(
            fmt::format("{}: {:g}{:+g}i; must be finite, with a positive imaginary part",
                        where, omega.real(), omega.imag()));
    return omega;
}

std::complex<double> point(const std::string& text, const std::string& where) {
    const auto omega = parse_complex(without_blanks(text));
    if (!omega)
        throw std::invalid_argument(
            fmt::format("{}: {} is not a complex number; expected a form like 0.3+0.05i", where, in_quotes(text)));
    return checked_omega(*omega, where);
}

std::vector<std::complex<double>> omega_from_json(const nlohmann::json& whole, const std::string& where) {
    const bool wrapped = whole.is_object() && whole.contains("omega");
    const nlohmann::json& list = wrapped ? whole.at("omega") : whole;
    if (!list.is_array())
        throw std::invalid_argument(where +
                                    ": expected an array of [re, im] pairs, alone or under the key 'omega'");
    std::vector<std::complex<double>> points;
    for (const auto& pair : list) {
        const auto entry = fmt::format("{}: point {}", where, points.size() + 1);
        if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number() || !pair[1].is_number())
            throw std::invalid_argument(entry + " is not a pair of numbers; expected [re, im]");
        points.push_back(checked_omega({pair[0].get<double>(), pair[1].get<double>()}, entry));
    }
    return points;
}

std::vector<std::complex<double>> omega_from_numpy(const std::string& where, const std::string& path) {
    const auto array = read_numpy(where, path, "omega");
    const auto& shape = array.shape;
    if (array.complex ? shape.size() != 1 : shape.size() != 2 || shape[1] != 2)
        throw std::invalid_argument(
            fmt::format("{}: has {} numbers of shape {}; must be K complex numbers, or K×2 real ones", where,
                        array.complex ? "complex" : "real", weightfile::shape_text(shape)));
    std::vector<std::complex<double>> points;
    for (std::size_t k = 0; k < array.values.size(); k += 2)
        points.push_back(checked_omega({array.values[k], array.values[k + 1]},
                                       fmt::format("{}: point {}", where, points.size() + 1)));
    return points;
}

std::vector<std::complex<double>> omega_from_file(const std::string& option, const std::string& path) {
    const std::string where = option + " " + path;
    if (weightfile::is_numpy_file(path)) return omega_from_numpy(where, path);
    const std::string content = read_text(path);
    const auto first = content.find_first_not_of(" \t\r\n");
    if (first == std::string::npos) throw std::invalid_argument(where + ": is empty");
    if (content[first] == '[' || content[first] == '{')
        return omega_from_json(parse_json(content, where), where);
    std::vector<std::complex<double>> points;
    std::size_t number = 0;
    for (const auto& line : split(content, '\n')) {
        ++number;
        const auto text = without_blanks(line.substr(0, line.find('#')));
        if (!text.empty()) points.push_back(point(text, fmt::format("{}: line {}", where, number)));
    }
    return points;
}

}  // namespace

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

std::int64_t to_integer(const std::string& option, const std::string& text, std::int64_t least,
                        std::int64_t largest) {
    const auto value = parse_integer(text);
    if (!value || *value < least || *value > largest)
        refuse(option, text, fmt::format("must be an integer from {} to {}", least, largest));
    return *value;
}

std::uint64_t to_seed(const std::string& option, const std::string& text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end != text.data() + text.size() || error != std::errc{})
        refuse(option, text,
               fmt::format("must be an integer from 0 to {}", std::numeric_limits<std::uint64_t>::max()));
    return value;
}

double to_number(const std::string& option, const std::string& text) {
    const auto value = parse_number(text);
    if (!value || !std::isfinite(*value)) refuse(option, text, "must be a finite number");
    return *value;
}

double to_seconds(const std::string& option, const std::string& text) {
    const double value = to_number(option, text);
    if (!(value >= 0)) refuse(option, text, "must be a number of seconds ≥ 0");
    return value;
}

std::vector<double> to_variances(const std::string& option, const std::string& text) {
    std::vector<double> values;
    for (const auto& part : split(text, ',')) {
        const auto value = parse_number(without_blanks(part));
        if (!value || !std::isfinite(*value) || *value < 0)
            refuse(option, part, "must be comma-separated finite numbers ≥ 0");
        values.push_back(*value);
    }
    return values;
}

std::vector<double> to_numbers(const std::string& option, const std::string& text) {
    std::vector<double> values;
    for (const auto& part : split(text, ',')) {
        const auto value = parse_number(without_blanks(part));
        if (!value || !std::isfinite(*value))
            refuse(option, part, "must be comma-separated finite numbers");
        values.push_back(*value);
    }
    return values;
}

std::string to_choice(const std::string& option, const std::string& text,
                      const std::vector<std::string>& accepted) {
    if (std::find(accepted.begin(), accepted.end(), text) == accepted.end())
        refuse(option, text, "unknown" + suggestion(text, accepted));
    return text;
}

std::vector<std::string> to_choices(const std::string& option, const std::string& text,
                                    const std::vector<std::string>& accepted) {
    if (text == "none") return {};
    std::vector<std::string> with_none = accepted;
    with_none.emplace_back("none");
    std::vector<std::string> chosen;
    for (const auto& part : split(text, ',')) {
        if (to_choice(option, part, with_none) == "none")
            refuse(option, text, "'none' cannot be combined with other values");
        if (std::find(chosen.begin(), chosen.end(), part) == chosen.end()) chosen.push_back(part);
    }
    return chosen;
}

dyson::Grid to_grid(const std::string& option, const std::string& text) {
    const auto parts = split(text, ':');
    if (parts.size() < 3 || parts.size() > 4 || (parts.size() == 4 && parts[3] != "log"))
        refuse(option, text, "expected MIN:MAX:POINTS or MIN:MAX:POINTS:log");
    const auto min = parse_number(parts[0]);
    const auto max = parse_number(parts[1]);
    const auto points = parse_integer(parts[2]);
    dyson::Grid grid;
    grid.logarithmic = parts.size() == 4;
    if (!min || !std::isfinite(*min) || !max || !std::isfinite(*max))
        refuse(option, text, "MIN and MAX must be finite numbers");
    if (!points || *points < 2 || *points > most_points)
        refuse(option, text,
               fmt::format("POINTS is {}; must be 2 to {}", in_quotes(parts[2]), most_points));
    if (*min < 0 || (grid.logarithmic && *min == 0))
        refuse(option, text,
               grid.logarithmic ? "MIN must be above 0 for log" : "MIN must be ≥ 0");
    if (*min >= *max) refuse(option, text, "MIN must be below MAX");
    grid.min = *min;
    grid.max = *max;
    grid.points = static_cast<int>(*points);
    return grid;
}

Table to_table(const std::string& option, const std::string& file, const std::string& wanted) {
    const std::string where = option + " " + file;
    auto array = read_numpy(where, file, wanted);
    const auto& shape = array.shape;
    if (array.complex || array.values.empty() || (shape.size() != 1 && shape.size() != 2))
        throw std::invalid_argument(
            fmt::format("{}: has {} numbers of shape {}; must be real numbers: one row, or one per layer", where,
                        array.complex ? "complex" : "real", weightfile::shape_text(shape)));
    for (std::size_t k = 0; k < array.values.size(); ++k)
        if (!std::isfinite(array.values[k]))
            throw std::invalid_argument(
                fmt::format("{}: number {} is {}; must be finite", where, k + 1, array.values[k]));
    return {std::move(array.values), shape.size() == 2 ? static_cast<std::size_t>(shape[0]) : 1};
}

std::vector<std::complex<double>> to_omega(const std::string& option, const std::string& text) {
    std::vector<std::complex<double>> points;
    std::error_code ignored;
    if (std::filesystem::exists(text, ignored)) {
        points = omega_from_file(option, text);
    } else {
        for (const auto& part : split(text, ',')) {
            const auto omega = parse_complex(without_blanks(part));
            if (!omega)
                refuse(option, part,
                       "neither a file nor a complex number; expected a file, or points like "
                       "0.3+0.05i,1+0.01i");
            points.push_back(checked_omega(*omega, option));
        }
    }
    if (points.empty()) refuse(option, text, "contains no points");
    return points;
}

}  // namespace spectra::cli
