#pragma once

/// \file
/// The one table of mixer families: names, how they are drawn, how they are read from raw numbers.

#include "mixers/family.hpp"
#include "random/stream.hpp"
#include "mixers/raw.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spectra::mixers {

/// A family of mixers: everything that drawing, weight files and training know of it by name. To add one, write its
/// file, its entry in registry.cpp and, where it is trained, its module in train/modules/mixer.cpp.
struct FamilyEntry {
    std::string_view name;  ///< as users and files write it
    std::string_view alias = {};  ///< another name that files use

    Family family = Family::identity;           ///< where it can be drawn
    std::vector<std::string_view> fields = {};  ///< of the Recipe that it uses
    /// Draws one; null where it is only read from raw numbers.
    Mixer (*draw)(const Recipe& recipe, int n, random::Stream& stream) = nullptr;
    /// Throws std::invalid_argument, naming the field, where the recipe cannot be drawn at size n. Null: any can.
    void (*check)(const Recipe& recipe, int n) = nullptr;
    /// The fields that its numbers are as large as, for messages: "`beta` 1e+308". Null: none is.
    std::string (*size_fields)(const Recipe& recipe) = nullptr;

    std::uint64_t (*raw_count)(std::uint64_t n) = nullptr;  ///< of n streams; null where it does not tell n
    /// Reads one from the raw numbers of a trained model; null where it is only drawn.
    Mixer (*from_raw)(const Eigen::VectorXd& raw, int n, const RawOptions& options) = nullptr;

    bool trained = false;  ///< train has a module of it (train/modules/mixer.hpp)
};

/// All families, in the order users see them.
const std::vector<FamilyEntry>& registry();

/// The family of that name or alias, or null.
const FamilyEntry* find_entry(std::string_view name);

/// The names of the families that can be drawn.
std::vector<std::string> drawn_names();
/// The names of those that are read from raw numbers. The identity has none.
std::vector<std::string> raw_names();

/// n, from the number of raw values. Nothing where no n has so many; nothing for grassmann either: its rank is free,
/// and n is the number of rows of the frame's tensor.
std::optional<int> streams_of(std::string_view family, std::uint64_t raw_count);

/// The mixer of a family by its name. raw.size() fits.
Mixer mixer_of(std::string_view family, const Eigen::VectorXd& raw, int streams, const RawOptions& options = {});

}  // namespace spectra::mixers
