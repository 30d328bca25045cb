#pragma once

/// \file
/// Who found a law: a theory, the simulation, or a measured model.

#include "dyson/law/theory.hpp"
#include "spectrum/spectrum.hpp"

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spectra::report {

/// Who found a law, in the order users see them.
enum class Source { ov, scalar, s_transform, printed, montecarlo, measured };

/// As files, JSON and tables write it: "ov", "s-transform", "montecarlo".
std::string name(Source source);
/// The source of that name, or nothing.
std::optional<Source> find_source(std::string_view name);
/// "operator-valued theory", "scalar theory", "simulation".
std::string long_name(Source source);

/// The source of a theory.
Source source_of(dyson::Method method);

/// Two sources that are compared.
struct SourcePair {
    Source first = Source::ov;           ///< one
    Source second = Source::montecarlo;  ///< the other
    /// In the order users see them.
    auto operator<=>(const SourcePair&) const = default;  // NOLINT(modernize-use-nullptr): wrong for <=>
};

/// "ov_montecarlo".
std::string name(const SourcePair& pair);
/// The pair of that name, or nothing.
std::optional<SourcePair> find_pair(std::string_view name);

/// Metrics by source.
using SourceMetrics = std::vector<std::pair<Source, Metrics>>;
/// Distances by pair of sources.
using PairAgreement = std::vector<std::pair<SourcePair, Agreement>>;

/// The value of a key, or null.
template <class Key, class T>
const T* find(const std::vector<std::pair<Key, T>>& entries, const Key& key) {
    for (const auto& [candidate, value] : entries)
        if (candidate == key) return &value;
    return nullptr;
}

/// Of the best source there is: the exact theory, the simulation, any other. Null where there is none.
const Metrics* best_metrics(const SourceMetrics& metrics);

}  // namespace spectra::report
