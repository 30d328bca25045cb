#include "h5/file.hpp"

#include "support/expect_refused.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <cstdlib>
#include <cstring>

/// Files that someone made to reach further than a file should. They are written with the C library itself.
namespace spectra::h5 {
namespace {

using spectra::testing::content;
using spectra::testing::expect_refused;
using spectra::testing::TemporaryFolder;

class HostileFile : public ::testing::Test {
protected:
    HostileFile() {
        secret_ = folder_.write("secret", std::string("0123456789abcdef0123456789abcdef"));
        File other = File::create(folder_.path() / "other.h5");
        other.write("mixers", std::vector<double>{1, 2, 3, 4}, {2, 2});
        other.close();
        file_ = H5Fcreate(path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    }
    std::filesystem::path path() const { return folder_.path() / "hostile.h5"; }
    File opened() {
        H5Fclose(file_);
        return File::open_read(path());
    }
    hid_t dataset(const char* name, hid_t creation, std::vector<hsize_t> sizes) const {
        const hid_t space = H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr);
        const hid_t out =
            H5Dcreate2(file_, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
        H5Sclose(space);
        return out;
    }
    /// As of any dataset that must not be read: not by values, not by columns, not copied elsewhere.
    void expect_unreadable(const File& file, const std::string& name, const std::string& why) const {
        Shape shape;
        expect_refused([&] { file.read_doubles(name, shape); }, {"hostile.h5", name.substr(0, name.find('/')), why});
        expect_refused([&] { file.read_bytes(name, shape); }, {why});
        expect_refused([&] { file.shape(name); }, {why});
        File copy = File::create(folder_.path() / "copy.h5");
        EXPECT_THROW(copy.copy(file, "", "all"), std::invalid_argument);
    }

    TemporaryFolder folder_;
    std::filesystem::path secret_;
    hid_t file_ = -1;
};

TEST_F(HostileFile, DataInAnotherFileAreRefused) {
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(creation, secret_.c_str(), 0, 32);
    H5Dclose(dataset("mixers", creation, {2, 2}));
    H5Pclose(creation);
    const File file = opened();
    expect_unreadable(file, "mixers", "another file");
}

TEST_F(HostileFile, ExternalLinksAreRefused) {
    H5Lcreate_external("other.h5", "/mixers", file_, "mixers", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("other.h5", "/", file_, "group", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/group/mixers", file_, "detour", H5P_DEFAULT, H5P_DEFAULT);
    const File file = opened();
    expect_unreadable(file, "mixers", "external link");
    expect_unreadable(file, "group/mixers", "external link");
    expect_refused([&] { file.exists("mixers"); }, {"external link"});
    EXPECT_FALSE(file.exists("detour")) << "a soft link leads to another file";
    EXPECT_FALSE(file.is_dataset("detour"));
}

TEST_F(HostileFile, VirtualDatasetsAreRefused) {
    const hsize_t size = 4;
    const hid_t space = H5Screate_simple(1, &size, nullptr), creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_virtual(creation, space, "other.h5", "/mixers", space);
    H5Dclose(dataset("mixers", creation, {size}));
    H5Pclose(creation);
    H5Sclose(space);
    const File file = opened();
    expect_unreadable(file, "mixers", "virtual");
}

TEST_F(HostileFile, ADatasetThatWasNeverWrittenTakesNoMemory) {
    // Two GiB in a file of a few hundred bytes, in one piece and in chunks.
    H5Dclose(dataset("mixers", H5P_DEFAULT, {1 << 14, 1 << 14}));
    const hid_t chunked = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk[] = {1 << 10, 1 << 10};
    H5Pset_chunk(chunked, 2, chunk);
    H5Dclose(dataset("chunks", chunked, {1 << 14, 1 << 14}));
    H5Pclose(chunked);
    const File file = opened();
    Shape shape;
    for (const char* name : {"mixers", "chunks"}) {
        expect_refused([&] { file.read_doubles(name, shape); }, {name, "too large"});
        expect_refused([&] { file.read_doubles(name, shape, std::size_t{1} << 40); }, {name, "never written"});
    }
}

TEST_F(HostileFile, SizesThatOverflowAreRefused) {
    const hid_t chunked = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk[] = {1, 1, 1};
    H5Pset_chunk(chunked, 3, chunk);
    H5Dclose(dataset("huge", chunked, {hsize_t{1} << 31, hsize_t{1} << 31, 4}));
    H5Pclose(chunked);
    const File file = opened();
    Shape shape;
    expect_refused([&] { file.read_doubles("huge", shape, ~std::size_t{0}); }, {"too large"});
}

TEST_F(HostileFile, GroupsThatHoldThemselvesAreReadOnce) {
    const hid_t group = H5Gcreate2(file_, "a", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_hard(file_, "/", group, "up", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_hard(file_, "/a", group, "self", H5P_DEFAULT, H5P_DEFAULT);
    H5Gclose(group);
    const File file = opened();
    EXPECT_EQ(file.children("a"), (std::vector<std::string>{"self", "up"}));
}

TEST_F(HostileFile, AFileThatCrashesTheLibraryIsRefused) {
    H5Fclose(file_);
    // A damaged file stands for one: whether this libhdf5 survives it or not, the program does.
    File good = File::create(path());
    for (int k = 0; k < 20; ++k) good.write("group/" + std::to_string(k), std::vector<double>{1, 2, 3});
    good.write_attribute("group", "text", "words");
    good.close();
    const auto bytes = content(path());
    for (std::size_t at = 8; at < bytes.size(); at += 61) {
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(~damaged[at]);
        folder_.write("hostile.h5", damaged);
        try {
            const File file = File::open_read(path());
            for (const auto& name : file.children("group")) file.exists("group/" + name);
        } catch (const std::invalid_argument& error) {
            EXPECT_NE(std::string(error.what()).find("hostile.h5"), std::string::npos);
        }
    }
}

TEST_F(HostileFile, AnImageInMemoryIsAFile) {
    H5Fclose(file_);
    const auto bytes = content(folder_.path() / "other.h5");
    const File file = File::from_image(std::as_bytes(std::span(bytes)), "image");
    Shape shape;
    EXPECT_EQ(file.read_doubles("mixers", shape), (std::vector<double>{1, 2, 3, 4}));
    expect_refused([] { File::from_image({}, "image"); }, {"image", "damaged"});
}

}  // namespace
}  // namespace spectra::h5
