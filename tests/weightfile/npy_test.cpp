#include "weightfile/npy.hpp"

#include "support/expect_refused.hpp"
#include "support/temporary_folder.hpp"
#include "weightfile/checkpoint_files.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace spectra::weightfile {
namespace {

using spectra::testing::expect_refused;
using Values = std::vector<double>;

/// A file that NumPy wrote (write_npy.py).
NumpyArray stored(const std::string& name, const std::string& wanted = "mixers") {
    return read_numpy_file(std::filesystem::path(SPECTRA_DATA_DIR) / "npy" / name, wanted);
}

Values counting(std::size_t count) {
    Values values(count);
    std::iota(values.begin(), values.end(), 0.0);
    return values;
}

/// A file of format 1.0 with this header and content.
std::string npy(const std::string& header, const std::string& content = "", int major = 1) {
    return std::string("\x93NUMPY") + static_cast<char>(major) + '\0' +
           tests::little(header.size(), major == 1 ? 2 : 4) + header + content;
}

std::string header(const std::string& type, const std::string& shape) {
    return "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
}

void refused_npy(const std::string& file, std::vector<std::string> words) {
    words.insert(words.begin(), "a.npy: ");
    expect_refused([&] { read_numpy(as_bytes(file), "a.npy", "mixers"); }, words);
}

TEST(Npy, ReadsEveryTypeAndByteOrderThatNumpyWrites) {
    for (const char* const type : {"f2", "f4", "f8", "i2", "i4", "i8", "u2", "u4", "u8"})
        for (const char* const order : {"little-", "big-"}) {
            const auto array = stored(std::string(order) + type + ".npy");
            EXPECT_EQ(array.shape, (Shape{2, 3})) << order << type;
            EXPECT_EQ(array.values, counting(6)) << order << type;
        }
    EXPECT_EQ(stored("i1.npy").values, counting(6));
    EXPECT_EQ(stored("u1.npy").values, counting(6));
    EXPECT_EQ(stored("b1.npy").values, (Values{0, 1, 1, 1, 1, 1}));
}

TEST(Npy, TellsIntegersFromOtherNumbers) {
    for (const char* const name : {"little-i2.npy", "big-u8.npy", "i1.npy", "b1.npy"})
        EXPECT_TRUE(stored(name).whole) << name;
    for (const char* const name : {"little-f8.npy", "big-f2.npy", "complex64.npy"})
        EXPECT_FALSE(stored(name).whole) << name;
}

TEST(Npy, ArchivesOfArraysAreToldFromOthers) {
    const auto zip = [](const std::string& name) { return tests::zip({{name, npy(header("<f8", "(0,)"))}}); };
    EXPECT_TRUE(looks_like_npz(as_bytes(zip("a.npy"))));
    EXPECT_FALSE(looks_like_npz(as_bytes(zip("archive/data.pkl"))));  // of torch.save
    EXPECT_FALSE(looks_like_npz(as_bytes(npy(header("<f8", "(0,)")))));
    const std::string damaged = zip("a.npy");
    EXPECT_FALSE(looks_like_npz(as_bytes(damaged.substr(0, damaged.size() - 4))));
}

TEST(Npy, ReadsFormatsOneToThree) {
    for (const char* const name : {"version-1.npy", "version-2.npy", "version-3.npy"})
        EXPECT_EQ(stored(name).values, counting(6)) << name;
}

TEST(Npy, FortranOrderIsTransposedBack) {
    EXPECT_EQ(stored("fortran.npy").values, counting(6));
    const auto array = stored("fortran-3d.npy");
    EXPECT_EQ(array.shape, (Shape{2, 3, 4}));
    EXPECT_EQ(array.values, counting(24));
}

TEST(Npy, ComplexNumbersArePairs) {
    const auto array = stored("complex64.npy");
    EXPECT_TRUE(array.complex);
    EXPECT_EQ(array.shape, (Shape{2}));
    EXPECT_EQ(array.values, (Values{0.5, 1, -2, 0.25}));
    EXPECT_EQ(stored("complex128-fortran.npy").values, (Values{0, 1, 1, 1, 2, 1, 3, 1}));
}

TEST(Npy, ScalarsAndEmptyArraysKeepTheirShape) {
    EXPECT_EQ(stored("scalar.npy").shape, Shape{});
    EXPECT_EQ(stored("scalar.npy").values, Values{2.5});
    EXPECT_EQ(stored("empty.npy").shape, (Shape{0, 4}));
    EXPECT_TRUE(stored("empty.npy").values.empty());
}

TEST(Npy, AnArchiveGivesTheNamedArrayOrTheOnlyOne) {
    EXPECT_EQ(stored("mixers.npz").shape, (Shape{2, 2, 2}));
    EXPECT_EQ(stored("mixers.npz", "other").values, counting(6));
    EXPECT_EQ(stored("compressed.npz").shape, (Shape{16, 2, 2})) << "deflated";
    EXPECT_EQ(stored("only.npz").values, (Values{0.5, 0.5, 0.25, 0.75}));
    expect_refused([] { stored("several.npz"); }, {"several.npz: has 2 arrays ('a', 'b')", "called 'mixers'"});
    refused_npy(tests::zip({{"notes.txt", "x"}}), {"zip archive without arrays", ".npz"});
}

TEST(Npy, RefusesWhatIsNoArrayOfNumbersByName) {
    expect_refused([] { stored("object.npy"); }, {"object.npy: ", "object array", "pickle", "float64"});
    expect_refused([] { stored("structured.npy"); }, {"structured.npy: ", "structured array", "float64"});
    expect_refused([] { stored("text.npy"); }, {"'<U2'", "float64"});
    expect_refused([] { stored("dates.npy"); }, {"'<M8[D]'", "float64"});
    refused_npy(npy(header("<f16", "(1,)"), std::string(16, '\0')), {"'<f16'"});
    refused_npy(npy(header("|f8", "(1,)"), std::string(8, '\0')), {"byte order"});
    refused_npy(npy(header("f8", "(1,)"), std::string(8, '\0')), {"'f8'"});
}

TEST(Npy, ShapesAreBoundedBeforeMemoryIsTaken) {
    refused_npy(npy(header("<f8", "(4294967296, 4294967296)")), {"at most 16777216 elements"});
    refused_npy(npy(header("<f8", "(18446744073709551615,)")), {"at most 16777216 elements"});
    refused_npy(npy(header("<f8", "(18446744073709551616,)")), {"64 bits"});
    refused_npy(npy(header("<f8", "(-1,)")), {"shape"});
    refused_npy(npy(header("<f8", "(16777216,)")), {"has 0 bytes", "needs 134217728"});
    refused_npy(npy(header("<c16", "(16777216,)")), {"at most 8388608 elements"});
    std::string many = "(";
    for (int k = 0; k < 65; ++k) many += "1,";
    refused_npy(npy(header("<f8", many + ")"), std::string(8, '\0')), {"more than 64 dimensions"});
    refused_npy(npy("", "", 2).substr(0, 8) + tests::little(0xFFFFFFFF, 4), {"header of 4294967295 bytes"});
}

TEST(Npy, TheLengthMustBeWhatTheHeaderDeclares) {
    const std::string good = npy(header("<f8", "(2,)"), std::string(16, '\0'));
    EXPECT_EQ(read_npy(as_bytes(good), "a").values, (Values{0, 0}));
    refused_npy(good + good, {"needs 16"});
    for (std::size_t length = 0; length < good.size(); ++length)
        refused_npy(good.substr(0, length), {length < 6 ? "is not a NumPy array" : ""});
}

TEST(Npy, DamagedHeadersAreRefused) {
    refused_npy(npy("        "), {"damaged NumPy header"});
    refused_npy(npy("{'descr': '<f8', 'fortran_order': False}"), {"must all be present"});
    refused_npy(npy("{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': ()}"),
                {"duplicate key 'descr'"});
    refused_npy(npy("{'descr': '<f8', 'fortran_order': None, 'shape': ()}"), {"True or False"});
    refused_npy(npy("{'descr': '<f8, 'fortran_order': False, 'shape': ()}"), {"damaged"});
    refused_npy(npy("{'run': 1}"), {"unknown key 'run'"});
    refused_npy(npy("{'descr': '<f8', 'fortran_order': False, 'shape': ()} + 1"),
                {"after the closing brace"});
    refused_npy(npy(header("<f8", "()"), std::string(8, '\0'), 4), {"NumPy format 4.0", "1.0, 2.0 or 3.0"});
    EXPECT_EQ(read_npy(as_bytes(npy(header("<f8", "(1L,)"), std::string(8, '\0'))), "a").shape, Shape{1})
        << "a long of Python 2";
}

TEST(Npy, AnArchiveThatDeclaresMoreThanTheLimitIsRefused) {
    std::string file = tests::zip({{"mixers.npy", npy(header("<f8", "(1,)"), std::string(8, '\0')), 8}});
    const auto directory = file.rfind("PK\x01\x02");
    file.replace(directory + 24, 4, tests::little(0x7FFFFFFF, 4));
    refused_npy(file, {"'mixers.npy'", "at most"});
}

}  // namespace
}  // namespace spectra::weightfile
