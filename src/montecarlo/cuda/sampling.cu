#include "montecarlo/cuda/sampling.cuh"

#include "montecarlo/cuda/reflection.cuh"
#include "montecarlo/cuda/warp.cuh"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace spectra::montecarlo::cuda {
namespace {

constexpr int block = 256;

/// Philox4x32-10.
__device__ uint4 philox(uint4 counter, uint2 key) {
#pragma unroll
    for (int round = 0; round < 10; ++round) {
        const std::uint32_t high0 = __umulhi(0xD2511F53U, counter.x), low0 = 0xD2511F53U * counter.x;
        const std::uint32_t high1 = __umulhi(0xCD9E8D57U, counter.z), low1 = 0xCD9E8D57U * counter.z;
        counter = {high1 ^ counter.y ^ key.x, low1, high0 ^ counter.w ^ key.y, low0};
        key.x += 0x9E3779B9U;
        key.y += 0xBB67AE85U;
    }
    return counter;
}

/// (k + ½)·2^−52, k the upper 52 bits.
__device__ double unit_interval(std::uint32_t high, std::uint32_t low) {
    const double one_and = __hiloint2double(static_cast<int>(0x3ff00000U | high >> 12U),
                                            static_cast<int>(high << 20U | low >> 12U));
    return one_and - (1 - 0x1p-53);
}

__device__ double2 uniform_pair(Draws draws, std::uint32_t purpose, std::uint32_t sample,
                                std::uint32_t number) {
    const uint4 word =
        philox({number, 0, draws.first + sample, purpose << 24U | draws.layer},
               {static_cast<std::uint32_t>(draws.seed), static_cast<std::uint32_t>(draws.seed >> 32U)});
    return {unit_interval(word.x, word.y), unit_interval(word.z, word.w)};
}

/// In constant memory, from where instructions take them: in code each would take two more.
struct Polynomials {
    double log[7] = {-2 * 6.666666666666735130e-01, -2 * 3.999999999940941908e-01,
                     -2 * 2.857142874366239149e-01, -2 * 2.222219843214978396e-01,
                     -2 * 1.818357216161805012e-01, -2 * 1.531383769920937332e-01,
                     -2 * 1.479819860511658591e-01};
    double sine[6] = {-1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
                      2.75573137070700676789e-06,  -2.50507602534068634195e-08, 1.58969099521155010221e-10};
    double cosine[6] = {4.16666666666666019037e-02,  -1.38888888888741095749e-03, 2.48015872894767294178e-05,
                        -2.75573143513906633035e-07, 2.08757232129817482790e-09,  -1.13596475577881948265e-11};
};
__constant__ Polynomials fitted;

/// Σ_k c_k x^k.
template <int count>
__device__ double polynomial(const double (&c)[count], double x) {
    double out = c[count - 1];
#pragma unroll
    for (int k = count - 2; k >= 0; --k) out = fma(out, x, c[k]);
    return out;
}

/// √(−2 ln u), 0 < u < 1, to two units of the last digit. With u = 2^e m, m from √½ to √2, and s = (m − 1)/(m + 1),
///
///     ln u = e ln 2 + 2 s + s³ (⅔ + …),
///
/// the polynomial that is best there (the C library of FreeBSD, like those of the sine and the cosine).
__device__ double radius_of(double u) {
    const int high = __double2hiint(u), exponent = (high - 0x3fe6a09e) >> 20;
    const double m = __hiloint2double(high - (exponent << 20), __double2loint(u));
    // 2^52 + 2^31 + e, and the integer again.
    const double e = __hiloint2double(0x43300000, exponent ^ static_cast<int>(0x80000000)) - (0x1p52 + 0x1p31);
    const double s = (m - 1) * inverse(m + 1), z = s * s;
    const double square = fma(e, -2 * 0.693147180559945309417, s * fma(z, polynomial(fitted.log, z), -4.0));
    return square * inverse_root(square);
}

/// Sine and cosine of 2π u, 0 ≤ u ≤ 1, to two units of the last digit.
__device__ void sine_and_cosine(double u, double& sine, double& cosine) {
    // The nearest quarter; u less it is exact.
    const double shifted = fma(4.0, u, 0x1.8p52);
    const int quarter = __double2loint(shifted);
    const double x = 2 * M_PI * fma(-0.25, shifted - 0x1.8p52, u), z = x * x;
    const double odd = fma(x * z, polynomial(fitted.sine, z), x);
    const double even = fma(z * z, polynomial(fitted.cosine, z), fma(-0.5, z, 1.0));
    const double s = quarter & 1 ? even : odd, c = quarter & 1 ? odd : even;
    sine = __hiloint2double(__double2hiint(s) ^ (quarter & 2) << 30, __double2loint(s));
    cosine = __hiloint2double(__double2hiint(c) ^ ((quarter + 1) & 2) << 30, __double2loint(c));
}

__device__ double2 normal_pair(Draws draws, std::uint32_t purpose, std::uint32_t sample,
                               std::uint32_t number) {
    const double2 u = uniform_pair(draws, purpose, sample, number);
    const double radius = radius_of(u.x);
    double sine = 0, cosine = 0;
    sine_and_cosine(u.y, sine, cosine);
    return {radius * cosine, radius * sine};
}

__device__ double number_of(PerSample numbers, std::size_t sample) {
    return numbers.data == nullptr ? 1.0 : numbers.data[sample * numbers.stride];
}

/// Entry (i, j) of mixer ⊗ I_p.
__device__ double entry(const Skip& skip, std::size_t sample, int i, int j) {
    if (skip.streams == 0 || (i - j) % skip.width != 0) return 0;
    return skip.mixer.data[sample * skip.mixer.stride +
                           static_cast<std::size_t>(j / skip.width * skip.streams + i / skip.width)];
}

__global__ void slopes_kernel(SlopeLaw law, int size, Draws draws, double* out) {
    const unsigned number = blockIdx.x * blockDim.x + threadIdx.x;
    out += static_cast<std::size_t>(blockIdx.y) * static_cast<std::size_t>(size);
    const int i = static_cast<int>(2 * number);
    if (i >= size) return;
    double2 value;
    if (law.kind == bernoulli) {
        const double2 u = uniform_pair(draws, slope_purpose, blockIdx.y, number);
        value = {u.x < law.probability ? 1.0 : 0.0, u.y < law.probability ? 1.0 : 0.0};
    } else {
        const double2 h = normal_pair(draws, slope_purpose, blockIdx.y, number);
        value = {derivative(law.kind, law.deviation * h.x), derivative(law.kind, law.deviation * h.y)};
    }
    out[i] = value.x;
    if (i + 1 < size) out[i + 1] = value.y;
}

__global__ void inputs_kernel(int size, Draws draws, double* out) {
    const unsigned number = blockIdx.x * blockDim.x + threadIdx.x;
    out += static_cast<std::size_t>(blockIdx.y) * static_cast<std::size_t>(size);
    const int i = static_cast<int>(2 * number);
    if (i >= size) return;
    const double2 x = normal_pair(draws, slope_purpose, blockIdx.y, number);
    out[i] = x.x;
    if (i + 1 < size) out[i + 1] = x.y;
}

template <class Real>
__global__ __launch_bounds__(block) void normals_kernel(Matrices<Real> out, Draws draws,
                                                        std::uint32_t skipped, PerSample scale,
                                                        const double* slopes, Skip skip) {
    const std::uint32_t pair = skipped / 2 + blockIdx.x * block + threadIdx.x;
    const unsigned sample = blockIdx.y;
    const auto size = static_cast<std::uint32_t>(out.size);
    const std::uint32_t first = 2 * pair - skipped;  // wraps if the pair's first normal was read before
    if (first + 1 >= size * size && first >= size * size) return;
    const double2 normal = normal_pair(draws, branch_purpose, sample, pair);
    const double factor = number_of(scale, sample);
    Real* const to = out.data + sample * out.stride;
#pragma unroll
    for (std::uint32_t half = 0; half < 2; ++half) {
        const std::uint32_t place = first + half;
        if (place >= size * size) continue;
        const std::uint32_t j = place / size, i = place - j * size;
        double x = (half == 0 ? normal.x : normal.y) * factor;
        if (slopes != nullptr) x *= slopes[sample * size + i];
        x += entry(skip, sample, static_cast<int>(i), static_cast<int>(j));
        to[static_cast<std::size_t>(j) * static_cast<std::size_t>(out.leading) + i] = static_cast<Real>(x);
    }
}

constexpr int columns_a_thread = 10;

/// Two rows of some columns: normals of a pair are below each other if the size is even, and nothing or whole pairs were
/// read before. Columns are `apart`.
template <class Real>
__global__ __launch_bounds__(block, 4) void even_normals_kernel(Matrices<Real> out, int apart, Draws draws,
                                                                std::uint32_t skipped, PerSample scale,
                                                                const double* slopes, Skip skip) {
    constexpr int together = 2;  // columns
    const std::size_t sample = blockIdx.y;
    const int half = out.size / 2, place = static_cast<int>(blockIdx.x * block + threadIdx.x);
    const int first = place / half, i = 2 * (place - first * half);
    if (first >= apart) return;
    double2 factor = {number_of(scale, sample), number_of(scale, sample)};
    if (slopes != nullptr) {
        factor.x *= slopes[sample * static_cast<std::size_t>(out.size) + static_cast<std::size_t>(i)];
        factor.y *= slopes[sample * static_cast<std::size_t>(out.size) + static_cast<std::size_t>(i) + 1];
    }
    // Of row i and column j: the stream and the channel in it.
    const int width = skip.streams > 0 ? skip.width : out.size;
    const int stream = i / width, channel = i - stream * width;
    const int streams_apart = apart / width, channels_apart = apart - streams_apart * width;
    int stream_of_j = first / width, channel_of_j = first - stream_of_j * width;
    const double* const mixer = skip.mixer.data + sample * skip.mixer.stride;
    Real* const to = out.data + sample * out.stride + i;
    const auto write = [&](int j, double2 x) {
        x.x *= factor.x;
        x.y *= factor.y;
        if (skip.streams > 0) {
            const int below = channel_of_j - channel;  // where column j is not 0
            const bool begins = below == 1 - width;    // row i + 1 is the first of its stream
            const double* const column = mixer + stream_of_j * skip.streams + stream;
            if (below == 0) x.x += column[0];
            if (below == 1 || begins) x.y += column[begins ? 1 : 0];
            stream_of_j += streams_apart;
            channel_of_j += channels_apart;
            if (channel_of_j >= width) {
                channel_of_j -= width;
                ++stream_of_j;
            }
        }
        *reinterpret_cast<Pair<Real>*>(to + static_cast<std::size_t>(j) * static_cast<std::size_t>(out.leading)) = {
            static_cast<Real>(x.x), static_cast<Real>(x.y)};
    };
#pragma unroll 1
    for (int j = first; j < out.size; j += together * apart) {
        double2 x[together];
#pragma unroll
        for (int q = 0; q < together; ++q)
            x[q] = normal_pair(draws, branch_purpose, blockIdx.y,
                               (skipped + static_cast<std::uint32_t>((j + q * apart) * out.size + i)) / 2);
#pragma unroll
        for (int q = 0; q < together; ++q)
            if (j + q * apart < out.size) write(j + q * apart, x[q]);
    }
}

template <class Real>
__global__ __launch_bounds__(block) void layer_kernel(Matrices<Real> out, Skip skip, const double* pre,
                                                      const double* post, Matrices<const Real> factor) {
    const unsigned place = blockIdx.x * block + threadIdx.x;
    const unsigned sample = blockIdx.y;
    const int j = static_cast<int>(place) / out.size, i = static_cast<int>(place) - j * out.size;
    if (j >= out.size) return;
    double x = entry(skip, sample, i, j);
    if (factor.data != nullptr) {
        const int p = skip.width;
        const Real f =
            factor.data[sample * factor.stride + static_cast<std::size_t>(j % p * factor.leading + i % p)];
        x += post[i / p] * pre[j / p] * static_cast<double>(f);
    }
    out.data[sample * out.stride + static_cast<std::size_t>(j) * static_cast<std::size_t>(out.leading) +
             static_cast<std::size_t>(i)] = static_cast<Real>(x);
}

template <class Real>
__global__ __launch_bounds__(block) void shared_kernel(Matrices<Real> out, const Real* matrix, Skip skip,
                                                       bool onto) {
    const unsigned place = blockIdx.x * block + threadIdx.x;
    const unsigned sample = blockIdx.y;
    const int j = static_cast<int>(place) / out.size, i = static_cast<int>(place) - j * out.size;
    if (j >= out.size) return;
    const std::size_t offset = static_cast<std::size_t>(j) * static_cast<std::size_t>(out.leading) + i;
    Real& to = out.data[sample * out.stride + offset];
    double x = static_cast<double>(matrix[offset]) + entry(skip, sample, i, j);
    if (onto) x += static_cast<double>(to);
    to = static_cast<Real>(x);
}

template <class Real>
__global__ __launch_bounds__(block) void read_kernel(Matrices<const Real> in, int streams, const double* pre,
                                                     Real* out, int leading, std::size_t stride) {
    const int width = in.size / streams;
    const int place = static_cast<int>(blockIdx.x * block + threadIdx.x);
    const int j = place / width, a = place - j * width;
    if (j >= in.size) return;
    const Real* from = in.data + blockIdx.y * in.stride + static_cast<std::size_t>(j) * in.leading + a;
    double sum = 0;
    for (int i = 0; i < streams; ++i) sum += pre[i] * static_cast<double>(from[i * width]);
    out[blockIdx.y * stride + static_cast<std::size_t>(j) * leading + a] = static_cast<Real>(sum);
}

template <class Real>
__global__ __launch_bounds__(block) void mixer_kernel(Matrices<const Real> in, Skip skip, const double* post,
                                                      const Real* written, int leading, std::size_t stride,
                                                      Matrices<Real> out, unsigned long long* largest) {
    const unsigned sample = blockIdx.y;
    const int place = static_cast<int>(blockIdx.x * block + threadIdx.x);
    const int n = skip.streams, p = skip.width;
    const int j = place / p, a = place - j * p;  // channel a of column j
    Real top = 0;
    if (j < in.size) {
        const std::size_t offset = static_cast<std::size_t>(j) * static_cast<std::size_t>(in.leading) + a;
        const Real* from = in.data + sample * in.stride + offset;
        Real* to = out.data + sample * out.stride + offset;
        const double* mixer = skip.mixer.data + sample * skip.mixer.stride;
        const double branch =
            written == nullptr
                ? 0.0
                : static_cast<double>(written[sample * stride + static_cast<std::size_t>(j) * leading + a]);
        for (int i = 0; i < n; ++i) {
            double sum = 0;
            for (int q = 0; q < n; ++q) sum += mixer[q * n + i] * static_cast<double>(from[q * p]);
            if (written != nullptr) sum += post[i] * branch;
            to[i * p] = static_cast<Real>(sum);
            top = max(top, abs(static_cast<Real>(sum)));
        }
    }
    top = largest_of_warp(top);
    if (threadIdx.x % 32 == 0)
        atomicMax(largest + sample,
                  static_cast<unsigned long long>(__double_as_longlong(static_cast<double>(top))));
}

template <class Real>
__global__ __launch_bounds__(block) void rescale_kernel(Matrices<Real> matrices,
                                                        const unsigned long long* largest, int limit,
                                                        SampleState* states) {
    const double top = __longlong_as_double(static_cast<long long>(largest[blockIdx.y]));
    if (!(top > 0) || !isfinite(top)) return;
    int shift = 0;
    frexp(top, &shift);
    if (abs(shift) <= limit) return;
    if (blockIdx.x == 0 && threadIdx.x == 0) states[blockIdx.y].exponent += shift;
    Real* const data = matrices.data + blockIdx.y * matrices.stride;
    const auto scale = static_cast<Real>(ldexp(1.0, -shift));
    const auto entries = static_cast<std::size_t>(matrices.size) * static_cast<std::size_t>(matrices.size);
    for (std::size_t place = blockIdx.x * block + threadIdx.x; place < entries; place += gridDim.x * block) {
        const std::size_t j = place / static_cast<std::size_t>(matrices.size);
        data[j * static_cast<std::size_t>(matrices.leading) + place -
             j * static_cast<std::size_t>(matrices.size)] *= scale;
    }
}

constexpr int columns_a_block = 8;  // one warp each; fewer for long columns

template <class Real>
__global__ __launch_bounds__(32 * columns_a_block) void reflections_kernel(
    Matrices<const Real> reflections, const Real* kappa, const Real* sign, const double* values,
    const Real* in, PerSample scale, Skip skip, Matrices<Real> out) {
    extern __shared__ __align__(16) unsigned char shared_bytes[];
    const int m = reflections.size;
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const int j = static_cast<int>(blockIdx.x * (blockDim.x / 32)) + warp;
    const std::size_t sample = blockIdx.y;
    if (j >= m) return;
    Real* const column = reinterpret_cast<Real*>(shared_bytes) + warp * m;
    const Real* const y = reflections.data + sample * reflections.stride;
    kappa += sample * static_cast<std::size_t>(m);
    sign += sample * static_cast<std::size_t>(m);
    int last = m - 1;
    if (in == nullptr) {
        for (int i = lane; i < m; i += 32)
            column[i] = i == j ? sign[i] * static_cast<Real>(values[i]) : Real(0);
        last = j;
    } else {
        const Real* from =
            in + sample * out.stride + static_cast<std::size_t>(j) * static_cast<std::size_t>(out.leading);
        for (int i = lane; i < m; i += 32) column[i] = sign[i] * from[i];
    }
    for (int k = last; k >= 0; --k) {
        const Real* const of_k =
            y + static_cast<std::size_t>(k) * static_cast<std::size_t>(reflections.leading);
        Real dot = 0;
        for (int i = (k & ~31) + lane; i < m; i += 32)
            if (i >= k) dot += of_k[i] * column[i];
        dot = sum_of_warp(dot) * kappa[k];
        for (int i = (k & ~31) + lane; i < m; i += 32)
            if (i >= k) column[i] -= dot * of_k[i];
    }
    Real* const to = out.data + sample * out.stride;
    const double factor = in == nullptr ? 1.0 : number_of(scale, sample);
    for (int i = lane; i < m; i += 32) {
        double x = factor * static_cast<double>(column[i]);
        if (in != nullptr) x += entry(skip, sample, j, i);
        to[static_cast<std::size_t>(i) * static_cast<std::size_t>(out.leading) + j] = static_cast<Real>(x);
    }
}

dim3 grid_of(std::size_t threads, int count) {
    return dim3(static_cast<unsigned>((threads + block - 1) / block), static_cast<unsigned>(count));
}

std::size_t squared(int size) {
    return static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
}

}  // namespace

