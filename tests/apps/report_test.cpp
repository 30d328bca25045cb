#include "support/process.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

/// `spectra report` and `--plot html`.
namespace spectra {
namespace {

using Words = std::vector<std::string>;

class ReportCommand : public ::testing::Test {
protected:
    testing::ProcessResult run(Words words) const {
        words.insert(words.begin(), SPECTRA_BINARY);
        return testing::run_process(words, {.folder = folder_.path(), .environment = {{"PATH", "/nowhere"}}});
    }
    void analyse(const std::string& stem, const Words& more = {"--plot", "none"}) const {
        Words words{"--mixer", "cayley", "--depth", "2", "--samples", "3", "--quiet", "--out", stem};
        words.insert(words.end(), more.begin(), more.end());
        const auto result = run(words);
        EXPECT_EQ(result.status, 0) << result.err;
    }
    void refused(const Words& words, const Words& fragments) const {
        const auto result = run(words);
        EXPECT_EQ(result.status, 2) << result.err;
        for (const auto& fragment : fragments)
            EXPECT_NE(result.err.find(fragment), std::string::npos)
                << fragment << " is not in " << result.err;
    }
    std::string read(const std::string& name) const {
        std::ostringstream text;
        text << std::ifstream(folder_.path() / name, std::ios::binary).rdbuf();
        return text.str();
    }

    testing::TemporaryFolder folder_;
};

TEST_F(ReportCommand, WritesAPageBesideTheResult) {
    analyse("a");
    const auto result = run({"report", "a.h5"});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.out, "wrote a.html\n");
    const auto page = read("a.html");
    EXPECT_TRUE(page.starts_with("<!doctype html>"));
    EXPECT_TRUE(page.ends_with("</html>\n"));
    EXPECT_LT(page.size(), 700000U);
    EXPECT_EQ(run({"report", "a.h5"}).status, 0) << "its own page is replaced";
    EXPECT_EQ(read("a.html"), page) << "by the same bytes";
}

TEST_F(ReportCommand, PutsSeveralResultsOnOnePage) {
    analyse("a");
    analyse("b", {"--seed", "2", "--plot", "none"});
    EXPECT_EQ(run({"report", "a.h5", "b.h5"}).out, "wrote spectra-report.html\n");
    EXPECT_EQ(run({"report", "a.h5", "b.h5", "--output", "both.html"}).out, "wrote both.html\n");
    EXPECT_NE(read("both.html").find("content=\"a.h5, b.h5\""), std::string::npos);
}

TEST_F(ReportCommand, RefusesToReplaceWhatItDidNotWrite) {
    analyse("a");
    std::ofstream(folder_.path() / "a.html") << "mine";
    refused({"report", "a.h5"}, {"--output: a.html: exists", "--force"});
    EXPECT_EQ(read("a.html"), "mine");
    EXPECT_EQ(run({"report", "a.h5", "--force"}).status, 0);
    EXPECT_NE(read("a.html"), "mine");
    refused({"report", "a.h5", "--output", "a.h5"}, {"must be a file name that ends in .html"});
    refused({"report", "a.h5", "--output", "no/a.html"}, {"no such folder"});
    std::filesystem::create_directory(folder_.path() / "d.html");
    refused({"report", "a.h5", "--output", "d.html", "--force"}, {"is a folder"});
    std::filesystem::create_symlink("target.html", folder_.path() / "link.html");
    refused({"report", "a.h5", "--output", "link.html"}, {"symbolic link"});
}

TEST_F(ReportCommand, RefusesWhatIsNoResult) {
    refused({"report"}, {"no file given"});
    refused({"report", "none.h5"}, {"none.h5", "no such file"});
    std::ofstream(folder_.path() / "text.h5") << "text";
    refused({"report", "text.h5"}, {"text.h5", "not an HDF5 file"});
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "text.html"));
    refused({"report", "text.h5", "--frobnicate"}, {"--frobnicate"});
}

TEST_F(ReportCommand, APageIsAPlotThatNeedsNoOtherProgram) {
    analyse("a", {"--plot", "html"});
    const auto page = read("a.html");
    EXPECT_NE(page.find("content=\"a.h5\""), std::string::npos);
    EXPECT_EQ(run({"report", "a.h5"}).status, 0);
    EXPECT_EQ(read("a.html"), page) << "the same page as by report";
}

TEST_F(ReportCommand, CompareWritesOnePageForBothAxes) {
    const auto result = run({"compare", "--mixers", "identity,cayley", "--depths", "1,2", "--samples", "2",
                             "--plot", "html", "--table", "none", "--out", "c"});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_NE(result.out.find("wrote c.html"), std::string::npos) << result.out;
    EXPECT_EQ(folder_.entries(), 2U);
}

TEST_F(ReportCommand, OtherCommandsDrawPagesToo) {
    EXPECT_EQ(
        run({"depth-limit", "--mixer", "bistochastic", "--max-depth", "4", "--plot", "html", "--out", "d"})
            .status,
        0);
    EXPECT_NE(read("d.html").find("\"depth_limit\""), std::string::npos);
}

}  // namespace
}  // namespace spectra
