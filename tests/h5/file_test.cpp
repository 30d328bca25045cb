#include "h5/file.hpp"

#include "base/special_values.hpp"
#include "support/expect_refused.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace spectra::h5 {
namespace {

using spectra::testing::expect_refused;
using spectra::testing::TemporaryFolder;

TEST(H5File, DatasetsComeBackWithShapeAndEveryBit) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "a.h5";
    std::vector<double> values(24);
    std::iota(values.begin(), values.end(), 0.1);
    values[3] = -infinity;
    values[4] = std::numeric_limits<double>::quiet_NaN();
    values[5] = std::numeric_limits<double>::denorm_min();
    {
        File file = File::create(path);
        file.write("deep/er/mixers", values, {2, 3, 4});
        file.write("integers", std::vector<int>{-7, 8}, {2});
        file.write("bytes", std::vector<std::uint8_t>{0, 255, 1}, {3});
        file.write("nothing", std::vector<double>{}, {0, 2});
        file.write("scalar", std::vector<double>{2.5}, {});
        file.close();
    }
    const File file = File::open_read(path);
    Shape shape;
    const auto read = file.read_doubles("deep/er/mixers", shape);
    EXPECT_EQ(shape, (Shape{2, 3, 4}));
    ASSERT_EQ(read.size(), values.size());
    for (std::size_t k = 0; k < values.size(); ++k) {
        EXPECT_TRUE(read[k] == values[k] || (std::isnan(read[k]) && std::isnan(values[k]))) << k;
    }
    EXPECT_EQ(file.read_integers("integers", shape), (std::vector<std::int64_t>{-7, 8}));
    EXPECT_EQ(file.read_doubles("integers", shape), (std::vector<double>{-7, 8}));
    EXPECT_EQ(file.read_bytes("bytes", shape), (std::vector<std::uint8_t>{0, 255, 1}));
    EXPECT_TRUE(file.read_doubles("nothing", shape).empty());
    EXPECT_EQ(shape, (Shape{0, 2}));
    EXPECT_EQ(file.read_doubles("scalar", shape), std::vector<double>{2.5});
    EXPECT_TRUE(shape.empty());
    EXPECT_EQ(file.shape("deep/er/mixers"), (Shape{2, 3, 4}));
}

TEST(H5File, AttributesComeBackByKind) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "a.h5";
    {
        File file = File::create(path);
        file.make_group("group");
        file.write_attribute("", "text", "Lσ² = 0.05");
        file.write_attribute("group", "number", -infinity);
        file.write_attribute("group", "integer", -3);
        file.write_attribute("group", "seed", ~std::uint64_t{0});
        file.write_attribute("group", "integer", -4);  // replaces
        file.close();
    }
    const File file = File::open_read(path);
    EXPECT_EQ(file.string_attribute("", "text"), "Lσ² = 0.05");
    EXPECT_EQ(file.double_attribute("group", "number"), -infinity);
    EXPECT_EQ(file.integer_attribute("group", "integer"), -4);
    EXPECT_EQ(file.unsigned_attribute("group", "seed"), ~std::uint64_t{0});
    EXPECT_EQ(file.attributes("group"), (std::vector<std::string>{"integer", "number", "seed"}));
    EXPECT_FALSE(file.string_attribute("", "absent"));
    EXPECT_FALSE(file.string_attribute("absent", "text"));
    EXPECT_FALSE(file.double_attribute("", "text"));
    EXPECT_FALSE(file.integer_attribute("group", "number"));
}

TEST(H5File, KnowsWhatIsThere) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "a.h5";
    File created = File::create(path);
    created.write("b/data", std::vector<double>{1}, {1});
    created.make_group("a");
    created.close();
    const File file = File::open_read(path);
    EXPECT_TRUE(file.exists("b/data"));
    EXPECT_TRUE(file.exists("/b/data"));
    EXPECT_FALSE(file.exists("data"));
    EXPECT_FALSE(file.exists("b/data/below"));
    EXPECT_FALSE(file.exists("c/data"));
    EXPECT_TRUE(file.is_group("b"));
    EXPECT_FALSE(file.is_group("b/data"));
    EXPECT_TRUE(file.is_dataset("b/data"));
    EXPECT_EQ(file.children(""), (std::vector<std::string>{"a", "b"}));
    EXPECT_TRUE(file.children("absent").empty());
}

