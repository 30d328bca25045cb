#include "study/doubts.hpp"

#include <gtest/gtest.h>

namespace spectra::study {
namespace {

report::Report with_theory(dyson::Method method, bool certified) {
    report::Report report;
    auto& theory = report.theories.emplace_back();
    theory.method = method;
    theory.summary.certified = certified;
    theory.summary.message = "why not";
    return report;
}

TEST(Doubts, WhatIsOnlyComparedWithCannotFail) {
    Request request;
    EXPECT_TRUE(doubts(request, with_theory(dyson::Method::scalar, true)).notes.empty());
    const auto by_default = doubts(request, with_theory(dyson::Method::scalar, false));
    EXPECT_EQ(by_default.notes.size(), 1u);
    EXPECT_TRUE(by_default.failures.empty());
    EXPECT_EQ(doubts(request, with_theory(dyson::Method::operator_valued, false)).failures.size(), 1u);
    request.methods_given = true;
    const auto asked = doubts(request, with_theory(dyson::Method::scalar, false));
    EXPECT_TRUE(asked.notes.empty());
    EXPECT_EQ(asked.failures, std::vector<std::string>{"theory scalar: why not"});
}

TEST(Doubts, PointsThatAreNotCertifiedAreCounted) {
    report::Report report;
    report.green.emplace().certified = {1, 0, 1, 0};
    EXPECT_EQ(doubts({}, report).failures,
              std::vector<std::string>{"`omega`: 2 of 4 points are not certified; the result file marks them"});
}

TEST(WhatIsKept, FollowsWhatWasFinished) {
    Request request;
    report::Report report;
    EXPECT_EQ(what_is_kept(request, report), "interrupted before the first sample; `resume` continues");
    request.samples = 0;
    EXPECT_EQ(what_is_kept(request, report), "interrupted: nothing was finished");
    request.samples = 100;
    auto& simulation = report.simulation.emplace();
    simulation.samples = 12;
    simulation.samples_requested = 25;
    EXPECT_EQ(what_is_kept(request, report), "interrupted: 12 of 25 samples are kept; `resume` continues");
    simulation.samples = 25;
    EXPECT_EQ(what_is_kept(request, report), "interrupted: all 25 samples are kept");
}

}  // namespace
}  // namespace spectra::study
