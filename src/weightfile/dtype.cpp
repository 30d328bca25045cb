#include "weightfile/dtype.hpp"

#include <array>

namespace spectra::weightfile {
namespace {

struct Row {
    Dtype dtype;
    std::string_view torch, storage, safetensors;
    std::size_t bits;
};

// In the order of Dtype. Types newer than Torch's typed storages have no storage name.
constexpr std::array rows{
    Row{Dtype::f64, "float64", "DoubleStorage", "F64", 64},
    Row{Dtype::f32, "float32", "FloatStorage", "F32", 32},
    Row{Dtype::f16, "float16", "HalfStorage", "F16", 16},
    Row{Dtype::bf16, "bfloat16", "BFloat16Storage", "BF16", 16},
    Row{Dtype::f8_e4m3fn, "float8_e4m3fn", "", "F8_E4M3", 8},
    Row{Dtype::f8_e4m3fnuz, "float8_e4m3fnuz", "", "F8_E4M3FNUZ", 8},
    Row{Dtype::f8_e5m2, "float8_e5m2", "", "F8_E5M2", 8},
    Row{Dtype::f8_e5m2fnuz, "float8_e5m2fnuz", "", "F8_E5M2FNUZ", 8},
    Row{Dtype::f8_e8m0fnu, "float8_e8m0fnu", "", "F8_E8M0", 8},
    Row{Dtype::i64, "int64", "LongStorage", "I64", 64},
    Row{Dtype::i32, "int32", "IntStorage", "I32", 32},
    Row{Dtype::i16, "int16", "ShortStorage", "I16", 16},
    Row{Dtype::i8, "int8", "CharStorage", "I8", 8},
    Row{Dtype::u64, "uint64", "", "U64", 64},
    Row{Dtype::u32, "uint32", "", "U32", 32},
    Row{Dtype::u16, "uint16", "", "U16", 16},
    Row{Dtype::u8, "uint8", "ByteStorage", "U8", 8},
    Row{Dtype::boolean, "bool", "BoolStorage", "BOOL", 8},
    Row{Dtype::c32, "complex32", "ComplexHalfStorage", "", 32},
    Row{Dtype::c64, "complex64", "ComplexFloatStorage", "C64", 64},
    Row{Dtype::c128, "complex128", "ComplexDoubleStorage", "", 128},
    Row{Dtype::f6_e2m3, "float6_e2m3", "", "F6_E2M3", 6},
    Row{Dtype::f6_e3m2, "float6_e3m2", "", "F6_E3M2", 6},
    Row{Dtype::f4, "float4", "", "F4", 4},
    Row{Dtype::quantised, "quantised", "", "", 0},
};

constexpr bool in_order() {
    for (std::size_t k = 0; k < rows.size(); ++k)
        if (static_cast<std::size_t>(rows[k].dtype) != k) return false;
    return rows.back().dtype == Dtype::quantised;
}
static_assert(in_order());

const Row& row(Dtype dtype) {
    return rows[static_cast<std::size_t>(dtype)];
}

std::optional<Dtype> find(std::string_view Row::*column, std::string_view name) {
    for (const auto& each : rows)
        if (!name.empty() && each.*column == name) return each.dtype;
    return std::nullopt;
}

}  // namespace

std::string_view name(Dtype dtype) {
    return row(dtype).torch;
}

std::size_t bits(Dtype dtype) {
    return row(dtype).bits;
}

bool readable(Dtype dtype) {
    return dtype <= Dtype::boolean;
}

std::optional<Dtype> dtype_from_torch(std::string_view name) {
    const auto dtype = find(&Row::torch, name);
    return dtype && bits(*dtype) > 0 && bits(*dtype) % 8 == 0 ? dtype : std::nullopt;
}

std::optional<Dtype> dtype_from_storage(std::string_view name) {
    return find(&Row::storage, name);
}

std::optional<Dtype> dtype_from_safetensors(std::string_view name) {
    return find(&Row::safetensors, name);
}

}  // namespace spectra::weightfile
