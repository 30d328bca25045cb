#include "weightfile/tensor_file.hpp"

#include "weightfile/contents.hpp"
#include "weightfile/gguf.hpp"
#include "weightfile/model_folder.hpp"
#include "weightfile/npy.hpp"
#include "weightfile/safetensors.hpp"
#include "weightfile/torch_file.hpp"
#include "weightfile/zip.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <mutex>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

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
    if (looks_like_npy(file)) return "is a NumPy array (.npy), not a weight file; `mixer` reads matrices";
    if (start.starts_with('\x80')) return "is a pickle, but not from torch.save";
    return "is neither a torch.save file, a TorchScript module, safetensors nor GGUF";
}

/// What torch.export.save wrote: one record of it names the program, in older and newer versions.
bool is_exported_program(const ZipArchive& archive) {
    const auto& entries = archive.entries();
    return std::any_of(entries.begin(), entries.end(), [](const auto& entry) {
        const std::string_view name = entry.name;
        return name.ends_with("serialized_exported_program.json") || name.ends_with("archive_format") ||
               (name.ends_with(".json") && name.find("models/") != std::string_view::npos);
    });
}

std::string not_torch(const ZipArchive& archive) {
    const auto& entries = archive.entries();
    if (is_exported_program(archive))
        return "is an exported program (.pt2), which takes Python to run; validate the model it was made from there: "
               "import jacobian_spectra as js; model = MyModel(); print(js.validate(model, inputs))";
    if (std::any_of(entries.begin(), entries.end(), [](const auto& entry) { return entry.name.ends_with(".npy"); }))
        return "is a NumPy archive (.npz), not a weight file; `mixer` reads its matrices";
    return "is a zip archive without data.pkl, not a torch.save file";
}

}  // namespace

bool is_weight_file(const std::filesystem::path& path) {
    if (is_model_folder(path)) return true;
    try {
        const MappedFile mapped(path.string());
        return looks_like_zip(mapped.bytes()) || looks_like_safetensors(mapped.bytes()) ||
               looks_like_gguf(mapped.bytes());
    } catch (const std::invalid_argument&) {
        return false;
    }
}

std::string_view name(Kind kind) {
    constexpr std::array<std::string_view, 5> names{"a safetensors file", "a torch.save file", "a TorchScript module",
                                                    "a model in several files", "a GGUF file"};
    return names[static_cast<std::size_t>(kind)];
}

namespace {

/// The files of a model that an index names, opened one by one.
struct Shards {
    std::vector<std::vector<std::size_t>> tensors_of;  ///< numbers of the tensors in each
    std::vector<std::size_t> shard_of;                 ///< the file of each tensor
    std::vector<std::optional<TensorFile>> opened;
    std::mutex opening;
};

/// Numbers of storages are unique over all files of a model.
constexpr unsigned shard_bits = 32;

std::size_t model_storage(std::size_t shard, std::size_t storage) {
    return (shard << shard_bits) + storage;
}

}  // namespace

struct TensorFile::Inside {
    Inside(std::string name, Bytes content) : file(std::move(name)), bytes(content) {}

    void recognise();
    void index_keys();
    void take_index(const ShardIndex& index);
    void open_shard(std::size_t number);
    const Tensor* find(std::string_view key);
    bool has_key_with(std::string_view prefix) const;
    /// The key of the dict inside `dict` that holds the model, where there is one.
    std::optional<std::string> inner_dict(const Value& dict, const std::string& prefix) const;
    Bytes bytes_of(const Storage& storage) const;
    template <class Real>
    std::vector<Real> read(const Tensor& tensor, std::size_t most_elements) const;

    std::string file;
    std::vector<std::filesystem::path> files;
    std::unique_ptr<Shards> shards;  ///< of a model in several files
    MappedFile mapped;
    Bytes bytes;
    Kind kind = Kind::safetensors;
    ZipArchive archive;
    Contents contents;
    std::vector<std::size_t> by_key;  ///< numbers of the tensors, sorted by key
};

