#pragma once

#include <cstdint>

struct CUstream_st;

/// Mappings of a token's few numbers and their gradients, without waiting, for n×n matrices with n from 2 to 8. Rows of what is
/// read begin `stride` numbers apart.
namespace spectra::train::cuda {

struct MappingSizes {
    std::int64_t rows;
    int n;
    std::int64_t stride;
};

/// Of logits L and M (n×n each) over the temperature: pre, the mean of the rows of L's row softmax, and post, the row sums of
/// M's column softmax.
void softmax_routes(const float* logits, float temperature, float* pre, float* post, MappingSizes sizes,
                    CUstream_st* stream);

/// From the gradients with respect to pre and post that with respect to the logits, row after row.
void softmax_routes_slope(const float* pre_slope, const float* post_slope, const float* logits,
                          float temperature, float* slope, MappingSizes sizes, CUstream_st* stream);

/// Y₀ = I + αW, then `iterations` times Y = I + (α/2)W(I + Y), W = R − Rᵀ.
void cayley_iterative(const float* raw, float step, int iterations, float* y, MappingSizes sizes,
                      CUstream_st* stream);

/// From the gradient g with respect to Y that with respect to R, row after row.
void cayley_iterative_slope(const float* g, const float* raw, float step, int iterations, float* slope,
                            MappingSizes sizes, CUstream_st* stream);

}  // namespace spectra::train::cuda
