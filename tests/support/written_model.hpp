#pragma once

#include "weightfile/tensor.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// Weight files of given numbers, as safetensors, and folders of them as published models have.
namespace spectra::testing {

struct WrittenTensor {
    std::string key;
    weightfile::Shape shape;
    std::vector<double> values;
};

/// A safetensors file of doubles.
inline std::string safetensors_of(const std::vector<WrittenTensor>& tensors) {
    nlohmann::ordered_json header = nlohmann::ordered_json::object();
    std::string data;
    for (const auto& tensor : tensors) {
        const auto begin = data.size();
        data.append(reinterpret_cast<const char*>(tensor.values.data()),
                    tensor.values.size() * sizeof(double));
        header[tensor.key] = {
            {"dtype", "F64"}, {"shape", tensor.shape}, {"data_offsets", {begin, data.size()}}};
    }
    const std::string text = header.dump();
    const std::uint64_t length = text.size();
    std::string file(sizeof length, '\0');
    std::memcpy(file.data(), &length, sizeof length);
    return file + text + data;
}

inline void write_file(const std::filesystem::path& path, const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
}

/// The index of shards by the keys they hold.
inline std::string index_of(const std::vector<std::pair<std::string, std::vector<WrittenTensor>>>& shards) {
    nlohmann::json map = nlohmann::json::object();
    for (const auto& [name, tensors] : shards)
        for (const auto& tensor : tensors) map[tensor.key] = name;
    return nlohmann::json{{"metadata", {{"total_size", 1}}}, {"weight_map", map}}.dump();
}

/// Writes shards and model.safetensors.index.json into a folder.
inline void write_shards(const std::filesystem::path& folder,
                         const std::vector<std::pair<std::string, std::vector<WrittenTensor>>>& shards) {
    for (const auto& [name, tensors] : shards) write_file(folder / name, safetensors_of(tensors));
    write_file(folder / "model.safetensors.index.json", index_of(shards));
}

}  // namespace spectra::testing
