#include "weightfile/torch_names.hpp"

#include "weightfile/bytes.hpp"
#include "base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace spectra::weightfile {
namespace {

constexpr std::size_t most_sizes = std::size_t{1} << 22;
constexpr std::size_t most_encoded = std::size_t{1} << 26;

struct Name {
    std::string_view module, name;
    Function function;
};

// Below protocol 3 the built-in ones have their Python 2 names.
constexpr std::array functions{
    Name{"collections", "OrderedDict", Function::ordered_dict},
    Name{"__builtin__", "set", Function::set},
    Name{"builtins", "set", Function::set},
    Name{"__builtin__", "frozenset", Function::set},
    Name{"builtins", "frozenset", Function::set},
    Name{"__builtin__", "bytes", Function::bytes},
    Name{"builtins", "bytes", Function::bytes},
    Name{"_codecs", "encode", Function::encode},
    Name{"torch", "Size", Function::size},
    Name{"torch", "device", Function::device},
    Name{"torch", "Tensor", Function::tensor_class},
    Name{"torch._utils", "_rebuild_tensor", Function::rebuild_tensor},
    Name{"torch._utils", "_rebuild_tensor_v2", Function::rebuild_tensor_v2},
    Name{"torch._utils", "_rebuild_tensor_v3", Function::rebuild_tensor_v3},
    Name{"torch._utils", "_rebuild_parameter", Function::rebuild_parameter},
    Name{"torch._utils", "_rebuild_parameter_with_state", Function::rebuild_parameter_with_state},
    Name{"torch._tensor", "_rebuild_from_type_v2", Function::rebuild_from_type},
    Name{"torch.jit._pickle", "restore_type_tag", Function::restore_type_tag},
};

std::string_view name_of(Function function) {
    for (const auto& each : functions)
        if (each.function == function) return each.name;
    return "";
}

/// Reads the arguments of a call; refuses unexpected ones.
class Arguments {
public:
    Arguments(const Unpickled& made, ObjectId tuple, const std::string& where, std::string_view what)
        : made_(made), where_(where), what_(what) {
        const auto* sequence = std::get_if<Sequence>(&made.objects.all[tuple]);
        if (sequence == nullptr || sequence->kind != Sequence::Kind::tuple)
            refuse(place(), "its arguments are not a tuple");
        items_ = &sequence->items;
    }

    std::size_t size() const { return items_->size(); }
    ObjectId id(std::size_t k) const { return (*items_)[k]; }
    const Object& object(std::size_t k) const { return made_.objects.all[id(k)]; }

    void expect(std::size_t fewest, std::size_t most) const {
        if (size() < fewest || size() > most) refuse(place(), fmt::format("has {} arguments", size()));
    }
    template <class T>
    const T& get(std::size_t k) const {
        if (const auto* value = std::get_if<T>(&object(k))) return *value;
        refuse(place(),
               fmt::format("argument {} is of kind {}", k + 1, name(Value(made_.objects, id(k)).kind())));
    }
    std::uint64_t count(std::size_t k) const { return not_negative(get<std::int64_t>(k), k); }
    Shape counts(std::size_t k) const {
        const auto& sequence = get<Sequence>(k);
        if (sequence.items.size() > most_dimensions)
            refuse(place(), fmt::format("argument {} has {} dimensions; must be at most {}", k + 1,
                                        sequence.items.size(), most_dimensions));
        Shape counts;
        for (const ObjectId item : sequence.items) {
            const auto* value = std::get_if<std::int64_t>(&made_.objects.all[item]);
            if (value == nullptr) refuse(place(), fmt::format("argument {} must hold only integers", k + 1));
            counts.push_back(not_negative(*value, k));
        }
        return counts;
    }
    std::string place() const { return fmt::format("{}: {}", where_, what_); }

private:
    std::uint64_t not_negative(std::int64_t value, std::size_t k) const {
        if (value < 0) refuse(place(), fmt::format("argument {} is {}; must be ≥ 0", k + 1, value));
        return static_cast<std::uint64_t>(value);
    }

