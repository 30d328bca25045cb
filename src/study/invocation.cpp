#include "study/invocation.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>

namespace spectra::study {

namespace {

constexpr std::size_t longest_value = 24;   ///< in a file name, characters
constexpr std::size_t longest_suffix = 96;  ///< of all values

/// FNV-1a: the same on every machine, so that the same command always writes the same file.
std::uint32_t hash_of(const std::string& text) {
    std::uint32_t hash = 2166136261U;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    return hash;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Results of two devices differ by rounding only: they are the same run.
bool tells_apart(const std::string& field) {
    return field != "device";
}

std::string in_file_name(const std::string& value) {
    std::string out;
    for (const char c : value.find('/') == value.npos ? value : std::filesystem::path(value).stem().string()) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                           c == '+' || c == '-' || c == ',';
        out += plain ? c : '_';
    }
    return out.size() > longest_value ? fmt::format("{:08x}", hash_of(value)) : out;
}

std::map<std::string, std::string> read(const std::string& text) {
    std::map<std::string, std::string> settings;
    const auto object = nlohmann::json::parse(text, nullptr, false);
    if (!object.is_object()) return settings;
    for (const auto& [field, value] : object.items())
        if (value.is_string()) settings[field] = value.get<std::string>();
    return settings;
}

}  // namespace

Invocation Invocation::with(const std::string& field, const std::string& value) const {
    Invocation more = *this;
    more.settings.emplace_back(field, value);
    return more;
}

std::string file_name_suffix(const Settings& settings, const std::vector<std::string>& except) {
    std::string suffix, all;
    for (const auto& [field, value] : settings) {
        if (contains(except, field) || !tells_apart(field)) continue;
        std::string name = field;
        std::replace(name.begin(), name.end(), '_', '-');
        suffix += "-" + name + in_file_name(value);
        all += field + "=" + value + ";";
    }
    return suffix.size() > longest_suffix ? fmt::format("-{:08x}", hash_of(all)) : suffix;
}

std::string to_json(const Settings& settings) {
    auto object = nlohmann::ordered_json::object();
    for (const auto& [field, value] : settings) object[field] = value;
    return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::vector<std::string> differences(const std::string& there, const Settings& here,
                                     const std::vector<std::string>& except) {
    const auto before = read(there), now = read(to_json(here));
    std::map<std::string, std::pair<std::string, std::string>> both;
    for (const auto& [field, value] : before) both[field].first = value;
    for (const auto& [field, value] : now) both[field].second = value;
    std::vector<std::string> out;
    const auto shown = [](const std::string& value) { return value.empty() ? "default" : value; };
    for (const auto& [field, values] : both)
        if (values.first != values.second && !contains(except, field) && tells_apart(field))
            out.push_back(fmt::format("`{}` {} there, {} here", field, shown(values.first), shown(values.second)));
    return out;
}

}  // namespace spectra::study
