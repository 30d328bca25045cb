#include "support/process.hpp"
#include "support/temporary_folder.hpp"
#include "support/written_model.hpp"
#include "validation/connection_scheme.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

/// `spectra conform`, and models by their folder.
namespace spectra {
namespace {

using Words = std::vector<std::string>;
using testing::WrittenTensor;

validation::ConnectionInput drawn(int n, int p) {
    std::mt19937 random(1);
    std::normal_distribution<double> normal;
    const auto fill = [&](Eigen::Index rows, Eigen::Index columns) {
        Eigen::MatrixXd m(rows, columns);
        for (double& x : m.reshaped()) x = 2 * normal(random);
        return m;
    };
    validation::ConnectionInput input;
    input.projection = fill(n * n + 2 * n, n * p);
    input.bias = fill(n * n + 2 * n, 1);
    input.scale << 0.1, 0.2, 0.3;
    for (int t = 0; t < 3; ++t) {
        input.states.push_back(fill(n, p));
        input.branch.push_back(fill(p, 1));
    }
    return input;
}

void append(std::vector<double>& all, const Eigen::MatrixXd& m) {
    for (const double x : m.reshaped<Eigen::RowMajor>()) all.push_back(x);
}

void write_record(const std::filesystem::path& path, const validation::ConnectionInput& input,
                  const validation::ConnectionScheme& scheme) {
    const auto n = static_cast<std::uint64_t>(input.streams()),
               p = static_cast<std::uint64_t>(input.states[0].cols());
    const std::uint64_t size = n * n + 2 * n, tokens = input.states.size();
    std::vector<WrittenTensor> tensors{
        {"fn", {size, n * p}, {}}, {"base", {size}, {}},          {"scale", {3}, {}},
        {"x", {tokens, n, p}, {}}, {"branch", {tokens, p}, {}},   {"pre", {tokens, n}, {}},
        {"post", {tokens, n}, {}}, {"mixer", {tokens, n, n}, {}}, {"output", {tokens, n, p}, {}}};
    append(tensors[0].values, input.projection);
    append(tensors[1].values, input.bias);
    append(tensors[2].values, input.scale);
    const auto outputs = validation::compute_connection(input, scheme);
    for (std::size_t t = 0; t < tokens; ++t) {
        append(tensors[3].values, input.states[t]);
        append(tensors[4].values, input.branch[t]);
        append(tensors[5].values, outputs[t].pre);
        append(tensors[6].values, outputs[t].post);
        append(tensors[7].values, outputs[t].mixer);
        append(tensors[8].values, outputs[t].output);
    }
    testing::write_file(path, testing::safetensors_of(tensors));
}

class ConformCommand : public ::testing::Test {
protected:
    ConformCommand() {
        const auto input = drawn(3, 2);
        write_record(folder_.path() / "reference.safetensors", input, {});
        write_record(folder_.path() / "same.safetensors", input, {});
        validation::ConnectionScheme wrong;
        wrong.applied_transposed = false;
        wrong.doubled_post = false;
        write_record(folder_.path() / "wrong.safetensors", input, wrong);
        write_record(folder_.path() / "other.safetensors", drawn(2, 2), {});
    }
    testing::ProcessResult run(Words words) const {
        words.insert(words.begin(), SPECTRA_BINARY);
        return testing::run_process(words, {.folder = folder_.path(), .environment = {{"TERM", "dumb"}}});
    }

