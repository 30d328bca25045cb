#pragma once

#include "weightfile/objects.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Models in several files: a folder, or the index of its files. None of these files is trusted.
namespace spectra::weightfile {

/// Which file of a model holds which tensor: `weight_map` of model.safetensors.index.json.
struct ShardIndex {
    std::vector<std::string> files;                           ///< names in the folder, every one once
    std::vector<std::pair<std::string, std::size_t>> places;  ///< key and number of its file, sorted by key
};

/// Largest number of files of one model.
inline constexpr std::size_t most_shards = 4096;
/// Largest number of tensors of one model.
inline constexpr std::size_t most_keys = std::size_t{1} << 20;

/// Reads an index: {"metadata": {…}, "weight_map": {key: file}}. Refuses names that are not those of files in the
/// index's own folder (with a separator, "..", or a control character), and more than most_shards or most_keys.
ShardIndex parse_shard_index(const std::string& text, const std::string& where);

/// Whether a path is that of a model in several files: a folder, or a file named *.index.json.
bool is_model_folder(const std::filesystem::path& path);

/// What a folder is opened by, where `path` is that folder or an index in it.
struct ModelFolder {
    std::filesystem::path folder;       ///< where the files are
    ShardIndex index;                   ///< one file without an index has no places
    std::optional<std::string> config;  ///< text of config.json, where it exists
};

/// Of a folder: model.safetensors, model.safetensors.index.json, pytorch_model.bin, pytorch_model.bin.index.json, or
/// the only index or the only *.safetensors file in it. Refuses a folder without any, and one with several files and no
/// index.
ModelFolder read_model_folder(const std::filesystem::path& path);

/// The file of that name in the folder. A symbolic link must lead to a file in the same folder; or, where the folder is
/// a snapshot of the Hugging Face cache (…/snapshots/REVISION), to one in the cache's own store (…/blobs).
std::filesystem::path file_in_folder(const std::filesystem::path& folder, const std::string& name);

/// Adds the settings of a config.json to what a file holds beside its tensors, as the item "config" of its dict, unless
/// it has such an item. Refuses text that is not a JSON object.
void add_config(Objects& objects, const std::string& text, const std::string& where);

/// A model's name for people and for the names of its results: the folder's name for a folder or its index, otherwise
/// the file's name without its extension.
std::string model_name(const std::filesystem::path& path);

}  // namespace spectra::weightfile
