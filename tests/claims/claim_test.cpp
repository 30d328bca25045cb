#include "claims/claim.hpp"

#include "support/expect_refused.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace spectra::claims {
namespace {

using nlohmann::json;
using testing::expect_refused;

json example() {
    return json::parse(
        R"json({"id": "C9", "source": {"paper": "jpmhc", "place": "equation (4)"}, "statement": "s", "test": "t",
        "quick": true, "verdict": "refuted", "machine": "m", "version": "0.1.0 (abc)", "command": "spectra reproduce C9",
        "numbers": [{"name": "mass", "value": 0.5, "tolerance": 0.1, "published": 1}, {"name": "seconds", "value": 2}],
        "correction": {"statement": "c", "evidence": "e"}})json");
}

bool lacks(const Claim& claim, const std::string& what) {
    const auto found = defects(claim);
    return std::find(found.begin(), found.end(), what) != found.end();
}

TEST(Claim, IsWrittenAsItIsRead) {
    const Claim claim = from_json(example(), "file");
    EXPECT_EQ(json(to_json(claim)), example());
    EXPECT_EQ(claim.verdict, Verdict::refuted);
    EXPECT_EQ(claim.numbers[0].published, 1.0);
    EXPECT_TRUE(std::isinf(claim.numbers[1].tolerance)) << "a number without a tolerance is not compared";
    EXPECT_TRUE(defects(claim).empty());
}

TEST(Claim, VerdictsHaveNames) {
    for (const auto verdict :
         {Verdict::holds, Verdict::holds_in_part, Verdict::refuted, Verdict::not_testable, Verdict::open})
        EXPECT_EQ(find_verdict(name(verdict)), verdict);
    EXPECT_FALSE(find_verdict("perhaps"));
}

TEST(Claim, RefusesWhatIsNotAClaim) {
    const auto refused = [](const char* key, const json& value, const std::vector<std::string>& words) {
        json changed = example();
        changed[key] = value;
        expect_refused([&] { from_json(changed, "file"); }, words);
    };
    refused("verdict", "perhaps", {"file", "verdict", "perhaps"});
    refused("colour", "red", {"file", "colour"});
    refused("numbers", json::parse(R"([{"name": "mass"}])"), {"value"});
    refused("statement", 3, {"statement", "type"});
    json missing = example();
    missing.erase("test");
    expect_refused([&] { from_json(missing, "file"); }, {"file", "test"});
    expect_refused([] { from_json(json::array(), "file"); }, {"object"});
}

TEST(Claim, AResultNeedsItsNumbersAndWhereTheyComeFrom) {
    Claim claim = from_json(example(), "file");
    claim.numbers.clear();
    EXPECT_TRUE(lacks(claim, "no numbers"));
    claim = from_json(example(), "file");
    claim.version.clear();
    EXPECT_TRUE(lacks(claim, "no version"));
    claim = from_json(example(), "file");
    claim.correction.reset();
    EXPECT_TRUE(lacks(claim, "no correction"));
    claim = from_json(example(), "file");
    claim.verdict = Verdict::open;
    EXPECT_TRUE(lacks(claim, "no reason"));
    EXPECT_TRUE(lacks(claim, "computed in seconds, and without a verdict"));
}

TEST(Claim, VersionsAreKnownUpToThisOne) {
    EXPECT_TRUE(known_version("0.1.0 (61cac98)", "0.1.0"));
    EXPECT_TRUE(known_version("0.1.0 (61cac98)", "0.2.0"));
    EXPECT_FALSE(known_version("0.2.0 (61cac98)", "0.1.0")) << "of the future";
    EXPECT_FALSE(known_version("0.1.0", "0.1.0")) << "without a commit";
    EXPECT_FALSE(known_version("latest", "0.1.0"));
    EXPECT_FALSE(known_version("", "0.1.0"));
}

}  // namespace
}  // namespace spectra::claims
