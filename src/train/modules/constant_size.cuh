#pragma once

#include <type_traits>

/// Kernels are compiled for every size that they take.
namespace spectra::train::cuda {

/// Calls f with n, from `first` to `last`, as a constant.
template <int first, int last, class F>
void with_constant(int n, const F& f) {
    if constexpr (first < last)
        if (n != first) return with_constant<first + 1, last>(n, f);
    f(std::integral_constant<int, first>());
}

}  // namespace spectra::train::cuda
