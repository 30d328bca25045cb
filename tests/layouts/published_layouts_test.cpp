#include "layouts/layouts.hpp"

#include "support/expect_refused.hpp"
#include "support/temporary_folder.hpp"
#include "support/written_gguf.hpp"
#include "support/written_model.hpp"
#include "weightfile/tensor_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <functional>
#include <random>
#include <span>

/// Layouts of published models, in folders with a config.json. The files are written here with the names, shapes and
/// order of the public codes, and what they compute is computed again, in loops, by what these codes do with a state.
namespace spectra::layouts {
namespace {

using testing::expect_refused;
using testing::TemporaryFolder;
using testing::WrittenTensor;
using weightfile::TensorFile;
using Numbers = std::vector<double>;

constexpr int streams = 3, width = 4, channels = streams * width, size = streams * (streams + 2);

class Draw {
public:
    explicit Draw(unsigned seed) : random_(seed) {}
    Numbers numbers(std::size_t count, double scale = 1) {
        Numbers all(count);
        for (double& x : all) x = scale * normal_(random_);
        return all;
    }

private:
    std::mt19937 random_;
    std::normal_distribution<double> normal_;
};

/// One connection's raw numbers, and what a code computes from them.
struct Raw {
    Numbers fn, base, scale;
};

struct Plain {
    int sweeps = 20;
    double epsilon = 1e-6, norm_epsilon = 1e-6;
    bool epsilon_outside = false;
};

struct Computed {
    Numbers pre, post;
    std::vector<Numbers> acting;  ///< column j: what becomes of the unit state of stream j
};

double sigmoid(double x) {
    return 1 / (1 + std::exp(-x));
}

/// x: the state, stream by stream; empty for zero.
Computed computed(const Raw& raw, const Plain& plain, const Numbers& x) {
    Numbers h = raw.base;
    if (!x.empty()) {
        double square = 0;
        for (const double v : x) square += v * v / channels;
        const double norm = plain.epsilon_outside ? std::sqrt(square) + plain.norm_epsilon
                                                  : std::sqrt(square + plain.norm_epsilon);
        for (int i = 0; i < size; ++i) {
            double sum = 0;
            for (int k = 0; k < channels; ++k)
                sum += raw.fn[static_cast<std::size_t>(i * channels + k)] * x[static_cast<std::size_t>(k)];
            const int which = i < streams ? 0 : i < 2 * streams ? 1 : 2;
            h[static_cast<std::size_t>(i)] += raw.scale[static_cast<std::size_t>(which)] * sum / norm;
        }
    }
    Computed out;
    for (int i = 0; i < streams; ++i)
        out.pre.push_back(sigmoid(h[static_cast<std::size_t>(i)]) + plain.epsilon);
    for (int i = 0; i < streams; ++i)
        out.post.push_back(2 * sigmoid(h[static_cast<std::size_t>(streams + i)]));
    double m[streams][streams];
    for (int i = 0; i < streams; ++i) {
        double sum = 0;
        for (int j = 0; j < streams; ++j)
            sum += m[i][j] = std::exp(h[static_cast<std::size_t>(2 * streams + i * streams + j)]);
        for (int j = 0; j < streams; ++j) m[i][j] = m[i][j] / sum + plain.epsilon;
    }
    for (int t = 0; t < 2 * plain.sweeps - 1; ++t)
        for (int a = 0; a < streams; ++a) {
            double sum = plain.epsilon;
            for (int b = 0; b < streams; ++b) sum += t % 2 == 0 ? m[b][a] : m[a][b];
            for (int b = 0; b < streams; ++b) (t % 2 == 0 ? m[b][a] : m[a][b]) /= sum;
        }
    // The codes write stream j of the result as Σ_i comb_ij x_i.
    for (int unit = 0; unit < streams; ++unit) {
        Numbers result;
        for (int j = 0; j < streams; ++j) result.push_back(m[unit][j]);
        out.acting.push_back(result);
    }
    return out;
}

void expect_mixer(const Mixer& mixer, const Computed& expected, const std::string& place) {
    double asymmetry = 0;
    for (int i = 0; i < streams; ++i)
        for (int j = 0; j < streams; ++j) {
            EXPECT_NEAR(mixer(i, j),
                        expected.acting[static_cast<std::size_t>(j)][static_cast<std::size_t>(i)], 1e-12)
                << place;
            asymmetry = std::max(asymmetry, std::abs(mixer(i, j) - mixer(j, i)));
        }
    EXPECT_GT(asymmetry, 0.01) << place << ": cannot tell its orientation";
}

void expect_vector(const Eigen::VectorXd& x, const Numbers& expected, const std::string& place) {
    ASSERT_EQ(x.size(), static_cast<Eigen::Index>(expected.size())) << place;
    for (Eigen::Index k = 0; k < x.size(); ++k)
        EXPECT_NEAR(x(k), expected[static_cast<std::size_t>(k)], 1e-12) << place;
}

struct Written {
    std::vector<Raw> raws;  ///< in the order of application
    std::vector<WrittenTensor> tensors;
};

using Name = std::function<std::vector<WrittenTensor>(int block, bool attention, const Raw& raw)>;

/// Two blocks of two sublayers.
Written written(unsigned seed, const Name& name) {
    Draw draw(seed);
    Written all;
    for (int block = 0; block < 2; ++block)
        for (const bool attention : {true, false}) {
            all.raws.push_back(
                {draw.numbers(std::size_t{size} * channels, 0.5), draw.numbers(size, 1.5), draw.numbers(3)});
            for (auto& tensor : name(block, attention, all.raws.back()))
                all.tensors.push_back(std::move(tensor));
        }
    return all;
}

std::vector<WrittenTensor> deepseek_names(const std::string& stem, int block, bool attention,
                                          const Raw& raw) {
    const auto name = fmt::format("{}layers.{}.hc_{}_", stem, block, attention ? "attn" : "ffn");
    return {{name + "fn", {size, channels}, raw.fn},
            {name + "base", {size}, raw.base},
            {name + "scale", {3}, raw.scale}};
}

std::vector<WrittenTensor> automodel_names(int block, bool attention, const Raw& raw) {
    const auto name = fmt::format("model.language_model.layers.{}.{}_hc.", block, attention ? "attn" : "ffn");
    return {{name + "fn", {size, channels}, raw.fn},
            {name + "_fp32_params.base", {size}, raw.base},
            {name + "_fp32_params.scale", {3}, raw.scale}};
}

std::vector<WrittenTensor> megatron_names(int block, bool attention, const Raw& raw) {
    const auto name =
        fmt::format("decoder.layers.{}.{}_hyper_connection.", block, attention ? "self_attention" : "mlp");
    return {{name + "mapping_proj.weight", {size, channels}, raw.fn},
            {name + "bias", {size}, raw.base},
            {name + "alpha_pre", {1}, {raw.scale[0]}},
            {name + "alpha_post", {1}, {raw.scale[1]}},
            {name + "alpha_res", {1}, {raw.scale[2]}}};
}

/// The folder of a model: its tensors in two shards.
class Model {
public:
    Model(std::vector<WrittenTensor> tensors, const std::string& config) {
        std::vector<WrittenTensor> first, second;
        for (std::size_t k = 0; k < tensors.size(); ++k) (k % 2 == 0 ? first : second).push_back(tensors[k]);
        testing::write_shards(folder_.path(),
                              {{"model-1-of-2.safetensors", first}, {"model-2-of-2.safetensors", second}});
        if (!config.empty()) folder_.write("config.json", config);
    }
    Stack read(const LayoutOptions& options = {}) const {
        return read_stack(TensorFile::open(folder_.path()), options);
    }
    std::string layout() const { return recognise(TensorFile::open(folder_.path())); }

private:
    TemporaryFolder folder_;
};

LayoutOptions at_state(const Numbers& x) {
    LayoutOptions options;
    if (!x.empty()) options.input.state = Eigen::Map<const Eigen::VectorXd>(x.data(), channels);
    return options;
}

/// At zero input and at a state. With previous_pre, every connection reads with the pre of the one before.
void expect_read(const Model& model, const Written& expected, const Plain& plain, const std::string& layout,
                 bool previous_pre = false) {
    EXPECT_EQ(model.layout(), layout);
    Draw draw(99);
    for (const auto& x : {Numbers{}, draw.numbers(channels, 0.7)}) {
        const auto stack = model.read(at_state(x));
        EXPECT_EQ(stack.layout, layout);
        EXPECT_EQ(stack.streams, streams);
        EXPECT_EQ(stack.width, width);
        ASSERT_EQ(stack.connections.size(), expected.raws.size());
        Numbers before{1, 0, 0};
        for (std::size_t k = 0; k < expected.raws.size(); ++k) {
            const auto& c = stack.connections[k];
            const auto want = computed(expected.raws[k], plain, x);
            expect_mixer(c.mixer, want, c.name);
            expect_vector(c.post, want.post, c.name);
            expect_vector(c.pre, previous_pre ? before : want.pre, c.name);
            before = want.pre;
        }
    }
}

TEST(PublishedLayouts, DeepSeekV4WithTheSettingsOfItsConfiguration) {
    const auto all = written(1, [](int block, bool attention, const Raw& raw) {
        return deepseek_names("model.", block, attention, raw);
    });
    const Model usual(all.tensors, R"({"model_type": "deepseek_v4", "hc_mult": 3})");
    expect_read(usual, all, {}, "deepseek-v4");
    const Model other(all.tensors,
                      R"({"model_type": "deepseek_v4", "hc_mult": 3, "hc_sinkhorn_iters": 3, "hc_eps": 0.01,
                                       "rms_norm_eps": 0.1})");
    expect_read(other, all, {3, 0.01, 0.1, false}, "deepseek-v4");
}

TEST(PublishedLayouts, GlmHasItsSettingsUnderTextConfig) {
    const auto all = written(2, [](int block, bool attention, const Raw& raw) {
        return deepseek_names("model.language_model.", block, attention, raw);
    });
    const Model model(all.tensors,
                      R"({"model_type": "glm5_next", "text_config": {"model_type": "glm5_next_text",
        "hc_mult": 3, "hc_sinkhorn_iters": 5, "hc_eps": 1e-4, "rms_norm_eps": 1e-5, "num_hidden_layers": 2}})");
    expect_read(model, all, {5, 1e-4, 1e-5, false}, "deepseek-v4");
}

