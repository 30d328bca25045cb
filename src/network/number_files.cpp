#include "network/number_files.hpp"

#include "base/text.hpp"
#include "weightfile/npy.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <cmath>
#include <stdexcept>

namespace spectra {

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

std::complex<double> checked_point(std::complex<double> omega, const std::string& where) {
    if (!std::isfinite(omega.real()) || !std::isfinite(omega.imag()) || !(omega.imag() > 0))
        throw std::invalid_argument(
            fmt::format("{}: {:g}{:+g}i; must be finite, with a positive imaginary part",
                        where, omega.real(), omega.imag()));
    return omega;
}

namespace {

std::complex<double> point(const std::string& text, const std::string& where) {
    const auto omega = parse_complex(without_blanks(text));
    if (!omega)
        throw std::invalid_argument(
            fmt::format("{}: {} is not a complex number; expected a form like 0.3+0.05i", where, in_quotes(text)));
    return checked_point(*omega, where);
}

std::vector<std::complex<double>> points_from_json(const nlohmann::json& whole, const std::string& where) {
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
        points.push_back(checked_point({pair[0].get<double>(), pair[1].get<double>()}, entry));
    }
    return points;
}

std::vector<std::complex<double>> points_from_numpy(const std::string& where, const std::string& path) {
    const auto array = weightfile::read_numpy(weightfile::MappedFile(path).bytes(), where, "omega");
    const auto& shape = array.shape;
    if (array.complex ? shape.size() != 1 : shape.size() != 2 || shape[1] != 2)
        throw std::invalid_argument(
            fmt::format("{}: has {} numbers of shape {}; must be K complex numbers, or K×2 real ones", where,
                        array.complex ? "complex" : "real", weightfile::shape_text(shape)));
    std::vector<std::complex<double>> points;
    for (std::size_t k = 0; k < array.values.size(); k += 2)
        points.push_back(checked_point({array.values[k], array.values[k + 1]},
                                       fmt::format("{}: point {}", where, points.size() + 1)));
    return points;
}

}  // namespace

std::vector<std::complex<double>> read_points(const std::string& path, const std::string& where) {
    if (weightfile::is_numpy_file(path)) return points_from_numpy(where, path);
    const std::string content = read_text(path);
    const auto first = content.find_first_not_of(" \t\r\n");
    if (first == std::string::npos) throw std::invalid_argument(where + ": is empty");
    if (content[first] == '[' || content[first] == '{')
        return points_from_json(parse_json(content, where), where);
    std::vector<std::complex<double>> points;
    std::size_t number = 0;
    for (const auto& line : split(content, '\n')) {
        ++number;
        const auto text = without_blanks(line.substr(0, line.find('#')));
        if (!text.empty()) points.push_back(point(text, fmt::format("{}: line {}", where, number)));
    }
    return points;
}

NumberRows read_number_rows(const std::string& path, const std::string& wanted, const std::string& where) {
    auto array = weightfile::read_numpy(weightfile::MappedFile(path).bytes(), where, wanted);
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

}  // namespace spectra
