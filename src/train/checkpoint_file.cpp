#include "train/checkpoint_file.hpp"

#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/serialization/pickler.h>

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <vector>

#include "weightfile/tensor_file.hpp"
#include "weightfile/zip.hpp"
#include "base/atomic_file.hpp"

namespace spectra::train {

using torch::Tensor;

namespace {

constexpr const char* format_name = "spectra-training";
constexpr int64_t format_version = 1;

using Dict = c10::impl::GenericDict;

Dict new_dict() {
    return Dict(c10::StringType::get(), c10::AnyType::get());
}

/// As torch::pickle_save, without the types of dictionaries, which torch.load(weights_only=True) refuses. Torch 1.13 also
/// refuses numbers with a fraction: these are tensors.
std::string pickled(const c10::IValue& value) {
    std::string data;
    torch::jit::Pickler pickler([&](const char* bytes, std::size_t count) { data.append(bytes, count); },
                                nullptr, nullptr, nullptr, nullptr, false);
    pickler.protocol();
    pickler.pushIValue(value);
    pickler.stop();

    std::string file;
    caffe2::serialize::PyTorchStreamWriter writer([&](const void* bytes, std::size_t count) {
        file.append(static_cast<const char*>(bytes), count);
        return count;
    });
    writer.writeRecord("data.pkl", data.data(), data.size());
    for (std::size_t k = 0; k < pickler.tensorData().size(); ++k) {
        const auto content = torch::jit::getWriteableTensorData(pickler.tensorData()[k]);
        writer.writeRecord(fmt::format("data/{}", k), content.data(), content.sizeInBytes());
    }
    writer.writeEndOfFile();
    return file;
}

std::filesystem::path previous(const std::filesystem::path& path) {
    return path.string() + ".previous";
}

/// A tensor of the file as a Torch tensor, in its precision (double or float).
Tensor tensor_of(const weightfile::TensorFile& file, const weightfile::Tensor& stored) {
    const std::vector<int64_t> shape(stored.shape.begin(), stored.shape.end());
    const auto shaped = [&](const auto& values, torch::ScalarType type) {
        return torch::from_blob(const_cast<void*>(static_cast<const void*>(values.data())), shape, type)
            .clone();
    };
    return stored.dtype == weightfile::Dtype::f64 ? shaped(file.read_doubles(stored), torch::kDouble)
                                                  : shaped(file.read_floats(stored), torch::kFloat);
}

/// The entry of the file's dictionary under a name; throws std::runtime_error if there is none.
template <class T>
T required(const std::optional<T>& found, const char* name) {
    if (!found) throw std::runtime_error(fmt::format("has no '{}'", name));
    return *found;
}

Checkpoint parse(const std::vector<char>& bytes, const std::string& where) {
    // Not read by Torch, which verifies no checksums.
    const auto raw = std::as_bytes(std::span(bytes));
    const weightfile::ZipArchive archive(raw, where);
    for (const auto& entry : archive.entries()) archive.checked_bytes(entry);
    const auto file = weightfile::TensorFile::from_bytes(raw, where);
    const auto top = file.value();
    const auto entry = [&](const char* name) { return required(top.find(name), name); };
    if (top.kind() != weightfile::Value::Kind::dict || !top.find("format") ||
        entry("format").text() != format_name)
        throw std::runtime_error("written by another program");
    if (entry("version").integer() != format_version) throw std::runtime_error("written by another version");
    Checkpoint c;
    c.config = required(entry("config").text(), "config");
    c.step = required(entry("iter_num").integer(), "iter_num");
    const auto* const loss = file.find("best_val_loss");  // a number in earlier files
    c.best_val_loss = loss != nullptr && loss->shape.empty()
                          ? file.read_doubles(*loss).front()
                          : required(entry("best_val_loss").number(), "best_val_loss");
    const std::string model = "model.", carried = "carried.";
    for (const auto& tensor : file.tensors()) {
        if (tensor.key.starts_with(model))
            c.model.emplace(tensor.key.substr(model.size()), tensor_of(file, tensor));
        if (tensor.key.starts_with(carried))
            c.carried.emplace(tensor.key.substr(carried.size()), tensor_of(file, tensor));
    }
    c.first_moment = tensor_of(file, file.at("optimizer.first_moment"));
    c.second_moment = tensor_of(file, file.at("optimizer.second_moment"));
    c.log = tensor_of(file, file.at("log"));
    c.pending = tensor_of(file, file.at("pending"));
    if (const auto tokeniser = top.find("tokeniser")) c.tokeniser = required(tokeniser->text(), "tokeniser");
    c.log_columns = required(entry("log_columns").text(), "log_columns");
    return c;
}

std::vector<char> bytes_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::invalid_argument(fmt::format("{}: no such file, or not readable", path.string()));
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Messages of the reader begin with the file's name.
std::string without_name(const std::string& message, const std::string& name) {
    return message.starts_with(name + ": ") ? message.substr(name.size() + 2) : message;
}

bool is_whole(const std::filesystem::path& path) {
    try {
        parse(bytes_of(path), path.string());
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

}  // namespace

void save_checkpoint(const std::filesystem::path& path, const Checkpoint& c) {
    auto model = new_dict();
    for (const auto& [name, tensor] : c.model) model.insert(name, tensor.detach().cpu().clone());
    auto optimizer = new_dict();
    optimizer.insert("first_moment", c.first_moment.cpu());
    optimizer.insert("second_moment", c.second_moment.cpu());
    auto top = new_dict();
    top.insert("format", format_name);
    top.insert("version", format_version);
    top.insert("config", c.config);
    top.insert("iter_num", c.step);
    top.insert("best_val_loss", torch::tensor(c.best_val_loss, torch::kDouble));
    top.insert("model", model);
    top.insert("optimizer", optimizer);
    top.insert("log", c.log);
    top.insert("log_columns", c.log_columns);
    top.insert("pending", c.pending);
    if (!c.tokeniser.empty()) top.insert("tokeniser", c.tokeniser);
    if (!c.carried.empty()) {
        auto carried = new_dict();
        for (const auto& [name, tensor] : c.carried) carried.insert(name, tensor.cpu().clone());
        top.insert("carried", carried);
    }
    AtomicFile file(path);
    file.write(pickled(top));
    std::error_code none_before;
    std::filesystem::remove(previous(path), none_before);
    std::filesystem::create_hard_link(path, previous(path), none_before);
    file.commit();
}

Checkpoint load_checkpoint(const std::filesystem::path& path) {
    const auto bytes = bytes_of(path);
    std::string why;
    try {
        return parse(bytes, path.string());
    } catch (const std::invalid_argument& error) {
        why = fmt::format("truncated or damaged ({})", without_name(error.what(), path.string()));
    } catch (const std::runtime_error& error) {
        why = error.what();
    }
    std::string advice;
    if (is_whole(previous(path)))
        advice = fmt::format("; {} is intact: rename it to resume from it", previous(path).string());
    throw std::invalid_argument(
        fmt::format("{}: not a checkpoint of spectra train: {}{}", path.string(), why, advice));
}

}  // namespace spectra::train