TEST(PublishedLayouts, AutomodelKeepsBaseAndScaleApart) {
    const auto all = written(3, automodel_names);
    const Model model(all.tensors, R"({"model_type": "glm5_next", "text_config": {"hc_sinkhorn_iters": 4}})");
    expect_read(model, all, {4, 1e-6, 1e-6, false}, "deepseek-v4");
}

TEST(PublishedLayouts, Megatron) {
    const auto all = written(4, megatron_names);
    const Model model(
        all.tensors,
        R"({"mhc_single_pass": false, "mhc_sinkhorn_iterations": 6, "num_residual_streams": 3})");
    expect_read(model, all, {6, 1e-6, 1e-6, true}, "megatron");
    const Model single(all.tensors,
                       R"({"mhc_single_pass": true, "mhc_epsilon": 1e-3, "layernorm_epsilon": 0.05})");
    expect_read(single, all, {20, 1e-3, 0.05, false}, "megatron", true);
}

TEST(PublishedLayouts, DeepSeekV41ReadsWithThePreOfTheSublayerBefore) {
    const auto all = written(5, [](int block, bool attention, const Raw& raw) {
        return deepseek_names("model.", block, attention, raw);
    });
    for (const char* const config :
         {R"({"model_type": "deepseek_v41"})", R"({"hc_pre_from_prev_sublayer": true})",
          R"({"model_type": "deepseek_v4", "hc_pre_from_prev_sublayer": true})"})
        expect_read(Model(all.tensors, config), all, {}, "deepseek-v4.1", true);
}

