#include "weightfile/tensor_file.hpp"

#include "weightfile/safetensors.hpp"
#include "weightfile/torch_file.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <system_error>

namespace spectra::weightfile {
namespace {

constexpr std::array<std::string_view, 4> model_names{"model", "state_dict", "model_state_dict", "module"};

/// Common files of other formats, and what to do with them.
std::string_view advice(Bytes file) {
    const auto start = as_text(file.first(std::min<std::size_t>(file.size(), 64)));
    if (looks_like_legacy_torch(file))
        return "was written by torch.save before 1.6 (or without its zip format); load it with Torch and "
               "save it again";
    if (start.starts_with("version https://git-lfs"))
        return "is a Git LFS pointer, not the file itself; fetch the file";
    if (start.starts_with('\x80')) return "is a pickle, but not from torch.save";
    return "is neither a torch.save file, a TorchScript module nor safetensors";
}

}  // namespace

bool is_weight_file(const std::filesystem::path& path) {
    try {
        const MappedFile mapped(path.string());
        return looks_like_zip(mapped.bytes()) || looks_like_safetensors(mapped.bytes());
    } catch (const std::invalid_argument&) {
        return false;
    }
}

std::string_view name(Kind kind) {
    constexpr std::array<std::string_view, 3> names{"a safetensors file", "a torch.save file",
                                                    "a TorchScript module"};
    return names[static_cast<std::size_t>(kind)];
}

TensorFile TensorFile::open(const std::filesystem::path& path) {
    MappedFile mapped(path.string());
    TensorFile file = from_bytes(mapped.bytes(), path.string());
    file.mapped_ = std::move(mapped);
    return file;
}

TensorFile TensorFile::from_bytes(std::span<const std::byte> bytes, std::string name) {
    TensorFile file(std::move(name), bytes);
    file.recognise();
    file.index_keys();
    return file;
}

void TensorFile::recognise() {
    if (looks_like_zip(bytes_)) {
        archive_ = ZipArchive(bytes_, name_);
        const std::string root = torch_root(archive_, name_);
        if (root.empty()) refuse(name_, "is a zip archive without data.pkl, not a torch.save file");
        kind_ = is_torch_script(archive_, root) ? Kind::torch_script : Kind::torch_save;
        if (kind_ == Kind::torch_save) {
            contents_ = read_torch_file(archive_, root, name_);
        } else {
            contents_.objects.all.emplace_back(None{});
        }
    } else if (looks_like_safetensors(bytes_)) {
        contents_ = read_safetensors(bytes_, name_);
    } else {
        refuse(name_, std::string(advice(bytes_)));
    }
}

void TensorFile::index_keys() {
    const auto& tensors = contents_.tensors;
    by_key_.resize(tensors.size());
    std::iota(by_key_.begin(), by_key_.end(), std::size_t{0});
    std::sort(by_key_.begin(), by_key_.end(),
              [&](auto a, auto b) { return tensors[a].key < tensors[b].key; });
    for (std::size_t k = 1; k < by_key_.size(); ++k)
        if (tensors[by_key_[k - 1]].key == tensors[by_key_[k]].key)
            refuse(name_, fmt::format("duplicate key {}", in_quotes(tensors[by_key_[k]].key)));
}

const Tensor* TensorFile::find(std::string_view key) const {
    const auto found =
        std::lower_bound(by_key_.begin(), by_key_.end(), key,
                         [&](auto k, std::string_view other) { return contents_.tensors[k].key < other; });
    return found != by_key_.end() && contents_.tensors[*found].key == key ? &contents_.tensors[*found]
                                                                          : nullptr;
}

const Tensor& TensorFile::at(std::string_view key) const {
    const Tensor* const tensor = find(key);
    if (tensor == nullptr) refuse(name_, fmt::format("has no tensor {}", in_quotes(key)));
    return *tensor;
}

bool TensorFile::has_key_with(std::string_view prefix) const {
    const auto found =
        std::lower_bound(by_key_.begin(), by_key_.end(), prefix,
                         [&](auto k, std::string_view other) { return contents_.tensors[k].key < other; });
    return found != by_key_.end() && contents_.tensors[*found].key.starts_with(prefix);
}

std::optional<std::string> TensorFile::inner_dict(const Value& dict, const std::string& prefix) const {
    const auto holds_tensors = [&](std::string_view key, const Value& value) {
        return value.kind() == Value::Kind::dict && has_key_with(fmt::format("{}{}.", prefix, key));
    };
    for (const auto key : model_names)
        if (const auto value = dict.find(key); value && holds_tensors(key, *value)) return std::string(key);
    std::optional<std::string> only;
    for (std::size_t k = 0; k < dict.size(); ++k) {
        if (dict.item(k).kind() == Value::Kind::tensor) return std::nullopt;
        const auto key = dict.key(k).text();
        if (!key || !holds_tensors(*key, dict.item(k))) continue;
        if (only) return std::nullopt;
        only = std::string(*key);
    }
    return only;
}

std::string TensorFile::state_dict_prefix() const {
    constexpr int deepest = 8;  // a dict may hold itself
    std::string prefix;
    Value dict = value();
    if (kind_ != Kind::torch_save) return prefix;
    for (int depth = 0; depth < deepest && dict.kind() == Value::Kind::dict; ++depth) {
        const auto key = inner_dict(dict, prefix);
        if (!key) break;
        prefix += *key + ".";
        dict = dict.find(*key).value();
    }
    return prefix;
}

std::vector<Tensor> TensorFile::state_dict() const {
    const std::string prefix = state_dict_prefix();
    std::vector<Tensor> tensors;
    for (const auto& tensor : contents_.tensors) {
        if (!tensor.key.starts_with(prefix)) continue;
        tensors.push_back(tensor);
        tensors.back().key.erase(0, prefix.size());
    }
    return tensors;
}

std::optional<std::int64_t> TensorFile::training_step() const {
    for (const auto* const key : {"step", "global_step", "iter_num", "iteration", "iter", "steps"}) {
        const auto found = value().find(key);
        if (!found) continue;
        if (const auto number = found->integer(); number && *number >= 0) return number;
        const auto digits = found->text();
        if (!digits || digits->empty()) continue;
        std::int64_t number = 0;
        const auto* const end = digits->data() + digits->size();
        const auto [read, wrong] = std::from_chars(digits->data(), end, number);
        if (wrong == std::errc() && read == end && number >= 0) return number;
    }
    return std::nullopt;
}

Bytes TensorFile::bytes_of(const Storage& storage) const {
    if (storage.size == 0) return {};
    if (kind_ == Kind::safetensors) return bytes_.subspan(storage.place, storage.size);
    return archive_.bytes(archive_.entries()[storage.place]);
}

template <class Real>
std::vector<Real> TensorFile::read(const Tensor& tensor, std::size_t most_elements) const {
    const auto place = [&] { return name_ + ": " + in_quotes(tensor.key); };
    if (!readable(tensor.dtype))
        refuse(place(), fmt::format("has unsupported dtype {}; must be real floating-point numbers "
                                    "of at least 8 bits, integers or bool",
                                    name(tensor.dtype)));
    const auto count = element_count(tensor.shape), end = extent(tensor);
    if (!count || *count > most_elements)
        refuse(place(), fmt::format("has {} elements; must be at most {}",
                                    count ? std::to_string(*count) : "too many", most_elements));
    if (tensor.storage >= contents_.storages.size() || tensor.strides.size() != tensor.shape.size())
        refuse(place(), "is not a tensor of this file");
    const Bytes storage = bytes_of(contents_.storages[tensor.storage]);
    if (!end || *end > storage.size() / (bits(tensor.dtype) / 8)) refuse(place(), "exceeds its storage");
    return widened<Real>(tensor, storage, contents_.big_endian);
}

std::vector<double> TensorFile::read_doubles(const Tensor& tensor, std::size_t most_elements) const {
    return read<double>(tensor, most_elements);
}

std::vector<float> TensorFile::read_floats(const Tensor& tensor, std::size_t most_elements) const {
    return read<float>(tensor, most_elements);
}

}  // namespace spectra::weightfile
