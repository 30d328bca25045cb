#include "weightfile/safetensors.hpp"

#include "weightfile/checkpoint_files.hpp"
#include "support/expect_refused.hpp"

#include <gtest/gtest.h>

namespace spectra::weightfile {
namespace {

using spectra::testing::expect_refused;
using tests::safetensors;

Contents parsed(const std::string& file) {
    return read_safetensors(as_bytes(file), "w.safetensors");
}

void refused_safetensors(const std::string& header, std::size_t data, const std::vector<std::string>& words) {
    const std::string file = safetensors(header, std::string(data, '\1'));
    std::vector<std::string> all{"w.safetensors: "};
    all.insert(all.end(), words.begin(), words.end());
    expect_refused([&] { parsed(file); }, all);
}

std::string entry(const std::string& key, const std::string& dtype, const std::string& shape,
                  const std::string& range) {
    return "\"" + key + "\":{\"dtype\":\"" + dtype + "\",\"shape\":[" + shape + "],\"data_offsets\":[" +
           range + "]}";
}

TEST(Safetensors, ListsInTheOrderOfTheData) {
    const auto contents = parsed(
        safetensors("{" + entry("b", "F16", "2,2", "4,12") + "," + entry("a", "F32", "", "0,4") + "," +
                        entry("none", "I64", "0,3", "12,12") + R"(,"__metadata__":{"k":"v"}})",
                    std::string(12, '\0')));
    ASSERT_EQ(contents.tensors.size(), 3u);
    EXPECT_EQ(contents.tensors[0].key, "a");
    EXPECT_EQ(contents.tensors[1].key, "b");
    EXPECT_EQ(contents.tensors[1].shape, (Shape{2, 2}));
    EXPECT_EQ(contents.tensors[1].strides, (Shape{2, 1}));
    EXPECT_EQ(contents.tensors[2].key, "none");
    const Value metadata(contents.objects, contents.objects.root);
    EXPECT_EQ(metadata.find("k")->text(), "v");
    EXPECT_FALSE(metadata.find("other"));
}

TEST(Safetensors, OfNothing) {
    EXPECT_TRUE(parsed(safetensors("{}")).tensors.empty());
    EXPECT_TRUE(parsed(safetensors("{}   ")).tensors.empty()) << "padded";
}

TEST(Safetensors, HeaderLengths) {
    expect_refused([] { parsed("1234567"); }, {"has 7 bytes"});
    expect_refused([] { parsed(tests::little(100, 8) + "{}"); },
                   {"header of 100 bytes in a file of 10", "truncated"});
    expect_refused([] { parsed(tests::little(100'000'001, 8) + "{}"); },
                   {"100000001", "at most 16777216"});
    expect_refused([] { parsed(tests::little(~std::uint64_t{0}, 8) + "{}"); },
                   {"18446744073709551615"});
    expect_refused([] { parsed(safetensors("")); }, {"not JSON"});
}

TEST(Safetensors, RangesThatDoNotFit) {
    refused_safetensors("{" + entry("a", "F32", "2", "0,4") + "}", 4,
                        {"'a'", "shape [2] of float32 needs 8 bytes", "[0, 4] have 4"});
    refused_safetensors("{" + entry("a", "F32", "2", "0,8") + "}", 4, {"'a'", "[0, 8]", "4 bytes"});
    refused_safetensors("{" + entry("a", "F32", "2", "8,0") + "}", 8, {"'a'", "[8, 0]"});
    refused_safetensors("{" + entry("a", "U8", "4", "0,4") + "," + entry("b", "U8", "4", "2,6") + "}", 6,
                        {"'b'", "overlaps", "2", "4"});
    refused_safetensors("{" + entry("a", "U8", "4", "0,4") + "," + entry("b", "U8", "2", "6,8") + "}", 8,
                        {"'b'", "gap", "6", "4"});
    refused_safetensors("{" + entry("a", "U8", "2", "2,4") + "}", 4, {"'a'", "gap"});
    refused_safetensors("{" + entry("a", "U8", "4", "0,4") + "}", 5, {"has 5 bytes of data", "end at 4"});
    refused_safetensors("{" + entry("a", "U8", "4", "0,4") + "," + entry("b", "U8", "4", "0,4") + "}", 4,
                        {"'b'", "overlaps"});
    refused_safetensors("{" + entry("a", "F4", "3", "0,2") + "}", 2, {"'a'", "too many"});
}

TEST(Safetensors, GiganticShapes) {
    const std::string large = "4294967296,4294967296,4294967296";
    refused_safetensors("{" + entry("a", "F32", large, "0,0") + "}", 0, {"'a'", "needs too many bytes"});
    refused_safetensors("{" + entry("a", "F32", "4611686018427387904", "0,0") + "}", 0,
                        {"'a'", "needs too many bytes"});
    refused_safetensors("{" + entry("a", "F32", "0," + large, "0,0") + "}", 0, {"'a'", "too many"});
    refused_safetensors("{" + entry("a", "F32", "18446744073709551616", "0,0") + "}", 0,
                        {"'a'", "'18446744073709551616'"});
    refused_safetensors("{" + entry("a", "F32", "-1", "0,4") + "}", 4, {"'a'", "'shape'", "-1"});
    refused_safetensors("{" + entry("a", "F32", "1.5", "0,4") + "}", 4, {"'a'", "'shape'", "1.5"});
    std::string ones = "1";
    for (int k = 0; k < 64; ++k) ones += ",1";
    refused_safetensors("{" + entry("a", "F32", ones, "0,4") + "}", 4, {"'a'", "'shape'", "more than 64"});
}

TEST(Safetensors, HeadersOfAnotherForm) {
    refused_safetensors("[]", 0, {"unexpected an array"});
    refused_safetensors("{\"a\":3}", 0, {"'a'", "unexpected 3"});
    refused_safetensors("{\"a\":null}", 0, {"'a'", "unexpected null"});
    refused_safetensors("{\"a\":{}}", 0, {"'a'", "has no dtype"});
    refused_safetensors(R"({"a":{"dtype":"F32","shape":[]}})", 0, {"'a'", "has no data_offsets"});
    refused_safetensors(R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,4,8]}})", 4,
                        {"'a'", "data_offsets has 3"});
    refused_safetensors(R"({"a":{"dtype":"F32","shape":[[1]]}})", 0,
                        {"'a'", "'shape'", "unexpected an array"});
    refused_safetensors(R"({"a":{"dtype":{"b":1}}})", 0, {"'a'", "'dtype'", "unexpected an object"});
    refused_safetensors(R"({"a":{"dtype":"F32","dtype":"F32"}})", 0, {"'a'", "'dtype'", "duplicate"});
    refused_safetensors(R"({"a":{"shape":[],"shape":[]}})", 0, {"'a'", "'shape'", "duplicate"});
    refused_safetensors(R"({"a":{"other":"x"}})", 0, {"'a'", "'other'"});
    refused_safetensors("{" + entry("a", "Q4", "", "0,4") + "}", 4, {"'a'", "'Q4'", "F32"});
    refused_safetensors(R"({"__metadata__":{"a":1}})", 0, {"'__metadata__'", "'a'", "unexpected 1"});
    refused_safetensors(R"({"__metadata__":{"a":"1","a":"2"}})", 0, {"'__metadata__'", "'a'", "duplicate"});
    refused_safetensors(R"({"__metadata__":{},"__metadata__":{}})", 0, {"'__metadata__'", "duplicate"});
    refused_safetensors("{\"a\":", 0, {"not JSON"});
    refused_safetensors("{} {}", 0, {"not JSON"});
    refused_safetensors("{\"\xFF\":3}", 0, {"not JSON"});
    refused_safetensors("{\"a\nb\":3}", 0, {"not JSON"});
    refused_safetensors("{\"a\\nb\":3}", 0, {"'a\\u000ab'"});
}

TEST(Safetensors, DeepNestingIsNotFollowed) {
    refused_safetensors(std::string(1'000'000, '['), 0, {"unexpected"});
    std::string objects;
    for (int k = 0; k < 100'000; ++k) objects += "{\"a\":";
    refused_safetensors(objects, 0, {"unexpected an object"});
}

}  // namespace
}  // namespace spectra::weightfile
