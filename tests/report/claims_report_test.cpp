#include "report/claims_report.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace spectra::report {
namespace {

std::string contents(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

ClaimsReport claims_example() {
    const auto ledger = claims::ledger();
    ClaimsReport report;
    report.rows = {{ledger[8], claims::Outcome{ledger[8].verdict, ledger[8].numbers}, {}, 0.1},
                   {ledger[37], {}, {}, 0}};
    return report;
}

TEST(ClaimsReport, TheDocumentIsThatOfTheLedger) {
    // If this fails: spectra reproduce --markdown > docs/claims.md
    EXPECT_TRUE(claims_markdown(claims::ledger()) == contents(SPECTRA_DATA_DIR "/../docs/claims.md"))
        << "docs/claims.md is not that of data/claims";
}

TEST(ClaimsReport, TheDocumentHasEveryClaimOnce) {
    const auto ledger = claims::ledger();
    const auto document = claims_markdown(ledger);
    for (const auto& claim : ledger) {
        const std::string heading = "#### " + claim.id + ": ";
        const auto first = document.find(heading);
        ASSERT_NE(first, std::string::npos) << claim.id;
        EXPECT_EQ(document.find(heading, first + 1), std::string::npos) << claim.id;
    }
    EXPECT_NE(document.find("| all |"), std::string::npos);
}

TEST(ClaimsReport, ThePageNamesWhatDiffers) {
    auto report = claims_example();
    EXPECT_TRUE(report.agrees());
    const auto page = terminal_page(report, 100, false);
    for (const char* words :
         {"C9", "computed", "refuted", "C38", "not testable here", "Every result agrees with the ledger."})
        EXPECT_NE(page.find(words), std::string::npos) << words << "\n" << page;
    EXPECT_NE(page.find("2 claims: 1 is refuted, 1 is not testable here."), std::string::npos) << page;
    auto twice = report;
    for (auto& row : twice.rows) row.claim.verdict = claims::Verdict::holds;
    EXPECT_NE(terminal_page(twice, 100, false).find("2 claims: 2 hold."), std::string::npos);
    report.rows[0].disagreements = {"mass: stored 0, found 1"};
    EXPECT_FALSE(report.agrees());
    const auto other = terminal_page(report, 100, false);
    for (const char* words : {"DIFFERS", "mass: stored 0, found 1", "Results differ from the ledger."})
        EXPECT_NE(other.find(words), std::string::npos) << words << "\n" << other;
}

// What a reader came for must fit on the page, with its spread and the published number beside it.
TEST(ClaimsReport, ThePageHasTheNumberAndThePapers) {
    claims::Claim claim;
    claim.id = "C149";
    claim.statement = "A statement of many words, of which the page shows only the first few.";
    claim.verdict = claims::Verdict::not_testable;
    claim.numbers = {{"a number", 0.000123456, 0, 0.000987654, 0.0000234567}};
    ClaimsReport report;
    report.rows.push_back({claim, {}, {}});
    const auto page = terminal_page(report, 100, false);
    EXPECT_NE(page.find("0.0001235 ± 2e-05"), std::string::npos) << page;
    EXPECT_NE(page.find("0.0009877"), std::string::npos) << page;
}

TEST(ClaimsReport, JsonHasStoredAndComputedNumbers) {
    const auto object = nlohmann::json::parse(to_json(claims_example()));
    EXPECT_TRUE(object.at("agrees"));
    EXPECT_EQ(object.at("verdicts").at("refuted"), 1);
    const auto& claims = object.at("claims");
    ASSERT_EQ(claims.size(), 2U);
    EXPECT_EQ(claims[0].at("id"), "C9");
    EXPECT_EQ(claims[0].at("computed").at("verdict"), "refuted");
    EXPECT_EQ(claims[0].at("computed").at("numbers").size(), claims[0].at("numbers").size());
    EXPECT_TRUE(claims[1].at("computed").is_null());
}

}  // namespace
}  // namespace spectra::report
