#include "report/diagnosis.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace spectra::report {
namespace {

Part part(const std::string& name, bool required, Health health) {
    return {name, required, "a purpose", "a remedy", health, "version 1", "a trial"};
}

Diagnosis diagnosis(std::vector<Part> parts) {
    return {"1.2.3", "abc", "Release", "g++ 12", "HDF5", std::move(parts)};
}

TEST(Diagnosis, WorksIfEverythingRequiredDoes) {
    EXPECT_TRUE(diagnosis({part("a", true, Health::works), part("b", false, Health::fails)}).works());
    EXPECT_FALSE(diagnosis({part("a", true, Health::works), part("b", true, Health::missing)}).works());
    EXPECT_FALSE(diagnosis({part("a", true, Health::fails)}).works());
    EXPECT_FALSE(diagnosis({{"untried", true, "", ""}}).works()) << "the defaults mean failure";
}

TEST(Diagnosis, PageHasARemedyForWhatDoesNotWorkOnly) {
    const auto page = terminal_page(diagnosis({part("first", true, Health::works), part("second", false, Health::missing),
                                               part("third", false, Health::fails)}),
                                    80, false, true);
    EXPECT_EQ(page,
              "spectra 1.2.3 (abc), Release build by g++ 12\n"
              "\n"
              "ok       first      version 1; a trial\n"
              "missing  second     version 1; a trial\n"
              "                    For a purpose: a remedy.\n"
              "FAILS    third      version 1; a trial\n"
              "                    For a purpose: a remedy.\n"
              "\n"
              "Everything required works; 2 optional parts are missing or failing.\n");
}

TEST(Diagnosis, ALongTrialHasALineOfItsOwn) {
    auto first = part("first", true, Health::works);
    first.trial = "a trial that tells much more than fits into a line";
    const auto page = terminal_page(diagnosis({first}), 80, false, true);
    EXPECT_NE(page.find("ok       first      version 1\n"
                        "                    a trial that tells much more than fits into a line\n"),
              std::string::npos)
        << page;
}

TEST(Diagnosis, PageEndsWithTheVerdict) {
    const auto last_line = [](std::vector<Part> parts) {
        const auto page = terminal_page(diagnosis(std::move(parts)), 80, false, true);
        return page.substr(page.rfind('\n', page.size() - 2) + 1);
    };
    EXPECT_EQ(last_line({part("a", true, Health::works)}), "Everything works.\n");
    EXPECT_EQ(last_line({part("a", false, Health::fails)}),
              "Everything required works; 1 optional part is missing or failing.\n");
    EXPECT_EQ(last_line({part("a", true, Health::fails), part("b", true, Health::missing), part("c", false, Health::fails)}),
              "Required, and not working: a, b.\n");
}

TEST(Diagnosis, JsonHasAllFields) {
    auto first = part("first", true, Health::works);
    first.measured = {{"gflops", 2.5}};
    const auto json = nlohmann::json::parse(to_json(diagnosis({first, part("second", false, Health::missing)})));
    EXPECT_EQ(json["works"], true);
    EXPECT_EQ(json["program"]["compiler"], "g++ 12");
    ASSERT_EQ(json["parts"].size(), 2U);
    EXPECT_EQ(json["parts"][0]["measured"]["gflops"], 2.5);
    EXPECT_TRUE(json["parts"][0]["remedy"].is_null());
    EXPECT_EQ(json["parts"][1]["health"], "missing");
    EXPECT_EQ(json["parts"][1]["remedy"], "a remedy");
}

}  // namespace
}  // namespace spectra::report
