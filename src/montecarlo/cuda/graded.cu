#include "montecarlo/cuda/graded.cuh"

#include "montecarlo/cuda/graded_qr.cuh"
#include "montecarlo/cuda/graded_rotations.cuh"
#include "montecarlo/cuda/product.cuh"

#include <type_traits>
#include <utility>

namespace spectra::montecarlo::cuda {
namespace {

using namespace graded;

template <int chunks>
__global__ __launch_bounds__(block, resident(chunks)) void factorise_kernel(Products products,
                                                                            Factorisation f) {
    extern __shared__ __align__(16) unsigned char shared_bytes[];
    const int size = products.size, thread = static_cast<int>(threadIdx.x);
    GradedState& state = products.states[blockIdx.x];
    const int count = state.rank;
    if (state.info != 0) return;
    const Vectors vectors(shared_bytes, size);
    double* const columns = products.matrix(f.columns);
    double norm = 0;
    int shift = 0;
    if (f.layer != nullptr) {
        const double* const layer = f.layer + blockIdx.x * products.stride;
        if (!measure_layer<chunks>(products, layer, vectors.sums, norm, shift)) {
            if (thread == 0) state.info = 1;
            return;
        }
    } else {
        Column<chunks> column;
        for (int j = warp_number(); j < count; j += warps) {
            column.load(columns + products.at(j), size);
            const double norm2 = column.norm2();
            if (lane_number() == 0) vectors.sums[j] = norm2;
        }
        __syncthreads();
        norm = sqrt(total(vectors.sums, count));
    }
    int added = shift;
    if (f.exponent.data != nullptr)
        added += static_cast<int>(f.exponent.data[blockIdx.x * f.exponent.stride]);
    for (int j = thread; j < size; j += block) {
        vectors.exponents[j] = products.own_exponents()[j] + added;
        vectors.place[j] = size;
    }
    __syncthreads();
    const double zero = 16 * sqrt(static_cast<double>(size)) * unit * norm;
    double* const reflections = products.matrix(f.reflections);
    const Rank found =
        reflect<chunks>(products, columns, reflections, count, zero, ldexp(1.0, -shift), vectors);
    __syncthreads();
    double condition2 = 0;
    if (found.rank > 0) {
        const double of_triangle = condition<chunks>(products, columns, found.rank, norm, vectors);
        condition2 =
            of_triangle * of_triangle + exp2(fmin(2 * (found.cut - found.last), 900.0)) / (unit * unit);
    }
    take_triangle(products, columns, count, found.rank, vectors, products.matrix(f.triangle));
    if (f.left != nullptr)
        take_orthonormal<chunks>(products, reflections, found.rank, vectors, products.matrix(f.left));
    if (thread == 0) {
        state.condition2 += condition2;
        state.rank_before = count;
        state.rank = found.rank;
    }
}

/// With peaks, the largest e_i − e_j so far, i < j: also log2 g.
template <int chunks>
__global__ __launch_bounds__(block) void normalise_kernel(Products products, double* matrices, int* peaks) {
    GradedState& state = products.states[blockIdx.x];
    const int size = products.size, rank = state.rank;
    const bool same_rank = rank == state.rank_before;
    if (state.info != 0) return;
    double* const columns = products.matrix(matrices);
    int* const exponents = products.own_exponents();
    Column<chunks> column;
    for (int j = warp_number(); j < rank; j += warps) {
        column.load(columns + products.at(j), size);
        int exponent = exponents[j];
        normalise(column, exponent);
        column.store(columns + products.at(j), size);
        if (lane_number() == 0) exponents[j] = exponent;
    }
    if (peaks == nullptr) return;
    __syncthreads();
    peaks += blockIdx.x * static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
    int fall = 0;
    for (int i = warp_number(); i < rank; i += warps) {
        for (int j = i + 1 + lane_number(); j < rank; j += 32) {
            int& peak = peaks[static_cast<std::size_t>(i) * static_cast<std::size_t>(size) + j];
            const int ratio = exponents[i] - exponents[j];
            peak = same_rank ? max(peak, ratio) : ratio;
            fall = max(fall, peak - ratio);
        }
    }
    const double largest = largest_of_block(fall);
    if (threadIdx.x == 0) state.fall = max(state.fall, static_cast<int>(largest));
}

template <int chunks>
__global__ __launch_bounds__(block, resident(chunks)) void log_values_kernel(Products products,
                                                                             double* matrices, double* out) {
    extern __shared__ __align__(16) unsigned char shared_bytes[];
    GradedState& state = products.states[blockIdx.x];
    const int size = products.size, rank = state.rank, thread = static_cast<int>(threadIdx.x);
    out += static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(size);
    if (state.info != 0) {
        for (int j = thread; j < size; j += block) out[j] = NAN;
        return;
    }
    auto* const norms2 = reinterpret_cast<double*>(shared_bytes);
    auto* const exponents = reinterpret_cast<int*>(norms2 + size);
    for (int j = thread; j < size; j += block) exponents[j] = products.own_exponents()[j];
    __syncthreads();
    const Rotations<chunks> rotations{products, products.matrix(matrices), norms2, exponents,
                                      unit * max(size, 8)};
    const bool converged = orthogonalise(rotations, rank);
    // The values replace the norms.
    Column<chunks> column;
    for (int j = warp_number(); j < size; j += warps) {
        double value = -INFINITY;
        if (j < rank) {
            column.load(rotations.columns + products.at(j), size);
            value = log(sqrt(column.norm2())) + exponents[j] * M_LN2;
        }
        if (lane_number() == 0) norms2[j] = value;
    }
    __syncthreads();
    for (int j = thread; j < size; j += block) {
        int place = 0;
        for (int i = 0; i < size; ++i)
            place += norms2[i] < norms2[j] || (norms2[i] == norms2[j] && i < j) ? 1 : 0;
        out[place] = norms2[j];
    }
    const double error =
        unit * (8 * sqrt(static_cast<double>(size)) + ldexp(sqrt(state.condition2), min(state.fall, 500)));
    if (thread == 0 && !(converged && error <= most_error)) state.info = 2;
}

__global__ __launch_bounds__(block) void start_kernel(Products products, double* left, double* right) {
    const int size = products.size;
    if (threadIdx.x == 0) products.states[blockIdx.x] = GradedState{0, size, size, 0, 0};
    for (int j = warp_number(); j < size; j += warps) {
        if (lane_number() == 0) products.own_exponents()[j] = 0;
        for (int i = lane_number(); i < size; i += 32)
            products.matrix(left)[products.at(j) + i] = products.matrix(right)[products.at(j) + i] =
                i == j ? 1 : 0;
    }
}

/// A multiple of 16, so that the compiler can merge loads.
std::size_t shared_size(int size, int bytes_a_column) {
    return (static_cast<std::size_t>(size) * static_cast<std::size_t>(bytes_a_column) + 15) / 16 * 16;
}

/// Calls with the number of registers per column, as std::integral_constant.
template <class Call>
void with_chunks(int size, Call call) {
    if (size <= 32) return call(std::integral_constant<int, 1>());
    if (size <= 64) return call(std::integral_constant<int, 2>());
    if (size <= 128) return call(std::integral_constant<int, 4>());
    if (size <= 256) return call(std::integral_constant<int, 8>());
    if (size <= 512) return call(std::integral_constant<int, 16>());
    call(std::integral_constant<int, max_graded_size / 32>());
}

Products products_of(const Matrices<double>& m, int* exponents, GradedState* states) {
    return {m.size, m.leading, m.stride, exponents, states};
}

Operand<double> operand(const Matrices<double>& m) {
    return {m.data, m.leading, m.stride};
}

Operand<const double> constant_operand(const Matrices<double>& m) {
    return {m.data, m.leading, m.stride};
}

template <class T>
void reserve(Buffer<T>& buffer, std::size_t numbers) {
    if (buffer.size() >= numbers) return;
    buffer = Buffer<T>();
    buffer = Buffer<T>(numbers);
}

}  // namespace

Matrices<double> GradedProducts::matrices(Buffer<double>& buffer, int size, int count) {
    const int leading = leading_dimension(size);
    const std::size_t stride = static_cast<std::size_t>(leading) * static_cast<std::size_t>(size);
    reserve(buffer, stride * static_cast<std::size_t>(count));
    return {buffer.data(), size, leading, stride, count};
}

void GradedProducts::start(int size, int count, cudaStream_t stream) {
    left_ = matrices(of_left_, size, count);
    right_ = matrices(of_right_, size, count);
    columns_ = matrices(of_columns_, size, count);
    reflections_ = matrices(of_reflections_, size, count);
    triangle_ = matrices(of_triangle_, size, count);
    const auto numbers = static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
    reserve(exponents_, numbers);
    reserve(peaks_, numbers * static_cast<std::size_t>(size));
    reserve(states_, static_cast<std::size_t>(count));
    check(cudaMemsetAsync(peaks_.data(), 0, numbers * static_cast<std::size_t>(size) * sizeof(int), stream),
          "cudaMemset");
    start_kernel<<<static_cast<unsigned>(count), block, 0, stream>>>(
        products_of(left_, exponents_.data(), states_.data()), left_.data, right_.data);
    check(cudaGetLastError(), "GradedProducts::start");
}

void GradedProducts::factorise(Matrices<const double> layers, PerSample exponent, cudaStream_t stream) {
    const Factorisation f{columns_.data,  reflections_.data,
                          triangle_.data, layers.data != nullptr ? left_.data : nullptr,
                          layers.data,    exponent};
    const std::size_t bytes = shared_size(columns_.size, Vectors::bytes_a_column);
    with_chunks(columns_.size, [&](auto chunks) {
        const auto kernel = factorise_kernel<decltype(chunks)::value>;
        check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(bytes)),
              "cudaFuncSetAttribute");
        kernel<<<static_cast<unsigned>(columns_.count), block, bytes, stream>>>(
            products_of(columns_, exponents_.data(), states_.data()), f);
    });
    check(cudaGetLastError(), "GradedProducts::factorise");
}

