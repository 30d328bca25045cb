#include "console/values.hpp"

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "network/number_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <stdexcept>

namespace spectra::console {

namespace {

constexpr std::int64_t most_points = 10'000'000;

[[noreturn]] void refuse(const std::string& option, const std::string& text, const std::string& what) {
    throw std::invalid_argument(fmt::format("{} {}: {}", option, in_quotes(text), what));
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

}  // namespace

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
        if (!value || !std::isfinite(*value)) refuse(option, part, "must be comma-separated finite numbers");
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
        refuse(option, text, fmt::format("POINTS is {}; must be 2 to {}", in_quotes(parts[2]), most_points));
    if (*min < 0 || (grid.logarithmic && *min == 0))
        refuse(option, text, grid.logarithmic ? "MIN must be above 0 for log" : "MIN must be ≥ 0");
    if (*min >= *max) refuse(option, text, "MIN must be below MAX");
    grid.min = *min;
    grid.max = *max;
    grid.points = static_cast<int>(*points);
    return grid;
}

std::vector<std::complex<double>> to_omega(const std::string& option, const std::string& text) {
    std::vector<std::complex<double>> points;
    std::error_code ignored;
    if (std::filesystem::exists(text, ignored)) {
        points = read_points(text, option + " " + text);
    } else {
        for (const auto& part : split(text, ',')) {
            const auto omega = parse_complex(without_blanks(part));
            if (!omega)
                refuse(option, part,
                       "neither a file nor a complex number; expected a file, or points like "
                       "0.3+0.05i,1+0.01i");
            points.push_back(checked_point(*omega, option));
        }
    }
    if (points.empty()) refuse(option, text, "contains no points");
    return points;
}

}  // namespace spectra::console
