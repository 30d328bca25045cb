#include "weightfile/zip.hpp"

#include "weightfile/checkpoint_files.hpp"
#include "support/expect_refused.hpp"

#include <gtest/gtest.h>

namespace spectra::weightfile {
namespace {

using spectra::testing::expect_refused;
using tests::zip;

std::string read_zip(const std::string& file, std::string_view name) {
    const ZipArchive archive(as_bytes(file), "w.zip");
    const ZipEntry* entry = archive.find(name);
    return entry == nullptr ? "no entry" : std::string(as_text(archive.checked_bytes(*entry)));
}

void refused_zip(const std::string& file, std::vector<std::string> words) {
    words.insert(words.begin(), "w.zip: ");
    expect_refused([&] { read_zip(file, "a"); }, words);
}

TEST(Zip, ChecksumOfThePublishedExample) {
    EXPECT_EQ(crc32(as_bytes("123456789")), 0xCBF43926U);
    EXPECT_EQ(crc32({}), 0U);
}

TEST(Zip, ReadsStoredEntriesOfEitherWidth) {
    for (const bool wide : {false, true}) {
        const std::string file = zip({{"b/c", "second"}, {"a", "first"}, {"d", ""}}, wide);
        EXPECT_EQ(read_zip(file, "a"), "first");
        EXPECT_EQ(read_zip(file, "b/c"), "second");
        EXPECT_EQ(read_zip(file, "d"), "");
        EXPECT_EQ(read_zip(file, "c"), "no entry");
    }
    EXPECT_EQ(ZipArchive(as_bytes(zip({})), "w").entries().size(), 0u);
}

TEST(Zip, ACommentMayFollow) {
    std::string file = zip({{"a", "x"}});
    file.replace(file.size() - 2, 2, tests::little(11, 2));
    EXPECT_EQ(read_zip(file + "PK\x05\x06"
                              "comment",
                       "a"),
              "x");
}

TEST(Zip, DamageIsSeen) {
    std::string file = zip({{"a", "first"}});
    file[file.find("first")] = 'F';
    refused_zip(file, {"'a'", "checksum"});
    EXPECT_EQ(read_zip(zip({{"a", "x", 0, 0, 0, false}}), "a"), "x") << "a checksum of 0 was not computed";
}

TEST(Zip, NamesThatLeaveTheFolder) {
    for (const char* name : {"../a", "/a", "b/../../a", "b/..", "a\\b", "..", ""})
        refused_zip(zip({{name, "x"}}), {"is not a path inside", std::string("'") + name + "'"});
    refused_zip(zip({{std::string("a\0b", 3), "x"}}), {"is not a path inside"});
    EXPECT_EQ(read_zip(zip({{"..a/b..", "x"}}), "..a/b.."), "x") << "only names";
}

TEST(Zip, EntriesThatAreNotPlain) {
    refused_zip(zip({{"a", "x"}, {"a", "y"}}), {"'a'", "duplicate"});
    refused_zip(zip({{"a", "x", 8}}), {"'a'", "compressed (method 8)", "stored"});
    refused_zip(zip({{"a", "x", 0, 1}}), {"'a'", "encrypted"});
    EXPECT_EQ(read_zip(zip({{"a", "x"}, {"b", "y", 8}}), "a"), "x") << "others do not matter";
}

/// The directory's records, for a test to bend.
std::size_t directory_record(const std::string& file, int which) {
    std::size_t at = file.find("PK\x01\x02");
    for (int k = 0; k < which; ++k) at = file.find("PK\x01\x02", at + 1);
    return at;
}

TEST(Zip, OverlapsAndPlacesOutside) {
    const std::string good = zip({{"a", "xxxx"}, {"b", "yyyy"}});
    const auto bent = [&](int record, std::size_t field, std::uint64_t value, int bytes) {
        std::string file = good;
        return file.replace(directory_record(file, record) + field, static_cast<std::size_t>(bytes),
                            tests::little(value, bytes));
    };
    refused_zip(bent(1, 42, 0, 4), {"overlaps"});
    refused_zip(bent(1, 42, 10, 4), {"overlaps"});
    refused_zip(bent(0, 42, 1 << 30, 4), {"overlaps"});
    refused_zip(bent(0, 24, 5, 4), {"stored", "5 bytes"});
    std::string longer = bent(0, 24, 8, 4);
    longer.replace(directory_record(longer, 0) + 20, 4, tests::little(8, 4));
    // Seen before anything is read; by less, when it is, since the local header has three bytes more.
    expect_refused([&] { ZipArchive(as_bytes(longer), "w.zip"); }, {"w.zip: ", "'a'", "overlaps"});
    std::string slightly = bent(0, 24, 5, 4);
    slightly.replace(directory_record(slightly, 0) + 20, 4, tests::little(5, 4));
    refused_zip(slightly, {"'a'", "overlaps"});
    refused_zip(bent(0, 34, 3, 2), {"split"});
    refused_zip(bent(0, 28, 60000, 2), {"exceeds its directory"});
    refused_zip(bent(1, 0, 0, 4), {"entry 2 of 2"});
    std::string local = good;
    local[30] = 'c';
    refused_zip(local, {"'a'", "local header"});
    local = good;
    local.replace(28, 2, tests::little(60000, 2));
    refused_zip(local, {"'a'", "overlaps"});
}

TEST(Zip, EndRecordsThatDoNotFit) {
    refused_zip("PK\x03\x04", {"truncated"});
    std::string file = zip({{"a", "x"}});
    refused_zip(file.substr(0, file.size() - 1), {"truncated"});
    refused_zip(file + "x", {"truncated"});
    refused_zip("x" + file, {"does not end where"});
    std::string count = file;
    count.replace(count.size() - 14, 4, tests::little(0x00020002, 4));
    refused_zip(count, {"entry 2 of 2"});
    count.replace(count.size() - 14, 4, tests::little(0, 4));
    refused_zip(count, {"continues after entry 0"});
    std::string parts = file;
    parts[parts.size() - 18] = 1;
    refused_zip(parts, {"split zip archive"});
    std::string wide = zip({{"a", "x"}}, true);
    wide.replace(wide.size() - 22 - 12, 8, tests::little(~std::uint64_t{0}, 8));
    refused_zip(wide, {"64-bit end record"});
    wide = zip({{"a", "x"}}, true);
    const std::size_t end = wide.find("PK\x06\x06");
    refused_zip(std::string(wide).replace(end + 40, 8, tests::little(~std::uint64_t{0}, 8)),
                {"larger than any file"});
    refused_zip(std::string(wide).replace(end + 32, 8, tests::little(~std::uint64_t{0} >> 1, 8)),
                {"split zip archive"});
    refused_zip(std::string(wide).replace(
                    end + 24, 16,
                    tests::little(~std::uint64_t{0} >> 1, 8) + tests::little(~std::uint64_t{0} >> 1, 8)),
                {"entry 2 of 9223372036854775807"});
    wide = zip({{"a", "x"}}, true);
    refused_zip(wide.replace(directory_record(wide, 0) + 46 + 1 + 2, 2, tests::little(8, 2)),
                {"'a'", "64-bit sizes"});
}

}  // namespace
}  // namespace spectra::weightfile
