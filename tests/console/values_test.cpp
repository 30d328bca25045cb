#include "console/values.hpp"

#include "support/expect_refused.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

namespace spectra::console {
namespace {

using testing::expect_refused;
using testing::TemporaryFolder;
using Points = std::vector<std::complex<double>>;

TEST(Values, Integers) {
    EXPECT_EQ(to_integer("--depth", "7", 1, 10), 7);
    for (const char* bad : {"", "0", "11", "-1", "1.5", "1e1", "seven", "99999999999999999999", "7 "})
        expect_refused([&] { to_integer("--depth", bad, 1, 10); },
                       {"--depth", "must be an integer from 1 to 10"});
    EXPECT_EQ(to_seed("--seed", "18446744073709551615"), 18446744073709551615ULL);
    for (const char* bad : {"", "-1", "18446744073709551616", "x"})
        expect_refused([&] { to_seed("--seed", bad); }, {"--seed", "must be"});
}

TEST(Values, Numbers) {
    EXPECT_EQ(to_number("--noise", "1e-3"), 1e-3);
    EXPECT_EQ(to_number("--noise", "-2"), -2);
    for (const char* bad : {"", "nan", "inf", "-inf", "1e999", "0,5", "x"})
        expect_refused([&] { to_number("--noise", bad); }, {"--noise", "finite"});
    EXPECT_EQ(to_variances("--sigma2", "0.1"), std::vector<double>{0.1});
    EXPECT_EQ(to_variances("--sigma2", "0.1, 0,2e-1"), (std::vector<double>{0.1, 0, 0.2}));
    for (const char* bad : {"", "0.1,", "0.1,-1", "nan", "0.1;0.2"})
        expect_refused([&] { to_variances("--sigma2", bad); }, {"--sigma2", "must be"});
}

TEST(Values, ListsOfNumbers) {
    EXPECT_EQ(to_numbers("--pre", "1"), std::vector<double>{1});
    EXPECT_EQ(to_numbers("--pre", "-1, 0,2e-1"), (std::vector<double>{-1, 0, 0.2}));
    for (const char* bad : {"", "x", "1,", ",1", "1 2 x", "nan", "1,inf"})
        expect_refused([&] { to_numbers("--pre", bad); },
                       {"--pre", "must be comma-separated finite numbers"});
}

TEST(Values, Choices) {
    EXPECT_EQ(to_choice("--draws", "shared", {"independent", "shared"}), "shared");
    expect_refused(
        [&] {
            to_choice("--draws", "shard", {"independent", "shared"});
        },
        {"--draws", "'shard'", "did you mean 'shared'?", "accepted: independent, shared"});
    using Words = std::vector<std::string>;
    EXPECT_EQ(to_choices("--plot", "svg,png,svg", {"png", "svg"}), (Words{"svg", "png"}));
    EXPECT_EQ(to_choices("--plot", "none", {"png", "svg"}), Words{});
    for (const char* bad : {"", "png,", "none,png", "jpg", "png svg"})
        expect_refused([&] { to_choices("--plot", bad, {"png", "svg"}); }, {"--plot"});
}

TEST(Values, Grids) {
    const auto grid = to_grid("--grid", "0:2.5:11");
    EXPECT_EQ(grid.min, 0);
    EXPECT_EQ(grid.max, 2.5);
    EXPECT_EQ(grid.points, 11);
    EXPECT_FALSE(grid.logarithmic);
    EXPECT_TRUE(to_grid("--grid", "1e-6:2:2:log").logarithmic);
    expect_refused([&] { to_grid("--grid", "2:1:10"); }, {"--grid", "'2:1:10'", "MIN must be below MAX"});
    expect_refused([&] { to_grid("--grid", "1:1:10"); }, {"MIN must be below MAX"});
    expect_refused([&] { to_grid("--grid", "0:1:10:log"); }, {"MIN must be above 0 for log"});
    expect_refused([&] { to_grid("--grid", "-1:1:10"); }, {"MIN must be ≥ 0"});
    for (const char* bad : {"", ":", "0:1", "0:1:1", "0:1:0", "0:1:-5", "0:1:2.5", "0:1:99999999999",
                            "0:nan:5", "0:inf:5", "x:1:5", "0:1:5:lin", "0:1:5:log:6", "0,1,5"})
        expect_refused([&] { to_grid("--grid", bad); }, {"--grid"});
}

TEST(Values, OmegaFromText) {
    EXPECT_EQ(to_omega("--omega", "0.3+0.05i"), (Points{{0.3, 0.05}}));
    EXPECT_EQ(to_omega("--omega", "0.3+0.05j, -1e-3+1e-2i,.5i,+2i,1 + i,i,-1.5E+2+2.5e-1i"),
              (Points{{0.3, 0.05}, {-1e-3, 1e-2}, {0, 0.5}, {0, 2}, {1, 1}, {0, 1}, {-150, 0.25}}));
    for (const char* bad : {"", "0.3", "0.3+0i", "0.3-0.05i", "nan+1i", "1+infi", "1+2", "1+2i3",
                            "0.3+0.05i,", "x", "1e999+1i", "++1i", "1+-2i", "ii"})
        expect_refused([&] { to_omega("--omega", bad); }, {"--omega"});
}

TEST(Values, OmegaFromFiles) {
    const TemporaryFolder folder;
    const Points two{{0.3, 0.05}, {1, 0.01}};
    EXPECT_EQ(to_omega("--omega", folder.write("a.txt", "# points\n0.3+0.05i\n\n1 + 0.01i # last\r\n")), two);
    EXPECT_EQ(to_omega("--omega", folder.write("a.json", "[[0.3, 0.05], [1, 0.01]]")), two);
    EXPECT_EQ(
        to_omega("--omega", folder.write("b.json", R"({"name": "x", "omega": [[0.3, 0.05], [1, 0.01]]})")),
        two);
    const auto refused = [&](const std::string& content, std::vector<std::string> words) {
        words.emplace_back("--omega");
        words.emplace_back("bad");
        expect_refused([&] { to_omega("--omega", folder.write("bad", content)); }, words);
    };
    refused("", {"empty"});
    refused("# nothing\n", {"no points"});
    refused("0.3+0.05i\n0.3\n", {"line 2", "positive imaginary part"});
    refused("0.3+0.05i\nx\n", {"line 2", "'x'"});
    refused("[[0.3, 0.05], [1]]", {"point 2", "[re, im]"});
    refused("[[0.3, -0.05]]", {"point 1", "positive imaginary part"});
    refused("[]", {"no points"});
    refused("[[0.3, 0.05]", {"not JSON"});
    refused("{\"points\": 1}", {"omega"});
}

TEST(Values, PointsComeFromNumpyFiles) {
    const std::string folder = SPECTRA_DATA_DIR "/npy/";
    EXPECT_EQ(to_omega("--omega", folder + "complex64.npy"), (Points{{0.5, 1}, {-2, 0.25}}));
    EXPECT_EQ(to_omega("--omega", folder + "only.npz"), (Points{{0.5, 0.5}, {0.25, 0.75}}))
        << "K×2 real numbers";
    expect_refused([&] { to_omega("--omega", folder + "i1.npy"); }, {"--omega", "i1.npy", "(2, 3)", "K×2"});
    expect_refused([&] { to_omega("--omega", folder + "stack.npy"); }, {"(2, 2, 2)", "K×2"});
}

}  // namespace
}  // namespace spectra::console