TensorFile::TensorFile(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
TensorFile::TensorFile(TensorFile&& other) noexcept = default;
TensorFile& TensorFile::operator=(TensorFile&& other) noexcept = default;
TensorFile::~TensorFile() = default;

TensorFile TensorFile::open(const std::filesystem::path& path) {
    return is_model_folder(path) ? open_folder(path) : open_file(path);
}

TensorFile TensorFile::open_file(const std::filesystem::path& path) {
    MappedFile mapped(path.string());
    TensorFile file = from_bytes(mapped.bytes(), path.string());
    file.inside_->mapped = std::move(mapped);
    return file;
}

TensorFile TensorFile::from_bytes(std::span<const std::byte> bytes, std::string name) {
    auto inside = std::make_unique<Inside>(std::move(name), bytes);
    inside->files = {inside->file};
    inside->recognise();
    inside->index_keys();
    return TensorFile(std::move(inside));
}

TensorFile TensorFile::open_folder(const std::filesystem::path& path) {
    auto model = read_model_folder(path);
    std::unique_ptr<Inside> inside;
    if (model.index.places.empty()) {
        inside = std::move(open_file(file_in_folder(model.folder, model.index.files.front())).inside_);
        // A program is run only if the user names it.
        if (inside->kind == Kind::torch_script)
            refuse(inside->file, "is a TorchScript module, not a file of weights; name the file itself to run it");
    } else {
        inside = std::make_unique<Inside>(path.string(), Bytes{});
        inside->kind = Kind::sharded;
        for (const auto& name : model.index.files) inside->files.push_back(model.folder / name);
        inside->take_index(model.index);
        inside->index_keys();
        inside->contents.objects.all.emplace_back(Dict{});
    }
    if (model.config)
        add_config(inside->contents.objects, *model.config, (model.folder / "config.json").string());
    return TensorFile(std::move(inside));
}

Kind TensorFile::kind() const {
    return inside_->kind;
}

const std::string& TensorFile::where() const {
    return inside_->file;
}

const std::vector<std::filesystem::path>& TensorFile::files() const {
    return inside_->files;
}

const std::vector<Tensor>& TensorFile::tensors() const {
    if (inside_->shards)
        for (std::size_t k = 0; k < inside_->files.size(); ++k) inside_->open_shard(k);
    return inside_->contents.tensors;
}

std::vector<std::string> TensorFile::keys() const {
    std::vector<std::string> keys;
    keys.reserve(inside_->contents.tensors.size());
    for (const auto& tensor : inside_->contents.tensors) keys.push_back(tensor.key);
    return keys;
}

Value TensorFile::value() const {
    return {inside_->contents.objects, inside_->contents.objects.root};
}

void TensorFile::Inside::recognise() {
    if (looks_like_zip(bytes)) {
        archive = ZipArchive(bytes, file);
        const std::string root = torch_root(archive, file);
        if (root.empty()) refuse(file, not_torch(archive));
        kind = is_torch_script(archive, root) ? Kind::torch_script : Kind::torch_save;
        if (kind == Kind::torch_save) {
            contents = read_torch_file(archive, root, file);
        } else {
            contents.objects.all.emplace_back(None{});
        }
    } else if (looks_like_gguf(bytes)) {
        kind = Kind::gguf;
        contents = read_gguf(bytes, file);
    } else if (looks_like_safetensors(bytes)) {
        contents = read_safetensors(bytes, file);
    } else {
        refuse(file, std::string(advice(bytes)));
    }
}

void TensorFile::Inside::index_keys() {
    const auto& tensors = contents.tensors;
    by_key.resize(tensors.size());
    std::iota(by_key.begin(), by_key.end(), std::size_t{0});
    std::sort(by_key.begin(), by_key.end(),
              [&](auto a, auto b) { return tensors[a].key < tensors[b].key; });
    for (std::size_t k = 1; k < by_key.size(); ++k)
        if (tensors[by_key[k - 1]].key == tensors[by_key[k]].key)
            refuse(file, fmt::format("duplicate key {}", in_quotes(tensors[by_key[k]].key)));
}

void TensorFile::Inside::take_index(const ShardIndex& index) {
    shards = std::make_unique<Shards>();
    shards->tensors_of.resize(files.size());
    shards->opened.resize(files.size());
    for (const auto& [key, shard] : index.places) {
        shards->tensors_of[shard].push_back(contents.tensors.size());
        shards->shard_of.push_back(shard);
        contents.tensors.emplace_back().key = key;
    }
}

void TensorFile::Inside::open_shard(std::size_t number) {
    const std::lock_guard lock(shards->opening);
    auto& shard = shards->opened[number];
    if (shard) return;
    const auto& path = files[number];
    auto opening = TensorFile::open_file(file_in_folder(path.parent_path(), path.filename().string()));
    if (opening.kind() == Kind::torch_script) refuse(path.string(), "is a TorchScript module, not a file of weights");
    for (const auto k : shards->tensors_of[number]) {
        auto& tensor = contents.tensors[k];
        const auto* const held = opening.find(tensor.key);
        if (held == nullptr)
            refuse(path.string(), fmt::format("has no tensor {}, which the index says it has", in_quotes(tensor.key)));
        tensor = *held;
        tensor.storage = model_storage(number, held->storage);
    }
    shard = std::move(opening);
}

const Tensor* TensorFile::Inside::find(std::string_view key) {
    const auto found =
        std::lower_bound(by_key.begin(), by_key.end(), key,
                         [&](auto k, std::string_view other) { return contents.tensors[k].key < other; });
    if (found == by_key.end() || contents.tensors[*found].key != key) return nullptr;
    if (shards) open_shard(shards->shard_of[*found]);
    return &contents.tensors[*found];
}

const Tensor* TensorFile::find(std::string_view key) const {
    return inside_->find(key);
}

const Tensor& TensorFile::at(std::string_view key) const {
    const Tensor* const tensor = find(key);
    if (tensor == nullptr) refuse(where(), fmt::format("has no tensor {}", in_quotes(key)));
    return *tensor;
}

bool TensorFile::Inside::has_key_with(std::string_view prefix) const {
    const auto found =
        std::lower_bound(by_key.begin(), by_key.end(), prefix,
                         [&](auto k, std::string_view other) { return contents.tensors[k].key < other; });
    return found != by_key.end() && contents.tensors[*found].key.starts_with(prefix);
}

std::optional<std::string> TensorFile::Inside::inner_dict(const Value& dict, const std::string& prefix) const {
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
    if (kind() != Kind::torch_save) return prefix;
    for (int depth = 0; depth < deepest && dict.kind() == Value::Kind::dict; ++depth) {
        const auto key = inside_->inner_dict(dict, prefix);
        if (!key) break;
        prefix += *key + ".";
        dict = dict.find(*key).value();
    }
    return prefix;
}

std::vector<Tensor> TensorFile::state_dict() const {
    const std::string prefix = state_dict_prefix();
    std::vector<Tensor> found;
    for (const auto& tensor : tensors()) {
        if (!tensor.key.starts_with(prefix)) continue;
        found.push_back(tensor);
        found.back().key.erase(0, prefix.size());
    }
    return found;
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

Bytes TensorFile::Inside::bytes_of(const Storage& storage) const {
    if (storage.size == 0) return {};
    if (kind == Kind::safetensors || kind == Kind::gguf) return bytes.subspan(storage.place, storage.size);
    return archive.bytes(archive.entries()[storage.place]);
}

template <class Real>
std::vector<Real> TensorFile::Inside::read(const Tensor& tensor, std::size_t most_elements) const {
    if (shards) {
        const std::size_t number = tensor.storage >> shard_bits;
        if (number >= files.size() || !shards->opened[number])
            refuse(file + ": " + in_quotes(tensor.key), "is not a tensor of this model");
        Tensor inner = tensor;
        inner.storage -= model_storage(number, 0);
        return shards->opened[number]->inside_->read<Real>(inner, most_elements);
    }
    const auto place = [&] { return file + ": " + in_quotes(tensor.key); };
    if (!readable(tensor.dtype))
        refuse(place(), fmt::format("has unsupported dtype {}; must be real floating-point numbers "
                                    "of at least 8 bits, integers or bool",
                                    name(tensor.dtype)));
    const auto count = element_count(tensor.shape), end = extent(tensor);
    if (!count || *count > most_elements)
        refuse(place(), fmt::format("has {} elements; must be at most {}",
                                    count ? std::to_string(*count) : "too many", most_elements));
    if (tensor.storage >= contents.storages.size() || tensor.strides.size() != tensor.shape.size())
        refuse(place(), "is not a tensor of this file");
    const Bytes storage = bytes_of(contents.storages[tensor.storage]);
    if (!end || *end > storage.size() / (bits(tensor.dtype) / 8)) refuse(place(), "exceeds its storage");
    return widened<Real>(tensor, storage, contents.big_endian);
}

std::vector<double> TensorFile::read_doubles(const Tensor& tensor, std::size_t most_elements) const {
    return inside_->read<double>(tensor, most_elements);
}

std::vector<float> TensorFile::read_floats(const Tensor& tensor, std::size_t most_elements) const {
    return inside_->read<float>(tensor, most_elements);
}

}  // namespace spectra::weightfile