void draw_slopes(SlopeLaw law, int size, int count, Draws draws, double* out, cudaStream_t stream) {
    slopes_kernel<<<grid_of(static_cast<std::size_t>(size + 1) / 2, count), block, 0, stream>>>(law, size,
                                                                                                draws, out);
    check(cudaGetLastError(), "draw_slopes");
}

void draw_inputs(int size, int count, Draws draws, double* x, cudaStream_t stream) {
    draws.layer = 0;
    inputs_kernel<<<grid_of(static_cast<std::size_t>(size + 1) / 2, count), block, 0, stream>>>(size, draws,
                                                                                                x);
    check(cudaGetLastError(), "draw_inputs");
}

template <class Real>
void draw_normals(Matrices<Real> out, Draws draws, std::uint32_t skipped, PerSample scale,
                  const double* slopes, Skip skip, cudaStream_t stream) {
    if (out.size % 2 == 0 && skipped % 2 == 0) {
        const int apart = (out.size + columns_a_thread - 1) / columns_a_thread;
        const std::size_t threads = static_cast<std::size_t>(out.size / 2) * static_cast<std::size_t>(apart);
        even_normals_kernel<<<grid_of(threads, out.count), block, 0, stream>>>(out, apart, draws, skipped, scale,
                                                                               slopes, skip);
    } else {
        // One more pair if the first pair was half read before.
        const std::size_t pairs = (squared(out.size) + 1) / 2 + skipped % 2;
        normals_kernel<<<grid_of(pairs, out.count), block, 0, stream>>>(out, draws, skipped, scale, slopes,
                                                                        skip);
    }
    check(cudaGetLastError(), "draw_normals");
}

