#include "layouts/layout_map.hpp"

#include "mixers/permutation.hpp"
#include "mixers/registry.hpp"
#include "base/text.hpp"
#include "layouts/layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

namespace spectra::layouts {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

using Json = nlohmann::json;

const std::vector<std::string> vector_maps{"identity", "sigmoid", "2sigmoid", "softmax"};

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Reads the members of an object one by one, then reports the unread ones.
class Members {
public:
    Members(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
        if (!json.is_object()) refuse(fmt::format("is a JSON {}; must be an object", json.type_name()));
    }
    [[noreturn]] void refuse(const std::string& what) const {
        throw std::invalid_argument(where_ + ": " + what);
    }
    const Json* find(const char* key) {
        known_.emplace_back(key);
        const auto member = json_.find(key);
        return member == json_.end() ? nullptr : &*member;
    }
    std::string text(const char* key, const std::string& otherwise) {
        const auto* const value = find(key);
        if (value == nullptr) return otherwise;
        if (!value->is_string()) refuse(fmt::format("{} must be a string", in_quotes(key)));
        return value->get<std::string>();
    }
    std::string text_of(const char* key, const std::vector<std::string>& accepted,
                        const std::string& otherwise) {
        auto value = text(key, otherwise);
        if (!contains(accepted, value))
            refuse(fmt::format("{} is {}; must be one of {}", in_quotes(key), in_quotes(value),
                               fmt::join(accepted, ", ")));
        return value;
    }
    double positive(const char* key, double otherwise) {
        const auto* const value = find(key);
        if (value == nullptr) return otherwise;
        if (!value->is_number() || !std::isfinite(value->get<double>()) || !(value->get<double>() > 0))
            refuse(fmt::format("{} is {}; must be a number > 0", in_quotes(key), value->dump()));
        return value->get<double>();
    }
    std::optional<int> count(const char* key) {
        const auto* const value = find(key);
        if (value == nullptr) return {};
        if (!value->is_number_integer() || *value < 1 || *value > 1'000'000)
            refuse(
                fmt::format("{} is {}; must be an integer from 1 to 1000000", in_quotes(key), value->dump()));
        return value->get<int>();
    }
    bool flag(const char* key) {
        const auto* const value = find(key);
        if (value == nullptr) return false;
        if (!value->is_boolean())
            refuse(fmt::format("{} is {}; must be true or false", in_quotes(key), value->dump()));
        return value->get<bool>();
    }
    std::vector<std::string> texts(const char* key) {
        const auto* const value = find(key);
        std::vector<std::string> all;
        if (value == nullptr) return all;
        if (!value->is_array()) refuse(fmt::format("{} must be an array of strings", in_quotes(key)));
        for (const auto& item : *value) {
            if (!item.is_string()) refuse(fmt::format("{} must be an array of strings", in_quotes(key)));
            all.push_back(item.get<std::string>());
        }
        return all;
    }
    void expect_no_others() const {
        for (const auto& [key, value] : json_.items())
            if (!contains(known_, key))
                refuse(fmt::format("unknown key {}; must be one of {}", in_quotes(key),
                                   fmt::join(known_, ", ")));
    }

private:
    const Json& json_;
    std::string where_;
    std::vector<std::string> known_;
};

/// A tensor's name with a slice: "mix[0:4]", "alpha[:,1:5]".
struct Part {
    std::string key;
    bool columns = false;
    std::optional<std::pair<Index, Index>> range;
};

std::optional<Index> whole_number(std::string_view text) {
    Index value = 0;
    const auto* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    if (text.empty() || read.ec != std::errc{} || read.ptr != end || value < 0) return {};
    return value;
}

/// Nothing if the brackets hold something else.
std::optional<Part> part_of(const std::string& text) {
    const auto open = text.find('[');
    if (open == std::string::npos) return Part{text, false, {}};
    if (!text.ends_with(']')) return {};
    Part part{text.substr(0, open), false, {}};
    std::string_view inside(text);
    inside = inside.substr(open + 1, text.size() - open - 2);
    if (inside.starts_with(":,")) {
        part.columns = true;
        inside.remove_prefix(2);
    }
    const auto colon = inside.find(':');
    if (colon == std::string_view::npos) return {};
    const auto begin = whole_number(trimmed(inside.substr(0, colon)));
    const auto end = whole_number(trimmed(inside.substr(colon + 1)));
    if (!begin || !end || *begin >= *end) return {};
    part.range = {*begin, *end};
    return part;
}

std::string replaced(std::string text, std::string_view what, const std::string& with) {
    const auto at = text.find(what);
    return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

/// The prefix of a key, and the number of its block.
struct Match {
    std::string before;
    std::uint64_t block = 0;
};

/// Does the key end with the pattern, where {i} matches a number?
std::optional<Match> match(const std::string& key, const std::string& pattern) {
    const auto hole = pattern.find("{i}");
    const auto tail = hole == std::string::npos ? pattern : pattern.substr(hole + 3);
    if (!key.ends_with(tail)) return {};
    Match found;
    std::string rest = key.substr(0, key.size() - tail.size());
    if (hole != std::string::npos) {
        const auto last = rest.find_last_not_of("0123456789");
        const auto digits = last == std::string::npos ? 0 : last + 1;
        const auto number = whole_number(std::string_view(rest).substr(digits));
        const auto head = pattern.substr(0, hole);
        rest.resize(digits);
        if (!number || !rest.ends_with(head)) return {};
        found.block = static_cast<std::uint64_t>(*number);
        rest.resize(rest.size() - head.size());
    }
    if (!rest.empty() && !rest.ends_with('.')) return {};
    found.before = rest;
    return found;
}

/// The numbers of a slice of a tensor, or of its block number `slice` (≥ 0: the first dimension counts
/// blocks), and their number of rows.
struct Numbers {
    VectorXd values;
    Index rows = 0;
};

Numbers numbers_of(const Weights& weights, const std::string& key, const Part& part, Index slice) {
    const auto& tensor = weights.at(key);
    auto shape = tensor.shape;
    VectorXd all = weights.numbers(key);
    if (slice >= 0) {
        const auto blocks = static_cast<Index>(shape.front());
        const Index each = all.size() / blocks;
        all = VectorXd(all.segment(slice * each, each));
        shape.erase(shape.begin());
    }
    Numbers found{all, shape.empty() ? 1 : static_cast<Index>(shape.front())};
    if (!part.range) return found;
    const auto [begin, end] = *part.range;
    const Index limit = !part.columns ? all.size() : shape.size() == 2 ? static_cast<Index>(shape[1]) : 0;
    if (end > limit)
        weights.refuse(
            tensor, fmt::format("has no {} {} to {}", part.columns ? "columns" : "elements", begin, end - 1));
    if (!part.columns) return {all.segment(begin, end - begin), end - begin};
    const Eigen::MatrixXd matrix = mixers::by_rows(all, static_cast<int>(found.rows), static_cast<int>(limit));
    found.values = matrix.middleCols(begin, end - begin).reshaped<Eigen::RowMajor>();
    return found;
}

/// A frame has one row per stream, and no more columns than rows.
std::optional<int> frame_streams(const Numbers& frame) {
    constexpr Index most_streams = 4096;
    const Index n = frame.rows, size = frame.values.size();
    if (n < 1 || n > most_streams || size == 0 || size % n != 0 || size / n > n) return {};
    return static_cast<int>(n);
}

VectorXd mapped(const std::string& map, const VectorXd& x) {
    if (map == "sigmoid") return mixers::sigmoid(x);
    if (map == "2sigmoid") return 2 * mixers::sigmoid(x);
    if (map == "softmax") return mixers::softmax(x);
    return x;
}

/// The position of one connection: the prefix of its keys, its block, its sublayer.
struct Site {
    std::string before, sublayer;
    std::uint64_t block = 0;
    Index slice = -1;

    std::string key(const std::string& pattern) const {
        return before + replaced(replaced(pattern, "{i}", std::to_string(block)), "{sublayer}", sublayer);
    }
};

/// The blocks that have the first sublayer; all their keys must have the same prefix.
std::vector<Site> sites_of(const Weights& weights, const LayoutMap& map, const std::string& pattern) {
    const auto& first = map.sublayers.empty() ? std::string() : map.sublayers.front();
    const auto own = replaced(pattern, "{sublayer}", first);
    std::set<std::uint64_t> blocks;
    std::optional<std::string> before;
    for (const auto& key : weights.keys())
        if (const auto found = match(key, own)) {
            if (before && *before != found->before)
                weights.refuse(
                    fmt::format("keys like {} begin with {} and with {}; the map's key must "
                                "match only one of them",
                                in_quotes(own), in_quotes(*before), in_quotes(found->before)));
            before = found->before;
            blocks.insert(found->block);
        }
    if (!before) weights.refuse(fmt::format("has no key like {}", in_quotes(own)));

    std::vector<std::pair<std::uint64_t, Index>> places;  // block, slice
    if (pattern.find("{i}") == std::string::npos) {
        const auto& tensor = weights.at(*before + own);
        if (tensor.shape.empty()) weights.refuse(tensor, "must have the blocks as its first dimension");
        for (std::uint64_t k = 0; k < tensor.shape.front(); ++k)
            places.emplace_back(k, static_cast<Index>(k));
    } else {
        for (const auto block : blocks) places.emplace_back(block, -1);
        for (std::uint64_t k = *blocks.begin(); k < *blocks.rbegin(); ++k)
            if (!blocks.contains(k))
                weights.refuse(fmt::format("has no key {}, but has the same key for blocks {} and {}",
                                           in_quotes(*before + replaced(own, "{i}", std::to_string(k))),
                                           *blocks.begin(), *blocks.rbegin()));
    }
    std::vector<Site> sites;
    for (const auto& [block, slice] : places) {
        if (map.sublayers.empty()) sites.push_back({*before, "", block, slice});
        for (const auto& sublayer : map.sublayers) sites.push_back({*before, sublayer, block, slice});
    }
    return sites;
}

VectorXd route(const Weights& weights, const std::string& pattern, const std::string& map, const Site& site,
               int streams) {
    if (pattern.empty()) return {};
    const auto part = part_of(pattern);
    const auto key = site.key(part->key);
    const auto numbers = numbers_of(weights, key, *part, site.slice);
    if (numbers.values.size() != streams)
        weights.refuse(weights.at(key), fmt::format("must give {} numbers, one per stream", streams));
    return mapped(map, numbers.values);
}

void expect_pattern(const Members& members, const char* name, const std::string& pattern,
                    const LayoutMap& map) {
    if (pattern.empty()) return;
    if (!part_of(pattern))
        members.refuse(fmt::format("{} is {}; must be a key, key[a:b] or key[:,a:b] with a < b",
                                   in_quotes(name), in_quotes(pattern)));
    const bool wanted = !map.sublayers.empty(), there = pattern.find("{sublayer}") != std::string::npos;
    if (wanted != there)
        members.refuse(
            fmt::format("{} is {}; must contain {{sublayer}} if there are 'sublayers', and "
                        "only then",
                        in_quotes(name), in_quotes(pattern)));
    if ((pattern.find("{i}") == std::string::npos) != (map.key.find("{i}") == std::string::npos))
        members.refuse(fmt::format("{} is {}; must contain {{i}} if 'key' does, and only then",
                                   in_quotes(name), in_quotes(pattern)));
}

}  // namespace

LayoutMap parse_layout_map(const std::string& text, const std::string& where) {
    const auto json = parse_json(text, where);
    Members members(json, where);
    LayoutMap map;
    map.family = members.text("family", "");
    if (!contains(mixers::raw_names(), map.family))
        members.refuse(fmt::format("'family' is {}; must be one of {}", in_quotes(map.family),
                                   fmt::join(mixers::raw_names(), ", ")));
    map.key = members.text("key", "");
    if (map.key.empty()) members.refuse("has no 'key'; expected a tensor's key with {i} for the block");
    map.sublayers = members.texts("sublayers");
    map.transpose = members.flag("transpose");
    map.options.temperature = members.positive("temperature", 1);
    const auto iterations = members.count("iterations");
    map.options.sweeps = map.options.cayley_iterations = iterations;
    map.options.columns_first = members.text_of("first", {"rows", "columns"}, "rows") == "columns";
    map.options.cayley_step = members.positive("step", 0.1);
    map.pre = members.text("pre", "");
    map.post = members.text("post", "");
    map.pre_map = members.text_of("pre_map", vector_maps, "identity");
    map.post_map = members.text_of("post_map", vector_maps, "identity");
    members.expect_no_others();
    expect_pattern(members, "key", map.key, map);
    expect_pattern(members, "pre", map.pre, map);
    expect_pattern(members, "post", map.post, map);
    return map;
}

LayoutMap read_layout_map(const std::filesystem::path& path) {
    return parse_layout_map(read_text(path), path.string());
}

void read_mapped(const Weights& weights, const LayoutMap& map, Stack& stack) {
    const auto part = part_of(map.key);
    stack.input = "every input";
    for (const auto& site : sites_of(weights, map, part->key)) {
        const auto key = site.key(part->key);
        const auto numbers = numbers_of(weights, key, *part, site.slice);
        const auto count = static_cast<std::uint64_t>(numbers.values.size());
        const auto streams =
            map.family == "grassmann" ? frame_streams(numbers) : mixers::streams_of(map.family, count);
        if (!streams)
            weights.refuse(
                weights.at(key),
                fmt::format("gives {} numbers, which is not the size of a {} mixer for any number of streams",
                            count, in_quotes(map.family)));
        Connection c{site.slice < 0 ? key : fmt::format("{}[{}]", key, site.slice), {}, {}, {}};
        c.mixer = mixers::mixer_of(map.family, numbers.values, *streams, map.options);
        if (map.transpose) c.mixer.transposeInPlace();
        c.pre = route(weights, map.pre, map.pre_map, site, *streams);
        c.post = route(weights, map.post, map.post_map, site, *streams);
        add_connection(weights, std::move(c), stack);
    }
    if (stack.connections.empty()) weights.refuse(fmt::format("key {} has no blocks", in_quotes(map.key)));
}

}  // namespace spectra::layouts
