#pragma once

#include <cstdint>

struct CUstream_st;

/// Norms of rows of `width` numbers, one after the other in memory, without waiting. Widths: layer_norm_fits. Addresses are
/// multiples of 16 bytes, but for `weight`.
namespace spectra::train::cuda {

/// Multiples of 128 up to 1024: every thread of a warp holds width/32 numbers of a row.
inline bool layer_norm_fits(std::int64_t width) {
    return width % 128 == 0 && width > 0 && width <= 1024;
}

/// y = weight ⊙ (x − mean)·scale, scale = (variance + epsilon)^(−½); mean and scale by row.
void layer_norm(const float* x, const float* weight, float* y, float* mean, float* scale, std::int64_t rows,
                std::int64_t width, float epsilon, CUstream_st* stream);

/// Rows of `slope_parts` that layer_norm_slope fills.
int layer_norm_parts(std::int64_t rows);

/// From the gradient g with respect to y: that with respect to x, and parts whose sum is that with respect to weight.
void layer_norm_slope(const float* g, const float* x, const float* weight, const float* mean,
                      const float* scale, float* slope, float* slope_parts, std::int64_t rows,
                      std::int64_t width, CUstream_st* stream);

}  // namespace spectra::train::cuda