    const Unpickled& made_;
    const std::string& where_;
    std::string_view what_;
    const std::vector<ObjectId>* items_ = nullptr;
};

ObjectId add(Unpickled& made, Object object) {
    made.objects.all.push_back(std::move(object));
    return static_cast<ObjectId>(made.objects.all.size() - 1);
}

/// Refuses bits that request negation or conjugation of the stored values.
void refuse_metadata(const Arguments& arguments, std::size_t k) {
    if (arguments.size() <= k || std::holds_alternative<None>(arguments.object(k))) return;
    if (!arguments.get<Dict>(k).items.empty())
        refuse(arguments.place(),
               "tensor has its negative or conjugate bit set; save it without (resolve_neg)");
}

Tensor tensor_from(const Unpickled& made, const Arguments& arguments, std::optional<Dtype> dtype) {
    const auto& storage = arguments.get<StoragePlace>(0);
    if (!dtype) dtype = storage.dtype;
    if (!dtype) refuse(arguments.place(), "tensor with an untyped storage and no dtype");
    Tensor tensor{{}, *dtype, arguments.counts(2), arguments.counts(3), arguments.count(1), storage.storage};
    const auto described = [&] {
        return fmt::format("a tensor of shape [{}], strides [{}], offset {}", fmt::join(tensor.shape, ", "),
                           fmt::join(tensor.strides, ", "), tensor.offset);
    };
    if (tensor.shape.size() != tensor.strides.size())
        refuse(arguments.place(), described() + ": numbers of strides and sizes differ");
    const auto end = extent(tensor);
    const NamedStorage& named = made.storages[tensor.storage];
    const std::uint64_t room = named.size / (bits(tensor.dtype) / 8);
    if (!end || *end > room)
        refuse(arguments.place(), fmt::format("{} exceeds storage {} of {} {}", described(),
                                              in_quotes(named.key), room, name(tensor.dtype)));
    return tensor;
}

ObjectId rebuild(Unpickled& made, Function function, const Arguments& arguments) {
    std::optional<Dtype> dtype;
    if (function == Function::rebuild_tensor) {
        arguments.expect(4, 4);
    } else if (function == Function::rebuild_tensor_v2) {
        arguments.expect(6, 7);
        refuse_metadata(arguments, 6);
    } else {
        arguments.expect(7, 8);
        refuse_metadata(arguments, 7);
        dtype = arguments.get<Dtype>(6);
    }
    made.tensors.push_back(tensor_from(made, arguments, dtype));
    made.sizes += made.tensors.back().shape.size() + 4;  // a scalar takes memory too
    if (made.sizes > most_sizes)
        refuse(arguments.place(), fmt::format("more than {} tensor sizes in total", most_sizes));
    return add(made, TensorPlace{made.tensors.size() - 1});
}

bool rebuilds_tensor(Function function) {
    return function == Function::rebuild_tensor || function == Function::rebuild_tensor_v2 ||
           function == Function::rebuild_tensor_v3;
}

/// Below protocol 3, bytes are written as text with one character per byte.
ObjectId encode(Unpickled& made, const Arguments& arguments) {
    arguments.expect(2, 2);
    const auto& text = arguments.get<std::string>(0);
    if (arguments.get<std::string>(1) != "latin1") refuse(arguments.place(), "argument must be bytes");
    made.encoded += text.size();
    if (made.encoded > most_encoded)
        refuse(arguments.place(), fmt::format("more than {} bytes of byte strings", most_encoded));
    ByteText result;
    for (std::size_t k = 0; k < text.size(); ++k) {
        const unsigned first = static_cast<unsigned char>(text[k]);
        if (first < 0x80U) {
            result.bytes += text[k];
            continue;
        }
        const unsigned second = k + 1 < text.size() ? static_cast<unsigned char>(text[++k]) : 0U;
        if ((first != 0xC2U && first != 0xC3U) || (second & 0xC0U) != 0x80U)
            refuse(arguments.place(), "argument must be bytes, one per character");
        result.bytes += static_cast<char>(((first & 0x03U) << 6) | (second & 0x3FU));
    }
    return add(made, std::move(result));
}

}  // namespace

std::optional<Object> known_name(std::string_view module, std::string_view name) {
    for (const auto& each : functions)
        if (each.module == module && each.name == name) return each.function;
    if ((module == "torch" || module == "torch.storage") && name == "UntypedStorage") return StorageType{};
    if (module != "torch") return std::nullopt;
    if (const auto dtype = dtype_from_storage(name)) return StorageType{dtype};
    if (const auto dtype = dtype_from_torch(name)) return *dtype;
    return std::nullopt;
}

ObjectId call(Unpickled& made, Function function, ObjectId tuple, const std::string& where) {
    const Arguments arguments(made, tuple, where, name_of(function));
    switch (function) {
        case Function::ordered_dict:
            arguments.expect(0, 0);
            return add(made, Dict{});
        case Function::set:
            arguments.expect(1, 1);
            arguments.get<Sequence>(0);
            return arguments.id(0);
        case Function::bytes:
            arguments.expect(0, 0);
            return add(made, ByteText{});
        case Function::encode:
            return encode(made, arguments);
        case Function::size:
            arguments.expect(1, 1);
            arguments.get<Sequence>(0);
            return arguments.id(0);
        case Function::device:
            arguments.expect(1, 2);
            arguments.get<std::string>(0);
            return arguments.id(0);
        case Function::rebuild_tensor:
        case Function::rebuild_tensor_v2:
        case Function::rebuild_tensor_v3:
            return rebuild(made, function, arguments);
        case Function::rebuild_parameter:
        case Function::rebuild_parameter_with_state:
            arguments.expect(3, 4);
            arguments.get<TensorPlace>(0);
            return arguments.id(0);
        case Function::rebuild_from_type: {
            arguments.expect(4, 4);
            const Function inner = arguments.get<Function>(0);
            if (!rebuilds_tensor(inner) || arguments.get<Function>(1) != Function::tensor_class)
                refuse(arguments.place(), "can rebuild only tensors");
            return rebuild(made, inner, Arguments(made, arguments.id(2), where, name_of(inner)));
        }
        case Function::restore_type_tag:
            arguments.expect(2, 2);
            arguments.get<std::string>(1);
            return arguments.id(0);
        case Function::tensor_class:
            break;
    }
    refuse(arguments.place(), "is called, but can only be named");
}

Object storage_of(Unpickled& made, ObjectId persistent_id, const std::string& where) {
    const Arguments arguments(made, persistent_id, where, "persistent id");
    arguments.expect(5, 5);
    if (arguments.get<std::string>(0) != "storage") refuse(arguments.place(), "is not the id of a storage");
    const auto dtype = arguments.get<StorageType>(1).dtype;
    const auto& key = arguments.get<std::string>(2);
    std::uint64_t size = arguments.count(4);
    if (__builtin_mul_overflow(size, dtype ? bits(*dtype) / 8 : 1, &size))
        refuse(arguments.place(), fmt::format("storage {} of {} elements is larger than any file",
                                              in_quotes(key), arguments.count(4)));
    const auto [found, added] = made.storage_numbers.try_emplace(key, made.storages.size());
    if (added) made.storages.push_back({key, size});
    if (made.storages[found->second].size != size)
        refuse(arguments.place(), fmt::format("storage {} has {} bytes here, but {} before", in_quotes(key),
                                              size, made.storages[found->second].size));
    return StoragePlace{found->second, dtype};
}

}  // namespace spectra::weightfile
