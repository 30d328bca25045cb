#pragma once

#include <cstdint>

struct CUstream_st;

/// Sums over parallel streams and their gradients, without waiting. A row is a token: n streams of `width` numbers, one after
/// the other; its n×n matrices lie by rows. Addresses of rows are multiples of 16 bytes, those of matrices and weights any.
namespace spectra::train::cuda {

struct StreamSizes {
    std::int64_t rows;
    int streams, width;
};

inline bool streams_fit(std::int64_t streams, std::int64_t width) {
    return streams >= 2 && streams <= 8 && width > 0 && width % 4 == 0;
}

/// y = Σ_i pre_i x_i, `copies` times.
void read_streams(const float* pre, const float* x, float* y, int copies, StreamSizes sizes,
                  CUstream_st* stream);

/// From the gradients with respect to the copies those with respect to pre and x.
void read_streams_slope(const float* g, const float* pre, const float* x, float* pre_slope, float* x_slope,
                        int copies, StreamSizes sizes, CUstream_st* stream);

/// What write_streams reads: A (n×n), x, and post (n) and y, or null. y has one stream for all, or as many as x.
struct Written {
    const float *matrix, *x, *post, *y;
    bool all_streams;
};

/// out_i = Σ_j A_ij x_j + post_i y, with stream i of y where it has them all.
void write_streams(const Written& in, float* out, StreamSizes sizes, CUstream_st* stream);

/// From the gradient g with respect to `out` those with respect to what it was computed from.
struct WrittenSlopes {
    float *matrix, *x, *post, *y;
};
void write_streams_slope(const float* g, const Written& in, const WrittenSlopes& slopes, StreamSizes sizes,
                         CUstream_st* stream);

}  // namespace spectra::train::cuda
