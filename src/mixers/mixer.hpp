#pragma once

/// \file
/// Mixers by family: their names, and one function that draws them all.

#include "mixers/family.hpp"
#include "random/stream.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace spectra::mixers {

/// All families, in the order shown to users.
const std::vector<Family>& all_families();

/// The name users type: "cayley-hybrid".
std::string_view name(Family family);

/// The family of that name, or nothing.
std::optional<Family> find_family(std::string_view name);

/// Throws std::invalid_argument, naming the field, where a recipe cannot be drawn at size n.
void check(const Recipe& recipe, int n);

/// One mixer of size n ≥ 1.
Mixer draw(const Recipe& recipe, int n, random::Stream& stream);

/// `depth` mixers; layer l of draw number `sample` reads its own stream. With shared = true all
/// layers have the mixer of layer 0.
std::vector<Mixer> draw_layers(const Recipe& recipe, int n, int depth, bool shared, std::uint64_t seed,
                               std::uint32_t sample = 0);

}  // namespace spectra::mixers
