#include "layouts/connection_names.hpp"

#include "base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

namespace spectra::layouts {

namespace {

std::vector<std::string> parts_of(const std::string& name) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    while (begin <= name.size()) {
        const auto end = std::min(name.find('.', begin), name.size());
        parts.push_back(name.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

std::optional<std::uint64_t> number_of(const std::string& part) {
    std::uint64_t value = 0;
    const auto* const end = part.data() + part.size();
    const auto read = std::from_chars(part.data(), end, value);
    if (part.empty() || read.ec != std::errc{} || read.ptr != end) return {};
    return value;
}

/// Attention first.
int rank_of(const std::string& part) {
    return part.find("attn") != std::string::npos || part.find("attention") != std::string::npos ? 0 : 1;
}

/// A position in the model: stem "transformer.h.", block 3, rest "hc_attn".
struct Place {
    std::string name, stem, rest;
    std::optional<std::uint64_t> block;
    const weightfile::Tensor* tensor = nullptr;
};

Place place_of(const std::string& name, const weightfile::Tensor* tensor) {
    Place place{name, "", "", {}, tensor};
    for (const auto& part : parts_of(name)) {
        if (!place.block) {
            place.block = number_of(part);
            if (!place.block) place.stem += part + ".";
        } else {
            place.rest += (place.rest.empty() ? "" : ".") + part;
        }
    }
    if (!place.block) std::swap(place.stem, place.rest);
    return place;
}

bool before(const std::string& a, const std::string& b) {
    const auto left = parts_of(a), right = parts_of(b);
    for (std::size_t k = 0; k < std::min(left.size(), right.size()); ++k) {
        if (left[k] == right[k]) continue;
        const auto i = number_of(left[k]), j = number_of(right[k]);
        if (i && j && *i != *j) return *i < *j;
        const int r = rank_of(left[k]), s = rank_of(right[k]);
        return r != s ? r < s : left[k] < right[k];
    }
    return left.size() < right.size();
}

bool ends_as(const std::string& longer, const std::string& shorter) {
    return longer == shorter || longer.ends_with("." + shorter) || shorter.empty();
}

/// Does b have the same weights as a, in the same block, with one name a suffix of the other?
bool is_alias(const Place& a, const Place& b) {
    const auto& s = *a.tensor;
    const auto& t = *b.tensor;
    return a.block == b.block && s.storage == t.storage && s.offset == t.offset && s.shape == t.shape &&
           s.strides == t.strides && (ends_as(a.rest, b.rest) || ends_as(b.rest, a.rest));
}

std::vector<Place> without_aliases(const std::vector<Place>& places) {
    std::vector<Place> kept;
    std::map<std::pair<std::size_t, std::uint64_t>, std::vector<std::size_t>> at;  // memory → places in kept
    for (const auto& place : places) {
        auto& others = at[{place.tensor->storage, place.tensor->offset}];
        const auto same = std::find_if(others.begin(), others.end(),
                                       [&](std::size_t k) { return is_alias(kept[k], place); });
        if (same == others.end()) {
            others.push_back(kept.size());
            kept.push_back(place);
        } else if (place.name.size() < kept[*same].name.size()) {
            kept[*same] = place;
        }
    }
    return kept;
}

void expect_one_stack(const Weights& weights, const std::vector<Place>& places) {
    std::set<std::string> stems;
    for (const auto& place : places) stems.insert(place.stem);
    if (stems.size() > 1)
        weights.refuse(
            fmt::format("mixers under {} different names ({}, {}, …) do not form one stack; "
                        "use a JSON map that names its keys",
                        stems.size(), in_quotes(*stems.begin()), in_quotes(*std::next(stems.begin()))));
}

using Blocks = std::map<std::uint64_t, std::vector<std::string>>;  // number → rests, in order

void expect_equal_blocks(const Weights& weights, const std::string& stem, const Blocks& blocks) {
    std::set<std::string> all;
    for (const auto& [number, rests] : blocks) all.insert(rests.begin(), rests.end());
    for (const auto& [number, rests] : blocks)
        for (const auto& rest : all)
            if (std::find(rests.begin(), rests.end(), rest) == rests.end())
                weights.refuse(fmt::format("block {}{} has no mixer {}, but other blocks do", stem, number,
                                           in_quotes(rest)));
}

void expect_no_gap(const Weights& weights, const std::string& stem, const Blocks& blocks) {
    if (blocks.size() < 3) return;
    const auto step = std::next(blocks.begin())->first - blocks.begin()->first;
    const auto last_step = blocks.rbegin()->first - std::next(blocks.rbegin())->first;
    const auto usual = std::min(step, last_step);
    for (auto next = std::next(blocks.begin()); next != blocks.end(); ++next) {
        const auto before_it = std::prev(next)->first;
        if (next->first - before_it != usual)
            weights.refuse(fmt::format("block {}{} has no mixers, but blocks {} and {} do", stem,
                                       before_it + usual, before_it, next->first));
    }
}

}  // namespace

NameOfKey ending_in(std::vector<std::string> suffixes) {
    return [suffixes = std::move(suffixes)](const std::string& key) -> std::optional<std::string> {
        for (const auto& suffix : suffixes) {
            if (key.ends_with(suffix)) return key.substr(0, key.size() - suffix.size());
            if (key == suffix.substr(1)) return "";
        }
        return {};
    };
}

std::vector<std::string> connection_names(const Weights& weights, const NameOfKey& name_of_key) {
    std::map<std::string, Place> found;  // every name once
    for (const auto& key : weights.keys())
        if (const auto name = name_of_key(key)) found.emplace(*name, place_of(*name, weights.find(key)));
    std::vector<Place> places;
    places.reserve(found.size());
    for (const auto& [name, place] : found) places.push_back(place);
    std::sort(places.begin(), places.end(),
              [](const Place& a, const Place& b) { return before(a.name, b.name); });
    places = without_aliases(places);
    if (places.empty()) return {};
    expect_one_stack(weights, places);

    Blocks blocks;
    for (const auto& place : places)
        if (place.block) blocks[*place.block].push_back(place.rest);
    if (!blocks.empty()) {
        expect_equal_blocks(weights, places.front().stem, blocks);
        expect_no_gap(weights, places.front().stem, blocks);
    }
    std::vector<std::string> names;
    names.reserve(places.size());
    for (const auto& place : places) names.push_back(place.name);
    return names;
}

}  // namespace spectra::layouts
