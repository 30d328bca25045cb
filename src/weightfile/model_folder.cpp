#include "weightfile/model_folder.hpp"

#include "base/refuse.hpp"
#include "base/text.hpp"
#include "weightfile/value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>

namespace spectra::weightfile {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view index_ending = ".index.json";

/// Is it a file's name and nothing more, so that it cannot lead out of a folder?
bool is_plain_name(std::string_view name) {
    constexpr std::size_t longest = 255;
    return !name.empty() && name.size() <= longest && name != "." && name != ".." &&
           std::none_of(name.begin(), name.end(), [](char c) {
               return c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
           });
}

std::string file_of(const std::string& key, const json& value, const std::string& where) {
    if (!value.is_string())
        refuse(where, fmt::format("weight_map: {} must be the name of a file, as text", in_quotes(key)));
    auto name = value.get<std::string>();
    if (!is_plain_name(name))
        refuse(where, fmt::format("weight_map: {} is in {}; must be the name of a file in the same folder",
                                  in_quotes(key), in_quotes(name)));
    return name;
}

/// Where a file may lie after its links are followed.
bool lies_inside(const fs::path& target, const fs::path& folder) {
    if (target.parent_path() == folder) return true;
    const auto snapshots = folder.parent_path();
    return snapshots.filename() == "snapshots" && target.parent_path() == snapshots.parent_path() / "blobs";
}

bool exists_in(const fs::path& folder, const std::string& name) {
    std::error_code error;
    return fs::exists(fs::symlink_status(folder / name, error));
}

std::string text_in_folder(const fs::path& folder, const std::string& name) {
    return read_text(file_in_folder(folder, name));
}

/// The only name in the folder that ends so; nothing where there is none. Refuses several.
std::optional<std::string> only_ending(const fs::path& folder, std::string_view ending) {
    std::error_code error;
    std::optional<std::string> only;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        auto name = entry->path().filename().string();
        if (!name.ends_with(ending)) continue;
        if (only)
            refuse(folder.string(),
                   fmt::format("has several files {} and {}; name one of them, or an index of them "
                               "(model.safetensors.index.json)",
                               in_quotes(std::min(*only, name)), in_quotes(std::max(*only, name))));
        only = std::move(name);
    }
    if (error) refuse(folder.string(), "cannot be read: " + error.message());
    return only;
}

/// The file by which a folder's model is opened, as the transformers library looks for it.
std::string entry_of(const fs::path& folder) {
    for (const char* const name : {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
                                   "pytorch_model.bin.index.json"})
        if (exists_in(folder, name)) return name;
    for (const std::string_view ending :
         {std::string_view(".safetensors.index.json"), std::string_view(".safetensors")})
        if (auto name = only_ending(folder, ending)) return *name;
    refuse(folder.string(),
           "is a folder without a model; must hold model.safetensors or model.safetensors.index.json");
}

ObjectId add(Objects& objects, Object object) {
    objects.all.push_back(std::move(object));
    return static_cast<ObjectId>(objects.all.size() - 1);
}

/// At most deepest_json levels, as parse_json has checked.
ObjectId add_json(Objects& objects, const json& value) {
    if (value.is_boolean()) return add(objects, value.get<bool>());
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{INT64_MAX})
        return add(objects, value.get<double>());
    if (value.is_number_integer()) return add(objects, value.get<std::int64_t>());
    if (value.is_number_float()) return add(objects, value.get<double>());
    if (value.is_string()) return add(objects, value.get<std::string>());
    if (value.is_array()) {
        Sequence list;
        for (const auto& item : value) list.items.push_back(add_json(objects, item));
        return add(objects, std::move(list));
    }
    if (value.is_object()) {
        Dict dict;
        for (const auto& [key, item] : value.items()) {
            const ObjectId name = add(objects, key);
            dict.items.emplace_back(name, add_json(objects, item));
        }
        return add(objects, std::move(dict));
    }
    return add(objects, None{});
}

}  // namespace

ShardIndex parse_shard_index(const std::string& text, const std::string& where) {
    const json index = parse_json(text, where);
    if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object())
        refuse(where, "is not an index of weight files; must be {\"weight_map\": {key: file}}");
    const auto& map = index["weight_map"];
    if (map.empty() || map.size() > most_keys)
        refuse(where, fmt::format("weight_map has {} keys; must have 1 to {}", map.size(), most_keys));
    ShardIndex result;
    std::map<std::string, std::size_t> number_of;
    for (const auto& [key, value] : map.items()) {
        const auto file = file_of(key, value, where);
        const auto [at, fresh] = number_of.emplace(file, result.files.size());
        if (fresh) result.files.push_back(file);
        if (result.files.size() > most_shards)
            refuse(where, fmt::format("weight_map names more than {} files", most_shards));
        result.places.emplace_back(key, at->second);
    }
    std::sort(result.places.begin(), result.places.end());
    return result;
}

bool is_model_folder(const fs::path& path) {
    std::error_code error;
    return path.filename().string().ends_with(index_ending) || fs::is_directory(path, error);
}

fs::path file_in_folder(const fs::path& folder, const std::string& name) {
    const auto path = folder / name;
    std::error_code error;
    const auto status = fs::symlink_status(path, error);
    if (!fs::exists(status)) refuse(path.string(), "no such file");
    const auto target = fs::canonical(path, error);
    if (error) refuse(path.string(), "is a link that leads nowhere");
    const auto home = fs::canonical(folder, error);
    if (error || !lies_inside(target, home))
        refuse(path.string(), "is a link that leads out of the folder; must be a file in the folder");
    if (!fs::is_regular_file(target, error)) refuse(path.string(), "is not a regular file");
    return path;
}

ModelFolder read_model_folder(const fs::path& path) {
    std::error_code error;
    const bool whole = fs::is_directory(path, error);
    ModelFolder model;
    model.folder = whole ? path : path.parent_path();
    if (model.folder.empty()) model.folder = ".";
    const auto entry = whole ? entry_of(model.folder) : path.filename().string();
    if (entry.ends_with(index_ending)) {
        // An index that the user named may be a link to anywhere; its contents are checked as any.
        model.index = parse_shard_index(whole ? text_in_folder(model.folder, entry) : read_text(path),
                                        (whole ? model.folder / entry : path).string());
    } else {
        model.index.files = {entry};
    }
    if (exists_in(model.folder, "config.json")) model.config = text_in_folder(model.folder, "config.json");
    return model;
}

void add_config(Objects& objects, const std::string& text, const std::string& where) {
    const json config = parse_json(text, where);
    if (!config.is_object()) refuse(where, "must be an object of settings");
    const Value top(objects, objects.root);
    if (top.kind() != Value::Kind::dict || top.find("config")) return;
    const ObjectId name = add(objects, std::string("config"));
    const ObjectId value = add_json(objects, config);
    std::get<Dict>(objects.all[objects.root]).items.emplace_back(name, value);
}

std::string model_name(const fs::path& path) {
    if (!is_model_folder(path)) return path.stem().string();
    std::error_code error;
    auto folder = fs::is_directory(path, error) ? path : path.parent_path();
    folder = fs::absolute(folder, error).lexically_normal();
    if (!folder.has_filename()) folder = folder.parent_path();
    return folder.filename().empty() ? "model" : folder.filename().string();
}

}  // namespace spectra::weightfile
