#include "train/checkpoint_file.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

#include "report/atomic_file.hpp"

namespace spectra::train {

using torch::Tensor;

namespace {

constexpr const char* format_name = "spectra-training";
constexpr int64_t format_version = 1;

using Dict = c10::impl::GenericDict;

Dict new_dict() {
    return Dict(c10::StringType::get(), c10::AnyType::get());
}

std::filesystem::path previous(const std::filesystem::path& path) {
    return path.string() + ".previous";
}

Checkpoint parse(const std::vector<char>& bytes) {
    const auto top = torch::pickle_load(bytes).toGenericDict();
    if (top.at("format").toStringRef() != format_name) throw std::runtime_error("it is of another program");
    if (top.at("version").toInt() != format_version) throw std::runtime_error("it is of another version");
    Checkpoint c;
    c.config = top.at("config").toStringRef();
    c.step = top.at("iter_num").toInt();
    c.best_val_loss = top.at("best_val_loss").toDouble();
    for (const auto& item : top.at("model").toGenericDict())
        c.model.emplace(item.key().toStringRef(), item.value().toTensor());
    const auto optimizer = top.at("optimizer").toGenericDict();
    c.first_moment = optimizer.at("first_moment").toTensor();
    c.second_moment = optimizer.at("second_moment").toTensor();
    c.log = top.at("log").toTensor();
    c.log_columns = top.at("log_columns").toStringRef();
    c.pending = top.at("pending").toTensor();
    return c;
}

std::vector<char> bytes_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::invalid_argument(fmt::format("{}: no such file, or not readable", path.string()));
    return {std::istreambuf_iterator<char>(file), {}};
}

bool is_whole(const std::filesystem::path& path) {
    try {
        parse(bytes_of(path));
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
    top.insert("best_val_loss", c.best_val_loss);
    top.insert("model", model);
    top.insert("optimizer", optimizer);
    top.insert("log", c.log);
    top.insert("log_columns", c.log_columns);
    top.insert("pending", c.pending);
    const auto bytes = torch::pickle_save(top);

    report::AtomicFile file(path);
    file.write(bytes);
    std::error_code none_before;
    std::filesystem::remove(previous(path), none_before);
    std::filesystem::create_hard_link(path, previous(path), none_before);
    file.commit();
}

Checkpoint load_checkpoint(const std::filesystem::path& path) {
    const auto bytes = bytes_of(path);
    std::string why;
    try {
        return parse(bytes);
    } catch (const c10::Error& error) {
        why = "truncated or damaged";
    } catch (const std::exception& error) {
        why = error.what();
    }
    std::string advice;
    if (is_whole(previous(path)))
        advice = fmt::format("; {} is whole: rename it to go on from there", previous(path).string());
    throw std::invalid_argument(fmt::format("{}: not a checkpoint of spectra train: {}{}", path.string(), why, advice));
}

}  // namespace spectra::train
