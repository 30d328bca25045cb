#include "network/mixer_file.hpp"

#include "h5/file.hpp"
#include "support/expect_refused.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

namespace spectra {
namespace {

using testing::expect_refused;
using testing::TemporaryFolder;

Mixer matrix(double a, double b, double c, double d) {
    Mixer m(2, 2);
    m << a, b, c, d;
    return m;
}

class MixerFile : public ::testing::Test {
protected:
    std::vector<Mixer> read(const std::string& name, const std::string& content) const {
        return read_mixers(folder_.write(name, content));
    }
    void refused(const std::string& name, const std::string& content, std::vector<std::string> words) const {
        words.push_back(name);
        expect_refused([&] { read(name, content); }, words);
    }
    /// A dataset of the numbers 1, 2, 3, …
    std::filesystem::path write_hdf5(const std::string& name, const std::string& dataset,
                                     const h5::Shape& shape) const {
        std::vector<double> values(
            std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>()));
        std::iota(values.begin(), values.end(), 1.0);
        return write_hdf5(name, dataset, shape, values);
    }
    std::filesystem::path write_hdf5(const std::string& name, const std::string& dataset,
                                     const h5::Shape& shape, const std::vector<double>& values) const {
        const auto path = folder_.path() / name;
        auto file = h5::File::create(path);
        file.write(dataset, std::span<const double>(values), shape);
        file.close();
        return path;
    }

