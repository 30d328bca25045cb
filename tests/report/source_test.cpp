#include "report/source.hpp"

#include <gtest/gtest.h>

namespace spectra::report {
namespace {

constexpr Source all[] = {Source::ov,      Source::scalar,     Source::s_transform,
                          Source::printed, Source::montecarlo, Source::measured};

TEST(Source, NamesAreReadBack) {
    for (const auto source : all) EXPECT_EQ(find_source(name(source)), source);
    EXPECT_EQ(find_source("agreement"), std::nullopt);
    EXPECT_EQ(find_source(""), std::nullopt);
    EXPECT_EQ(name(Source::s_transform), "s-transform");
}

TEST(Source, NamesOfPairsAreReadBack) {
    for (const auto first : all)
        for (const auto second : all) {
            const SourcePair pair{first, second};
            EXPECT_EQ(find_pair(name(pair)), pair);
        }
    EXPECT_EQ(name(SourcePair{Source::ov, Source::montecarlo}), "ov_montecarlo");
    for (const char* none : {"ov", "ov_", "_ov", "ov_montecarlo_log", "ov_elsewhere"})
        EXPECT_EQ(find_pair(none), std::nullopt) << none;
}

TEST(Source, EveryTheoryIsOne) {
    using dyson::Method;
    for (const auto method : {Method::operator_valued, Method::scalar, Method::s_transform, Method::printed})
        EXPECT_EQ(name(source_of(method)), dyson::name(method));
}

TEST(Source, TheExactTheoryThenTheSimulationAreBest) {
    Metrics metrics;
    SourceMetrics found;
    EXPECT_EQ(best_metrics(found), nullptr);
    for (const auto source : {Source::scalar, Source::montecarlo, Source::ov}) {
        metrics.window = static_cast<double>(source);
        found.emplace_back(source, metrics);
        EXPECT_EQ(best_metrics(found)->window, static_cast<double>(source));
    }
}

}  // namespace
}  // namespace spectra::report
