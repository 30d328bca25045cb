#include "layouts/layout_map.hpp"

#include "layouts/layouts.hpp"
#include "layouts/samples.hpp"
#include "mixers/sinkhorn.hpp"
#include "support/expect_refused.hpp"
#include "support/temporary_folder.hpp"
#include "weightfile/checkpoint_files.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

namespace spectra::layouts {
namespace {

using weightfile::TensorFile;
using spectra::testing::expect_refused;

LayoutOptions mapped(const std::string& json) {
    LayoutOptions options;
    options.map = parse_layout_map(json, "map.json");
    return options;
}

void expect_same(const Stack& found, const Stack& wanted, bool with_routes) {
    ASSERT_EQ(found.depth(), wanted.depth());
    EXPECT_EQ(found.streams, wanted.streams);
    for (std::size_t l = 0; l < wanted.connections.size(); ++l) {
        const auto& a = found.connections[l];
        const auto& b = wanted.connections[l];
        EXPECT_LT((a.mixer - b.mixer).cwiseAbs().maxCoeff(), 1e-14) << l;
        if (!with_routes) continue;
        ASSERT_EQ(a.pre.size(), b.pre.size());
        EXPECT_LT((a.pre - b.pre).cwiseAbs().maxCoeff(), 1e-14) << l;
        ASSERT_EQ(a.post.size(), b.post.size());
        EXPECT_LT((a.post - b.post).cwiseAbs().maxCoeff(), 1e-14) << l;
    }
}

// Known layouts written as maps give what the layouts give.

TEST(LayoutMap, OfLogitsAtATemperature) {
    const auto file = TensorFile::open(samples / "tokenbender.pt");
    const auto stack = read_stack(file, mapped(R"({"family": "bistochastic", "transpose": true,
        "key": "h.{i}.{sublayer}.H_res_logits", "sublayers": ["hc_attn", "hc_mlp"], "temperature": 0.05,
        "iterations": 10, "pre": "h.{i}.{sublayer}.H_pre_logits", "pre_map": "softmax",
        "post": "h.{i}.{sublayer}.H_post_logits", "post_map": "softmax"})"));
    EXPECT_EQ(stack.layout, "map");
    EXPECT_EQ(stack.input, "every input");
    EXPECT_EQ(stack.connections[20].name, "model.transformer.h.10.hc_attn.H_res_logits");
    expect_same(stack, read_stack(file), true);
}

TEST(LayoutMap, OfPartsOfATensor) {
    const auto lite = TensorFile::open(samples / "mhc_lite.pt");
    expect_same(read_stack(lite, mapped(R"({"family": "permutation", "transpose": true,
        "key": "h.{i}.{sublayer}.static_alpha[4:28]", "sublayers": ["hc_attn", "hc_mlp"],
        "pre": "h.{i}.{sublayer}.static_alpha[0:4]", "pre_map": "sigmoid",
        "post": "h.{i}.{sublayer}.static_beta", "post_map": "2sigmoid"})")),
                read_stack(lite), true);
    const auto mhc = TensorFile::open(samples / "mhc_lite_mhc.pt");
    expect_same(read_stack(mhc, mapped(R"({"family": "bistochastic", "transpose": true, "first": "columns",
        "key": "h.{i}.{sublayer}.static_alpha[:,1:5]", "sublayers": ["hc_attn", "hc_mlp"], "iterations": 20,
        "pre": "h.{i}.{sublayer}.static_alpha[:,0:1]", "pre_map": "sigmoid",
        "post": "h.{i}.{sublayer}.static_beta", "post_map": "2sigmoid"})")),
                read_stack(mhc), true);
    const auto own = TensorFile::open(samples / "spectra_exact.ckpt");
    expect_same(read_stack(own, mapped(R"({"family": "cayley", "key": "h.{i}.hc_attn.b_res", "step": 0.5})")),
                read_stack(own), false);
}

std::string f32_file(const std::string& key, const std::vector<std::size_t>& shape,
                     const std::vector<float>& values) {
    const nlohmann::json header{
        {key, {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {0, values.size() * 4}}}}};
    std::string data(values.size() * 4, '\0');
    std::memcpy(data.data(), values.data(), data.size());
    return tests::safetensors(header.dump(), data);
}

TEST(LayoutMap, OfOneTensorForAllBlocks) {
    const auto bytes = f32_file("model.mixers", {3, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    const auto file = TensorFile::from_bytes(weightfile::as_bytes(bytes), "w.st");
    const auto stack = read_stack(file, mapped(R"({"family": "matrix", "key": "mixers"})"));
    ASSERT_EQ(stack.depth(), 3);
    EXPECT_EQ(stack.connections[1].name, "model.mixers[1]");
    EXPECT_EQ(stack.connections[1].mixer(0, 1), 6);
    EXPECT_EQ(stack.connections[2].mixer(1, 0), 11);
    const auto turned =
        read_stack(file, mapped(R"({"family": "matrix", "key": "mixers", "transpose": true})"));
    EXPECT_EQ(turned.connections[1].mixer(0, 1), 7);
    // A frame of two streams and one direction is a projector.
    const auto frames = f32_file("g", {1, 2, 1}, {3, 4});
    const auto projector = read_stack(TensorFile::from_bytes(weightfile::as_bytes(frames), "w.st"),
                                      mapped(R"({"family": "grassmann", "key": "g"})"));
    EXPECT_NEAR(projector.connections[0].mixer(0, 1), 0.48, 1e-15);
}

TEST(LayoutMap, ToToleranceWithoutIterations) {
    const auto bytes = f32_file("a.0.z", {2, 2}, {0, 1, 2, 0});
    const auto stack = read_stack(TensorFile::from_bytes(weightfile::as_bytes(bytes), "w.st"),
                                  mapped(R"({"family": "bistochastic", "key": "a.{i}.z"})"));
    Eigen::MatrixXd logits(2, 2);
    logits << 0, 1, 2, 0;
    EXPECT_LT((stack.connections[0].mixer - mixers::sinkhorn(logits)).cwiseAbs().maxCoeff(), 1e-15);
}

TEST(LayoutMap, MistakesInAMapAreNamed) {
    const auto refused = [](const std::string& json, std::vector<std::string> words) {
        words.emplace_back("map.json: ");
        expect_refused([&] { parse_layout_map(json, "map.json"); }, words);
    };
    refused("[1]", {"array", "must be an object"});
    refused("{", {});
    refused(R"({"key": "a.{i}"})", {"'family'", "bistochastic", "matrix"});
    refused(R"({"family": "sinkhorn", "key": "a.{i}"})", {"'sinkhorn'", "bistochastic"});
    refused(R"({"family": "matrix"})", {"'key'"});
    refused(R"({"family": "matrix", "key": "a.{i}", "temprature": 1})", {"'temprature'", "temperature"});
    refused(R"({"family": "matrix", "key": "a.{i}", "temperature": 0})", {"'temperature'", "> 0"});
    refused(R"({"family": "matrix", "key": "a.{i}", "iterations": 1.5})", {"'iterations'", "1.5"});
    refused(R"({"family": "matrix", "key": "a.{i}", "transpose": 1})", {"'transpose'", "true or false"});
    refused(R"({"family": "matrix", "key": "a.{i}", "first": "row"})", {"'first'", "'row'", "columns"});
    refused(R"({"family": "matrix", "key": "a.{i}", "pre_map": "tanh"})",
            {"'pre_map'", "'tanh'", "2sigmoid"});
    refused(R"({"family": "matrix", "key": "a.{i}", "sublayers": "attn"})", {"'sublayers'", "array"});
    refused(R"({"family": "matrix", "key": "a.{i}", "sublayers": ["attn"]})", {"'key'", "{sublayer}"});
    refused(R"({"family": "matrix", "key": "a.{i}.{sublayer}"})", {"'key'", "{sublayer}"});
    refused(R"({"family": "matrix", "key": "a.{i}", "pre": "b"})", {"'pre'", "{i}"});
    for (const char* const key : {"a[1]", "a[2:1]", "a[0:2]x", "a[-1:2]", "a[:,]"})
        refused(nlohmann::json{{"family", "matrix"}, {"key", key}}.dump(), {"'key'", "key[a:b]"});
}

TEST(LayoutMap, WhatAFileDoesNotHaveIsNamed) {
    const auto file = TensorFile::open(samples / "tokenbender.pt");
    const auto refused = [&](const std::string& json, const std::vector<std::string>& words) {
        expect_refused([&] { read_stack(file, mapped(json)); }, words);
    };
    refused(R"({"family": "matrix", "key": "h.{i}.logits"})", {"tokenbender.pt: ", "'h.{i}.logits'"});
    refused(R"({"family": "matrix", "key": "h.{i}.hc_attn.H_pre_logits[0:3]"})",
            {"h.0.hc_attn.H_pre_logits' (4)", "3 numbers", "'matrix'"});
    refused(R"({"family": "matrix", "key": "h.{i}.hc_attn.H_pre_logits[0:5]"})", {"no elements 0 to 4"});
    refused(
        R"({"family": "matrix", "key": "h.{i}.hc_attn.H_res_logits", "pre": "h.{i}.hc_attn.H_res_logits"})",
        {"4×4", "must give 4 numbers"});
    refused(
        R"({"family": "matrix", "key": "h.{i}.{sublayer}.H_res_logits", "sublayers": ["hc_attn", "hc_x"]})",
        {"has no key", "h.0.hc_x.H_res_logits"});
    // "h" must be all of a part of the key.
    refused(R"({"family": "matrix", "key": "ransformer.h.{i}.hc_attn.H_res_logits"})", {"has no key like"});
    // 'wrapped.hc_mlp' and 'hc_mlp' both end so.
    refused(R"({"family": "matrix", "key": "hc_mlp.H_res_logits"})", {"begin with"});
}

TEST(LayoutMap, FromAFile) {
    const spectra::testing::TemporaryFolder folder;
    std::ofstream(folder.path() / "m.json") << R"({"family": "matrix", "key": "a.{i}"})";
    EXPECT_EQ(read_layout_map(folder.path() / "m.json").key, "a.{i}");
    expect_refused([&] { read_layout_map(folder.path() / "none.json"); }, {"none.json"});
}

}  // namespace
}  // namespace spectra::layouts
