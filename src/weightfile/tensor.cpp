#include "weightfile/tensor.hpp"

#include "weightfile/bytes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>
#include <limits>

namespace spectra::weightfile {
namespace {

static_assert(std::endian::native == std::endian::little && sizeof(std::size_t) == 8);

template <class T>
T load(const std::byte* at, bool big_endian) {
    std::array<std::byte, sizeof(T)> bytes;
    std::memcpy(bytes.data(), at, sizeof(T));
    if (big_endian) std::reverse(bytes.begin(), bytes.end());
    return std::bit_cast<T>(bytes);
}

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// Moves exponent and mantissa to their positions in a float, then corrects the bias: the factor 2^(127
/// − bias) is exact, even for subnormals.
template <int mantissa, int bias, int width>
float magnitude(unsigned code) {
    const unsigned without_sign = code & ((1U << (width - 1)) - 1);
    constexpr float scale = std::bit_cast<float>((254U - static_cast<unsigned>(bias)) << 23);
    return std::bit_cast<float>(without_sign << (23 - mantissa)) * scale;
}

template <int mantissa, int bias, int width>
float small_float(unsigned code) {
    const float value = magnitude<mantissa, bias, width>(code);
    return (code >> (width - 1)) != 0 ? -value : value;
}

/// The largest exponent holds infinity and NaN.
template <int mantissa, int bias, int width>
float ieee_float(unsigned code) {
    constexpr unsigned sign = 1U << (width - 1), one = 1U << mantissa, top = sign - one;
    if ((code & top) != top) return small_float<mantissa, bias, width>(code);
    if ((code & (one - 1)) != 0) return nan;
    const float infinity = std::numeric_limits<float>::infinity();
    return (code & sign) != 0 ? -infinity : infinity;
}

float from_e4m3fn(unsigned code) {
    return (code & 0x7FU) == 0x7FU ? nan : small_float<3, 7, 8>(code);
}
float from_e4m3fnuz(unsigned code) {
    return code == 0x80U ? nan : small_float<3, 8, 8>(code);
}
float from_e5m2fnuz(unsigned code) {
    return code == 0x80U ? nan : small_float<2, 16, 8>(code);
}
float from_e8m0fnu(unsigned code) {
    if (code == 0xFFU) return nan;
    return code == 0 ? 0x1p-127F : std::bit_cast<float>(code << 23);
}

/// Row-major order over any strides; the innermost dimension is the loop.
template <class Real, class Element>
void gather(const Tensor& tensor, const std::byte* first, std::size_t width, Element&& element,
            std::vector<Real>& out) {
    const std::size_t rank = tensor.shape.size();
    const std::uint64_t run = rank == 0 ? 1 : tensor.shape.back();
    const std::uint64_t step = rank == 0 ? 0 : tensor.strides.back() * width;
    Shape index(rank, 0);
    std::uint64_t start = tensor.offset * width;
    for (std::size_t written = 0; written < out.size();) {
        for (std::uint64_t k = 0; k < run; ++k)
            out[written++] = static_cast<Real>(element(first + start + k * step));
        for (std::size_t d = rank < 2 ? 0 : rank - 1; d-- > 0;) {
            start += tensor.strides[d] * width;
            if (++index[d] < tensor.shape[d]) break;
            start -= index[d] * tensor.strides[d] * width;
            index[d] = 0;
        }
    }
}

}  // namespace

std::optional<std::uint64_t> element_count(const Shape& shape) {
    std::uint64_t count = 1;
    bool empty = false;
    for (const std::uint64_t size : shape) {
        empty = empty || size == 0;
        if (size != 0 && __builtin_mul_overflow(count, size, &count)) return std::nullopt;
    }
    return empty ? 0 : count;
}

Shape row_major(const Shape& shape) {
    Shape strides(shape.size(), 1);
    for (std::size_t d = shape.size(); d-- > 1;)
        strides[d - 1] = strides[d] * std::max<std::uint64_t>(shape[d], 1);
    return strides;
}

std::optional<std::uint64_t> extent(const Tensor& tensor) {
    const auto count = element_count(tensor.shape);
    if (!count) return std::nullopt;
    if (*count == 0) return 0;
    std::uint64_t last = tensor.offset;
    for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
        std::uint64_t reach = 0;
        if (__builtin_mul_overflow(tensor.shape[d] - 1, tensor.strides[d], &reach) ||
            __builtin_add_overflow(last, reach, &last))
            return std::nullopt;
    }
    if (__builtin_add_overflow(last, std::uint64_t{1}, &last)) return std::nullopt;
    return last;
}

template <class Real>
std::vector<Real> widened(const Tensor& tensor, Bytes storage, bool big_endian) {
    std::vector<Real> out(element_count(tensor.shape).value());
    const auto with = [&](std::size_t width, auto element) {
        gather(tensor, storage.data(), width, element, out);
    };
    const auto plain = [&]<class T>(T) {
        with(sizeof(T), [=](const std::byte* at) { return load<T>(at, big_endian); });
    };
    const auto short_float = [&](float (*decode)(unsigned)) {
        with(2, [=](const std::byte* at) { return decode(load<std::uint16_t>(at, big_endian)); });
    };
    const auto byte_float = [&](float (*decode)(unsigned)) {
        with(1, [=](const std::byte* at) { return decode(std::to_integer<unsigned>(*at)); });
    };
    switch (tensor.dtype) {
        case Dtype::f64:
            plain(double{});
            break;
        case Dtype::f32:
            plain(float{});
            break;
        case Dtype::f16:
            short_float(ieee_float<10, 15, 16>);
            break;
        case Dtype::bf16:
            short_float([](unsigned code) { return std::bit_cast<float>(code << 16); });
            break;
        case Dtype::f8_e4m3fn:
            byte_float(from_e4m3fn);
            break;
        case Dtype::f8_e4m3fnuz:
            byte_float(from_e4m3fnuz);
            break;
        case Dtype::f8_e5m2:
            byte_float(ieee_float<2, 15, 8>);
            break;
        case Dtype::f8_e5m2fnuz:
            byte_float(from_e5m2fnuz);
            break;
        case Dtype::f8_e8m0fnu:
            byte_float(from_e8m0fnu);
            break;
        case Dtype::i64:
            plain(std::int64_t{});
            break;
        case Dtype::i32:
            plain(std::int32_t{});
            break;
        case Dtype::i16:
            plain(std::int16_t{});
            break;
        case Dtype::i8:
            plain(std::int8_t{});
            break;
        case Dtype::u64:
            plain(std::uint64_t{});
            break;
        case Dtype::u32:
            plain(std::uint32_t{});
            break;
        case Dtype::u16:
            plain(std::uint16_t{});
            break;
        case Dtype::u8:
            plain(std::uint8_t{});
            break;
        case Dtype::boolean:
            with(1, [](const std::byte* at) { return *at != std::byte{0} ? 1 : 0; });
            break;
        default:
            assert(!readable(tensor.dtype) && "asked for values that cannot be read");
    }
    return out;
}

template std::vector<double> widened(const Tensor&, Bytes, bool);
template std::vector<float> widened(const Tensor&, Bytes, bool);

}  // namespace spectra::weightfile
