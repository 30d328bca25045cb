#include "validation/requirements.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace spectra::validation {
namespace {

using Relation = Requirement::Relation;

TEST(Requirements, AreReadAsTyped) {
    const auto r = parse_requirements("window>=0.9, collapsed <= 5e-2,norm<=1.05");
    ASSERT_EQ(r.size(), 3U);
    EXPECT_EQ(r[0].name, "window");
    EXPECT_EQ(r[0].relation, Relation::at_least);
    EXPECT_EQ(r[0].threshold, 0.9);
    EXPECT_EQ(r[1].relation, Relation::at_most);
    EXPECT_EQ(r[1].threshold, 0.05);
    EXPECT_EQ(words(r[2]), "norm <= 1.05");
}

TEST(Requirements, MistakesAreNamed) {
    const auto message = [](const std::string& text) -> std::string {
        try {
            parse_requirements(text);
        } catch (const std::invalid_argument& error) {
            return error.what();
        }
        return "accepted";
    };
    EXPECT_NE(message("window>0.9").find("NAME>=NUMBER"), std::string::npos);
    EXPECT_NE(message("windw>=0.9").find("'windw'; must be one of mean_square, log_mean, window"), std::string::npos);
    EXPECT_NE(message("window>=much").find("'much' is not a finite number"), std::string::npos);
    EXPECT_NE(message("window>=inf").find("not a finite number"), std::string::npos);
    EXPECT_NE(message("").find("must be"), std::string::npos);
    EXPECT_NE(message("window>=0.9,").find("must be"), std::string::npos);
    EXPECT_NE(message("window>=0.9,window>=0.8").find("duplicate bound"), std::string::npos);
    EXPECT_EQ(message("window>=0.9,window<=0.95"), "accepted");
}

TEST(Requirements, AreJudgedByTheirValues) {
    const auto requirements = parse_requirements("window>=0.9,largest<=2");
    const auto value = [](double window, double largest) {
        return [=](const std::string& name) {
            return std::optional(Estimate{name == "window" ? window : largest});
        };
    };
    EXPECT_TRUE(judge(requirements, value(0.9, 2)).pass);
    const auto verdict = judge(requirements, value(0.41, 2));
    EXPECT_FALSE(verdict.pass);
    ASSERT_EQ(verdict.reasons.size(), 1U);
    EXPECT_EQ(verdict.reasons[0], "window is 0.41; required window >= 0.9");
    EXPECT_EQ(judge(requirements, value(0, 3)).reasons.size(), 2U);
    EXPECT_FALSE(judge(requirements, value(NAN, 1)).pass);
    EXPECT_FALSE(judge(requirements, [](const std::string&) { return std::optional<Estimate>(); }).pass);
}

TEST(Requirements, AreNotKeptWhereAnErrorWouldBreakThem) {
    const auto requirements = parse_requirements("window>=0.9,collapsed<=0.05");
    const auto verdict = [&](Estimate window, Estimate collapsed) {
        return judge(requirements, [=](const std::string& name) {
            return std::optional(name == "window" ? window : collapsed);
        });
    };
    EXPECT_TRUE(verdict({0.92, 0.015}, {0.01, 0.03}).pass);
    EXPECT_EQ(verdict({0.91, 0.015}, {0, 0.08}).reasons,
              (std::vector<std::string>{"window is 0.91 ± 0.015; required window >= 0.9",
                                        "collapsed is 0 ± 0.08; required collapsed <= 0.05"}));
    EXPECT_EQ(verdict({0.95, NAN}, {0, 0}).reasons,
              (std::vector<std::string>{"window is not known; required window >= 0.9"}));
}

}  // namespace
}  // namespace spectra::validation
