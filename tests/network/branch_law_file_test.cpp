#include "network/branch_law_file.hpp"

#include "support/expect_refused.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

namespace spectra {
namespace {

using testing::expect_refused;

class BranchLawFile : public ::testing::Test {
protected:
    BranchLaw read(const std::string& content, const char* name = "law.txt") const {
        return read_branch_law(folder_.write(name, content));
    }
    void refused(const std::string& content, std::vector<std::string> words) const {
        words.emplace_back("law.txt");
        expect_refused([&] { read(content); }, words);
    }

    testing::TemporaryFolder folder_;
};

TEST_F(BranchLawFile, ReadsJson) {
    EXPECT_EQ(read("[1, 2, 0.5]"), (BranchLaw{{1, 2, 0.5}}));
    EXPECT_EQ(read("[[1, 2], [3]]", "law.json"), (BranchLaw{{1, 2}, {3}}));
    EXPECT_EQ(read("[[1], [2]]"), (BranchLaw{{1}, {2}}));
    EXPECT_EQ(read("\n {\"singular_values\": [[1, 0]], \"source\": \"layer 3\"}"), (BranchLaw{{1, 0}}));
    EXPECT_EQ(read("\xEF\xBB\xBF[1]"), (BranchLaw{{1}}));
}

TEST_F(BranchLawFile, ReadsText) {
    EXPECT_EQ(read("1, 2, 0.5\n"), (BranchLaw{{1, 2, 0.5}}));
    EXPECT_EQ(read("# layers 1 and 2\n1 2\n\n3;4;5 # wider\n"), (BranchLaw{{1, 2}, {3, 4, 5}}));
    EXPECT_EQ(read("1\r\n"), (BranchLaw{{1}}));
    EXPECT_EQ(read("1 2\n3", "law.csv"), (BranchLaw{{1, 2}, {3}}));
}

TEST_F(BranchLawFile, RefusesWhatIsNone) {
    refused("", {"empty"});
    refused("# nothing\n", {"empty"});
    refused("[]", {"empty"});
    refused("[[1], []]", {"set 2 is empty"});
    refused("1,-2\n", {"set 1, value 2 is -2", "≥ 0"});
    refused("1 2\n3 nan\n", {"set 2, value 2 is nan"});
    refused("1 2\n3 inf\n", {"set 2, value 2 is inf"});
    refused("[1, -2]", {"set 1, value 2 is -2"});
    refused("[1, NaN]", {"NaN"});
    refused("[1, \"2\"]", {"set 1, value 2", "string"});
    refused("[[1], 2]", {"set 2", "number"});
    refused("[1, [2]]", {"set 1, value 2", "array"});
    refused("one two", {"line 1", "'one' is not a number", "JSON, or one set of numbers per line"});
    refused("1,,2", {"line 1: entry 2 is empty"});
    refused("{\"values\": [1]}", {"no key 'singular_values'"});
    refused("{\"singular_values\": 1}", {"singular_values", "number"});
    refused("[1, 2", {"not JSON"});
    refused(std::string("\x89HDF\0\0", 6), {"neither JSON, NumPy nor text"});
    expect_refused([&] { read_branch_law(folder_.path() / "none"); }, {"none", "no such file"});
    expect_refused([&] { read_branch_law(folder_.path()); }, {"folder"});
}

TEST_F(BranchLawFile, RefusesMoreSetsThanANetworkMayHaveLayers) {
    std::string sets;
    for (int k = 0; k < 1'000'001; ++k) sets += "1 2\n";
    refused(sets, {"more than 1000000 sets"});
}

TEST_F(BranchLawFile, RefusesAColumnAsAmbiguous) {
    refused("1\n2\n3\n", {"column of 3 numbers", "one set, or one per layer?", "use JSON"});
}

TEST_F(BranchLawFile, ReadsNumpy) {
    const auto data = std::filesystem::path(SPECTRA_DATA_DIR) / "npy";
    EXPECT_EQ(read_branch_law(data / "little-f4.npy"), (BranchLaw{{0, 1, 2}, {3, 4, 5}}));
    EXPECT_EQ(read_branch_law(data / "only.npz"), (BranchLaw{{0.5, 0.5}, {0.25, 0.75}}));
    expect_refused([&] { read_branch_law(data / "scalar.npy"); }, {"scalar.npy", "shape ()", "one row per layer"});
    expect_refused([&] { read_branch_law(data / "complex64.npy"); }, {"complex", "real"});
    expect_refused([&] { read_branch_law(data / "several.npz"); }, {"'a', 'b'", "'singular_values'"});
}

}  // namespace
}  // namespace spectra
