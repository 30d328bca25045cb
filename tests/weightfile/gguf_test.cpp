#include "weightfile/gguf.hpp"

#include "support/expect_refused.hpp"
#include "support/written_gguf.hpp"
#include "weightfile/tensor_file.hpp"

#include <gtest/gtest.h>

namespace spectra::weightfile {
namespace {

using testing::expect_refused;
using testing::Gguf;

TensorFile opened(const std::string& file) {
    return TensorFile::from_bytes(as_bytes(file), "m.gguf");
}

Gguf example() {
    Gguf gguf;
    gguf.add("general.architecture", std::string("deepseek4")).add("deepseek4.block_count", std::uint32_t{2});
    gguf.add("epsilon", 0.5F).add_flag("flag", true);
    gguf.entry(
        "tokens", 9,
        Gguf::raw(std::uint32_t{8}) + Gguf::raw(std::uint64_t{2}) + Gguf::text("a") + Gguf::text("bc"));
    gguf.entry("scores", 9,
               Gguf::raw(std::uint32_t{6}) + Gguf::raw(std::uint64_t{2}) + Gguf::raw(1.0F) + Gguf::raw(2.0F));
    gguf.entry("signed", 5, Gguf::raw(std::int32_t{-7}));
    return gguf;
}

TEST(Gguf, TensorsAndMetadataAreRead) {
    const auto bytes =
        example().file({{"a.weight", {2, 3}, {1, 2, 3, 4, 5, 6}}, {"b", {1}, {7}}, {"q", {32}, {}, 8}});
    const auto file = opened(bytes);
    EXPECT_EQ(file.kind(), Kind::gguf);
    ASSERT_EQ(file.tensors().size(), 3U);
    EXPECT_EQ(file.at("a.weight").shape, (Shape{2, 3})) << "the slowest size first";
    EXPECT_EQ(file.read_doubles(file.at("a.weight")), (std::vector<double>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(file.read_doubles(file.at("b")), (std::vector<double>{7}));
    EXPECT_EQ(name(file.at("q").dtype), "quantised");
    expect_refused([&] { file.read_doubles(file.at("q")); }, {"m.gguf: 'q'", "unsupported dtype quantised"});
    const auto top = file.value();
    EXPECT_EQ(top.find("general.architecture")->text(), "deepseek4");
    EXPECT_EQ(top.find("deepseek4.block_count")->integer(), 2);
    EXPECT_EQ(top.find("epsilon")->number(), 0.5);
    EXPECT_EQ(top.find("flag")->boolean(), true);
    EXPECT_EQ(top.find("signed")->integer(), -7);
    EXPECT_FALSE(top.find("tokens"));
    EXPECT_EQ(file.state_dict_prefix(), "");
}

TEST(Gguf, CutShortAnywhereItIsRefused) {
    const auto bytes = example().file({{"a.weight", {2, 3}, {1, 2, 3, 4, 5, 6}}});
    for (std::size_t length = 5; length < bytes.size(); ++length)
        expect_refused([&] { opened(bytes.substr(0, length)); }, {"m.gguf: "});
}

TEST(Gguf, WhatItSaysOfItselfIsNotTrusted) {
    const Gguf none;
    expect_refused([&] { opened(none.file({{"a", {1}, {1}}}, 1)); }, {"version 1", "2 or 3"});
    expect_refused([&] { opened(none.file({{"a", {1}, {1}}}, 0x03000000)); }, {"little-endian"});
    expect_refused([&] { opened(none.file({{"a", {1, 1, 1, 1, 1}, {1}}})); }, {"'a' has 5 dimensions"});
    expect_refused(
        [&] {
            opened(none.file({{"a", {std::uint64_t{1} << 40}, {1}}}));
        },
        {"'a' lies outside the file"});
    expect_refused(
        [&] {
            opened(none.file({{"a", {std::uint64_t{1} << 40, std::uint64_t{1} << 40}, {1}}}));
        },
        {"'a' is too large"});
    expect_refused([&] { opened(none.file({{"a", {1}, {1}}, {"a", {1}, {1}}})); }, {"duplicate key 'a'"});
    expect_refused([&] { opened(Gguf().entry("k", 77, "").file({})); }, {"'k'", "type 77"});
    expect_refused(
        [&] {
            opened(Gguf().entry("k", 9, Gguf::raw(std::uint32_t{9}) + Gguf::raw(std::uint64_t{1})).file({}));
        },
        {"'k'", "arrays of arrays"});
    expect_refused(
        [&] {
            opened(
                Gguf().entry("k", 9, Gguf::raw(std::uint32_t{10}) + Gguf::raw(~std::uint64_t{0})).file({}));
        },
        {"larger than the file"});
    expect_refused(
        [&] {
            opened(Gguf().add("general.alignment", std::uint32_t{0}).file({{"a", {1}, {1}}}));
        },
        {"general.alignment", "1 to 1048576"});
    const auto many =
        "GGUF" + Gguf::raw(std::uint32_t{3}) + Gguf::raw(~std::uint64_t{0}) + Gguf::raw(std::uint64_t{0});
    expect_refused([&] { opened(many); }, {"must have at most"});
}

}  // namespace
}  // namespace spectra::weightfile
