#include "weightfile/pickle.hpp"

#include "weightfile/checkpoint_files.hpp"
#include "weightfile/torch_file.hpp"
#include "support/expect_refused.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace spectra::weightfile {
namespace {

using namespace std::string_literals;
using spectra::testing::expect_refused;
namespace pickled = tests::pickled;

Unpickled read_pickle(const std::string& value) {
    return unpickle(as_bytes(value), "w.pt: data.pkl");
}

/// The root of a pickle, which is kept.
class Root {
public:
    explicit Root(const std::string& value) : made_(read_pickle(pickled::whole(value))) {}
    Value operator*() const { return {made_.objects, made_.objects.root}; }
    const Unpickled& made() const { return made_; }

private:
    Unpickled made_;
};

void refused_pickle(const std::string& value, std::vector<std::string> words) {
    words.insert(words.begin(), "w.pt: data.pkl");
    expect_refused([&] { read_pickle(pickled::whole(value)); }, words);
}

std::vector<Tensor> listed(const std::string& value) {
    const Root root(value);
    return tensors_with_keys(root.made().objects, root.made().tensors, "w.pt");
}

TEST(Pickle, Numbers) {
    EXPECT_EQ((*Root("K\xFF")).integer(), 255);
    EXPECT_EQ((*Root("M\xFF\xFF")).integer(), 65535);
    EXPECT_EQ((*Root("J\xFF\xFF\xFF\xFF")).integer(), -1);
    EXPECT_EQ((*Root("\x8A\0"s)).integer(), 0);
    EXPECT_EQ((*Root("\x8A\x01\xFF")).integer(), -1);
    EXPECT_EQ((*Root("\x8A\x02\xFF\0"s)).integer(), 255);
    EXPECT_EQ((*Root("\x8A\x08" + tests::little(std::uint64_t{1} << 63, 8))).integer(), INT64_MIN);
    EXPECT_EQ((*Root("\x8A\x09" + tests::little(5, 8) + "\0"s)).integer(), 5) << "more bytes than it needs";
    EXPECT_EQ((*Root("\x8A\x09" + tests::little(0, 8) + "\x40")).number(), std::ldexp(1.0, 70));
    EXPECT_EQ((*Root("\x8A\x09" + tests::little(std::uint64_t{1} << 63, 8) + "\0"s)).number(),
              std::ldexp(1.0, 63));
    EXPECT_EQ((*Root("\x8A\x09" + tests::little(0, 8) + "\xC0")).number(), -std::ldexp(1.0, 70));
    EXPECT_EQ((*Root("\x8B" + tests::little(2, 4) + "\x01\x01")).integer(), 257);
    EXPECT_EQ((*Root("\x8B" + tests::little(200, 4) + std::string(200, '\x7F'))).number(), INFINITY);
    EXPECT_EQ((*Root("G\x3F\xF8\0\0\0\0\0\0"s)).number(), 1.5);
    EXPECT_EQ((*Root("\x88")).boolean(), true);
    EXPECT_EQ((*Root("N")).kind(), Value::Kind::none);
    EXPECT_FALSE((*Root("\x88")).integer());
}

TEST(Pickle, TextBytesAndContainers) {
    EXPECT_EQ((*Root(pickled::text("ü"))).text(), "ü");
    EXPECT_EQ((*Root("\x8C\x02xy")).text(), "xy");
    EXPECT_EQ((*Root("\x8D" + tests::little(2, 8) + "xy")).text(), "xy");
    EXPECT_EQ((*Root("C\x02xy")).kind(), Value::Kind::bytes);
    EXPECT_EQ((*Root("(K\1K\2t")).size(), 2u);
    EXPECT_EQ((*Root("](K\1K\2eK\3a")).item(2).integer(), 3);
    EXPECT_EQ((*Root("\x8F(K\1\x90")).kind(), Value::Kind::set);
    const Root dict(pickled::dict({{"a", "K\1"}, {"b", "K\2"}, {"a", "K\3"}}));
    EXPECT_EQ((*dict).find("a")->integer(), 3) << "a later item counts";
    EXPECT_FALSE((*dict).find("c"));
    EXPECT_FALSE((*Root("](K\1e")).find("a"));
    const Root bytes(pickled::name("_codecs", "encode") + pickled::text("a\xC3\xBF") +
                     pickled::text("latin1") + "\x86R");
    EXPECT_EQ(std::get<ByteText>(bytes.made().objects.all[bytes.made().objects.root]).bytes, "a\xFF");
}

TEST(Pickle, ATensorIsAViewOfItsStorage) {
    const Root root(pickled::tensor(12, {2, 3}, {1, 2}, 4));
    ASSERT_EQ(root.made().tensors.size(), 1u);
    const Tensor& tensor = root.made().tensors.front();
    EXPECT_EQ(tensor.shape, (Shape{2, 3}));
    EXPECT_EQ(tensor.strides, (Shape{1, 2}));
    EXPECT_EQ(tensor.offset, 4u);
    EXPECT_EQ(tensor.dtype, Dtype::f32);
    EXPECT_EQ(root.made().storages.front().size, 48u);
}

/// As Torch 2 writes what has no typed storage.
std::string tensor_v3(const std::string& dtype, const std::string& metadata = "") {
    return pickled::name("torch._utils", "_rebuild_tensor_v3") + "(" + "(" + pickled::text("storage") +
           pickled::name("torch.storage", "UntypedStorage") + pickled::text("0") + pickled::text("cpu") +
           pickled::integer(8) + "tQ" + pickled::integer(1) + pickled::tuple({3}) + pickled::tuple({1}) +
           "\x89" + pickled::name("collections", "OrderedDict") + ")R" + pickled::name("torch", dtype) +
           metadata + "tR";
}

TEST(Pickle, TensorsOfUntypedStorages) {
    EXPECT_EQ(Root(tensor_v3("float8_e4m3fn")).made().tensors.front().dtype, Dtype::f8_e4m3fn);
    EXPECT_EQ(Root(tensor_v3("uint16")).made().tensors.front().offset, 1u);
    EXPECT_EQ(Root(tensor_v3("uint16", "N")).made().tensors.size(), 1u);
    EXPECT_EQ(Root(tensor_v3("uint16", "}")).made().tensors.size(), 1u);
    refused_pickle(tensor_v3("uint32"), {"exceeds storage '0'"});
    refused_pickle(tensor_v3("float4"), {"uses 'torch.float4'"});
    refused_pickle(tensor_v3("uint16", pickled::dict({{"neg", "\x88"}})), {"negative"});
}

TEST(Pickle, TensorsWithAttributes) {
    const std::string inner = pickled::tensor(4, {2}, {1});
    const std::string function = pickled::name("torch._utils", "_rebuild_tensor_v2");
    const std::string arguments = inner.substr(function.size(), inner.size() - function.size() - 1);
    const std::string from_type = pickled::name("torch._tensor", "_rebuild_from_type_v2");
    const std::string type = pickled::name("torch", "Tensor");
    EXPECT_EQ(Root(from_type + "(" + function + type + arguments + "}tR").made().tensors.size(), 1u);
    refused_pickle(from_type + "(" + from_type + type + arguments + "}tR", {"can rebuild only tensors"});
    const std::string parameter = pickled::name("torch._utils", "_rebuild_parameter_with_state");
    EXPECT_EQ(Root(parameter + "(" + inner + "\x88}}tR").made().tensors.size(), 1u);
    refused_pickle(parameter + "(K\1\x88}}tR",
                   {"_rebuild_parameter_with_state: argument 1 is of kind integer"});
}

TEST(Pickle, NamesOfCodeAreRefused) {
    refused_pickle(pickled::name("os", "system") + pickled::text("true") + "\x85R",
                   {"uses 'os.system'", "only tensors and plain data"});
    refused_pickle(pickled::name("posix", "system"), {"'posix.system'"});
    refused_pickle(pickled::name("builtins", "eval"), {"'builtins.eval'"});
    refused_pickle(pickled::name("torch", "load"), {"'torch.load'"});
    refused_pickle(pickled::name("torch._utils", "_rebuild_sparse_tensor"), {"_rebuild_sparse_tensor"});
    refused_pickle(pickled::name("numpy.core.multiarray", "scalar"), {"'numpy.core.multiarray.scalar'"});
    refused_pickle(pickled::name("argparse", "Namespace"), {"'argparse.Namespace'"});
    refused_pickle(pickled::text("os") + pickled::text("system") + "\x93", {"'os.system'"});
    refused_pickle("K\1K\2\x93", {"not a string"});
    refused_pickle("ios\nsystem\n", {"opcode 0x69"});
    refused_pickle("\x82\x01", {"opcode 0x82"});
    refused_pickle("Ppersistent\n", {"opcode 0x50"});
    refused_pickle(pickled::name("a\tb", std::string(300, 'x')), {"uses 'a\\u0009b.xxx", "…'"});
    refused_pickle("cos", {"unterminated name"});
}

TEST(Pickle, OnlyKnownThingsAreCalled) {
    refused_pickle("K\1)R", {"calls an object of kind integer"});
    refused_pickle(pickled::name("torch", "FloatStorage") + ")R", {"calls an object of kind"});
    refused_pickle(pickled::name("torch", "Tensor") + ")R", {"Tensor: is called, but can only be named"});
    refused_pickle(pickled::name("collections", "OrderedDict") + "]\x85R", {"OrderedDict: has 1 arguments"});
    refused_pickle(pickled::name("collections", "OrderedDict") + "]R", {"not a tuple"});
    refused_pickle(
        pickled::name("_codecs", "encode") + pickled::text("\xC4\x80") + pickled::text("latin1") + "\x86R",
        {"one per character"});
    refused_pickle(
        pickled::name("_codecs", "encode") + pickled::text("\xC3") + pickled::text("latin1") + "\x86R",
        {"one per character"});
    refused_pickle(pickled::name("_codecs", "encode") + pickled::text("x") + pickled::text("rot13") + "\x86R",
                   {"must be bytes"});
    refused_pickle("K\1}b", {"sets attributes of an object of kind integer"});
}

TEST(Pickle, TensorsThatExceedTheirStorage) {
    constexpr std::int64_t large = std::int64_t{1} << 33;
    refused_pickle(pickled::tensor(4, {5}, {1}), {"shape [5]", "storage '0' of 4 float32"});
    refused_pickle(pickled::tensor(4, {4}, {1}, 1), {"offset 1", "exceeds"});
    refused_pickle(pickled::tensor(4, {2, 2}, {3, 1}), {"strides [3, 1]"});
    refused_pickle(pickled::tensor(4, {-1}, {1}), {"-1"});
    refused_pickle(pickled::tensor(4, {2}, {-1}), {"-1"});
    refused_pickle(pickled::tensor(4, {2}, {1}, -1), {"-1"});
    refused_pickle(pickled::tensor(-4, {2}, {1}), {"-4"});
    refused_pickle(pickled::tensor(4, {2}, {1, 1}), {"strides"});
    refused_pickle(pickled::tensor(4, {large, large}, {0, 0}), {"exceeds"});
    refused_pickle(pickled::tensor(4, {3}, {INT64_MAX}), {"exceeds"});
    refused_pickle(pickled::tensor(4, {1}, {1}, INT64_MAX), {"exceeds"});
    refused_pickle(pickled::tensor(INT64_MAX, {1}, {1}), {"larger than any file"});
    refused_pickle(pickled::tensor(4, std::vector<std::int64_t>(65, 1), {}), {"65 dimensions"});
    refused_pickle(
        "(" + pickled::storage("FloatStorage", "0", 4) + pickled::storage("FloatStorage", "0", 5) + "t",
        {"20 bytes here, but 16"});
    refused_pickle(pickled::tensor(4, {2}, {1}, 0, "QUInt8Storage"), {"'torch.QUInt8Storage'"});
    EXPECT_EQ(listed(pickled::tensor(0, {0, 3}, {3, 1})).size(), 1u);
    EXPECT_EQ(listed(pickled::tensor(1, {large}, {0})).size(), 1u) << "expanded: no memory until it is read";
}

TEST(Pickle, BrokenPickles) {
    expect_refused([] { read_pickle(""); }, {"not a pickle"});
    expect_refused([] { read_pickle("\x80\x01N."); }, {"not a pickle of protocol 2 to 5"});
    expect_refused([] { read_pickle("\x80\x06N."); }, {"not a pickle of protocol 2 to 5"});
    expect_refused([] { read_pickle("(lp0\n."); }, {"not a pickle"});
    expect_refused([] { read_pickle("\x80\x02N"); }, {"1 bytes are declared, but 0 are left"});
    expect_refused([] { read_pickle("\x80\x02N.N"); }, {"ends before the end of the file"});
    refused_pickle("", {"the stack is empty"});
    refused_pickle("0", {"the stack is empty"});
    refused_pickle("(.", {"the stack is empty"});
    refused_pickle("K\1(0\x85\x86", {"the stack is empty"});
    refused_pickle("K\1K\2(\x86", {"the stack is empty"});
    refused_pickle("t", {"no mark"});
    refused_pickle("K\1(a", {"the stack is empty"});
    refused_pickle("h\5", {"memo 5"});
    refused_pickle("Nr\xFF\xFF\xFF\x7F", {"memo 2147483647 is out of order"});
    refused_pickle("X\xFF\xFF\xFF\xFFx", {"4294967295 bytes are declared"});
    refused_pickle("\x8D" + tests::little(~std::uint64_t{0}, 8), {"18446744073709551615 bytes are declared"});
    refused_pickle("\x95" + tests::little(~std::uint64_t{0}, 8), {"a frame of"});
    refused_pickle("}(K\1u", {"key without a value"});
    refused_pickle(")K\1a", {"appends to a tuple"});
    refused_pickle("K\1K\2a", {"appends to an object of kind integer"});
    refused_pickle("]K\1K\2s", {"sets items of an object of kind list"});
}

TEST(Pickle, WhatHoldsItself) {
    EXPECT_EQ(listed("]q\0h\0a"s).size(), 0u);
    EXPECT_EQ(listed("}q\0"s + pickled::text("self") + "h\0s"s + pickled::text("w") +
                     pickled::tensor(1, {}, {}) + "s")
                  .size(),
              1u);
    EXPECT_EQ((*Root("]q\0h\0a"s)).item(0).item(0).kind(), Value::Kind::list);
}

/// Lists of two of the one before: 2^levels ways to the bottom.
std::string doubled(const std::string& bottom, int levels) {
    std::string all = bottom + "q\0"s;
    for (int k = 0; k < levels; ++k) all += "](h\0h\0eq\0"s;
    return all;
}

TEST(Pickle, BombsAreRefusedWhenListed) {
    EXPECT_EQ(listed(doubled(pickled::tensor(1, {}, {}), 4)).size(), 16u);
    expect_refused([] { listed(doubled(pickled::tensor(1, {}, {}), 60)); }, {"w.pt: ", "too often"});
    expect_refused([] { listed(doubled("]", 60)); }, {"w.pt: ", "too often"});
    EXPECT_EQ((*Root(doubled("]", 60))).size(), 2u) << "but small in memory";
}

TEST(Pickle, DeepNesting) {
    constexpr int levels = 1'000'000;
    std::string lists(levels, ']');
    lists += std::string(levels - 1, 'a');
    EXPECT_EQ(listed(lists).size(), 0u);
    std::string tuples = pickled::tensor(1, {}, {}) + std::string(levels, '\x85');
    const auto found = listed(tuples);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found.front().key.size(), 2u * levels - 1);
}

TEST(Pickle, LimitsOfMemory) {
    refused_pickle(std::string(9'000'000, ']'), {"more than 8388608 objects"});
    refused_pickle("N" + std::string(40'000'000, '2'), {"more than 33554432 steps"});
    std::string encode = pickled::text(std::string(1 << 20, 'x')) + "q\0"s;
    for (int k = 0; k < 100; ++k)
        encode += pickled::name("_codecs", "encode") + "h\0"s + pickled::text("latin1") + "\x86R";
    refused_pickle(encode, {"more than 67108864 bytes of byte strings"});
    const std::string ones = pickled::tuple(std::vector<std::int64_t>(64, 1));
    std::string tensors = pickled::name("torch._utils", "_rebuild_tensor") + "q\0"s + "(" +
                          pickled::storage("FloatStorage", "0", 1) + "K\0"s + ones + ones + "tq\1"s;
    for (int k = 0; k < 70'000; ++k) tensors += "h\0h\1R0"s;
    refused_pickle(tensors, {"more than 4194304 tensor sizes"});
}

}  // namespace
}  // namespace spectra::weightfile