template <class Real>
void fill_layer(Matrices<Real> out, Skip skip, const double* pre, const double* post,
                Matrices<const Real> factor, cudaStream_t stream) {
    layer_kernel<<<grid_of(squared(out.size), out.count), block, 0, stream>>>(out, skip, pre, post, factor);
    check(cudaGetLastError(), "fill_layer");
}

template <class Real>
void add_shared(Matrices<Real> out, const Real* matrix, Skip skip, bool onto, cudaStream_t stream) {
    shared_kernel<<<grid_of(squared(out.size), out.count), block, 0, stream>>>(out, matrix, skip, onto);
    check(cudaGetLastError(), "add_shared");
}

template <class Real>
void read_streams(Matrices<const Real> in, int streams, const double* pre, Real* out, int leading,
                  std::size_t stride, cudaStream_t stream) {
    read_kernel<<<grid_of(squared(in.size) / static_cast<std::size_t>(streams), in.count), block, 0,
                  stream>>>(in, streams, pre, out, leading, stride);
    check(cudaGetLastError(), "read_streams");
}

template <class Real>
void apply_mixer(Matrices<const Real> in, Skip skip, const double* post, const Real* written, int leading,
                 std::size_t stride, Matrices<Real> out, unsigned long long* largest, cudaStream_t stream) {
    mixer_kernel<<<grid_of(squared(in.size) / static_cast<std::size_t>(skip.streams), in.count), block, 0,
                   stream>>>(in, skip, post, written, leading, stride, out, largest);
    check(cudaGetLastError(), "apply_mixer");
}

