#include "weightfile/model_folder.hpp"

#include "support/expect_refused.hpp"
#include "support/temporary_folder.hpp"
#include "support/written_model.hpp"
#include "weightfile/tensor_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace spectra::weightfile {
namespace {

namespace fs = std::filesystem;
using testing::expect_refused;
using testing::TemporaryFolder;
using testing::write_shards;

/// Two shards of two tensors each.
void write_example(const fs::path& folder) {
    write_shards(folder, {{"a.safetensors", {{"x.0", {2}, {1, 2}}, {"x.1", {2}, {3, 4}}}},
                          {"b.safetensors", {{"x.2", {2, 1}, {5, 6}}, {"y", {1}, {7}}}}});
}

TEST(ModelFolder, AFolderAndItsIndexAreOneModel) {
    const TemporaryFolder folder;
    write_example(folder.path());
    testing::write_file(folder.path() / "config.json",
                        R"({"hc_eps": 1e-5, "names": ["a", null], "text_config": {"n": 4}})");
    for (const auto& path : {folder.path(), folder.path() / "model.safetensors.index.json"}) {
        EXPECT_TRUE(is_weight_file(path));
        const auto file = TensorFile::open(path);
        EXPECT_EQ(file.kind(), Kind::sharded);
        EXPECT_EQ(file.where(), path.string());
        EXPECT_EQ(file.files().size(), 2U);
        EXPECT_EQ(file.keys(), (std::vector<std::string>{"x.0", "x.1", "x.2", "y"}));
        EXPECT_EQ(file.read_doubles(file.at("x.2")), (std::vector<double>{5, 6}));
        EXPECT_EQ(file.at("x.2").shape, (Shape{2, 1}));
        EXPECT_EQ(file.tensors().size(), 4U);
        EXPECT_EQ(file.read_doubles(file.tensors()[1]), (std::vector<double>{3, 4}));
        EXPECT_EQ(file.read_floats(file.at("y")), (std::vector<float>{7}));
        EXPECT_EQ(file.find("z"), nullptr);
        const auto config = file.value().find("config").value();
        EXPECT_EQ(config.find("hc_eps")->number(), 1e-5);
        EXPECT_EQ(config.find("names")->item(0).text(), "a");
        EXPECT_EQ(config.find("text_config")->find("n")->integer(), 4);
        EXPECT_EQ(file.state_dict_prefix(), "");
        EXPECT_EQ(file.training_step(), std::nullopt);
    }
}

TEST(ModelFolder, StoragesOfDifferentShardsDiffer) {
    const TemporaryFolder folder;
    write_example(folder.path());
    const auto file = TensorFile::open(folder.path());
    EXPECT_NE(file.at("x.0").storage, file.at("x.2").storage);
}

TEST(ModelFolder, ShardsAreOpenedAsNeeded) {
    const TemporaryFolder folder;
    write_example(folder.path());
    fs::remove(folder.path() / "b.safetensors");
    const auto file = TensorFile::open(folder.path());
    EXPECT_EQ(file.keys().size(), 4U);
    EXPECT_EQ(file.read_doubles(file.at("x.1")), (std::vector<double>{3, 4}));
    expect_refused([&] { file.at("y"); }, {(folder.path() / "b.safetensors").string() + ": no such file"});
    expect_refused([&] { file.tensors(); }, {"b.safetensors: no such file"});
}

TEST(ModelFolder, OneFileNeedsNoIndex) {
    for (const char* const name : {"model.safetensors", "other.safetensors"}) {
        const TemporaryFolder folder;
        folder.write(name, testing::safetensors_of({{"x", {1}, {3}}}));
        folder.write("config.json", R"({"hc_mult": 4})");
        const auto file = TensorFile::open(folder.path());
        EXPECT_EQ(file.kind(), Kind::safetensors);
        EXPECT_EQ(file.where(), (folder.path() / name).string());
        EXPECT_EQ(file.read_doubles(file.at("x")), (std::vector<double>{3}));
        EXPECT_EQ(file.value().find("config")->find("hc_mult")->integer(), 4);
    }
    // The settings of a torch.save file are its own.
    const TemporaryFolder folder;
    fs::copy(fs::path(SPECTRA_DATA_DIR) / "layouts/tokenbender.pt", folder.path() / "pytorch_model.bin");
    folder.write("config.json", R"({"sinkhorn_iters": 999})");
    const auto file = TensorFile::open(folder.path());
    EXPECT_EQ(file.kind(), Kind::torch_save);
    EXPECT_NE(file.value().find("config")->find("sinkhorn_iters")->integer(), 999);
}

TEST(ModelFolder, TorchShardsAreReadToo) {
    const TemporaryFolder folder;
    fs::copy(fs::path(SPECTRA_DATA_DIR) / "checkpoints/state_dict.pt",
             folder.path() / "pytorch_model-1-of-1.bin");
    const auto whole = TensorFile::open(fs::path(SPECTRA_DATA_DIR) / "checkpoints/state_dict.pt");
    nlohmann::json map;
    for (const auto& key : whole.keys()) map[key] = "pytorch_model-1-of-1.bin";
    folder.write("pytorch_model.bin.index.json", nlohmann::json{{"weight_map", map}}.dump());
    const auto file = TensorFile::open(folder.path());
    EXPECT_EQ(file.tensors().size(), whole.tensors().size());
    for (const auto& tensor : file.tensors()) {
        if (!readable(tensor.dtype)) continue;
        EXPECT_EQ(file.read_doubles(tensor), whole.read_doubles(whole.at(tensor.key))) << tensor.key;
    }
}

TEST(ModelFolder, WithoutAModelIsRefused) {
    const TemporaryFolder folder;
    expect_refused([&] { TensorFile::open(folder.path()); },
                   {folder.path().string() + ": ", "without a model"});
    folder.write("a.safetensors", testing::safetensors_of({{"x", {1}, {3}}}));
    folder.write("b.safetensors", testing::safetensors_of({{"y", {1}, {3}}}));
    expect_refused([&] { TensorFile::open(folder.path()); },
                   {"'a.safetensors' and 'b.safetensors'", "index"});
}

TEST(ModelFolder, TheIndexIsNotTrusted) {
    const auto refused = [](const std::string& text, const std::vector<std::string>& words) {
        expect_refused([&] { parse_shard_index(text, "m.json"); }, words);
    };
    refused("[]", {"m.json: ", "is not an index", "weight_map"});
    refused("{", {"m.json: not JSON"});
    refused(R"({"weight_map": {}})", {"0 keys"});
    refused(R"({"weight_map": []})", {"is not an index"});
    refused(R"({"weight_map": {"a": 1}})", {"'a'", "name of a file"});
    for (const char* const name :
         {"../a.safetensors", "/etc/passwd", "..", ".", "", "a/b", "a\\\\b", "a\\u0000b", "a\\nb"})
        refused(fmt::format(R"({{"weight_map": {{"key": "{}"}}}})", name),
                {"m.json: weight_map: 'key' is in ", "name of a file in the same folder"});
    refused(R"({"weight_map": {"a": "x", "a": "y"}})", {"m.json: ", "a"});
    nlohmann::json many;
    for (std::size_t k = 0; k <= most_shards; ++k)
        many[std::to_string(k)] = std::to_string(k) + ".safetensors";
    refused(nlohmann::json{{"weight_map", many}}.dump(), {"more than 4096 files"});
}

TEST(ModelFolder, LinksThatLeadOutOfTheFolderAreRefused) {
    const TemporaryFolder outside, folder;
    outside.write("a.safetensors", testing::safetensors_of({{"x", {1}, {3}}}));
    folder.write("model.safetensors.index.json", R"({"weight_map": {"x": "a.safetensors"}})");
    fs::create_symlink(outside.path() / "a.safetensors", folder.path() / "a.safetensors");
    const auto file = TensorFile::open(folder.path());
    expect_refused([&] { file.at("x"); }, {"a.safetensors: ", "leads out of the folder"});
    fs::remove(folder.path() / "a.safetensors");
    fs::create_symlink("nowhere", folder.path() / "a.safetensors");
    expect_refused([&] { file.at("x"); }, {"a.safetensors: ", "leads nowhere"});
    fs::remove(folder.path() / "a.safetensors");
    fs::create_directory(folder.path() / "a.safetensors");
    expect_refused([&] { file.at("x"); }, {"a.safetensors: is not a regular file"});
    fs::remove(folder.path() / "a.safetensors");
    fs::create_symlink(outside.write("config.json", "{}"), folder.path() / "config.json");
    expect_refused([&] { TensorFile::open(folder.path()); }, {"config.json: ", "leads out of the folder"});
}

TEST(ModelFolder, LinksInsideTheFolderAndThoseOfTheHuggingFaceCacheAreFollowed) {
    const TemporaryFolder cache;
    fs::create_directories(cache.path() / "blobs");
    fs::create_directories(cache.path() / "snapshots/0123");
    const auto snapshot = cache.path() / "snapshots/0123";
    testing::write_file(cache.path() / "blobs/beef", testing::safetensors_of({{"x", {1}, {3}}}));
    testing::write_file(cache.path() / "blobs/cafe",
                        R"({"weight_map": {"x": "a.safetensors", "y": "b.safetensors"}})");
    fs::create_symlink("../../blobs/beef", snapshot / "a.safetensors");
    fs::create_symlink("../../blobs/cafe", snapshot / "model.safetensors.index.json");
    testing::write_file(snapshot / "c.safetensors", testing::safetensors_of({{"y", {1}, {4}}}));
    fs::create_symlink("c.safetensors", snapshot / "b.safetensors");
    const auto file = TensorFile::open(snapshot);
    EXPECT_EQ(file.read_doubles(file.at("x")), (std::vector<double>{3}));
    EXPECT_EQ(file.read_doubles(file.at("y")), (std::vector<double>{4}));
}

TEST(ModelFolder, WhatAShardLacksIsNamed) {
    const TemporaryFolder folder;
    folder.write("a.safetensors", testing::safetensors_of({{"x", {1}, {3}}}));
    folder.write("model.safetensors.index.json",
                 R"({"weight_map": {"x": "a.safetensors", "z": "a.safetensors"}})");
    const auto file = TensorFile::open(folder.path());
    expect_refused([&] { file.at("x"); }, {"a.safetensors: has no tensor 'z'", "index"});
    // An index is no shard, not even of itself.
    folder.write("self.index.json", R"({"weight_map": {"x": "self.index.json"}})");
    const auto self = TensorFile::open(folder.path() / "self.index.json");
    expect_refused([&] { self.at("x"); }, {"self.index.json: is neither"});
}

TEST(ModelFolder, AProgramIsNoModelOfAFolder) {
    const auto script = fs::path(SPECTRA_DATA_DIR) / "checkpoints/script.pt";
    const TemporaryFolder folder, sharded;
    fs::copy(script, folder.path() / "pytorch_model.bin");
    expect_refused([&] { TensorFile::open(folder.path()); }, {"pytorch_model.bin: is a TorchScript module"});
    fs::copy(script, sharded.path() / "a.bin");
    sharded.write("pytorch_model.bin.index.json", R"({"weight_map": {"x": "a.bin"}})");
    const auto file = TensorFile::open(sharded.path());
    expect_refused([&] { file.at("x"); }, {"a.bin: is a TorchScript module"});
}

TEST(ModelFolder, AConfigurationMustBeAnObject) {
    const TemporaryFolder folder;
    folder.write("model.safetensors", testing::safetensors_of({{"x", {1}, {3}}}));
    folder.write("config.json", "[1]");
    expect_refused([&] { TensorFile::open(folder.path()); }, {"config.json: must be an object"});
    folder.write("config.json", "{\"a\": ");
    expect_refused([&] { TensorFile::open(folder.path()); }, {"config.json: not JSON"});
}

TEST(ModelFolder, NamesForPeople) {
    const TemporaryFolder folder;
    fs::create_directory(folder.path() / "Model-1.5B");
    EXPECT_EQ(model_name(folder.path() / "Model-1.5B"), "Model-1.5B");
    EXPECT_EQ(model_name(folder.path() / "Model-1.5B/"), "Model-1.5B");
    EXPECT_EQ(model_name(folder.path() / "Model-1.5B/model.safetensors.index.json"), "Model-1.5B");
    EXPECT_EQ(model_name("weights/step-10.pt"), "step-10");
}

}  // namespace
}  // namespace spectra::weightfile
