#pragma once

/// \file
/// The element types of tensors in weight files.

#include <cstddef>
#include <optional>
#include <string_view>

namespace spectra::weightfile {

/// The type of a tensor's elements. float8: e = exponent bits, m = mantissa bits; fn: no infinities, NaN is
/// all ones; fnuz: no infinities, and the code of −0 is NaN; e8m0: 2^(code − 127).
enum class Dtype {
    f64,
    f32,
    f16,
    bf16,
    f8_e4m3fn,
    f8_e4m3fnuz,
    f8_e5m2,
    f8_e5m2fnuz,
    f8_e8m0fnu,
    i64,
    i32,
    i16,
    i8,
    u64,
    u32,
    u16,
    u8,
    boolean,
    // Listed, but their values cannot be read.
    c32,
    c64,
    c128,
    f6_e2m3,
    f6_e3m2,
    f4,
    quantised,  ///< blocks of integers with common scales, as in GGUF
};

/// Torch's name: "float32", "bfloat16", "bool".
std::string_view name(Dtype dtype);
/// Bits per element.
std::size_t bits(Dtype dtype);
/// Can its values be widened to a real number?
bool readable(Dtype dtype);

std::optional<Dtype> dtype_from_torch(std::string_view name);        ///< "float32"; whole bytes only
std::optional<Dtype> dtype_from_storage(std::string_view name);      ///< "FloatStorage"
std::optional<Dtype> dtype_from_safetensors(std::string_view name);  ///< "F32"

}  // namespace spectra::weightfile
