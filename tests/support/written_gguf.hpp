#pragma once

#include "weightfile/tensor.hpp"

#include <cstring>
#include <string>
#include <vector>

/// GGUF files put together byte by byte.
namespace spectra::testing {

struct GgufTensor {
    std::string key;
    weightfile::Shape shape;  ///< slowest first
    std::vector<float> values;
    std::uint32_t type = 0;  ///< 0: F32
};

class Gguf {
public:
    template <class T>
    static std::string raw(T value) {
        return {reinterpret_cast<const char*>(&value), sizeof value};
    }
    static std::string text(const std::string& words) { return raw(std::uint64_t{words.size()}) + words; }

    Gguf& add(const std::string& key, const std::string& value) { return entry(key, 8, text(value)); }
    Gguf& add(const std::string& key, std::uint32_t value) { return entry(key, 4, raw(value)); }
    Gguf& add(const std::string& key, float value) { return entry(key, 6, raw(value)); }
    Gguf& add_flag(const std::string& key, bool value) { return entry(key, 7, raw(value)); }
    Gguf& entry(const std::string& key, std::uint32_t type, const std::string& value) {
        metadata_ += text(key) + raw(type) + value;
        ++entries_;
        return *this;
    }

    /// The whole file, its data aligned to 32 bytes.
    std::string file(const std::vector<GgufTensor>& tensors, std::uint32_t version = 3) const {
        std::string infos, data;
        for (const auto& tensor : tensors) {
            data.resize((data.size() + 31) / 32 * 32);
            infos += text(tensor.key) + raw(static_cast<std::uint32_t>(tensor.shape.size()));
            for (auto size = tensor.shape.rbegin(); size != tensor.shape.rend(); ++size) infos += raw(*size);
            infos += raw(tensor.type) + raw(std::uint64_t{data.size()});
            data.append(reinterpret_cast<const char*>(tensor.values.data()),
                        tensor.values.size() * sizeof(float));
        }
        std::string head =
            "GGUF" + raw(version) + raw(std::uint64_t{tensors.size()}) + raw(entries_) + metadata_ + infos;
        head.resize((head.size() + 31) / 32 * 32);
        return head + data;
    }

private:
    std::string metadata_;
    std::uint64_t entries_ = 0;
};

}  // namespace spectra::testing
