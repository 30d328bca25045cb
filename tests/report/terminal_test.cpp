#include "report/terminal.hpp"

#include "report/example_report.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace spectra::report {
namespace {

std::size_t widest(const std::string& page) {
    std::size_t most = 0;
    std::istringstream in(page);
    for (std::string line; std::getline(in, line);) {
        std::size_t width = 0;
        for (const char c : line) width += (c & 0xC0) != 0x80;
        most = std::max(most, width);
    }
    return most;
}

std::string joined(std::string page) {
    std::replace(page.begin(), page.end(), '\n', ' ');
    return page;
}

bool says(const std::string& page, const std::string& words) {
    return joined(page).find(words) != std::string::npos;
}

TEST(TerminalPage, KeepsToTheWidth) {
    Report long_name = tests::isometric_report();
    long_name.network.title = std::string(300, 'x') + " and σ² " + std::string(90, 'y');
    for (const auto& report :
         {tests::isometric_report(), tests::collapsed_report(), tests::atomic_report(), long_name}) {
        for (const int columns : {40, 50, 64, 80, 100, 200}) {
            for (const bool unicode : {false, true}) {
                const std::string page = terminal_page(report, columns, false, unicode);
                EXPECT_LE(widest(page), static_cast<std::size_t>(columns)) << page;
            }
        }
    }
    EXPECT_LE(widest(terminal_page(long_name, 1, false, true)), 40u);
}

TEST(TerminalPage, SaysWhatWasComputed) {
    Report report = tests::isometric_report();
    report.simulation->samples_requested = 30;
    report.theories[1].summary.certified = false;
    report.theories[1].summary.uncertified = 2;
    const std::string page = terminal_page(report, 120, false, true);
    for (const char* words :
         {"bistochastic, L = 3, n = 4, p = 25, Lσ² = 0.05",
          "operator-valued theory: 100 points, certified, 300 Newton steps, 0.0625 s",
          "scalar theory: 100 points, 2 of 100 points NOT certified", "20 of 30 samples, N = 100",
          "1.0224 ± 0.0040", "wrote example.h5", "wrote example.png"}) {
        EXPECT_TRUE(says(page, words)) << words << "\n" << page;
    }
}

TEST(TerminalPage, VerdictsInWords) {
    const std::string good = terminal_page(tests::isometric_report(), 200, false, true);
    EXPECT_TRUE(says(good, "Operator-valued theory and simulation agree: W1 = 0.000")) << good;
    EXPECT_TRUE(says(good,
                     "Gradients survive 3 layers: 92.0 % of the singular values lie in [0.75, 1.25], "
                     "0 % have collapsed below 0.1."))
        << good;
    const std::string bad = terminal_page(tests::collapsed_report(), 200, false, true);
    EXPECT_TRUE(says(bad, "Operator-valued theory and simulation agree")) << bad;
    EXPECT_TRUE(says(bad, "Scalar theory and simulation differ")) << bad;
    EXPECT_TRUE(says(bad, "Most gradient directions vanish over 10 layers")) << bad;
    EXPECT_TRUE(says(bad, "75.0 % have collapsed below 0.1.")) << bad;
    const std::string zeros = terminal_page(tests::atomic_report(), 200, false, true);
    EXPECT_TRUE(says(zeros, "500 values below rounding left out")) << zeros;
    EXPECT_TRUE(says(zeros, "-inf")) << zeros;
}

TEST(TerminalPage, ColourAndUnicodeOnlyWhereWanted) {
    for (const auto& report :
         {tests::isometric_report(), tests::collapsed_report(), tests::atomic_report()}) {
        EXPECT_EQ(terminal_page(report, 80, false, true).find('\033'), std::string::npos);
        EXPECT_NE(terminal_page(report, 80, true, true).find('\033'), std::string::npos);
        for (const char c : terminal_page(report, 80, false, false)) {
            EXPECT_TRUE(c == '\n' || (c >= ' ' && c < 127));
        }
    }
    // Without its escape codes the coloured page is the plain one.
    const Report report = tests::collapsed_report();
    std::string stripped;
    const std::string coloured = terminal_page(report, 80, true, true);
    for (std::size_t k = 0; k < coloured.size(); ++k) {
        if (coloured[k] == '\033') {
            k = coloured.find('m', k);
        } else {
            stripped += coloured[k];
        }
    }
    EXPECT_EQ(stripped, terminal_page(report, 80, false, true));
}

TEST(TerminalPage, PlotFollowsTheDensity) {
    const std::string page = terminal_page(tests::isometric_report(), 80, false, true);
    EXPECT_TRUE(says(page, "density ρ(s)"));
    EXPECT_NE(page.find("█"), std::string::npos);
    EXPECT_NE(page.find("•"), std::string::npos);
    EXPECT_TRUE(says(terminal_page(tests::collapsed_report(), 80, false, true), "density per unit ln s"));
}

TEST(TerminalPage, SaysWhatThereIs) {
    Report report;
    report.network = tests::example_network(1);
    report.green = dyson::Green{{{0.3, 0.05}, {1, 1}}, {{1, 1}, {1, 1}}, {}, {}, {1, 0}, {0, 1}};
    const std::string page = terminal_page(report, 80, false, true);
    EXPECT_TRUE(says(page, "g at 2 points, 1 certified")) << page;
    report.theories.emplace_back();  // a solve that failed
    EXPECT_TRUE(says(terminal_page(report, 80, false, true), "NOT certified: not solved"));
}

}  // namespace
}  // namespace spectra::report