TEST(PublishedLayouts, WhereKeysLookAlikeNothingIsGuessed) {
    const auto all = written(6, [](int block, bool attention, const Raw& raw) {
        return deepseek_names("", block, attention, raw);
    });
    const Model bare(all.tensors, "");
    expect_refused([&] { bare.read(); }, {"V4.1", "config.json", "deepseek-v4.1"});
    LayoutOptions named;
    named.layout = "deepseek-v4";
    const auto own = bare.read(named);
    named.layout = "deepseek-v4.1";
    const auto previous = bare.read(named);
    EXPECT_EQ(previous.connections[1].pre, own.connections[0].pre);
    EXPECT_NE(previous.connections[1].pre, own.connections[1].pre);
    EXPECT_EQ(previous.connections[1].mixer, own.connections[1].mixer);
    // V4 has weights for its last sum of streams, V4.1 has none.
    auto headed = all.tensors;
    headed.push_back({"hc_head_fn", {streams, channels}, Numbers(std::size_t{streams} * channels)});
    const Model head(headed, "");
    EXPECT_EQ(head.layout(), "deepseek-v4");
    expect_refused([&] { head.read(named); }, {"hc_head", "deepseek-v4"});
    const Model said(all.tensors, R"({"model_type": "deepseek_v41"})");
    named.layout = "deepseek-v4";
    expect_refused([&] { said.read(named); }, {"config.json", "deepseek-v4.1"});
    const Model megatron(written(7, megatron_names).tensors, "");
    expect_refused([&] { megatron.read(); }, {"mhc_single_pass", "config.json"});
    named.layout = "megatron";
    EXPECT_EQ(megatron.read(named).depth(), 4);
}

