#pragma once

#include <type_traits>

/// Kernels are compiled for every number of streams that they take: 2 to 8.
namespace spectra::train::cuda {

/// Calls f with n as a constant.
template <class F>
void with_stream_count(int n, const F& f) {
    switch (n) {
        case 2:
            return f(std::integral_constant<int, 2>());
        case 3:
            return f(std::integral_constant<int, 3>());
        case 4:
            return f(std::integral_constant<int, 4>());
        case 5:
            return f(std::integral_constant<int, 5>());
        case 6:
            return f(std::integral_constant<int, 6>());
        case 7:
            return f(std::integral_constant<int, 7>());
        default:
            return f(std::integral_constant<int, 8>());
    }
}

}  // namespace spectra::train::cuda
