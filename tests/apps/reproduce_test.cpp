#include "support/process.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

/// `spectra reproduce`: the table, its exit status, and what it finds where the ledger was changed.
namespace spectra {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

class Reproduce : public ::testing::Test {
protected:
    testing::ProcessResult run(std::vector<std::string> words) const {
        words.insert(words.begin(), {SPECTRA_BINARY, "reproduce"});
        return testing::run_process(words,
                                    {.folder = folder_.path(), .environment = {{"OMP_NUM_THREADS", "1"}}});
    }

    /// A copy of the ledger.
    fs::path ledger() const {
        const auto copy = folder_.path() / "claims";
        fs::copy(SPECTRA_DATA_DIR "/claims", copy);
        return copy;
    }

    static json read(const fs::path& file) {
        std::ifstream stream(file);
        return json::parse(stream);
    }

    testing::TemporaryFolder folder_;
};

TEST_F(Reproduce, ComputesWhatItIsAskedForAndAgrees) {
    const auto result = run({"C9", "C64", "C38"});
    EXPECT_EQ(result.status, 0) << result.out << result.err;
    for (const char* words :
         {"C9", "C64", "refuted", "computed", "C38", "not testable here", "3 claims", "Every result agrees"})
        EXPECT_NE(result.out.find(words), std::string::npos) << words << "\n" << result.out;
    EXPECT_EQ(result.out.find("C10 "), std::string::npos);
}

TEST_F(Reproduce, PrintsJson) {
    const auto result = run({"C9", "--json"});
    EXPECT_EQ(result.status, 0) << result.err;
    const auto object = json::parse(result.out);
    EXPECT_TRUE(object.at("agrees"));
    EXPECT_EQ(object.at("claims").at(0).at("computed").at("verdict"), "refuted");
}

TEST_F(Reproduce, AChangedNumberAndAChangedVerdictAreFound) {
    const auto folder = ledger();
    json claim = read(folder / "C064.json");
    claim["numbers"][0]["value"] = 24;
    std::ofstream(folder / "C064.json") << claim.dump();
    auto result = run({"C64", "--claims", folder.string()});
    EXPECT_EQ(result.status, 1);
    EXPECT_NE(result.out.find("stored 24"), std::string::npos) << result.out;

    claim = read(folder / "C002.json");
    claim["verdict"] = "refuted";
    claim["correction"] = {{"statement", "s"}, {"evidence", "e"}};
    std::ofstream(folder / "C002.json") << claim.dump();
    result = run({"C2", "--claims", folder.string()});
    EXPECT_EQ(result.status, 1);
    EXPECT_NE(result.out.find("verdict: stored refuted, found holds"), std::string::npos) << result.out;
}

TEST_F(Reproduce, AStoredResultThatIsNotWholeIsFound) {
    const auto folder = ledger();
    json claim = read(folder / "C088.json");
    claim["version"] = "9.9.9 (abc)";
    std::ofstream(folder / "C088.json") << claim.dump();
    EXPECT_EQ(run({"C88", "--claims", folder.string()}).status, 1);
    claim.erase("numbers");
    claim["version"] = "0.1.0 (abc)";
    std::ofstream(folder / "C088.json") << claim.dump();
    const auto result = run({"C88", "--claims", folder.string()});
    EXPECT_EQ(result.status, 1);
    EXPECT_NE(result.out.find("no numbers"), std::string::npos) << result.out;
}

TEST_F(Reproduce, RecordsNumbersAndLeavesVerdicts) {
    const auto folder = ledger();
    json claim = read(folder / "C064.json");
    claim["numbers"][0]["value"] = 23;
    claim["verdict"] = "holds";
    std::ofstream(folder / "C064.json") << claim.dump();
    EXPECT_EQ(run({"C64", "--claims", folder.string(), "--record", folder.string()}).status, 1)
        << "the verdict differs";
    EXPECT_EQ(read(folder / "C064.json")["numbers"][0]["value"], 4);
    EXPECT_EQ(read(folder / "C064.json")["verdict"], "holds");
}

TEST_F(Reproduce, RefusesWhatThereIsNot) {
    auto result = run({"C999"});
    EXPECT_EQ(result.status, 2);
    EXPECT_NE(result.err.find("C999"), std::string::npos);
    result = run({"--paper", "jpmch"});
    EXPECT_EQ(result.status, 2);
    EXPECT_NE(result.err.find("jpmhc"), std::string::npos) << result.err;
    EXPECT_EQ(run({"--claims", "none"}).status, 2);
}

TEST_F(Reproduce, OptionsOfTrainingsNeedTrainings) {
    for (const auto& words :
         {std::vector<std::string>{"C9", "--afresh"}, {"C9", "--jobs", "2"}, {"C9", "--text", "x"}}) {
        const auto result = run(words);
        EXPECT_EQ(result.status, 2);
        EXPECT_NE(result.err.find(words[1] + " is for trainings: it needs --gpu"), std::string::npos)
            << result.err;
    }
}

TEST_F(Reproduce, KeepsTheOrderOfTheCommandLine) {
    const auto object = json::parse(run({"C64", "C9", "C64", "--json"}).out);
    ASSERT_EQ(object.at("claims").size(), 2U);
    EXPECT_EQ(object.at("claims").at(0).at("id"), "C64");
    EXPECT_EQ(object.at("claims").at(1).at("id"), "C9");
}

TEST_F(Reproduce, TrainsOnItsOwnTextAlone) {
    auto result = run({"--gpu", "--afresh", "C140"});
    EXPECT_EQ(result.status, 2);
    EXPECT_NE(result.err.find("--text FILE is required: text-post-ln-12-42 learns tiny Shakespeare"),
              std::string::npos)
        << result.err;
    std::ofstream(folder_.path() / "other.txt") << "What's in a name?";
    result = run({"--gpu", "--afresh", "C140", "--text", "other.txt"});
    EXPECT_EQ(result.status, 2);
    EXPECT_NE(result.err.find("other.txt: must be tiny Shakespeare"), std::string::npos) << result.err;
    EXPECT_FALSE(fs::exists(folder_.path() / "spectra-trainings")) << "nothing was started";
}

TEST_F(Reproduce, WritesTheDocument) {
    const auto result = run({"--markdown"});
    EXPECT_EQ(result.status, 0);
    std::ostringstream text;
    text << std::ifstream(SPECTRA_DATA_DIR "/../docs/claims.md").rdbuf();
    EXPECT_TRUE(result.out == text.str()) << "spectra reproduce --markdown > docs/claims.md";
}

}  // namespace
}  // namespace spectra
