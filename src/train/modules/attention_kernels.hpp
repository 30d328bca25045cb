#pragma once

#include <cstdint>

struct CUstream_st;

/// Self-attention y = softmax(q kᵀ/√h) v, without waiting. Addresses are multiples of 16 bytes.
namespace spectra::train::cuda {

/// Of (batch, tokens, 3, heads, width) queries, keys and values, one token after the other in memory.
struct AttentionSizes {
    int batch, tokens, heads, width;
    bool causal;  ///< a token sees those before it, and itself
};

/// Whether there are kernels for heads of this width (16 or 32) on the current device (compute capability 8 or later).
bool self_attention_fits(std::int64_t tokens, std::int64_t width);

/// y (batch, tokens, heads, width), and the logarithms to base 2 of the sums that softmax divides by (batch, heads, tokens).
void self_attention(const float* packed, float* y, float* log_sums, const AttentionSizes& sizes,
                    CUstream_st* stream);

/// From the gradient g with respect to y: that with respect to `packed`. `along` (batch, heads, tokens) receives g · y.
void self_attention_slope(const float* g, const float* packed, const float* y, const float* log_sums,
                          float* along, float* slope, const AttentionSizes& sizes, CUstream_st* stream);

}  // namespace spectra::train::cuda
