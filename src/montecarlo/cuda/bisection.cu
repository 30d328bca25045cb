#include "montecarlo/cuda/bisection.cuh"

#include "montecarlo/cuda/launch.cuh"
#include "montecarlo/cuda/warp.cuh"

#include <cmath>

namespace spectra::montecarlo::cuda {
namespace {

constexpr int block = 128;
constexpr int between_scalings = 8;
constexpr double smallest_entry2 = 0x1p-200;

/// 2^e as a double, e from −1022 to 1023.
__device__ double power_of_two(int e) {
    return __hiloint2double((e + 1023) << 20, 0);
}

/// Biased exponent.
__device__ int exponent_bits(double x) {
    return (__double2hiint(x) >> 20) & 0x7ff;
}

/// At a point: the number of singular values below it, and the last p as value·2^exponent.
struct Point {
    long long bits;
    double value;
    int exponent;
    int below;
};

/// `squares` holds b_i². With x and b_i at least 2^−100, eight steps lose at most 2^−800 of the range of double.
__device__ Point evaluate(long long bits, const double* squares, int size) {
    const double x = __longlong_as_double(bits);
    double before = 1, now = -x;
    int changes = 1, exponent = 0;
    const int terms = 2 * size - 1;
    int i = 0;
    const auto step = [&](double square) {
        const double next = fma(-x, now, -(square * before));
        changes += static_cast<int>(static_cast<unsigned>(__double2hiint(next) ^ __double2hiint(now)) >> 31);
        before = now;
        now = next;
    };
    for (; i + between_scalings <= terms; i += between_scalings) {
#pragma unroll
        for (int q = 0; q < between_scalings; ++q) step(squares[i + q]);
        const int most = max(exponent_bits(before), exponent_bits(now));
        const double scale = power_of_two(1023 - most);
        exponent += most - 1023;
        before *= scale;
        now *= scale;
    }
    for (; i < terms; ++i) step(squares[i]);
    return {bits, now, exponent, changes - size};
}

/// Between two points with one singular value between them, where p has a chord's zero.
__device__ long long chord(const Point& low, const Point& high) {
    const int exponent = min(max(high.exponent - low.exponent, -900), 900);
    const double share = 1 / (1 - high.value / low.value * power_of_two(exponent));
    const double from = __longlong_as_double(low.bits), to = __longlong_as_double(high.bits);
    const long long out = __double_as_longlong(from + share * (to - from));
    return min(max(out, low.bits + 1), high.bits - 1);
}

__device__ long long middle(long long low, long long high) {
    return low + (high - low) / 2;
}

__device__ double block_max(double x, double* shared) {
    x = largest_of_warp(x);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = x;
    __syncthreads();
    for (int warp = 0; warp < block / 32; ++warp) x = fmax(x, shared[warp]);
    __syncthreads();
    return x;
}

__device__ double block_sum(double x, double* shared) {
    x = sum_of_warp(x);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = x;
    __syncthreads();
    x = 0;
    for (int warp = 0; warp < block / 32; ++warp) x += shared[warp];
    __syncthreads();
    return x;
}

template <class Real>
__global__ __launch_bounds__(block) void bisect(int size, const Real* diagonal, const Real* beside,
                                                SampleState* states, double* log_values) {
    extern __shared__ double squares[];
    __shared__ double reductions[block / 32];
    __shared__ Point grid[block];
    const std::size_t offset = static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(size);
    diagonal += offset;
    beside += offset;
    log_values += offset;
    SampleState& state = states[blockIdx.x];
    const int value = static_cast<int>(blockIdx.y * block + threadIdx.x);

    double largest = 0, sum = 0;
    for (int i = static_cast<int>(threadIdx.x); i < size; i += block) {
        const double d = static_cast<double>(diagonal[i]);
        const double e = i + 1 < size ? static_cast<double>(beside[i]) : 0.0;
        largest = fmax(largest, fmax(fabs(d), fabs(e)));
        sum += d * d + e * e;  // keeps NaN, which fmax drops
        squares[2 * i] = d;
        if (i + 1 < size) squares[2 * i + 1] = e;
    }
    largest = block_max(largest, reductions);
    sum = block_sum(sum, reductions);
    const bool finite = isfinite(sum);
    if (blockIdx.y == 0 && threadIdx.x == 0) {
        state.norm2 = sum;
        state.info = finite ? 0 : 1;
    }
    if (!finite || largest == 0) {
        if (value < size) log_values[value] = finite ? -INFINITY : NAN;
        return;
    }
    // Entries within [-1, 1]: singular values are below 2.
    const int exponent = exponent_bits(largest) - 1022;
    const double scale = power_of_two(-exponent);
    for (int i = static_cast<int>(threadIdx.x); i < 2 * size - 1; i += block) {
        const double b = squares[i] * scale;
        squares[i] = fmax(b * b, smallest_entry2);
    }
    __syncthreads();

    // Doubles in [2^−100, 4) by their bits. Every thread takes one of `block` points, the first of them 2^−100.
    const long long lowest = __double_as_longlong(0x1p-100), highest = __double_as_longlong(4.0);
    const long long apart = (highest - lowest) / block;
    grid[threadIdx.x] = evaluate(lowest + static_cast<long long>(threadIdx.x) * apart, squares, size);
    __syncthreads();
    if (value >= size) return;
    if (grid[0].below > value) {
        log_values[value] = -INFINITY;
        return;
    }
    // Invariant: low.below ≤ value < high.below.
    int first = 0, last = block;
    while (last - first > 1) {
        const int between = (first + last) / 2;
        (grid[between].below > value ? last : first) = between;
    }
    Point low = grid[first];
    Point high = last < block ? grid[last] : Point{highest, 0, 0, size};
    int chords = 0, side = 0;
    while (high.bits - low.bits > 4) {
        const bool alone = high.below - low.below == 1 && low.value * high.value < 0;
        const bool halve = !alone || chords++ % 4 == 3;
        const Point next =
            evaluate(halve ? middle(low.bits, high.bits) : chord(low, high), squares, size);
        // An end that stays counts half as much each time: else chords would leave it where it is (Illinois).
        if (next.below > value) {
            high = next;
            low.exponent -= side > 0 ? 1 : 0;
            side = 1;
        } else {
            low = next;
            high.exponent -= side < 0 ? 1 : 0;
            side = -1;
        }
    }
    constexpr double ln2 = 0.693147180559945309417;
    log_values[value] = log(__longlong_as_double(middle(low.bits, high.bits))) + (exponent + state.exponent) * ln2;
}

}  // namespace

template <class Real>
void log_singular_values(int size, int count, const Real* diagonal, const Real* beside, SampleState* states,
                         double* log_values, cudaStream_t stream) {
    if (count == 0) return;
    const auto bytes = static_cast<std::size_t>(2 * size) * sizeof(double);
    allow_shared(bisect<Real>, bytes);
    const dim3 grid(static_cast<unsigned>(count), static_cast<unsigned>((size + block - 1) / block));
    bisect<Real><<<grid, block, bytes, stream>>>(size, diagonal, beside, states, log_values);
    check(cudaGetLastError(), "log_singular_values");
}

template void log_singular_values(int, int, const double*, const double*, SampleState*, double*,
                                  cudaStream_t);
template void log_singular_values(int, int, const float*, const float*, SampleState*, double*, cudaStream_t);

}  // namespace spectra::montecarlo::cuda
