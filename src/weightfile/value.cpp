#include "weightfile/value.hpp"

#include "weightfile/objects.hpp"

#include <array>

namespace spectra::weightfile {
namespace {

const Object& object_of(const Objects* objects, std::uint32_t id) {
    return objects->all[id];
}

}  // namespace

Value::Kind Value::kind() const {
    if (const auto* sequence = std::get_if<Sequence>(&object_of(objects_, id_))) {
        constexpr std::array kinds{Kind::list, Kind::tuple, Kind::set};
        return kinds[static_cast<std::size_t>(sequence->kind)];
    }
    constexpr std::array kinds{Kind::none,  Kind::boolean, Kind::integer, Kind::number, Kind::text,
                               Kind::bytes, Kind::dtype,   Kind::list,    Kind::dict,   Kind::tensor,
                               Kind::other, Kind::other,   Kind::other};
    static_assert(kinds.size() == std::variant_size_v<Object>);
    return kinds[object_of(objects_, id_).index()];
}

std::optional<bool> Value::boolean() const {
    if (const auto* value = std::get_if<bool>(&object_of(objects_, id_))) return *value;
    return std::nullopt;
}

std::optional<std::int64_t> Value::integer() const {
    if (const auto* value = std::get_if<std::int64_t>(&object_of(objects_, id_))) return *value;
    return std::nullopt;
}

std::optional<double> Value::number() const {
    if (const auto* value = std::get_if<double>(&object_of(objects_, id_))) return *value;
    if (const auto* value = std::get_if<std::int64_t>(&object_of(objects_, id_))) return static_cast<double>(*value);
    return std::nullopt;
}

std::optional<std::string_view> Value::text() const {
    if (const auto* value = std::get_if<std::string>(&object_of(objects_, id_))) return *value;
    return std::nullopt;
}

std::optional<Value> Value::find(std::string_view key) const {
    for (std::size_t k = kind() == Kind::dict ? size() : 0; k-- > 0;)
        if (this->key(k).text() == key) return item(k);
    return std::nullopt;
}

std::size_t Value::size() const {
    if (const auto* sequence = std::get_if<Sequence>(&object_of(objects_, id_))) return sequence->items.size();
    if (const auto* dict = std::get_if<Dict>(&object_of(objects_, id_))) return dict->items.size();
    return 0;
}

Value Value::item(std::size_t k) const {
    if (const auto* sequence = std::get_if<Sequence>(&object_of(objects_, id_))) return {*objects_, sequence->items[k]};
    return {*objects_, std::get<Dict>(object_of(objects_, id_)).items[k].second};
}

Value Value::key(std::size_t k) const {
    return {*objects_, std::get<Dict>(object_of(objects_, id_)).items[k].first};
}

std::string_view name(Value::Kind kind) {
    constexpr std::array<std::string_view, 13> names{
        "None", "bool",  "integer", "number", "text",   "bytes",           "dtype",
        "list", "tuple", "set",     "dict",   "tensor", "class or storage"};
    return names[static_cast<std::size_t>(kind)];
}

}  // namespace spectra::weightfile
