#include "report/explorer_page.hpp"

#include "report/html_bundle.hpp"
#include "spectrum/metrics.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace spectra::report {
namespace {

/// The content of a data element.
std::string element(const std::string& page, const std::string& id) {
    const std::string open = "id=\"" + id + "\">";
    const auto begin = page.find(open) + open.size();
    return page.substr(begin, page.find("</script>", begin) - begin);
}

TEST(ExplorerPage, IsOneFileWhosePolicyAllowsItsOwnWorkerAndNoRequest) {
    const std::string page = explorer_page();
    EXPECT_TRUE(page.starts_with("<!doctype html>"));
    EXPECT_TRUE(page.ends_with("</html>\n"));
    EXPECT_NE(page.find("content=\"default-src 'none'; script-src 'sha256-"), std::string::npos);
    EXPECT_NE(page.find("'wasm-unsafe-eval'; "), std::string::npos);
    EXPECT_NE(page.find("worker-src blob:; "), std::string::npos);
    EXPECT_EQ(page.find("connect-src"), std::string::npos);
    EXPECT_EQ(page.find("'unsafe-"), std::string::npos);
    for (const char* loads : {" src=", "<link", "<img", "<iframe", "@import", "url(http"})
        EXPECT_EQ(page.find(loads), std::string::npos) << loads;
    EXPECT_LT(page.size(), 1200000U);
}

TEST(ExplorerPage, HasTheSolverAndTheNamesOfMetrics) {
    const std::string page = explorer_page();
    const auto data = nlohmann::json::parse(element(page, "data"));
    ASSERT_EQ(data["metrics"].size(), metric_names.size());
    EXPECT_EQ(data["metrics"][2]["label"], "share in [0.75, 1.25]");
    const auto solver = nlohmann::json::parse(element(page, "solver")).get<std::string>();
    EXPECT_EQ(solver, html_bundle_solver());
    EXPECT_TRUE(solver.starts_with("H4sI")) << "gzip, in base64";
}

TEST(ExplorerPage, IsRecognised) {
    const testing::TemporaryFolder folder;
    const auto path = folder.path() / "page.html";
    write_explorer_page(path);
    EXPECT_TRUE(is_explorer_page(path));
    std::ofstream(path) << "mine";
    EXPECT_FALSE(is_explorer_page(path));
    EXPECT_FALSE(is_explorer_page(folder.path() / "none.html"));
}

}  // namespace
}  // namespace spectra::report
