#include "report/table.hpp"

#include "report/page.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>

namespace spectra::report {
namespace {

Table table_example() {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return {{{"rank", "rank", std::vector<double>{1, 2}},
             {"mixer", "mixer", std::vector<std::string>{"my_mixers|50%.csv", "a,\"b\""}},
             {"noise", "Lσ²", std::vector<double>{0.05, 1.0 / 3}},
             {"ov_wasserstein1", "W1 ov", std::vector<double>{2.76379e-5, nan}}},
            {"n = 4, Lσ² = 0.05."}};
}

TEST(Table, CsvHasAllDigitsAndQuotes) {
    EXPECT_EQ(to_csv(table_example()),
              "rank,mixer,noise,ov_wasserstein1\n"
              "1,my_mixers|50%.csv,0.05,2.76379e-05\n"
              "2,\"a,\"\"b\"\"\",0.3333333333333333,nan\n");
}

TEST(Table, MarkdownEscapesBars) {
    const std::string text = to_markdown(table_example());
    EXPECT_NE(text.find("| rank | mixer | Lσ² | W1 ov |\n|---:|---|---:|---:|\n"), std::string::npos) << text;
    EXPECT_NE(text.find("| 1 | my_mixers\\|50%.csv | 0.05 | 2.76e-05 |"), std::string::npos) << text;
    EXPECT_NE(text.find("| - |\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\nn = 4, Lσ² = 0.05.\n"), std::string::npos) << text;
}

TEST(Table, LatexIsEscaped) {
    const std::string text = to_latex(table_example());
    EXPECT_NE(text.find("\\begin{tabular}{rlrr}"), std::string::npos) << text;
    EXPECT_NE(text.find("rank & mixer & L$\\sigma^2$ & $W_1$ ov \\\\"), std::string::npos) << text;
    EXPECT_NE(text.find("my\\_mixers|50\\%.csv"), std::string::npos) << text;
    EXPECT_NE(text.find("$2.76\\times10^{-5}$"), std::string::npos) << text;
    EXPECT_NE(text.find("& -- \\\\"), std::string::npos) << text;
}

TEST(Table, PageKeepsToItsWidth) {
    for (const int columns : {40, 80, 100})
        for (const bool unicode : {false, true}) {
            std::istringstream page(to_page(table_example(), columns, false, unicode));
            std::string line;
            while (std::getline(page, line)) {
                EXPECT_LE(width_of(line), static_cast<std::size_t>(columns)) << line;
                EXPECT_FALSE(line.ends_with(' ')) << line;
            }
        }
    EXPECT_EQ(to_page(table_example(), 80, false, false).find("σ"), std::string::npos);
    EXPECT_NE(to_page(table_example(), 80, true, true).find("\033["), std::string::npos);
    EXPECT_EQ(to_page(table_example(), 80, false, true).find("\033["), std::string::npos);
}

}  // namespace
}  // namespace spectra::report