TEST(PublishedLayouts, ALaterPartOfV41HasNoFirstPre) {
    const auto all = written(8, [](int block, bool attention, const Raw& raw) {
        return deepseek_names("", block + 7, attention, raw);
    });
    const Model model(all.tensors, R"({"model_type": "deepseek_v41"})");
    expect_refused([&] { model.read(); }, {"block 7", "pre of block 6", "whole model"});
}

TEST(PublishedLayouts, LayersThatPredictFurtherTokensAreNoPartOfTheStack) {
    auto all = written(9, [](int block, bool attention, const Raw& raw) {
        return deepseek_names("model.", block, attention, raw);
    });
    for (auto& tensor : written(10, [](int block, bool attention, const Raw&raw) {
                            return deepseek_names("model.", block + 2, attention, raw);
                        }).tensors)
        all.tensors.push_back(tensor);
    EXPECT_EQ(Model(all.tensors, R"({"model_type": "deepseek_v4"})").read().depth(), 8);
    expect_read(Model(all.tensors, R"({"model_type": "deepseek_v4", "num_hidden_layers": 2})"), all, {},
                "deepseek-v4");
}

TEST(PublishedLayouts, SettingsThatContradictTheTensorsAreRefused) {
    const auto all = written(11, [](int block, bool attention, const Raw& raw) {
        return deepseek_names("", block, attention, raw);
    });
    const auto refused = [&](const char* config, const std::vector<std::string>& words) {
        expect_refused([&] { Model(all.tensors, config).read(); }, words);
    };
    refused(R"({"model_type": "deepseek_v4", "hc_mult": 4})", {"hc_mult is 4", "3 streams"});
    refused(R"({"model_type": "deepseek_v4", "hc_sinkhorn_iters": 0})",
            {"hc_sinkhorn_iters is 0", "1 to 100000"});
    refused(R"({"model_type": "deepseek_v4", "hc_eps": -1})", {"hc_eps is -1", "0 to 1"});
}

TEST(PublishedLayouts, QwenAddsWithoutMixing) {
    Draw draw(12);
    std::vector<WrittenTensor> tensors;
    for (int block = 0; block < 2; ++block)
        for (const char* const sublayer : {"attn", "mlp"}) {
            const auto name =
                fmt::format("model.language_model.layers.{}.{}_hyper_connection.", block, sublayer);
            tensors.push_back({name + "hc_norm.weight", {channels}, draw.numbers(channels)});
            tensors.push_back(
                {name + "input_mix_weight_down.weight", {2, channels}, draw.numbers(2 * channels)});
            tensors.push_back(
                {name + "input_mix_weight_up.weight", {channels, 2}, draw.numbers(2 * channels)});
            tensors.push_back(
                {name + "block_inject_weight.weight", {streams, channels}, draw.numbers(streams * channels)});
        }
    tensors.push_back({"model.language_model.hyper_connection_mixer.input_mix_weight_down.weight",
                       {2, channels},
                       draw.numbers(2 * channels)});
    const Model model(tensors, R"({"text_config": {"hc_count": 3}})");
    EXPECT_EQ(model.layout(), "qwen");
    const auto stack = model.read();
    ASSERT_EQ(stack.depth(), 4);
    EXPECT_EQ(stack.width, width);
    EXPECT_EQ(stack.input, "every input");
    EXPECT_NE(stack.connections[0].name.find("0.attn"), std::string::npos);
    for (const auto& c : stack.connections) {
        EXPECT_EQ(c.mixer, Mixer(Mixer::Identity(streams, streams)));
        EXPECT_EQ(c.pre.size(), 0);
    }
    expect_refused([&] { Model(tensors, R"({"text_config": {"hc_count": 5}})").read(); },
                   {"hc_count is 5", "3 streams"});
}

