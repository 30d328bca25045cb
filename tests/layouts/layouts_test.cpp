#include "layouts/layouts.hpp"

#include "layouts/samples.hpp"
#include "mixers/defects.hpp"
#include "support/expect_refused.hpp"
#include "support/temporary_folder.hpp"
#include "support/torch_script.hpp"
#include "weightfile/checkpoint_files.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

namespace spectra::layouts {
namespace {

using weightfile::TensorFile;
using spectra::testing::expect_refused;
using spectra::testing::TemporaryFolder;

nlohmann::json read_json(const std::filesystem::path& path) {
    std::ifstream file(path);
    return nlohmann::json::parse(file);
}

Eigen::VectorXd vector_of(const nlohmann::json& json) {
    if (json.is_null()) return {};
    const auto values = json.get<std::vector<double>>();
    return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

Eigen::MatrixXd matrix_of(const nlohmann::json& json) {
    Eigen::MatrixXd matrix(static_cast<Eigen::Index>(json.size()), static_cast<Eigen::Index>(json[0].size()));
    for (std::size_t i = 0; i < json.size(); ++i)
        matrix.row(static_cast<Eigen::Index>(i)) = vector_of(json[i]).transpose();
    return matrix;
}

void expect_vector(const Eigen::VectorXd& found, const nlohmann::json& expected, const char* what) {
    const auto wanted = vector_of(expected);
    ASSERT_EQ(found.size(), wanted.size()) << what;
    if (wanted.size() > 0) {
        EXPECT_LT((found - wanted).cwiseAbs().maxCoeff(), 1e-12) << what;
    }
}

void expect_connections(const Stack& stack, const nlohmann::json& expected) {
    ASSERT_EQ(stack.connections.size(), expected.size());
    for (std::size_t l = 0; l < expected.size(); ++l) {
        const auto& c = stack.connections[l];
        SCOPED_TRACE(c.name);
        EXPECT_EQ(c.name, expected[l]["name"].get<std::string>());
        const auto wanted = matrix_of(expected[l]["mixer"]);
        ASSERT_EQ(c.mixer.rows(), wanted.rows());
        ASSERT_EQ(c.mixer.cols(), wanted.cols());
        EXPECT_LT((c.mixer - wanted).cwiseAbs().maxCoeff(), 1e-12);
        expect_vector(c.pre, expected[l]["pre"], "pre");
        expect_vector(c.post, expected[l]["post"], "post");
    }
}

LayoutOptions at_state(const nlohmann::json& state) {
    LayoutOptions options;
    options.input.state = vector_of(state);
    return options;
}

void expect_files(const std::filesystem::path& folder) {
    const auto expected = read_json(folder / "expected.json");
    EXPECT_GE(expected["files"].size(), 25U);
    for (const auto& [name, wanted] : expected["files"].items()) {
        SCOPED_TRACE(name);
        const auto file = TensorFile::open(folder / name);
        EXPECT_EQ(recognise(file), wanted["layout"].get<std::string>());
        const auto stack = read_stack(file);
        EXPECT_EQ(stack.layout, wanted["layout"].get<std::string>());
        EXPECT_EQ(stack.streams, wanted["streams"].get<int>());
        EXPECT_EQ(stack.width, wanted["width"].get<int>());
        expect_connections(stack, wanted["zero"]);
        if (!wanted.contains("state")) {
            EXPECT_EQ(stack.input, "every input");
            continue;
        }
        EXPECT_EQ(stack.input, "zero input");
        const auto moved = read_stack(file, at_state(expected["state"]));
        EXPECT_EQ(moved.input, "a given state");
        expect_connections(moved, wanted["state"]);
        // The state must matter, or that comparison would say nothing.
        if (name != "spectra_identity.ckpt") {
            EXPECT_GT((moved.connections[0].mixer - stack.connections[0].mixer).cwiseAbs().maxCoeff(), 1e-3);
        }
    }
}

TEST(Layouts, MixersAreThoseThatTheModelsCodeApplies) {
    expect_files(samples);
}

TEST(Layouts, OfFilesThatTorchWritesNow) {
    SPECTRA_NEEDS_PYTHON_TORCH();
    const TemporaryFolder folder;
    ASSERT_EQ(spectra::testing::run_torch_script("layouts/write_layouts.py", folder.path()), "");
    expect_files(folder.path());
}

TEST(Layouts, BlocksComeByNumberAndAliasesOnce) {
    const auto stack = read_stack(TensorFile::open(samples / "tokenbender.pt"));
    ASSERT_EQ(stack.depth(), 22);
    EXPECT_EQ(stack.connections[18].name, "transformer.h.9.hc_attn");
    EXPECT_EQ(stack.connections[19].name, "transformer.h.9.hc_mlp");
    EXPECT_EQ(stack.connections[20].name, "transformer.h.10.hc_attn");
    EXPECT_EQ(stack.mixers().size(), 22U);
    EXPECT_EQ(stack.mixers()[5], stack.connections[5].mixer);
}

/// What must be true of the mixers of a layout.
TEST(Layouts, MixersKeepTheirFamilysPromise) {
    for (const char* const file : {"tokenbender.pt", "mhc_lite.pt", "mhc_lite_mhc.pt", "spectra_mhc.ckpt",
                                   "hyper_connections_mhc.pt", "deepseek.safetensors", "edelta_mhc.pt"}) {
        SCOPED_TRACE(file);
        for (const auto& a : read_stack(TensorFile::open(samples / file)).mixers()) {
            EXPECT_GE(mixers::smallest_entry(a), 0);
            EXPECT_LT(mixers::row_sum_defect(a), 5e-2);
            EXPECT_LT(mixers::column_sum_defect(a), 5e-2);
            EXPECT_LT(std::min(mixers::row_sum_defect(a), mixers::column_sum_defect(a)), 3e-6);
        }
    }
    for (const auto& a : read_stack(TensorFile::open(samples / "s2hc.pt")).mixers()) {
        EXPECT_LT(mixers::row_sum_defect(a), 1e-12);
        EXPECT_LT(mixers::column_sum_defect(a), 1e-12);
        EXPECT_NEAR(mixers::spectral_norm(a), 1, 1e-12);
    }
    for (const char* const file : {"spectra_orthogonal.ckpt", "spectra_exact.ckpt", "spectra_rotation.ckpt"})
        for (const auto& a : read_stack(TensorFile::open(samples / file)).mixers())
            EXPECT_LT(mixers::orthogonality_defect(a), 1e-12) << file;
    for (const auto& a : read_stack(TensorFile::open(samples / "edelta_hybrid.pt")).mixers())
        EXPECT_LE(mixers::spectral_norm(a), 1 + 1e-12);
}

TEST(Layouts, DrawnInputsAreSeededAndDiffer) {
    const auto file = TensorFile::open(samples / "deepseek.safetensors");
    const auto drawn = [&](std::uint64_t seed, int index) {
        LayoutOptions options;
        options.input.draw = InputPoint::Draw{seed, index, 8};
        return read_stack(file, options);
    };
    const auto third = drawn(1, 2);
    EXPECT_EQ(third.input, "input 3 of 8");
    EXPECT_EQ(drawn(1, 2).connections[3].mixer, third.connections[3].mixer);
    EXPECT_NE(drawn(1, 3).connections[3].mixer, third.connections[3].mixer);
    EXPECT_NE(drawn(2, 2).connections[3].mixer, third.connections[3].mixer);
    // The range of the dynamic part: seeds of N(0, I) states.
    InputPoint point;
    point.draw = InputPoint::Draw{1, 0, 1};
    const auto x = point.at(20000, 5);
    EXPECT_NEAR(x.mean(), 0, 0.03);
    EXPECT_NEAR(x.squaredNorm() / 20000, 1, 0.04);
    EXPECT_NE(point.at(20000, 6), x);
    expect_refused([&] { read_stack(file, at_state({1.0, 2.0})); }, {"2 numbers", "must have 12"});
}

TEST(Layouts, ModelsWithoutMixersAreRefusedByName) {
    expect_refused([] { recognise(TensorFile::open(samples / "trm.pt")); }, {"trm.pt: ", "TRM", "no mixers"});
    expect_refused([] { read_stack(TensorFile::open(samples / "edelta_ddl.pt")); },
                   {"edelta_ddl.pt: ", "DDL", "all channels"});
    const auto plain = std::filesystem::path(SPECTRA_DATA_DIR) / "checkpoints" / "dtypes.pt";
    std::vector<std::string> words = layout_names();
    words.insert(words.end(), {"dtypes.pt: ", "JSON map"});
    expect_refused([&] { recognise(TensorFile::open(plain)); }, words);
    const auto script = std::filesystem::path(SPECTRA_DATA_DIR) / "checkpoints" / "script.pt";
    expect_refused([&] { recognise(TensorFile::open(script)); }, {"TorchScript"});
}

TEST(Layouts, GivenByName) {
    LayoutOptions options;
    options.layout = "tokenbender";
    EXPECT_EQ(read_stack(TensorFile::open(samples / "tokenbender.pt"), options).depth(), 22);
    expect_refused([&] { read_stack(TensorFile::open(samples / "s2hc.pt"), options); },
                   {"no mixers", "'tokenbender'", "H_res_logits"});
    options.layout = "toknbender";
    expect_refused([&] { read_stack(TensorFile::open(samples / "s2hc.pt"), options); },
                   {"'toknbender'", "deepseek-v4", "JSON map"});
}

// --- files put together here

struct Entry {
    std::string key;
    std::vector<std::size_t> shape;
    std::vector<float> values;
};

std::string safetensors(const std::vector<Entry>& entries) {
    nlohmann::ordered_json header;
    std::string data;
    for (const auto& entry : entries) {
        const auto begin = data.size();
        data.resize(begin + entry.values.size() * sizeof(float));
        if (!entry.values.empty())
            std::memcpy(data.data() + begin, entry.values.data(), entry.values.size() * sizeof(float));
        header[entry.key] = {
            {"dtype", "F32"}, {"shape", entry.shape}, {"data_offsets", {begin, data.size()}}};
    }
    return tests::safetensors(header.dump(), data);
}

Stack read_entries(const std::vector<Entry>& entries, const LayoutOptions& options = {}) {
    const auto bytes = safetensors(entries);
    return read_stack(TensorFile::from_bytes(weightfile::as_bytes(bytes), "w.st"), options);
}

/// Two streams, mixer of connection `name` by tokenbender's keys.
std::vector<Entry> logits(const std::string& name, std::vector<float> values = {0, -1, -1, 0}) {
    return {{name + ".H_res_logits", {2, 2}, std::move(values)}, {name + ".H_pre_logits", {2}, {0, 0}}};
}

std::vector<Entry> joined(const std::vector<std::vector<Entry>>& parts) {
    std::vector<Entry> all;
    for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}

TEST(Layouts, RefusalsNameKeyAndShape) {
    expect_refused(
        [] {
            read_entries(logits("h.0.hc", {0, NAN, 0, 0}));
        },
        {"w.st: ", "'h.0.hc.H_res_logits'", "2×2", "nan", "element 1"});
    expect_refused([] { read_entries(logits("h.0.hc", {0, 0, INFINITY, 0})); }, {"inf", "element 2"});
    expect_refused(
        [] {
            read_entries({{"h.0.hc.H_res_logits", {2, 3}, std::vector<float>(6)}});
        },
        {"'h.0.hc.H_res_logits'", "2×3", "must be 2×2"});
    expect_refused(
        [] {
            read_entries({{"h.0.hc.H_res_logits", {2, 2}, std::vector<float>(4)}});
        },
        {"has no key 'h.0.hc.H_pre_logits'"});
    auto wrong = logits("h.0.hc");
    wrong[1] = {"h.0.hc.H_pre_logits", {3}, {0, 0, 0}};
    expect_refused([&] { read_entries(wrong); }, {"'h.0.hc.H_pre_logits' (3)", "must have 2 elements"});
    auto larger = logits("h.1.hc");
    larger[0] = {"h.1.hc.H_res_logits", {3, 3}, std::vector<float>(9)};
    larger[1] = {"h.1.hc.H_pre_logits", {3}, std::vector<float>(3)};
    expect_refused(
        [&] {
            read_entries(joined({logits("h.0.hc"), larger}));
        },
        {"'h.1.hc' has 3 streams", "'h.0.hc' has 2"});
}

TEST(Layouts, EmptyTensorsAreRefused) {
    expect_refused([] { read_entries({{"h.0.a.H_res_logits", {0, 0}, {}}}); }, {"0×0", "is empty"});
    for (const bool lite : {false, true}) {
        const std::vector<std::size_t> shape =
            lite ? std::vector<std::size_t>{0} : std::vector<std::size_t>{0, 1};
        expect_refused(
            [&] {
                read_entries({{"h.0.a.static_alpha", shape, {}},
                              {"h.0.a.residual_scale", {1}, {1}},
                              {"h.0.a.static_beta", {0}, {}},
                              {"h.0.a.dynamic_alpha_fn", {4, 0}, {}}});
            },
            {"'h.0.a.static_alpha'"});
    }
    expect_refused(
        [] {
            read_entries(
                {{"h.0.geo.u_net.0.weight", {1, 4}, {1, 1, 1, 1}}, {"h.0.geo.u_net.2.weight", {0, 1}, {}}});
        },
        {"'h.0.geo.u_net.0.weight'", "0 streams"});
    expect_refused(
        [] {
            read_entries({{"layers.0.hc_attn_fn", {0, 4}, {}},
                          {"layers.0.hc_attn_base", {0}, {}},
                          {"layers.0.hc_attn_scale", {3}, {1, 1, 1}},
                          {"hc_head_scale", {1}, {1}}});
        },
        {"'layers.0.hc_attn_base' (0)"});
    expect_refused([] { read_entries({{"h.0.jpmhc.fused_proj.weight", {0, 4}, {}}}); }, {"3n²"});
    for (const char* const family : {"matrix", "grassmann", "bistochastic"}) {
        LayoutOptions options;
        options.map = parse_layout_map(fmt::format(R"({{"family": "{}", "key": "m"}})", family), "m.json");
        expect_refused([&] { read_entries({{"m", {0, 2, 2}, {}}}, options); }, {"'m'", "no blocks"});
        expect_refused([&] { read_entries({{"m", {2, 2, 0}, {}}}, options); }, {"'m' (2×2×0)", "0 numbers"});
    }
}

TEST(Layouts, WhatAFamilyRefusesNamesTheFile) {
    // A skew beyond 1e10, which Cayley's transform refuses.
    LayoutOptions options;
    options.map = parse_layout_map(R"({"family": "orthogonal", "key": "a.{i}"})", "m.json");
    expect_refused([&] { read_entries({{"a.0", {1}, {1e20F}}}, options); }, {"w.st: "});
    expect_refused([&] { read_stack(TensorFile::open(samples / "s2hc.pt"), at_state({1.0})); },
                   {"s2hc.pt: "});
}

TEST(Layouts, StacksThatAreRaggedAreRefused) {
    expect_refused(
        [] {
            read_entries(joined({logits("h.0.attn"), logits("h.0.mlp"), logits("h.1.attn")}));
        },
        {"block h.1", "'mlp'"});
    expect_refused(
        [] {
            read_entries(joined({logits("h.0.a"), logits("h.1.a"), logits("h.2.a"), logits("h.4.a")}));
        },
        {"block h.3", "2 and 4"});
    expect_refused(
        [] {
            read_entries(joined({logits("encoder.0.a"), logits("decoder.0.a")}));
        },
        {"'decoder.'", "'encoder.'", "one stack"});
    // A part of a model in several files, and modules with others between them.
    EXPECT_EQ(read_entries(joined({logits("h.7.a"), logits("h.8.a")})).depth(), 2);
    const auto apart = read_entries(joined({logits("h.4.a"), logits("h.0.a"), logits("h.2.a")}));
    EXPECT_EQ(apart.connections[1].name, "h.2.a");
    // One module by itself.
    std::vector<Entry> alone{{"H_res_logits", {2, 2}, {0, -1, -1, 0}}, {"H_pre_logits", {2}, {0, 0}}};
    EXPECT_EQ(read_entries(alone).connections[0].name, "");
}

TEST(Layouts, AttentionComesBeforeTheRest) {
    const auto stack = read_entries(
        joined({logits("h.0.ffn"), logits("h.0.self_attn"), logits("h.10.ffn"), logits("h.10.self_attn")}));
    EXPECT_EQ(stack.connections[0].name, "h.0.self_attn");
    EXPECT_EQ(stack.connections[1].name, "h.0.ffn");
    EXPECT_EQ(stack.connections[2].name, "h.10.self_attn");
}

TEST(Layouts, AFreshHybridHasNoDirectionToReflect) {
    // EΔ's start: all biases 0, so that k = 0 at zero input, where its code leaves the state as it is.
    std::vector<Entry> entries;
    for (const auto& [net, rows] : std::vector<std::pair<std::string, std::size_t>>{
             {"u_net", 2}, {"v_net", 2}, {"beta_net", 1}, {"k_net", 2}}) {
        entries.push_back({"h.0.geo." + net + ".0.weight", {1, 4}, {1, 2, 3, 4}});
        entries.push_back({"h.0.geo." + net + ".0.bias", {1}, {0}});
        entries.push_back({"h.0.geo." + net + ".2.weight", {rows, 1}, std::vector<float>(rows, 1)});
        entries.push_back({"h.0.geo." + net + ".2.bias", {rows}, std::vector<float>(rows)});
    }
    entries.push_back({"h.0.geo.gate_net.weight", {1, 4}, std::vector<float>(4)});
    entries.push_back({"h.0.geo.gate_net.bias", {1}, {0}});
    const auto stack = read_entries(entries);
    EXPECT_EQ(stack.layout, "edelta");
    EXPECT_EQ(stack.width, 2);
    EXPECT_LT(mixers::identity_distance(stack.connections[0].mixer), 1e-15);
}

/// Pages of this process that are in memory, files it mapped included.
std::size_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::size_t all = 0, resident = 0;
    file >> all >> resident;
    return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// 60 layers of DeepSeek-V4's shape in a file of 10 GB, of which only what is written takes place on the
/// disk.
void write_large(const std::filesystem::path& path) {
    nlohmann::ordered_json header;
    std::uint64_t size = 0;
    std::vector<std::pair<std::uint64_t, std::size_t>> written;  // places of numbers, how many
    const auto add = [&](const std::string& key, const char* dtype, const std::vector<std::uint64_t>& shape,
                         std::uint64_t bytes) {
        header[key] = {{"dtype", dtype}, {"shape", shape}, {"data_offsets", {size, size + bytes}}};
        size += bytes;
    };
    for (int layer = 0; layer < 60; ++layer) {
        const auto name = fmt::format("layers.{}.", layer);
        for (const char* const half : {"hc_attn_", "hc_ffn_"}) {
            add(name + half + "fn", "F32", {24, 16384}, std::uint64_t{24} * 16384 * 4);
            written.emplace_back(size, 24 + 3);
            add(name + half + "base", "F32", {24}, 96);
            add(name + half + "scale", "F32", {3}, 12);
        }
        add(name + "attn.wq_b.weight", "BF16", {16384, 5000}, std::uint64_t{16384} * 5000 * 2);
    }
    add("hc_head_scale", "F32", {1}, 4);
    const auto head = tests::safetensors(header.dump());
    std::ofstream file(path, std::ios::binary);
    file << head;
    for (const auto& [place, count] : written) {
        std::vector<float> numbers(count);
        for (std::size_t k = 0; k < count; ++k) numbers[k] = static_cast<float>(std::sin(double(place + k)));
        file.seekp(static_cast<std::streamoff>(head.size() + place));
        file.write(reinterpret_cast<const char*>(numbers.data()), static_cast<std::streamsize>(count * 4));
    }
    file.close();
    std::filesystem::resize_file(path, head.size() + size);
}

TEST(Layouts, TenGigabytesAreReadInPart) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "large.safetensors";
    write_large(path);
    ASSERT_GT(std::filesystem::file_size(path), 9'900'000'000U);
    const auto before = resident_bytes();
    const auto start = std::chrono::steady_clock::now();
    const auto file = TensorFile::open(path);
    const auto stack = read_stack(file);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const auto zero_bytes = resident_bytes() - std::min(before, resident_bytes());
    EXPECT_EQ(stack.depth(), 120);
    EXPECT_EQ(stack.width, 4096);
    EXPECT_LT(zero_bytes, 50'000'000U);
    EXPECT_LT(seconds.count(), 20);

    const auto again = std::chrono::steady_clock::now();
    LayoutOptions options;
    options.input.draw = InputPoint::Draw{};
    read_stack(file, options);
    const std::chrono::duration<double> drawn = std::chrono::steady_clock::now() - again;
    const auto drawn_bytes = resident_bytes() - std::min(before, resident_bytes());
#ifndef __SANITIZE_ADDRESS__  // which keeps memory that was given back
    // The 189 MB of all projections, mapped, and one of them as double.
    EXPECT_LT(drawn_bytes, 200'000'000U);
#endif
    fmt::print("10 GB, 120 connections: zero input {:.3f} s, {:.1f} MB; drawn input {:.3f} s, {:.1f} MB\n",
               seconds.count(), static_cast<double>(zero_bytes) / 1e6, drawn.count(),
               static_cast<double>(drawn_bytes) / 1e6);
}

}  // namespace
}  // namespace spectra::layouts