void GradedProducts::normalise(Matrices<double> columns, int* peaks, cudaStream_t stream) {
    with_chunks(columns.size, [&](auto chunks) {
        normalise_kernel<decltype(chunks)::value><<<static_cast<unsigned>(columns.count), block, 0, stream>>>(
            products_of(columns, exponents_.data(), states_.data()), columns.data, peaks);
    });
    check(cudaGetLastError(), "GradedProducts::normalise");
}

void GradedProducts::multiply(Matrices<const double> layers, PerSample exponent, cudaStream_t stream) {
    const int size = layers.size;
    cuda::multiply<double>(size, size, size, layers.count, {layers.data, layers.leading, layers.stride},
                           constant_operand(left_), operand(columns_), nullptr, stream);
    factorise(layers, exponent, stream);
    cuda::multiply<double>(size, size, size, layers.count, constant_operand(right_),
                           constant_operand(triangle_), operand(columns_), nullptr, stream);
    std::swap(right_, columns_);
    normalise(right_, peaks_.data(), stream);
}

void GradedProducts::log_values(double* out, cudaStream_t stream) {
    constexpr int factorisations = 3;
    std::swap(columns_, right_);
    for (int k = 0; k < factorisations; ++k) {
        factorise({}, {}, stream);
        normalise(triangle_, nullptr, stream);
        std::swap(columns_, triangle_);
    }
    const std::size_t bytes = shared_size(columns_.size, sizeof(double) + sizeof(int));
    with_chunks(columns_.size, [&](auto chunks) {
        log_values_kernel<decltype(chunks)::value>
            <<<static_cast<unsigned>(columns_.count), block, bytes, stream>>>(
                products_of(columns_, exponents_.data(), states_.data()), columns_.data, out);
    });
    check(cudaGetLastError(), "GradedProducts::log_values");
}

}  // namespace spectra::montecarlo::cuda
