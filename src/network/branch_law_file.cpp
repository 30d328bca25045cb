#include "network/branch_law_file.hpp"

#include "base/refuse.hpp"
#include "base/text.hpp"
#include "network/from_json.hpp"
#include "weightfile/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

namespace spectra {

namespace {

using nlohmann::json;

/// Sets and their values are counted from 1.
void check_value(double value, std::size_t set, std::size_t number, const std::string& where) {
    if (!std::isfinite(value) || value < 0)
        refuse(where, fmt::format("set {}, value {} is {}; must be a finite number ≥ 0", set, number, value));
}

std::vector<double> set_from_json(const json& list, std::size_t set, const std::string& where) {
    if (!list.is_array())
        refuse(where, fmt::format("set {} is a JSON {}; must be an array of numbers", set, list.type_name()));
    if (list.empty()) refuse(where, fmt::format("set {} is empty; must have at least one number", set));
    std::vector<double> values;
    values.reserve(list.size());
    for (const json& entry : list) {
        if (!entry.is_number())
            refuse(where, fmt::format("set {}, value {} is a JSON {}; must be a finite number ≥ 0", set,
                                      values.size() + 1, entry.type_name()));
        values.push_back(entry.get<double>());
        check_value(values.back(), set, values.size(), where);
    }
    return values;
}

BranchLaw from_lines(std::string_view text, const std::string& where) {
    if (text.find('\0') != std::string_view::npos) refuse(where, "is neither JSON, NumPy nor text");
    BranchLaw law;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const auto length = std::min(text.find('\n'), text.size());
        const auto whole = text.substr(0, length);
        text.remove_prefix(std::min(length + 1, text.size()));
        const auto line = trimmed(whole.substr(0, whole.find('#')));
        if (line.empty()) continue;
        if (law.size() == static_cast<std::size_t>(max_depth))
            refuse(where, fmt::format("has more than {} sets; expected one, or one per layer", max_depth));
        law.push_back(numbers_of_line(line, number, where, "JSON, or one set of numbers per line"));
        for (std::size_t k = 0; k < law.back().size(); ++k)
            check_value(law.back()[k], law.size(), k + 1, where);
    }
    if (law.empty()) refuse(where, "is empty; expected one set of singular values, or one per layer");
    if (law.size() > 1 &&
        std::all_of(law.begin(), law.end(), [](const auto& set) { return set.size() == 1; }))
        refuse(where, fmt::format("is a column of {} numbers: one set, or one per layer? Put the values of "
                                  "a set on one line, or use JSON",
                                  law.size()));
    return law;
}

}  // namespace

BranchLaw branch_law_from_json(const json& value, const std::string& where) {
    if (!value.is_array())
        refuse(where, fmt::format("is a JSON {}; expected an array of numbers, or one per layer",
                                  value.type_name()));
    if (value.empty()) refuse(where, "is empty; expected one set of singular values, or one per layer");
    if (!value.front().is_array()) return {set_from_json(value, 1, where)};
    BranchLaw law;
    law.reserve(value.size());
    for (const json& set : value) law.push_back(set_from_json(set, law.size() + 1, where));
    return law;
}

BranchLaw branch_law_from_numpy(std::span<const std::byte> file, const std::string& where) {
    const auto array = weightfile::read_numpy(file, where, "singular_values");
    const auto& shape = array.shape;
    if (array.complex || (shape.size() != 1 && shape.size() != 2) || array.values.empty())
        refuse(where, fmt::format("has {}shape {}; must be real numbers: one set, or one row per layer",
                                  array.complex ? "complex numbers of " : "", weightfile::shape_text(shape)));
    const std::size_t sets = shape.size() == 2 ? shape[0] : 1, length = shape.back();
    if (sets > static_cast<std::size_t>(max_depth))
        refuse(where, fmt::format("has more than {} sets; expected one, or one per layer", max_depth));
    BranchLaw law;
    law.reserve(sets);
    for (auto next = array.values.begin(); next != array.values.end(); next += static_cast<std::ptrdiff_t>(length)) {
        law.emplace_back(next, next + static_cast<std::ptrdiff_t>(length));
        for (std::size_t k = 0; k < length; ++k) check_value(law.back()[k], law.size(), k + 1, where);
    }
    return law;
}

BranchLaw read_branch_law(const std::filesystem::path& path) {
    if (weightfile::is_numpy_file(path))
        return branch_law_from_numpy(weightfile::MappedFile(path.string()).bytes(), path.string());
    return branch_law_from_text(read_text(path), path.string());
}

BranchLaw branch_law_from_text(const std::string& text, const std::string& where) {
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string::npos)
        refuse(where, "is empty; expected one set of singular values, or one per layer");
    if (text[first] != '[' && text[first] != '{') return from_lines(text, where);
    const json whole = parse_json(text, where);
    if (!whole.is_object()) return branch_law_from_json(whole, where);
    const auto values = whole.find("singular_values");
    if (values == whole.end())
        refuse(where, "has no key 'singular_values'; expected an array, or an object with that key");
    return branch_law_from_json(*values, where + ": singular_values");
}

}  // namespace spectra
