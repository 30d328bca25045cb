#pragma once

#include <cstdint>

struct CUstream_st;

/// Norms of rows of `width` numbers, one after the other in memory, without waiting. Widths: layer_norm_fits. Addresses are
/// multiples of 16 bytes, but for `weight` and `bias`.
namespace spectra::train::cuda {

/// Multiples of 128 up to 1024: every thread of a warp holds width/32 numbers of a row.
inline bool layer_norm_fits(std::int64_t width) {
    return width % 128 == 0 && width > 0 && width <= 1024;
}

/// What a norm does to a row: x − mean over (variance + epsilon)^½ or, not centred, x over (mean square + epsilon)^½; then
/// times weight, and plus bias unless that is null.
struct Norm {
    const float *weight, *bias;
    bool centred;
    float epsilon;
};

/// y of every row, its mean (0 where not centred) and scale, which x − mean was multiplied by.
void layer_norm(const float* x, const Norm& norm, float* y, float* mean, float* scale, std::int64_t rows,
                std::int64_t width, CUstream_st* stream);

/// Rows of `slope_parts` that layer_norm_slope fills.
int layer_norm_parts(std::int64_t rows);

/// From the gradient g with respect to y: that with respect to x, and parts whose sums are those with respect to weight and,
/// unless that is null, bias.
void layer_norm_slope(const float* g, const float* x, const Norm& norm, const float* mean, const float* scale,
                      float* slope, float* weight_parts, float* bias_parts, std::int64_t rows,
                      std::int64_t width, CUstream_st* stream);

}  // namespace spectra::train::cuda