TEST(H5File, RefusesWhatCannotBeRead) {
    const TemporaryFolder folder;
    expect_refused([&] { File::open_read(folder.path() / "absent.h5"); }, {"absent.h5: no such file"});
    expect_refused([&] { File::open_read(folder.path()); }, {"a folder"});
    for (const char* content : {"", "x", "not hdf5 at all, only words"}) {
        const auto path = folder.write("words.h5", content);
        expect_refused([&] { File::open_read(path); }, {"words.h5: not an HDF5 file"});
        EXPECT_FALSE(is_hdf5(path));
    }
    const auto path = folder.path() / "good.h5";
    File created = File::create(path);
    created.write("group/data", std::vector<double>(100), {100});
    created.close();
    EXPECT_TRUE(is_hdf5(path));
    Shape shape;
    {
        const File file = File::open_read(path);
        expect_refused([&] { file.read_doubles("absent", shape); }, {"good.h5: absent: no such dataset"});
        expect_refused([&] { file.read_doubles("group", shape); }, {"group: not a dataset"});
        expect_refused([&] { file.read_doubles("group/data", shape, 99); }, {"too large"});
    }
    std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
    expect_refused([&] { File::open_read(path); }, {"good.h5: damaged"});
}

TEST(H5File, TablesKeepColumnsInOrderWithTheirKinds) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "a.h5";
    const double nan = std::numeric_limits<double>::quiet_NaN();
    {
        File file = File::create(path);
        file.write_table("in/table", {{"name", std::vector<std::string>{"a", "", "σ²"}},
                                      {"value", std::vector<double>{1.5, nan, -0.1}},
                                      {"count", std::vector<int>{-7, 0, 7}},
                                      {"seed", std::vector<std::uint64_t>{0, 1, ~std::uint64_t{0}}},
                                      {"flag", std::vector<std::uint8_t>{1, 0, 1}}});
        file.write_table("empty", {{"name", std::vector<std::string>{}}, {"x", std::vector<double>{}}});
        EXPECT_THROW(file.write_table("uneven", {{"a", std::vector<int>{1}}, {"b", std::vector<int>{}}}),
                     std::runtime_error);
        file.close();
    }
    const File file = File::open_read(path);
    EXPECT_EQ(file.columns("in/table"), (std::vector<std::string>{"name", "value", "count", "seed", "flag"}));
    EXPECT_EQ(file.shape("in/table"), Shape{3});
    EXPECT_EQ(file.read_texts("in/table", "name"), (std::vector<std::string>{"a", "", "σ²"}));
    const auto values = file.read_column("in/table", "value");
    EXPECT_EQ(values[0], 1.5);
    EXPECT_TRUE(std::isnan(values[1]));
    EXPECT_EQ(values[2], -0.1);
    EXPECT_EQ(file.read_column("in/table", "count"), (std::vector<double>{-7, 0, 7}));
    EXPECT_EQ(file.read_column("in/table", "seed")[2], 0x1p64);
    EXPECT_EQ(file.read_column("in/table", "flag"), (std::vector<double>{1, 0, 1}));
    EXPECT_TRUE(file.read_column("empty", "x").empty());
    expect_refused([&] { file.read_column("in/table", "name"); }, {"in/table", "name"});
    expect_refused([&] { file.read_texts("in/table", "value"); }, {"in/table", "value"});
    expect_refused([&] { file.read_column("in/table", "none"); }, {"no column none"});
}

TEST(H5File, CopiesWithAllBelowAndAttributes) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "a.h5";
    {
        File file = File::create(path);
        file.write("group/data", std::vector<double>{1, 2, 3}, {3});
        file.write_attribute("", "root", "text");
        file.write_attribute("group", "number", 0.5);
        file.close();
    }
    const File from = File::open_read(path);
    File to = File::create(path);  // under the same name: it is in memory
    to.copy(from, "", "runs/all");
    to.copy(from, "group", "part");
    EXPECT_EQ(to.string_attribute("runs/all", "root"), "text");
    EXPECT_EQ(to.double_attribute("runs/all/group", "number"), 0.5);
    Shape shape;
    EXPECT_EQ(to.read_doubles("runs/all/group/data", shape), (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(to.read_doubles("part/data", shape), (std::vector<double>{1, 2, 3}));
    EXPECT_THROW(to.copy(from, "absent", "x"), std::invalid_argument);
    EXPECT_THROW(to.copy(from, "group", "part"), std::runtime_error) << "there already";
}

TEST(H5File, CreatedAndNeverClosedLeavesNoTrace) {
    const TemporaryFolder folder;
    const auto path = folder.write("kept.h5", "earlier");
    {
        File file = File::create(path);
        file.write("data", std::vector<double>{1}, {1});
        File moved = std::move(file);
        EXPECT_GT(moved.image().size(), 8u);
    }
    EXPECT_EQ(std::filesystem::file_size(path), 7u);
    EXPECT_EQ(folder.entries(), 1u);
}

TEST(H5File, WritingFailuresNameFileAndPath) {
    const TemporaryFolder folder;
    File file = File::create(folder.path() / "absent" / "a.h5");
    try {
        file.write("data", std::vector<double>{1, 2}, {3});
        ADD_FAILURE() << "wrong shape accepted";
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string(error.what()).find("a.h5: data: "), std::string::npos) << error.what();
    }
    EXPECT_THROW(file.close(), std::runtime_error);
}

}  // namespace
}  // namespace spectra::h5
