#pragma once

#include <cstddef>
#include <limits>
#include <new>
#include <vector>

namespace spectra::linalg {

/// Allocates at cache lines, so that kernels that depend on the alignment of their operands take the
/// same path, and round the same way, in every thread.
template <class T>
struct AlignedAllocator {
    using value_type = T;
    static constexpr std::align_val_t alignment{64};

    AlignedAllocator() = default;
    template <class U>
    AlignedAllocator(const AlignedAllocator<U>& /*other*/) noexcept {}

    T* allocate(std::size_t count) {
        if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
        return static_cast<T*>(::operator new(count * sizeof(T), alignment));
    }
    void deallocate(T* pointer, std::size_t /*count*/) noexcept { ::operator delete(pointer, alignment); }

    template <class U>
    bool operator==(const AlignedAllocator<U>& /*other*/) const noexcept {
        return true;
    }
};

using AlignedDoubles = std::vector<double, AlignedAllocator<double>>;

}  // namespace spectra::linalg
