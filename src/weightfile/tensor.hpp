#pragma once

/// \file
/// Where a tensor of a weight file lies, and how its elements are read.

#include "weightfile/dtype.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace spectra::weightfile {

/// Sizes of a tensor's dimensions, slowest first; empty for a scalar.
using Shape = std::vector<std::uint64_t>;

/// The location of a tensor in a file: element (i_1, …, i_k) is number offset + Σ i_j strides_j of its
/// storage.
struct Tensor {
    std::string key;           ///< its name in the file
    Dtype dtype = Dtype::f32;  ///< of its elements
    Shape shape;               ///< sizes of its dimensions
    Shape strides;             ///< in elements
    std::uint64_t offset = 0;  ///< in elements
    std::size_t storage = 0;   ///< number in the file, the same for tensors that share memory
};

/// Largest number of dimensions of a tensor.
constexpr std::size_t most_dimensions = 64;

/// Number of elements, the product of the sizes; nothing where it, or that of the sizes other than 0, exceeds
/// 64 bits.
std::optional<std::uint64_t> element_count(const Shape& shape);

/// Strides of an array without gaps, the last index fastest. For shapes that have an element_count.
Shape row_major(const Shape& shape);

/// One past the last element of the storage that the tensor uses; nothing if that exceeds 64 bits.
std::optional<std::uint64_t> extent(const Tensor& tensor);

/// The elements in row-major order, each rounded once: double holds everything except 64-bit integers above
/// 2^53 exactly; float holds float16, bfloat16, float8 and integers up to 2^24. The dtype must be readable,
/// and the tensor must lie inside the storage.
template <class Real>
std::vector<Real> widened(const Tensor& tensor, std::span<const std::byte> storage, bool big_endian);

/// \cond INTERNAL
extern template std::vector<double> widened(const Tensor&, std::span<const std::byte>, bool);
extern template std::vector<float> widened(const Tensor&, std::span<const std::byte>, bool);
/// \endcond

}  // namespace spectra::weightfile