    TemporaryFolder folder_;
};

TEST_F(MixerFile, JsonHoldsOneMatrixOrAStackOrAnObject) {
    const std::vector<Mixer> one{matrix(1, 2, 3, 4)};
    const std::vector<Mixer> two{matrix(1, 2, 3, 4), matrix(5, 6, 7, 8e-3)};
    EXPECT_EQ(read("a.json", "[[1, 2], [3, 4]]"), one);
    EXPECT_EQ(read("b.json", "[[[1, 2], [3, 4]], [[5, 6], [7, 8e-3]]]"), two);
    EXPECT_EQ(read("c.json", R"({"mixers": [[1, 2], [3, 4]]})"), one);
    EXPECT_EQ(read("d.json", R"({"about": "x", "mixers": [[[1, 2], [3, 4]], [[5, 6], [7, 8e-3]]]})"), two);
    EXPECT_EQ(read("e.txt", "\n [[1, 2], [3, 4]]"), one) << "a leading bracket is enough";
    EXPECT_EQ(read("f.json", "[[7]]"), std::vector<Mixer>{Mixer::Constant(1, 1, 7)});
}

TEST_F(MixerFile, CsvHoldsOneMatrixOrAStack) {
    const std::vector<Mixer> one{matrix(1, -2, 3e-1, 4)};
    EXPECT_EQ(read("a.csv", "1,-2\n0.3,4\n"), one);
    EXPECT_EQ(read("b.csv", "1 , -2\r\n.3,+4"), one);
    EXPECT_EQ(read("c.csv", "1;-2\n0.3;4\n"), one);
    EXPECT_EQ(read("d.txt", "  1  -2\n\t0.3\t4\n\n\n"), one);
    EXPECT_EQ(read("e.csv", "# a comment\n1,-2  # the first\n# another\n0.3,4\n"), one)
        << "comments do not end a matrix";
    EXPECT_EQ(read("f.csv",
                   "\xEF\xBB\xBF"
                   "1,-2\n0.3,4\n"),
              one);
    EXPECT_EQ(read("g.csv", "\n1,-2\n0.3,4\n \n\n5,6\n7,8\n"),
              (std::vector<Mixer>{matrix(1, -2, 3e-1, 4), matrix(5, 6, 7, 8)}));
    EXPECT_EQ(read("no-extension", "3"), std::vector<Mixer>{Mixer::Constant(1, 1, 3)});
}

TEST_F(MixerFile, Hdf5HoldsOneMatrixOrAStack) {
    EXPECT_EQ(read_mixers(write_hdf5("a.h5", "mixers", {2, 2})), std::vector<Mixer>{matrix(1, 2, 3, 4)});
    EXPECT_EQ(read_mixers(write_hdf5("b.h5", "mixers", {2, 2, 2})),
              (std::vector<Mixer>{matrix(1, 2, 3, 4), matrix(5, 6, 7, 8)}));
    EXPECT_EQ(read_mixers(write_hdf5("c.data", "network/mixers", {1, 2, 2})),
              std::vector<Mixer>{matrix(1, 2, 3, 4)})
        << "a result file's mixers, whatever its extension";
}

TEST_F(MixerFile, RefusesHdf5ThatHoldsNoMixers) {
    const auto refused_file = [](const std::filesystem::path& path, std::vector<std::string> words) {
        words.push_back(path.filename().string());
        expect_refused([&] { read_mixers(path); }, words);
    };
    refused_file(write_hdf5("a.h5", "other", {2, 2}), {"no dataset 'mixers'"});
    refused_file(write_hdf5("b.h5", "mixers", {4}), {"1 dimensions", "L×n×n"});
    refused_file(write_hdf5("c.h5", "mixers", {1, 1, 2, 2}), {"4 dimensions"});
    refused_file(write_hdf5("d.h5", "mixers", {2, 2, 3}), {"layer 1", "2×3", "square"});
    refused_file(write_hdf5("e.h5", "mixers", {0, 2, 2}), {"empty"});
    refused_file(write_hdf5("f.h5", "mixers/deeper", {2, 2}), {});
    refused_file(write_hdf5("g.h5", "mixers", {2, 1, 1}, {1, std::nan("")}), {"layer 2", "finite"});
    refused("h.h5", "[[1, 2], [3, 4]]", {"not an HDF5 file"});
    refused("i.h5", "", {"not an HDF5 file"});
    refused("j.h5", "\x89HDF\r\n\x1a\n and no more", {});
}

TEST_F(MixerFile, RefusesFilesThatAreNotThere) {
    expect_refused([&] { read_mixers(folder_.path() / "none.csv"); }, {"none.csv", "no such file"});
    expect_refused([&] { read_mixers(folder_.path()); }, {"folder"});
}

TEST_F(MixerFile, RefusesRaggedAndNonSquare) {
    refused("a.csv", "1,2\n3\n", {"layer 1", "row 2", "1 entries"});
    refused("b.csv", "1,2\n3,4\n\n1,2,3\n4,5,6\n", {"layer 2", "2×3", "square"});
    refused("c.csv", "1,2\n3,4\n5,6\n7,8\n", {"layer 1", "4×2"});
    refused("d.csv", "1,2\n3,4\n\n5\n", {"layer 2", "1×1", "2×2"});
    refused("a.json", "[[1, 2], [3]]", {"layer 1", "row 2"});
    refused("b.json", "[[1, 2, 3], [4, 5, 6]]", {"layer 1", "2×3"});
    refused("c.json", "[[[1, 2], [3, 4]], [[1]]]", {"layer 2", "1×1"});
    refused("d.json", "[[[1, 2], [3, 4]], [1, 2]]", {"layer 2", "row 1", "number"});
    refused("e.json", "[[[1, 2], [3, 4]], 5]", {"layer 2", "number"});
    refused("f.json", "[[1, 2], []]", {"row 2", "0 entries"});
}

TEST_F(MixerFile, RefusesMoreThanANetworkMayHave) {
    std::string rows, layers;
    for (int k = 0; k < 513; ++k) rows += "1\n";
    refused("rows.csv", rows, {"layer 1 has more than 512 rows"});
    for (int k = 0; k < 1'000'001; ++k) layers += "1\n\n";
    refused("layers.csv", layers, {"more than 1000000 layers"});
}

TEST_F(MixerFile, RefusesNanAndInfinity) {
    refused("a.csv", "1,2\n3,nan\n", {"layer 1", "row 2", "column 2", "finite"});
    refused("b.csv", "1,-inf\n3,4\n", {"layer 1", "row 1", "column 2", "finite"});
    refused("c.csv", "1,2\n3,4\n\n1,2\n1e999,4\n", {"layer 2", "row 2", "column 1", "finite"});
    refused("a.json", "[[1, 2], [3, NaN]]", {"finite"});
    refused("b.json", "[[1, 2], [3, -Infinity]]", {"finite"});
    refused("c.json", "[[1, 2], [3, 1e999]]", {"finite"});
    refused("d.json", "[[1, 2], [3, null]]", {"layer 1", "row 2", "column 2", "null"});
}

TEST_F(MixerFile, RefusesWhatIsNoMatrix) {
    refused("a.csv", "", {"empty"});
    refused("b.csv", " \n\n# nothing\n", {"empty"});
    refused("c.csv", "a,b\n1,2\n", {"line 1", "'a'", "not a number"});
    refused("d.csv", "1,,2\n", {"line 1", "entry 2", "empty"});
    refused("e.csv", "0,5;1\n1;2\n", {"line 1", "both"});
    refused("f.csv", std::string("1\0002", 3), {"neither JSON, HDF5, NumPy nor CSV"});
    refused("g.png", "\x89PNG\r\n\x1a\n", {"JSON, HDF5, NumPy or CSV"});
    refused("a.json", "", {"empty"});
    refused("b.json", "[]", {"empty"});
    refused("c.json", "[[]]", {"empty"});
    refused("d.json", "[[[]]]", {"empty"});
    refused("e.json", "5", {"number", "array"});
    refused("f.json", R"({"mixer": [[1]]})", {"no key 'mixers'"});
    refused("g.json", R"({"mixers": {"a": 1}})", {"mixers", "object"});
    refused("h.json", R"([["1"]])", {"row 1", "string"});
    refused("i.json", "[[[[1]]]]", {"layer 1", "array"});
    refused("j.json", "[1, 2]", {"row 1", "number"});
    refused("k.json", "[[1]", {"unexpected end"});
}

TEST_F(MixerFile, EveryTruncationIsReadOrRefused) {
    const std::string json = R"({"mixers": [[[1.5, -2e-3], [3, 4]], [[5, 6], [7, 8]]]})";
    for (std::size_t length = 0; length < json.size(); ++length)
        EXPECT_THROW(read("t.json", json.substr(0, length)), std::invalid_argument) << length;
    const std::string csv = "1.5,-2e-3\n3,4\n\n5,6\n7,8\n";
    for (std::size_t length = 0; length < csv.size(); ++length) {
        try {
            const auto mixers = read("t.csv", csv.substr(0, length));
            for (const auto& mixer : mixers) EXPECT_TRUE(mixer.rows() == mixer.cols() && mixer.allFinite());
        } catch (const std::invalid_argument&) {
        }
    }
    const auto path = write_hdf5("whole.h5", "mixers", {2, 2, 2});
    std::ifstream file(path, std::ios::binary);
    const std::string hdf5{std::istreambuf_iterator<char>(file), {}};
    for (std::size_t length = 0; length < hdf5.size(); length += 61) {
        EXPECT_THROW(read("t.h5", hdf5.substr(0, length)), std::invalid_argument) << length;
    }
}

TEST_F(MixerFile, NumpyHoldsOneMatrixOrAStack) {
    const auto data = std::filesystem::path(SPECTRA_DATA_DIR) / "npy";
    const std::vector<Mixer> two{matrix(1, 0, 0, 1), matrix(0.5, 0.5, 0.25, 0.75)};
    EXPECT_EQ(read_mixers(data / "stack.npy"), two);
    EXPECT_EQ(read_mixers(data / "mixers.npz"), two) << "the array called mixers";
    EXPECT_EQ(read_mixers(data / "only.npz"), std::vector<Mixer>{two[1]});
    EXPECT_EQ(read_mixers(data / "compressed.npz").size(), 16u);
}

TEST_F(MixerFile, NumpyThatIsNoMixer) {
    const auto data = std::filesystem::path(SPECTRA_DATA_DIR) / "npy";
    const auto refused_file = [&](const std::string& name, std::vector<std::string> words) {
        words.push_back(name);
        expect_refused([&] { read_mixers(data / name); }, words);
    };
    refused_file("little-f8.npy", {"layer 1 is 2×3", "square"});
    refused_file("scalar.npy", {"shape ()", "n×n or L×n×n"});
    refused_file("empty.npy", {"(0, 4)", "empty"});
    refused_file("complex128-fortran.npy", {"complex", "real"});
    refused_file("object.npy", {"object array"});
    refused("a.npy", "1 2\n3 4\n", {"is not a NumPy file"});
    refused("w.npz", "1 2\n3 4\n", {"is not a NumPy file"});
}

}  // namespace
}  // namespace spectra
