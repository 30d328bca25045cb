#include "plot/gnuplot.hpp"

#include "report/density_figure.hpp"
#include "report/example_report.hpp"
#include "support/expect_refused.hpp"
#include "support/needs_program.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>

namespace spectra::plot {
namespace {

using report::density_figure;

using spectra::testing::content;
using spectra::testing::expect_refused;
using spectra::testing::TemporaryFolder;

/// Another PATH while it lives.
class SearchPath {
public:
    explicit SearchPath(const std::string& path) : before_(std::getenv("PATH")) {
        setenv("PATH", path.c_str(), 1);
    }
    ~SearchPath() { setenv("PATH", before_.c_str(), 1); }
    SearchPath(const SearchPath&) = delete;
    SearchPath& operator=(const SearchPath&) = delete;

private:
    std::string before_;
};

std::string failure(const std::filesystem::path& path) {
    try {
        render_with_gnuplot(density_figure(tests::isometric_report()), path);
    } catch (const std::runtime_error& error) {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
        return error.what();
    }
    return "";
}

TEST(Gnuplot, DrawsEveryFormat) {
    SPECTRA_NEEDS_GNUPLOT();
    const TemporaryFolder folder;
    for (const auto& report :
         {tests::isometric_report(), tests::collapsed_report(), tests::atomic_report()}) {
        const Figure figure = density_figure(report);
        render_with_gnuplot(figure, folder.path() / "a.png");
        render_with_gnuplot(figure, folder.path() / "a.svg");
        render_with_gnuplot(figure, folder.path() / "a.pdf");
        const std::string png = content(folder.path() / "a.png");
        EXPECT_TRUE(png.starts_with("\x89PNG\r\n\x1a\n"));
        EXPECT_GT(png.size(), 20'000u);
        const std::string svg = content(folder.path() / "a.svg");
        EXPECT_NE(svg.find("<svg"), std::string::npos);
        EXPECT_NE(svg.find("</svg>"), std::string::npos);
        EXPECT_NE(svg.find("singular value s"), std::string::npos);
        const std::string pdf = content(folder.path() / "a.pdf");
        EXPECT_TRUE(pdf.starts_with("%PDF"));
        EXPECT_GT(pdf.size(), 5'000u);
    }
    EXPECT_EQ(folder.entries(), 3u);
}

TEST(Gnuplot, DrawsEveryMarkAndDashOfAGrid) {
    SPECTRA_NEEDS_GNUPLOT();
    const TemporaryFolder folder;
    Figure figure;
    figure.columns = 2;
    figure.shared_axes = true;
    figure.column_headings = {"one", "two"};
    figure.row_headings = {"upper", "lower"};
    figure.panels.resize(4);
    figure.panels[3].absent = true;
    std::vector<double> lower{0.1, 0.2};
    for (const auto mark : {Mark::line, Mark::impulses, Mark::points, Mark::band}) {
        Series series{"mark", mark, Dash::solid, 2, "#0072b2", {0.2, 0.8}, {0.3, 0.4}, lower};
        figure.panels[0].series.push_back(series);
    }
    figure.panels[1].series = {
        {"steps", Mark::filled_steps, Dash::solid, 0, "#c8c8c8", {0, 0.5, 1}, {0.4, 0.6}}};
    for (const auto dash : {Dash::dashed, Dash::dotted, Dash::dash_dotted})
        figure.panels[2].series.push_back({"dash", Mark::line, dash, 2, "#d55e00", {0, 1}, {0, 1}});
    for (const char* name : {"a.png", "a.svg", "a.pdf"}) render_with_gnuplot(figure, folder.path() / name);
    const std::string svg = content(folder.path() / "a.svg");
    for (const char* words : {"upper", "lower", "one", "two", "mark", "steps", "dash"})
        EXPECT_NE(svg.find(std::string(">") + words + "<"), std::string::npos) << words;
    std::size_t dashed = 0;
    for (auto at = svg.find("stroke-dasharray"); at != std::string::npos;
         at = svg.find("stroke-dasharray", at + 1))
        ++dashed;
    EXPECT_GE(dashed, 3u);
    EXPECT_GT(content(folder.path() / "a.png").size(), 5'000u);
}

Figure heat_map() {
    Figure figure;
    figure.matrices = true;
    figure.columns = 2;
    Series cells{"entry", Mark::cells, Dash::solid, 1, "#000000", {1, 2, 1, 2}, {1, 1, 2, 2}};
    cells.value = {1.5, -1.5, 0, NAN};
    cells.texts = {"1.50", "−1.50", "0", "none"};
    cells.scale.limit = 1.5;
    figure.panels.resize(2);
    for (auto& panel : figure.panels) {
        panel.x = {"column", Scale::whole, 0.5, 2.5};
        panel.y = {"row", Scale::whole, 2.5, 0.5};
        panel.series = {cells};
        panel.heading = "A(1)";
    }
    return figure;
}

TEST(Gnuplot, DrawsMatricesAsCellsWithTheScaleOfTheirColours) {
    SPECTRA_NEEDS_GNUPLOT();
    const TemporaryFolder folder;
    Figure figure = heat_map();
    for (const char* name : {"a.png", "a.svg", "a.pdf"}) render_with_gnuplot(figure, folder.path() / name);
    const std::string svg = content(folder.path() / "a.svg");
    for (const char* words : {"1.50", "−1.50", "none", "A(1)", "entry", "−1.5", "1.5"})
        EXPECT_NE(svg.find(std::string(">") + words + "<"), std::string::npos) << words;
    EXPECT_EQ(svg.find(">column<"), std::string::npos);  // no axes
    const auto count = [&](const std::string& script, const std::string& colour) {
        return script.find(" " + std::to_string(std::stoi(colour.substr(1), nullptr, 16)) + "\n") !=
               std::string::npos;
    };
    const ColourScale scale = figure.panels[0].series[0].scale;
    auto script = gnuplot_script(figure, ".png");
    for (const auto& colour : {scale.above, scale.below, scale.zero})
        EXPECT_TRUE(count(script, colour)) << colour;
    EXPECT_EQ(script.find("nan"), std::string::npos);
    figure.dark = true;
    script = gnuplot_script(figure, ".png");
    for (const auto& colour : {scale.above, scale.below, scale.zero})
        EXPECT_TRUE(count(script, on_dark(colour))) << colour;
}

TEST(ColourScale, MixesTheColoursOfItsEnds) {
    const ColourScale scale{2, "#000000", "#808080", "#ffffff"};
    EXPECT_EQ(colour_of(scale, 0), "#808080");
    EXPECT_EQ(colour_of(scale, 2), "#ffffff");
    EXPECT_EQ(colour_of(scale, 7), "#ffffff");
    EXPECT_EQ(colour_of(scale, -1), "#404040");
    EXPECT_EQ(colour_of(scale, -9), "#000000");
    // In grey print the order of numbers is the order of greys.
    Figure figure = heat_map();
    turn_grey(figure);
    const auto& grey = figure.panels[0].series[0].scale;
    for (double value = -1.5; value < 1.4; value += 0.1)
        EXPECT_GT(colour_of(grey, value), colour_of(grey, value + 0.1)) << value;
    EXPECT_TRUE(is_dark(colour_of(grey, 1.5)));
    EXPECT_FALSE(is_dark(colour_of(grey, 0)));
}

/// The contrast of two colours as web pages define it, from 1 to 21.
double contrast(const std::string& a, const std::string& b) {
    const auto luminance = [](const std::string& colour) {
        double sum = 0;
        for (const auto& [at, weight] : {std::pair{1, 0.2126}, {3, 0.7152}, {5, 0.0722}}) {
            const double part =
                std::stoi(colour.substr(static_cast<std::size_t>(at), 2), nullptr, 16) / 255.0;
            sum += weight * (part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4));
        }
        return sum + 0.05;
    };
    return std::max(luminance(a), luminance(b)) / std::min(luminance(a), luminance(b));
}

TEST(OnDark, LinesAndLettersCanBeReadAndTintsChangePlaces) {
    const std::string page = on_dark("#ffffff");
    EXPECT_GT(contrast(page, "#ffffff"), 15);
    for (const char* const colour :
         {"#000000", "#333333", "#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"})
        EXPECT_GT(contrast(on_dark(colour), page), 4.5) << colour;
    // Bands: what is darkest on white is lightest on the dark page.
    EXPECT_GT(contrast(on_dark("#d7ddef"), page), 1.1);
    EXPECT_GT(contrast(on_dark("#8db3d6"), page), 1.2 * contrast(on_dark("#d7ddef"), page));
    EXPECT_GT(contrast(on_dark("#2f6ba5"), page), 1.2 * contrast(on_dark("#8db3d6"), page));
}

TEST(Gnuplot, ADarkFigureHasNoColourOfALightOne) {
    Figure figure = density_figure(tests::isometric_report());
    figure.title = "rgb '#000000'";
    const auto script = gnuplot_script(figure, ".png");
    EXPECT_NE(script.find("background '#ffffff'"), std::string::npos);
    figure.dark = true;
    for (const char* const format : {".png", ".svg", ".pdf"}) {
        const auto dark = gnuplot_script(figure, format);
        EXPECT_NE(dark.find("background '" + on_dark("#ffffff") + "'"), std::string::npos) << format;
        for (const char* const light : {"rgb '#000000'", "rgb '#333333'", "background '#ffffff'"})
            EXPECT_EQ(dark.find(light), std::string::npos) << format << light;
        EXPECT_NE(dark.find("rgb ''#000000''"), std::string::npos) << format;  // text
    }
}

TEST(Gnuplot, MinusSignsAndGreekLettersAreReal) {
    SPECTRA_NEEDS_GNUPLOT();
    const TemporaryFolder folder;
    render_with_gnuplot(density_figure(tests::collapsed_report()), folder.path() / "a.svg");
    const std::string svg = content(folder.path() / "a.svg");
    for (const char* words : {"10⁻⁴", "ρ(s)", "Lσ²"}) EXPECT_NE(svg.find(words), std::string::npos) << words;
}

TEST(Gnuplot, DrawsAnEmptyReport) {
    SPECTRA_NEEDS_GNUPLOT();
    const TemporaryFolder folder;
    report::Report report;
    report.network = tests::example_network(1);
    render_with_gnuplot(density_figure(report), folder.path() / "a.png");
    EXPECT_GT(content(folder.path() / "a.png").size(), 1'000u);
}

TEST(Gnuplot, TextIsNeverACommand) {
    SPECTRA_NEEDS_GNUPLOT();
    const TemporaryFolder folder;
    const std::string trap = (folder.path() / "trap").string();
    report::Report report = tests::isometric_report();
    report.network.title = "it's `touch " + trap + "` $(touch " + trap + ")'; system('touch " + trap +
                           "')\nsystem('touch " + trap + "')\n@trap \\ \" {/Symbol} ^_ %";
    render_with_gnuplot(density_figure(report), folder.path() / "it's `x` | \"y\".svg");
    EXPECT_FALSE(std::filesystem::exists(trap));
    const std::string svg = content(folder.path() / "it's `x` | \"y\".svg");
    EXPECT_NE(svg.find("`touch"), std::string::npos);
    EXPECT_NE(svg.find("{/Symbol}"), std::string::npos);
    EXPECT_EQ(folder.entries(), 1u);
}

TEST(Gnuplot, RefusesOtherFormats) {
    const TemporaryFolder folder;
    expect_refused([&] { render_with_gnuplot(Figure{}, folder.path() / "a.bmp"); },
                   {"a.bmp", ".png, .svg or .pdf"});
    EXPECT_EQ(folder.entries(), 0u);
}

TEST(Gnuplot, SaysWhenItIsMissing) {
    const TemporaryFolder folder, empty;
    const auto path = folder.write("a.png", "earlier");
    const SearchPath search(empty.path().string());
    EXPECT_EQ(failure(path), "gnuplot not found: install it to draw figures");
    EXPECT_EQ(content(path), "earlier");
    EXPECT_EQ(folder.entries(), 1u);
}

TEST(Gnuplot, FailureLeavesTheEarlierFile) {
    const TemporaryFolder folder, programs;
    const auto path = folder.write("a.png", "earlier");
    const auto fake = programs.write(
        "gnuplot",
        "#!/bin/sh\necho half a picture\necho 'set nonsense' >&2\necho '\"-\" line 3: no' >&2\nexit 1\n");
    std::filesystem::permissions(fake, std::filesystem::perms::owner_all);
    const SearchPath search(programs.path().string());
    const std::string message = failure(path);
    EXPECT_NE(message.find("a.png: gnuplot failed: line 3: no"), std::string::npos) << message;
    EXPECT_EQ(content(path), "earlier");
    EXPECT_EQ(folder.entries(), 1u);
}

TEST(Gnuplot, APictureThatNeverCameIsAFailure) {
    const TemporaryFolder folder, programs;
    const auto fake = programs.write("gnuplot", "#!/bin/sh\nexit 0\n");  // reads nothing either
    std::filesystem::permissions(fake, std::filesystem::perms::owner_all);
    const SearchPath search(programs.path().string());
    EXPECT_NE(failure(folder.path() / "a.png").find("no picture"), std::string::npos);
    EXPECT_EQ(folder.entries(), 0u);
}

TEST(Gnuplot, ThatDoesNotFinishIsEnded) {
    const TemporaryFolder folder, programs;
    const auto path = folder.write("a.png", "earlier");
    const auto fake = programs.write("gnuplot", "#!/bin/sh\nexec sleep 1000\n");
    std::filesystem::permissions(fake, std::filesystem::perms::owner_all);
    const SearchPath search(programs.path().string() + ":/usr/bin:/bin");
    try {
        render_with_gnuplot(density_figure(tests::isometric_report()), path, 0.1);
        ADD_FAILURE();
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "gnuplot did not finish within 0.1 s");
    }
    EXPECT_EQ(content(path), "earlier");
    EXPECT_EQ(folder.entries(), 1u);
}

// It exits with 0 where the disk is full.
TEST(Gnuplot, HalfAPictureIsAFailure) {
    SPECTRA_NEEDS_GNUPLOT();
    const TemporaryFolder folder, programs;
    const SearchPath search(programs.path().string() + ":/usr/bin:/bin");
    for (const std::string name : {"a.png", "a.svg", "a.pdf"}) {
        const auto fake = programs.write("gnuplot", "#!/bin/sh\n/usr/bin/gnuplot \"$@\" | head -c 2000\n");
        std::filesystem::permissions(fake, std::filesystem::perms::owner_all);
        EXPECT_NE(failure(folder.path() / name).find("the picture is incomplete"), std::string::npos) << name;
        EXPECT_EQ(folder.entries(), 0u);
    }
}

TEST(Gnuplot, ItsOwnComplaintIsPassedOn) {
    SPECTRA_NEEDS_GNUPLOT();
    const TemporaryFolder folder;
    Figure figure = density_figure(tests::isometric_report());
    figure.panels[0].series[0].colour = "no colour";
    try {
        render_with_gnuplot(figure, folder.path() / "a.png");
        ADD_FAILURE();
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string(error.what()).find("color"), std::string::npos) << error.what();
    }
    EXPECT_EQ(folder.entries(), 0u);
}

}  // namespace
}  // namespace spectra::plot