    testing::TemporaryFolder folder_;
};

TEST_F(ConformCommand, SaysYes) {
    const auto result = run({"conform", "reference.safetensors", "same.safetensors"});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_NE(result.out.find("computes what DeepSeek-V4 does"), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("the same connection"), std::string::npos) << result.out;
}

TEST_F(ConformCommand, NamesWhatIsWrong) {
    const auto result = run({"conform", "reference.safetensors", "wrong.safetensors"});
    EXPECT_EQ(result.status, 1) << result.err;
    for (const char* words :
         {"the mixer is transposed", "factor 2 of post is missing", "NOT the same connection"})
        EXPECT_NE(result.out.find(words), std::string::npos) << result.out;
    const auto json = run({"conform", "reference.safetensors", "wrong.safetensors", "--json"});
    EXPECT_EQ(json.status, 1);
    const auto object = nlohmann::json::parse(json.out);
    EXPECT_EQ(object["conforms"], false);
    EXPECT_EQ(object["scheme"], "DeepSeek-V4");
    EXPECT_EQ(object["findings"], (Words{"the mixer is transposed", "factor 2 of post is missing"}));
    EXPECT_EQ(object["differences"].size(), 4U);
}

TEST_F(ConformCommand, RefusesWhatIsNotComparable) {
    const auto refused = [&](const Words& words, const std::string& fragment) {
        const auto result = run(words);
        EXPECT_EQ(result.status, 2) << result.out;
        EXPECT_EQ(result.out, "");
        EXPECT_NE(result.err.find(fragment), std::string::npos) << result.err;
        EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    };
    refused({"conform", "reference.safetensors", "other.safetensors"},
            "not comparable: 'x' has another shape");
    refused({"conform", "reference.safetensors"}, "spectra conform REFERENCE CANDIDATE");
    refused({"conform", "reference.safetensors", "nothing.safetensors"}, "nothing.safetensors: no such file");
    refused({"conform"}, "two files are required");
}

TEST_F(ConformCommand, HelpNamesItsFiles) {
    const auto result = run({"conform", "--help"});
    EXPECT_EQ(result.status, 0);
    EXPECT_NE(result.out.find("spectra conform REFERENCE CANDIDATE"), std::string::npos) << result.out;
}

class ModelFolderCommand : public ConformCommand {
protected:
    /// DeepSeek-V4's keys of two streams, in two shards.
    void write_model(const std::string& config) const {
        std::filesystem::create_directories(folder_.path() / "Model-1.5B");
        std::vector<std::pair<std::string, std::vector<WrittenTensor>>> shards;
        for (int k = 0; k < 2; ++k) {
            auto& [name, tensors] = shards.emplace_back();
            name = "model-" + std::to_string(k + 1) + ".safetensors";
            for (const char* sublayer : {"attn", "ffn"}) {
                const auto key = "model.layers." + std::to_string(k) + ".hc_" + sublayer + "_";
                tensors.push_back({key + "fn", {8, 4}, std::vector<double>(32, 0.1)});
                tensors.push_back({key + "base", {8}, {0, 1, 2, 3, 2, -1, 0, 1}});
                tensors.push_back({key + "scale", {3}, {1, 1, 1}});
            }
        }
        testing::write_shards(folder_.path() / "Model-1.5B", shards);
        testing::write_file(folder_.path() / "Model-1.5B/config.json", config);
    }
};

TEST_F(ModelFolderCommand, AFolderIsValidatedAsOneModel) {
    write_model(R"({"model_type": "deepseek_v4", "hc_sinkhorn_iters": 7})");
    const auto listed = run({"validate", "Model-1.5B", "--list"});
    EXPECT_EQ(listed.status, 0) << listed.err;
    for (const char* words : {"a model in several files (2)", "layout: deepseek-v4",
                              "model.layers.{0,1}.hc_attn_fn", "config.hc_sinkhorn_iters = 7"})
        EXPECT_NE(listed.out.find(words), std::string::npos) << listed.out;
    for (const char* path : {"Model-1.5B", "Model-1.5B/", "Model-1.5B/model.safetensors.index.json"}) {
        const auto result = run({"validate", path, "--require", "forward_gain<=1.1,backward_gain<=1.1",
                                 "--plot", "none", "--force"});
        EXPECT_EQ(result.status, 0) << result.out << result.err;
        EXPECT_NE(result.out.find("4 connections of 2 streams"), std::string::npos) << result.out;
        EXPECT_NE(result.out.find("forwards 1"), std::string::npos) << result.out;
        EXPECT_TRUE(std::filesystem::exists(folder_.path() / "spectra-validate-Model-1.5B-require1.h5") ||
                    result.out.find("spectra-validate-Model-1.5B") != std::string::npos)
            << result.out;
    }
    const auto failed = run(
        {"validate", "Model-1.5B", "--require", "backward_gain<=0.5", "--plot", "none", "--force", "--json"});
    EXPECT_EQ(failed.status, 1) << failed.err;
    const auto composite = nlohmann::json::parse(failed.out)["composite"];
    EXPECT_EQ(composite["forward_gains"].size(), 4U);
    EXPECT_NEAR(composite["forward_gain"].get<double>(), 1, 0.01);
    const auto analysed =
        run({"--model", "Model-1.5B", "--samples", "2", "--plot", "none", "--theory", "none", "--quiet"});
    EXPECT_EQ(analysed.status, 0) << analysed.err;
}

TEST_F(ModelFolderCommand, AHostileFolderIsRefusedInOneLine) {
    write_model("{}");
    const auto refused = [&](const std::string& fragment) {
        const auto result = run({"validate", "Model-1.5B", "--plot", "none"});
        EXPECT_EQ(result.status, 2) << result.out;
        EXPECT_NE(result.err.find(fragment), std::string::npos) << result.err;
        EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    };
    refused("deepseek-v4.1");
    const auto index = folder_.path() / "Model-1.5B/model.safetensors.index.json";
    testing::write_file(index,
                        R"({"weight_map": {"model.layers.0.hc_attn_fn": "../reference.safetensors"}})");
    refused("must be the name of a file in the same folder");
    testing::write_file(index, R"({"weight_map": {"model.layers.0.hc_attn_fn": "link.safetensors"}})");
    std::filesystem::create_symlink(folder_.path() / "reference.safetensors",
                                    folder_.path() / "Model-1.5B/link.safetensors");
    testing::write_file(folder_.path() / "Model-1.5B/config.json", R"({"model_type": "deepseek_v4"})");
    refused("leads out of the folder");
}

}  // namespace
}  // namespace spectra