TEST(PublishedLayouts, GgufFilesHaveTheirSettingsInside) {
    const auto all = written(14, [](int block, bool attention, const Raw& raw) {
        return deepseek_names("", block, attention, raw);
    });
    const auto file_of = [&](const std::string& architecture, bool head) {
        testing::Gguf gguf;
        gguf.add("general.architecture", architecture)
            .add(architecture + ".hyper_connection.count", std::uint32_t{3});
        gguf.add(architecture + ".hyper_connection.sinkhorn_iterations", std::uint32_t{5});
        gguf.add(architecture + ".hyper_connection.epsilon", 0.25F);
        gguf.add(architecture + ".attention.layer_norm_rms_epsilon", 0.125F);
        std::vector<testing::GgufTensor> tensors;
        for (const auto& t : all.tensors)
            tensors.push_back({"blk." + t.key.substr(std::string("layers.").size()) + ".weight",
                               t.shape,
                               {t.values.begin(), t.values.end()}});
        if (head) tensors.push_back({"output_hc_scale.weight", {1}, {1}});
        return gguf.file(tensors);
    };
    Draw draw(15);
    const auto x = draw.numbers(channels, 0.7);
    const auto expect = [&](const std::string& bytes, const std::string& layout, bool previous) {
        const auto file =
            TensorFile::from_bytes(std::as_bytes(std::span(bytes.data(), bytes.size())), "m.gguf");
        const auto stack = read_stack(file, at_state(x));
        EXPECT_EQ(stack.layout, layout);
        ASSERT_EQ(stack.depth(), 4);
        for (std::size_t k = 0; k < 4; ++k) {
            auto raw = all.raws[k];  // in single precision
            for (auto* numbers : {&raw.fn, &raw.base, &raw.scale})
                for (double& v : *numbers) v = static_cast<double>(static_cast<float>(v));
            const auto want = computed(raw, {5, 0.25, 0.125, false}, x);
            expect_mixer(stack.connections[k].mixer, want, layout);
            if (!previous) expect_vector(stack.connections[k].pre, want.pre, layout);
        }
        if (previous) expect_vector(stack.connections[0].pre, {1, 0, 0}, layout);
    };
    expect(file_of("deepseek4", true), "deepseek-v4", false);
    expect(file_of("glm5next", false), "deepseek-v4", false);
    expect(file_of("deepseek41", false), "deepseek-v4.1", true);
    const auto unsure = file_of("deepseek4", false);
    expect_refused(
        [&] {
            read_stack(
                TensorFile::from_bytes(std::as_bytes(std::span(unsure.data(), unsure.size())), "m.gguf"));
        },
        {"m.gguf: ", "deepseek-v4.1"});
}

/// lucidrains' mHCv2 with fractions: streams of f parts, every part mixed as a stream.
TEST(PublishedLayouts, FractionsAreMixedAsStreams) {
    constexpr int s = 2, f = 2, n = s * f, d = 3;
    Draw draw(13);
    const auto alpha = draw.numbers(n * (f + n)), fn = draw.numbers(d * (f + n), 0.5),
               gamma = draw.numbers(d, 0.2);
    const std::vector<WrittenTensor> tensors{{"layers.0.hc.static_alpha", {n, f + n}, alpha},
                                             {"layers.0.hc.dynamic_alpha_fn", {1, d, f + n}, fn},
                                             {"layers.0.hc.norm.gamma", {d}, gamma},
                                             {"layers.0.hc.pre_branch_scale", {1}, {0.3}},
                                             {"layers.0.hc.residual_scale", {1}, {0.7}},
                                             {"layers.0.hc.h_post_scale", {}, {0.1}},
                                             {"layers.0.hc.static_beta", {s, f, 1}, draw.numbers(n)},
                                             {"layers.0.hc.dynamic_beta_fn", {d, f}, draw.numbers(d * f)}};
    const auto bytes = testing::safetensors_of(tensors);
    const auto file = TensorFile::from_bytes(std::as_bytes(std::span(bytes.data(), bytes.size())), "w.st");
    const auto x = draw.numbers(n * d);
    LayoutOptions options;
    options.input.state = Eigen::Map<const Eigen::VectorXd>(x.data(), n * d);
    const auto stack = read_stack(file, options);
    EXPECT_EQ(stack.layout, "hyper-connections");
    EXPECT_EQ(stack.streams, n);
    EXPECT_EQ(stack.width, d);
    EXPECT_EQ(stack.connections.front().pre.size(), 0);
    EXPECT_EQ(stack.connections.front().post.size(), 0);

    double m[n][n];
    for (int i = 0; i < n; ++i) {
        double square = 0;
        for (int k = 0; k < d; ++k) square += std::pow(x[static_cast<std::size_t>(i * d + k)], 2);
        for (int j = 0; j < n; ++j) {
            double sum = 0;
            for (int k = 0; k < d; ++k)
                sum += x[static_cast<std::size_t>(i * d + k)] * std::sqrt(d / square) *
                       (1 + gamma[static_cast<std::size_t>(k)]) *
                       fn[static_cast<std::size_t>(k * (f + n) + f + j)];
            m[i][j] = std::exp(alpha[static_cast<std::size_t>(i * (f + n) + f + j)] + 0.7 * sum);
        }
    }
    for (int t = 0; t < 40; ++t)
        for (int a = 0; a < n; ++a) {
            double sum = 0;
            for (int b = 0; b < n; ++b) sum += t % 2 == 0 ? m[b][a] : m[a][b];
            for (int b = 0; b < n; ++b) (t % 2 == 0 ? m[b][a] : m[a][b]) /= sum;
        }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) EXPECT_NEAR(stack.connections.front().mixer(j, i), m[i][j], 1e-12);
    auto views = tensors;
    views[6].shape = {n, 1, 1};
    const auto other = testing::safetensors_of(views);
    expect_refused(
        [&] {
            read_stack(TensorFile::from_bytes(std::as_bytes(std::span(other.data(), other.size())), "w.st"));
        },
        {"static_alpha", "2 columns", "fraction"});
}

