#include "weightfile/torch_file.hpp"

#include "weightfile/pickle.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spectra::weightfile {
namespace {

// An object on several paths has several keys, and a small file can contain an exponential number of
// paths.
constexpr std::size_t most_keys = std::size_t{1} << 20;
constexpr std::size_t most_bytes = std::size_t{1} << 28;
constexpr std::size_t most_visits = std::size_t{1} << 24;

/// The pickled number 0x1950A86A20F9469CFC6C with which older files begin.
constexpr std::string_view legacy_magic = "\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19";

std::string key_text(const Value& key) {
    if (const auto text = key.text()) return std::string(*text);
    if (const auto integer = key.integer()) return std::to_string(*integer);
    return fmt::format("<{}>", name(key.kind()));
}

/// Depth-first traversal of dicts, lists and tuples, without recursion. An object inside itself is not
/// entered again.
class Walk {
public:
    Walk(const Objects& objects, const std::vector<Tensor>& tensors, const std::string& where)
        : objects_(objects), tensors_(tensors), where_(where), open_(objects.all.size(), false) {}

    std::vector<Tensor> run() {
        enter(objects_.root);
        while (!path_.empty()) {
            auto& [id, next, length] = path_.back();
            const Value value(objects_, id);
            key_.resize(length);
            if (next == value.size()) {
                open_[id] = false;
                path_.pop_back();
                continue;
            }
            const std::size_t k = next++;
            if (length > 0) key_ += '.';
            key_ += value.kind() == Value::Kind::dict ? key_text(value.key(k)) : std::to_string(k);
            enter(value.item(k).id());
        }
        return std::move(found_);
    }

private:
    struct Level {
        ObjectId id;
        std::size_t next, length;
    };

    void enter(ObjectId id) {
        if (++visits_ > most_visits || found_.size() > most_keys || bytes_ > most_bytes)
            refuse(where_,
                   fmt::format("the same objects are nested in each other too often to be listed (near {})",
                               in_quotes(key_)));
        if (const auto* place = std::get_if<TensorPlace>(&objects_.all[id])) {
            found_.push_back(tensors_[place->tensor]);
            found_.back().key = key_;
            bytes_ += key_.size() + 2 * sizeof(std::uint64_t) * found_.back().shape.size();
        } else if (Value(objects_, id).size() > 0 && !open_[id]) {
            open_[id] = true;
            path_.push_back({id, 0, key_.size()});
        }
    }

    const Objects& objects_;
    const std::vector<Tensor>& tensors_;
    const std::string& where_;
    std::vector<bool> open_;
    std::vector<Level> path_;
    std::string key_;
    std::vector<Tensor> found_;
    std::size_t visits_ = 0, bytes_ = 0;
};

bool is_big_endian(const ZipArchive& archive, const std::string& root, const std::string& where) {
    const ZipEntry* entry = archive.find(root + "byteorder");
    if (entry == nullptr) return false;
    const auto order = as_text(archive.checked_bytes(*entry));
    if (order != "little" && order != "big")
        refuse(where, fmt::format("byteorder is {}; must be little or big", in_quotes(order)));
    return order == "big";
}

/// Its bytes are located on demand.
Storage find_storage(const ZipArchive& archive, const std::string& root, const NamedStorage& named,
                     const std::string& where) {
    const std::string name = root + "data/" + named.key;
    const ZipEntry* entry = archive.find(name);
    if (entry == nullptr) {
        if (named.size == 0) return {named.key, 0, 0};
        refuse(where, fmt::format("has no storage {}", in_quotes(name)));
    }
    if (entry->method == 0 && entry->size != named.size)
        refuse(where, fmt::format("storage {} has {} bytes, but data.pkl declares {}", in_quotes(name),
                                  entry->size, named.size));
    return {named.key, named.size, static_cast<std::uint64_t>(entry - archive.entries().data())};
}

}  // namespace

bool looks_like_legacy_torch(Bytes file) {
    const auto start = as_text(file.first(std::min<std::size_t>(file.size(), 32)));
    return start.starts_with('\x80') && start.find(legacy_magic) != start.npos;
}

std::string torch_root(const ZipArchive& archive, const std::string& where) {
    constexpr std::string_view end = "/data.pkl";
    std::string root;
    for (const auto& entry : archive.entries()) {
        const std::string& name = entry.name;
        if (!name.ends_with(end) || name.find('/') != name.size() - end.size()) continue;
        if (!root.empty())
            refuse(where,
                   fmt::format("has two data.pkl files, in {} and {}", in_quotes(root), in_quotes(name)));
        root = name.substr(0, name.size() - end.size() + 1);
    }
    return root;
}

bool is_torch_script(const ZipArchive& archive, const std::string& root) {
    const auto is_code = [&](const ZipEntry& entry) { return entry.name.starts_with(root + "code/"); };
    return archive.find(root + "constants.pkl") != nullptr &&
           std::any_of(archive.entries().begin(), archive.entries().end(), is_code);
}

Contents read_torch_file(const ZipArchive& archive, const std::string& root, const std::string& where) {
    Contents contents;
    contents.big_endian = is_big_endian(archive, root, where);
    const ZipEntry* pickle = archive.find(root + "data.pkl");
    if (pickle == nullptr) refuse(where, "has no data.pkl");
    Unpickled made = unpickle(archive.checked_bytes(*pickle), where + ": data.pkl");
    for (const auto& named : made.storages)
        contents.storages.push_back(find_storage(archive, root, named, where));
    contents.tensors = tensors_with_keys(made.objects, made.tensors, where);
    contents.objects = std::move(made.objects);
    return contents;
}

std::vector<Tensor> tensors_with_keys(const Objects& objects, const std::vector<Tensor>& tensors,
                                      const std::string& where) {
    return Walk(objects, tensors, where).run();
}

}  // namespace spectra::weightfile
