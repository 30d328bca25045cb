#include "layouts/listing.hpp"

#include "base/text.hpp"
#include "layouts/layouts.hpp"
#include "layouts/weights.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

namespace spectra::layouts {

using weightfile::TensorFile;
using weightfile::Value;

namespace {

std::optional<std::uintmax_t> size_of(const TensorFile& file) {
    std::uintmax_t bytes = 0;
    for (const auto& path : file.files()) {
        std::error_code error;
        bytes += std::filesystem::file_size(path, error);
        if (error) return std::nullopt;
    }
    return bytes;
}

std::string bytes_text(std::uintmax_t bytes) {
    const auto b = static_cast<double>(bytes);
    if (bytes < 1000) return fmt::format("{} bytes", bytes);
    if (b < 1e6) return fmt::format("{:.1f} kB", b / 1e3);
    return b < 1e9 ? fmt::format("{:.1f} MB", b / 1e6) : fmt::format("{:.1f} GB", b / 1e9);
}

/// The layout, or why there is none.
struct Recognised {
    std::string layout, why_not;
};

Recognised recognised(const TensorFile& file) {
    try {
        return {recognise(file), ""};
    } catch (const std::invalid_argument& error) {
        std::string why = error.what();
        for (const std::string& start : {file.where() + ": ", std::string("is ")})
            if (why.starts_with(start)) why.erase(0, start.size());
        return {"", why};
    }
}

// --- tensors, folded

using Places = std::vector<std::uint64_t>;

/// Further numbers of a key are not folded.
constexpr std::size_t most_places = 8;

/// A key split into text and numbers: "layers.{}.w" and {3}.
struct Template {
    std::string text;
    Places numbers;
};

bool is_number(std::string_view part) {
    return !part.empty() && part.size() < 10 && (part == "0" || part.front() != '0') &&
           std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Template template_of(const std::string& key) {
    Template t;
    std::size_t begin = 0;
    while (begin <= key.size()) {
        const auto end = std::min(key.find('.', begin), key.size());
        const std::string_view part(key.data() + begin, end - begin);
        if (begin > 0) t.text += '.';
        if (t.numbers.size() < most_places && is_number(part)) {
            std::uint64_t number = 0;
            std::from_chars(part.data(), part.data() + part.size(), number);
            t.numbers.push_back(number);
            t.text += '\0';
        } else {
            t.text += part;
        }
        begin = end + 1;
    }
    return t;
}

/// "3", "{0..59}", "{0..2,5}".
std::string ranges(const Places& sorted) {
    if (sorted.size() == 1) return std::to_string(sorted.front());
    std::vector<std::string> runs;
    for (std::size_t k = 0; k < sorted.size();) {
        auto end = k;
        while (end + 1 < sorted.size() && sorted[end + 1] == sorted[end] + 1) ++end;
        runs.push_back(end == k ? std::to_string(sorted[k])
                                : fmt::format("{}{}{}", sorted[k], end == k + 1 ? "," : "..", sorted[end]));
        k = end + 1;
    }
    return fmt::format("{{{}}}", fmt::join(runs, ","));
}

/// Sets of numbers, one per place, with products that together give `all` (sorted, unique).
std::vector<std::vector<std::string>> folded(const std::vector<Places>& all, std::size_t place = 0) {
    if (place == all.front().size()) return {{}};
    std::map<std::uint64_t, std::vector<Places>> by_value;
    for (const auto& numbers : all) by_value[numbers[place]].push_back(numbers);
    // Values with the same rest are grouped.
    std::map<std::vector<Places>, Places> values_of;
    for (auto& [value, members] : by_value) {
        auto rests = members;
        for (auto& rest : rests) rest[place] = 0;
        values_of[rests].push_back(value);
    }
    std::vector<std::pair<Places, std::vector<Places>>> classes;
    for (const auto& [rests, values] : values_of) classes.emplace_back(values, rests);
    std::sort(classes.begin(), classes.end());
    std::vector<std::vector<std::string>> lines;
    for (const auto& [values, rests] : classes)
        for (auto line : folded(rests, place + 1)) {
            line.insert(line.begin(), ranges(values));
            lines.push_back(std::move(line));
        }
    return lines;
}

std::string filled(const std::string& text, const std::vector<std::string>& numbers) {
    std::string key;
    auto next = numbers.begin();
    for (const char c : text) {
        if (c == '\0')
            key += *next++;
        else
            key += c;
    }
    return key;
}

struct Line {
    std::string key, dtype, shape;
};

std::vector<Line> tensor_lines(const TensorFile& file) {
    struct Group {
        Line line;
        std::vector<Places> all;
    };
    std::vector<Group> groups;
    std::map<std::string, std::size_t> number_of;
    for (const auto& tensor : file.tensors()) {
        auto t = template_of(tensor.key);
        Line line{t.text, std::string(weightfile::name(tensor.dtype)), shape_text(tensor.shape)};
        const auto [at, fresh] =
            number_of.emplace(line.key + '\n' + line.dtype + '\n' + line.shape, groups.size());
        if (fresh) groups.push_back({std::move(line), {}});
        groups[at->second].all.push_back(std::move(t.numbers));
    }
    std::vector<Line> lines;
    for (auto& group : groups) {
        std::sort(group.all.begin(), group.all.end());
        for (const auto& numbers : folded(group.all))
            lines.push_back({filled(group.line.key, numbers), group.line.dtype, group.line.shape});
    }
    return lines;
}

/// The number of terminal columns of a text: bytes that do not continue a character.
std::size_t shown(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string padded(const std::string& text, std::size_t width) {
    return text + std::string(width - std::min(width, shown(text)), ' ');
}

std::string table(const std::vector<Line>& lines, std::size_t columns) {
    std::size_t key = 0, dtype = 0, shape = 0;
    for (const auto& line : lines) {
        dtype = std::max(dtype, shown(line.dtype));
        shape = std::max(shape, shown(line.shape));
    }
    const auto most = std::max<std::size_t>(columns, dtype + shape + 30) - dtype - shape - 6;
    for (const auto& line : lines)
        if (const auto width = shown(printable(line.key)); width <= most) key = std::max(key, width);
    std::string text;
    for (const auto& line : lines) {
        const auto name = printable(line.key);
        const auto begin = shown(name) <= key ? padded(name, key) : name + "\n  " + std::string(key, ' ');
        text += fmt::format("  {}  {}  {}\n", begin, padded(line.dtype, dtype), line.shape);
    }
    return text;
}

// --- values beside the tensors

constexpr int deepest = 4;
constexpr std::size_t most_values = 200, most_listed_items = 8;

nlohmann::ordered_json plain(const Value& value) {
    if (const auto b = value.boolean()) return *b;
    if (const auto i = value.integer()) return *i;
    if (const auto x = value.number()) return *x;
    if (const auto t = value.text()) return std::string(*t);
    return nullptr;
}

bool is_plain(const Value& value) {
    using Kind = Value::Kind;
    const auto kind = value.kind();
    return kind == Kind::boolean || kind == Kind::integer || kind == Kind::number || kind == Kind::text ||
           kind == Kind::none;
}

bool is_sequence(const Value& value) {
    return value.kind() == Value::Kind::list || value.kind() == Value::Kind::tuple ||
           value.kind() == Value::Kind::set;
}

using Values = std::vector<std::pair<std::string, nlohmann::ordered_json>>;

/// The first items of a sequence of plain values, and the total number if there are more.
std::optional<nlohmann::ordered_json> short_list(const Value& value) {
    auto items = nlohmann::ordered_json::array();
    for (std::size_t k = 0; k < std::min(value.size(), most_listed_items); ++k) {
        if (!is_plain(value.item(k))) return {};
        items.push_back(plain(value.item(k)));
    }
    if (value.size() > most_listed_items) items.push_back(fmt::format("… {} in all", value.size()));
    return items;
}

void collect(const Value& value, const std::string& path, int depth, Values& found) {
    if (found.size() >= most_values || depth > deepest) return;
    if (is_plain(value)) {
        found.emplace_back(path, plain(value));
    } else if (value.kind() == Value::Kind::dict) {
        for (std::size_t k = 0; k < value.size() && found.size() < most_values; ++k) {
            const auto key = value.key(k);
            const auto name = key.text()      ? std::string(*key.text())
                              : key.integer() ? std::to_string(*key.integer())
                                              : std::string("?");
            collect(value.item(k), path.empty() ? name : path + "." + name, depth + 1, found);
        }
    } else if (is_sequence(value)) {
        if (const auto items = short_list(value)) {
            found.emplace_back(path, *items);
            return;
        }
        for (std::size_t k = 0; k < std::min(value.size(), most_listed_items); ++k)
            collect(value.item(k), path + "." + std::to_string(k), depth + 1, found);
    }
}

Values values_of(const TensorFile& file) {
    Values found;
    if (!is_plain(file.value())) collect(file.value(), "", 0, found);
    return found;
}

std::string value_text(const nlohmann::ordered_json& value) {
    if (value.is_string()) return in_quotes(value.get<std::string>());
    if (value.is_null()) return "None";
    return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

std::string listing(const TensorFile& file, int columns) {
    const auto bytes = size_of(file);
    const auto files = file.files().size() > 1 ? fmt::format(" ({})", file.files().size()) : "";
    std::string text = fmt::format("{}: {}{}{}\n", file.where(), weightfile::name(file.kind()), files,
                                   bytes ? ", " + bytes_text(*bytes) : "");
    const auto layout = recognised(file);
    text += layout.layout.empty() ? fmt::format("layout: none; {}\n", layout.why_not)
                                  : fmt::format("layout: {}\n", layout.layout);
    if (const auto prefix = file.state_dict_prefix(); !prefix.empty())
        text += fmt::format("state dict: under '{}'\n", printable(prefix));
    const auto lines = tensor_lines(file);
    if (!lines.empty())
        text += fmt::format("tensors: {}\n{}", file.tensors().size(),
                            table(lines, static_cast<std::size_t>(std::max(columns, 0))));
    const auto values = values_of(file);
    if (!values.empty()) text += "values:\n";
    for (const auto& [path, value] : values)
        text += fmt::format("  {} = {}\n", printable(path), value_text(value));
    if (values.size() >= most_values) text += "  …\n";
    return text;
}

nlohmann::ordered_json listing_json(const TensorFile& file) {
    nlohmann::ordered_json json;
    json["file"] = file.where();
    json["kind"] = weightfile::name(file.kind());
    const auto bytes = size_of(file);
    json["bytes"] = nullptr;
    if (bytes) json["bytes"] = *bytes;
    const auto layout = recognised(file);
    json["layout"] = nullptr;
    if (layout.layout.empty())
        json["why_not"] = layout.why_not;
    else
        json["layout"] = layout.layout;
    json["state_dict_prefix"] = file.state_dict_prefix();
    auto& tensors = json["tensors"] = nlohmann::ordered_json::array();
    for (const auto& tensor : file.tensors())
        tensors.push_back(
            {{"key", tensor.key}, {"dtype", weightfile::name(tensor.dtype)}, {"shape", tensor.shape}});
    auto& values = json["values"] = nlohmann::ordered_json::object();
    for (const auto& [path, value] : values_of(file)) values[path] = value;
    return json;
}

}  // namespace spectra::layouts