/// Sixty layers of DeepSeek-V4's shape in thirty shards of 340 MB, of which only the mixers' tensors are on the disk.
TEST(PublishedLayouts, SixtyLayersInThirtyShardsTakeSecondsAndLittleMemory) {
    constexpr std::uint64_t n = 4, p = 4096, rows = n * (n + 2), block = std::uint64_t{160} << 20;
    const TemporaryFolder folder;
    nlohmann::json map;
    for (int shard = 0; shard < 30; ++shard) {
        const auto name = fmt::format("model-{:05}-of-00030.safetensors", shard + 1);
        nlohmann::ordered_json header;
        std::vector<std::pair<std::uint64_t, Numbers>> pieces;
        std::uint64_t at = 0;
        const auto add = [&](const std::string& key, const char* dtype, const weightfile::Shape& shape,
                             std::uint64_t bytes) {
            header[key] = {{"dtype", dtype}, {"shape", shape}, {"data_offsets", {at, at + bytes}}};
            map[key] = name;
            at += bytes;
        };
        Draw draw(static_cast<unsigned>(shard));
        for (int layer = 2 * shard; layer < 2 * shard + 2; ++layer) {
            add(fmt::format("layers.{}.ffn.weight", layer), "BF16", {block / 2}, block);
            for (const char* const sublayer : {"attn", "ffn"}) {
                const auto key = fmt::format("layers.{}.hc_{}_", layer, sublayer);
                pieces.emplace_back(at, draw.numbers(rows));
                add(key + "base", "F64", {rows}, rows * 8);
                add(key + "scale", "F64", {3}, 24);
                add(key + "fn", "F32", {rows, n * p}, rows * n * p * 4);
            }
        }
        const auto text = header.dump();
        std::ofstream file(folder.path() / name, std::ios::binary);
        const std::uint64_t length = text.size();
        file.write(reinterpret_cast<const char*>(&length), sizeof length);
        file << text;
        for (const auto& [place, values] : pieces) {
            file.seekp(static_cast<std::streamoff>(8 + text.size() + place));
            file.write(reinterpret_cast<const char*>(values.data()),
                       static_cast<std::streamsize>(values.size() * 8));
        }
        file.close();
        std::filesystem::resize_file(folder.path() / name, 8 + text.size() + at);
    }
    folder.write("model.safetensors.index.json", nlohmann::json{{"weight_map", map}}.dump());
    folder.write("config.json", R"({"model_type": "deepseek_v4", "hc_mult": 4})");

    const auto began = std::chrono::steady_clock::now();
    const auto file = TensorFile::open(folder.path());
    const auto zero = read_stack(file);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
    LayoutOptions options;
    options.input.draw = InputPoint::Draw{};
    const auto drawn = read_stack(file, options);
    const std::chrono::duration<double> all = std::chrono::steady_clock::now() - began;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const double megabytes = static_cast<double>(usage.ru_maxrss) / 1024;
    EXPECT_EQ(zero.depth(), 120);
    EXPECT_EQ(drawn.width, 4096);
    EXPECT_LT(all.count(), 20);
#ifndef __SANITIZE_ADDRESS__
    EXPECT_LT(megabytes, 500);
#endif
    fmt::print(
        "60 layers in 30 shards: zero input {:.3f} s, with a drawn input {:.3f} s, at most {:.0f} MB\n",
        seconds.count(), all.count(), megabytes);
}

}  // namespace
}  // namespace spectra::layouts
