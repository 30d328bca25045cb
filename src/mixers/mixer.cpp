#include "mixers/mixer.hpp"

#include "mixers/registry.hpp"

#include <cassert>
#include <stdexcept>
#include <string>

namespace spectra::mixers {
namespace {

const FamilyEntry& entry_of(Family family) {
    for (const auto& entry : registry())
        if (entry.draw != nullptr && entry.family == family) return entry;
    throw std::logic_error("a family without an entry in the registry");
}

/// The numbers behind a mixer are as large as some fields make them.
[[noreturn]] void refuse_size(const Recipe& recipe, const std::string& reason) {
    const auto& entry = entry_of(recipe.family);
    throw std::invalid_argument(
        (entry.size_fields != nullptr ? entry.size_fields(recipe) : std::string(entry.name)) + ": " + reason +
        "; try a smaller value");
}

}  // namespace

const std::vector<Family>& all_families() {
    static const std::vector<Family> families = [] {
        std::vector<Family> list;
        for (const auto& entry : registry())
            if (entry.draw != nullptr) list.push_back(entry.family);
        return list;
    }();
    return families;
}

std::string_view name(Family family) {
    return entry_of(family).name;
}

std::optional<Family> find_family(std::string_view wanted) {
    const auto* const entry = find_entry(wanted);
    return entry != nullptr && entry->draw != nullptr ? std::optional(entry->family) : std::nullopt;
}

void check(const Recipe& recipe, int n) {
    if (n < 1) throw std::invalid_argument("`streams` " + std::to_string(n) + ": must be 1 or more");
    if (const auto& entry = entry_of(recipe.family); entry.check != nullptr) entry.check(recipe, n);
}

Mixer draw(const Recipe& recipe, int n, random::Stream& stream) {
    check(recipe, n);
    Mixer mixer;
    try {
        mixer = entry_of(recipe.family).draw(recipe, n, stream);
    } catch (const std::invalid_argument& error) {  // numbers beyond what a map takes
        refuse_size(recipe, error.what());
    } catch (const std::runtime_error& error) {  // Sinkhorn did not converge
        refuse_size(recipe, error.what());
    }
    if (!mixer.allFinite()) refuse_size(recipe, "the mixer overflows");
    return mixer;
}

std::vector<Mixer> draw_layers(const Recipe& recipe, int n, int depth, bool shared, std::uint64_t seed,
                               std::uint32_t sample) {
    assert(depth >= 0);
    check(recipe, n);
    const auto layer = [&](std::uint32_t l) {
        random::Stream stream(seed, random::Purpose::mixer, l, sample);
        return draw(recipe, n, stream);
    };
    const auto count = static_cast<std::size_t>(depth);
    if (shared && depth > 0) return std::vector<Mixer>(count, layer(0));
    std::vector<Mixer> mixers;
    mixers.reserve(count);
    for (std::uint32_t l = 0; l < static_cast<std::uint32_t>(depth); ++l) mixers.push_back(layer(l));
    return mixers;
}

}  // namespace spectra::mixers