template <class Real>
void rescale(Matrices<Real> matrices, const unsigned long long* largest, int limit, SampleState* states,
             cudaStream_t stream) {
    const dim3 grid(static_cast<unsigned>(1 + matrices.size / 128), static_cast<unsigned>(matrices.count));
    rescale_kernel<<<grid, block, 0, stream>>>(matrices, largest, limit, states);
    check(cudaGetLastError(), "rescale");
}

template <class Real>
void apply_reflections(Matrices<const Real> reflections, const Real* kappa, const Real* sign,
                       const double* values, const Real* in, PerSample scale, Skip skip, Matrices<Real> out,
                       cudaStream_t stream) {
    const auto column_bytes = static_cast<std::size_t>(reflections.size) * sizeof(Real);
    const auto columns = std::min<std::size_t>(columns_a_block, 200'000 / column_bytes);
    const std::size_t bytes = columns * column_bytes;
    check(cudaFuncSetAttribute(reflections_kernel<Real>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(bytes)),
          "cudaFuncSetAttribute");
    const dim3 grid(
        static_cast<unsigned>((static_cast<std::size_t>(reflections.size) + columns - 1) / columns),
        static_cast<unsigned>(reflections.count));
    reflections_kernel<<<grid, static_cast<unsigned>(32 * columns), bytes, stream>>>(
        reflections, kappa, sign, values, in, scale, skip, out);
    check(cudaGetLastError(), "apply_reflections");
}

#define SPECTRA_INSTANTIATE(Real)                                                                       \
    template void draw_normals(Matrices<Real>, Draws, std::uint32_t, PerSample, const double*, Skip,    \
                               cudaStream_t);                                                           \
    template void fill_layer(Matrices<Real>, Skip, const double*, const double*, Matrices<const Real>,  \
                             cudaStream_t);                                                             \
    template void add_shared(Matrices<Real>, const Real*, Skip, bool, cudaStream_t);                    \
    template void read_streams(Matrices<const Real>, int, const double*, std::add_pointer_t<Real>, int, \
                               std::size_t, cudaStream_t);                                              \
    template void apply_mixer(Matrices<const Real>, Skip, const double*, const Real*, int, std::size_t, \
                              Matrices<Real>, unsigned long long*, cudaStream_t);                       \
    template void rescale(Matrices<Real>, const unsigned long long*, int, SampleState*, cudaStream_t);  \
    template void apply_reflections(Matrices<const Real>, const Real*, const Real*, const double*,      \
                                    const Real*, PerSample, Skip, Matrices<Real>, cudaStream_t);
SPECTRA_INSTANTIATE(double)
SPECTRA_INSTANTIATE(float)
#undef SPECTRA_INSTANTIATE

}  // namespace spectra::montecarlo::cuda
