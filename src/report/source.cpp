#include "report/source.hpp"

#include <array>

namespace spectra::report {

namespace {

struct Names {
    Source source;
    const char* name;
    const char* words;
};

constexpr std::array all = {
    Names{Source::ov, "ov", "operator-valued theory"},
    Names{Source::scalar, "scalar", "scalar theory"},
    Names{Source::s_transform, "s-transform", "S-transform"},
    Names{Source::printed, "printed", "equation (7) as printed"},
    Names{Source::montecarlo, "montecarlo", "simulation"},
    Names{Source::measured, "measured", "measured"},
};

const Names& names_of(Source source) {
    return all[static_cast<std::size_t>(source)];
}

}  // namespace

std::string name(Source source) {
    return names_of(source).name;
}

std::optional<Source> find_source(std::string_view name) {
    for (const auto& names : all)
        if (names.name == name) return names.source;
    return std::nullopt;
}

std::string long_name(Source source) {
    return names_of(source).words;
}

Source source_of(dyson::Method method) {
    return find_source(dyson::name(method)).value();
}

std::string name(const SourcePair& pair) {
    return name(pair.first) + "_" + name(pair.second);
}

std::optional<SourcePair> find_pair(std::string_view wanted) {
    for (const auto& first : all)
        for (const auto& second : all)
            if (const SourcePair pair{first.source, second.source}; name(pair) == wanted) return pair;
    return std::nullopt;
}

const Metrics* best_metrics(const SourceMetrics& metrics) {
    for (const auto source : {Source::ov, Source::montecarlo})
        if (const Metrics* const found = find(metrics, source)) return found;
    return metrics.empty() ? nullptr : &metrics.front().second;
}

}  // namespace spectra::report
