#include "support/process.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

/// `spectra explore`.
namespace spectra {
namespace {

using Words = std::vector<std::string>;

class ExploreCommand : public ::testing::Test {
protected:
    testing::ProcessResult run(Words words) const {
        words.insert(words.begin(), {SPECTRA_BINARY, "explore"});
        return testing::run_process(words, {.folder = folder_.path(), .environment = {{"PATH", "/nowhere"}}});
    }
    void refused(const Words& words, const std::string& fragment) const {
        const auto result = run(words);
        EXPECT_EQ(result.status, 2) << result.err;
        EXPECT_NE(result.err.find(fragment), std::string::npos) << fragment << " is not in " << result.err;
    }
    std::string read(const std::string& name) const {
        std::ostringstream text;
        text << std::ifstream(folder_.path() / name, std::ios::binary).rdbuf();
        return text.str();
    }

    testing::TemporaryFolder folder_;
};

TEST_F(ExploreCommand, WritesAPageAndSaysWhere) {
    const auto result = run({});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.out, "wrote spectra-explore.html\n");
    const auto page = read("spectra-explore.html");
    EXPECT_TRUE(page.starts_with("<!doctype html>"));
    EXPECT_EQ(run({}).status, 0) << "its own page is replaced";
    EXPECT_EQ(read("spectra-explore.html"), page) << "by the same bytes";
    EXPECT_EQ(run({"--output", "there.html"}).out, "wrote there.html\n");
    EXPECT_EQ(folder_.entries(), 2U);
}

TEST_F(ExploreCommand, RefusesToReplaceWhatItDidNotWrite) {
    std::ofstream(folder_.path() / "spectra-explore.html") << "mine";
    refused({}, "--output: spectra-explore.html: exists and is no explorer");
    EXPECT_EQ(read("spectra-explore.html"), "mine");
    EXPECT_EQ(run({"--force"}).status, 0);
    EXPECT_NE(read("spectra-explore.html"), "mine");
    refused({"--output", "page.txt"}, "must be a file name that ends in .html");
    refused({"--output", "no/page.html"}, "no such folder");
    std::filesystem::create_symlink("target.html", folder_.path() / "link.html");
    refused({"--output", "link.html"}, "symbolic link");
}

TEST_F(ExploreCommand, RefusesWhatItDoesNotTake) {
    refused({"network.h5"}, "network.h5");
    refused({"--frobnicate"}, "--frobnicate");
    EXPECT_EQ(folder_.entries(), 0U);
}

}  // namespace
}  // namespace spectra
