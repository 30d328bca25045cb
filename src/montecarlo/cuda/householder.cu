#include "montecarlo/cuda/householder.cuh"

#include "montecarlo/cuda/launch.cuh"
#include "montecarlo/cuda/reflection.cuh"
#include "montecarlo/cuda/warp.cuh"

#include <algorithm>
#include <stdexcept>
#include <type_traits>

namespace spectra::montecarlo::cuda {
namespace {

enum class Task { bidiagonal, qr };

/// How work on a matrix is distributed: `threads` threads per column, `groups` columns at once in a block,
/// `rows` rows of a column per thread, `columns` columns of a group in registers at once.
template <int threads_, int groups_, int rows_, int columns_>
struct Shape {
    static constexpr int threads = threads_, groups = groups_, rows = rows_, columns = columns_;
    static constexpr int block = threads * groups;
    static constexpr int warps = (threads + 31) / 32;  // per group
};

__host__ __device__ constexpr int padded(int n) {
    return (n + 7) / 8 * 8;
}

/// Shared memory, in numbers.
template <class S, bool Shared>
__host__ __device__ int shared_numbers(int n, int blocks) {
    const int columns = (n + blocks - 1) / blocks;
    int out = 2 * padded(n) + padded(columns);                // c, x, row
    out += S::groups * padded(n);                             // sums
    out += 64 + 2 * S::groups * S::columns * (S::warps + 1);  // reductions
    out += padded(S::groups);                                 // tails
    if (Shared) out += columns * n;
    return out;
}

/// How the blocks of a matrix exchange their sums.
template <class Real>
struct Passing {
    unsigned* arrivals;  // one for all blocks of a matrix
    Real* sums;          // [2][blocks][stride] per matrix
    int blocks, stride;
};

/// The share of a block in a matrix: columns rank, rank + blocks, …, called its local columns 0, 1, …. The
/// matrix stays in the shared memory of its only block (Shared), in device memory with one block, or in
/// device memory with several blocks (Spread).
template <class Real, class S, bool Shared, bool Spread, Task task>
class Share {
    static constexpr int T = S::threads, G = S::groups, R = S::rows, K = S::columns;
    static constexpr bool bidiagonal = task == Task::bidiagonal;

public:
    __device__ Share(const Matrices<Real>& matrices, const Passing<Real>& passing, unsigned char* memory)
        : matrices_(matrices),
          passing_(passing),
          n_(matrices.size),
          pad_(padded(matrices.size)),
          blocks_(Spread ? passing.blocks : 1),
          rank_(Spread ? static_cast<int>(blockIdx.x) % blocks_ : 0),
          team_(static_cast<int>(blockIdx.x) / blocks_),
          local_count_((n_ - rank_ + blocks_ - 1) / blocks_) {
        c_ = reinterpret_cast<Real*>(memory);
        x_ = c_ + pad_;
        row_ = x_ + pad_;
        sums_ = row_ + padded((n_ + blocks_ - 1) / blocks_);
        norms_ = sums_ + G * pad_;
        dots_ = norms_ + 64;
        tails_ = dots_ + 2 * G * K * (S::warps + 1);
        own_ = tails_ + padded(G);
    }

    __device__ int team() const { return team_; }
    __device__ int teams() const { return static_cast<int>(gridDim.x) / blocks_; }

    __device__ void reduce(int number, Real* out_a, Real* out_b) {
        global_ = matrices_.data + static_cast<std::size_t>(number) * matrices_.stride;
        begin();
        for (int k = 0; k < n_; ++k) {
            Real tail2 = 0;
            for (int warp = 0; warp < S::block / 32; ++warp) tail2 += norms_[warp];
            const Real alpha = c_[k];
            const auto left = reflection(alpha, tail2);
            const bool writes = rank_ == 0 && threadIdx.x == 0;
            if (writes) out_a[k] = bidiagonal ? left.beta : left.kappa;
            if (writes && !bidiagonal) out_b[k] = left.beta < 0 ? Real(-1) : Real(1);
            if (k < n_ - 1) {
                reflect_columns<Shared ? R : 0>(k, alpha - left.beta, left.kappa);
                pass_on(k);
            } else {
                meet();
            }
            // Column k keeps y; other blocks read alpha there until all have synchronised.
            if (writes && !bidiagonal) global_column(k)[k] = alpha - left.beta;
            if (k == n_ - 1) break;
            const Real beta = bidiagonal ? take_next_bidiagonal(k) : take_next_qr(k);
            if (writes && bidiagonal) out_b[k] = beta;
            __syncthreads();
        }
    }

private:
    __device__ Real* global_column(int j) const {
        return global_ + static_cast<std::size_t>(j) * matrices_.leading;
    }
    __device__ Real* column(int local) const {
        return Shared ? own_ + local * n_ : global_column(local * blocks_ + rank_);
    }

    /// Synchronises all blocks of the matrix, which are resident together (a cooperative launch): earlier
    /// writes are visible afterwards.
    __device__ void meet() {
        __syncthreads();
        if constexpr (Spread) {
            if (threadIdx.x == 0) {
                unsigned* const arrivals = passing_.arrivals + team_;
                arrived_ += static_cast<unsigned>(blocks_);
                __threadfence();
                atomicAdd(arrivals, 1U);
                unsigned seen = 0;
                do {
                    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                                 : "=r"(seen)
                                 : "l"(arrivals)
                                 : "memory");
                } while (static_cast<int>(seen - arrived_) < 0);
                __threadfence();
            }
            __syncthreads();
        }
    }

    /// Leaves Σ part over all threads in `norms`, one number per warp.
    __device__ void leave_norm(Real part) {
        part = sum_of_warp(part);
        if (threadIdx.x % 32 == 0) norms_[threadIdx.x / 32] = part;
    }

    /// Starts with the first column as c and no pending reflection.
    __device__ void begin() {
        const int tid = static_cast<int>(threadIdx.x);
        if constexpr (Shared) {
            for (int j = tid / 32; j < n_; j += S::block / 32)
                for (int i = tid % 32; i < n_; i += 32) own_[j * n_ + i] = global_column(j)[i];
        }
        Real part = 0;
        for (int i = tid; i < n_; i += S::block) {
            const Real entry = global_[i];
            c_[i] = entry;
            x_[i] = 0;
            if (i > 0) part += entry * entry;
        }
        for (int local = tid; local < local_count_; local += S::block) row_[local] = 0;
        leave_norm(part);
        __syncthreads();
    }

    /// Both reflections of the local columns after k, and their contribution to A u: y is c from row k on,
    /// with `head` in row k. If `most` is not 0, there is code for each number of rows per thread up to it:
    /// conditions on every row would be half of the instructions in shared memory.
    template <int most>
    __device__ void reflect_columns(int k, Real head, Real kappa) {
        const int base = k & ~3;  // whole sectors; rows above k have y = x = 0
        const int here = (n_ - base + T - 1) / T;
        if constexpr (most > 1) {
            if (here < most) {
                reflect_columns<most - 1>(k, head, kappa);
                return;
            }
        }
        constexpr bool known = most > 0;
        constexpr int R = known ? most : S::rows;
        const int t = static_cast<int>(threadIdx.x) % T, g = static_cast<int>(threadIdx.x) / T;
        const auto row = [&](int r) { return base + t + T * r; };
        const auto inside = [&](int r) { return (known && r < R - 1) || row(r) < n_; };
        const auto needed = [&](int r) { return known || r < here; };
        const int first = (k + 1 - rank_ + blocks_ - 1) / blocks_;
        const int batches = (local_count_ - first + G * K - 1) / (G * K);
        const auto local_of = [&](int batch, int q) { return first + g + G * (batch * K + q); };
        Real y[R], pending[R], sum[R];
#pragma unroll
        for (int r = 0; r < R; ++r) {
            const int i = row(r);
            y[r] = inside(r) && i > k ? c_[i] : i == k ? head : Real(0);
            if constexpr (bidiagonal) pending[r] = inside(r) && i >= k ? x_[i] : Real(0);
            sum[r] = 0;
        }
        const auto load = [&](int batch, Real(&to)[K][R]) {
#pragma unroll
            for (int q = 0; q < K; ++q) {
                const int local = local_of(batch, q);
                const Real* from = column(local);
#pragma unroll
                for (int r = 0; r < R; ++r) {
                    const bool valid = needed(r) && inside(r) && local < local_count_;
                    to[q][r] = valid ? from[row(r)] : Real(0);
                }
            }
        };
        Real tail = 0;
        Real a[K][R];
        if (batches > 0) load(0, a);
        for (int batch = 0; batch < batches; ++batch) {
            Real ahead[K][R];
            if constexpr (!Shared) load(batch + 1, ahead);  // nothing, after the last one
            Real dot[K], entry[K];
#pragma unroll
            for (int q = 0; q < K; ++q) {
                const int local = local_of(batch, q);
                const Real u = bidiagonal && local < local_count_ ? row_[local] : Real(0);
                dot[q] = 0;
#pragma unroll
                for (int r = 0; r < R; ++r) {
                    if (needed(r)) {
                        if constexpr (bidiagonal) a[q][r] -= pending[r] * u;
                        dot[q] += y[r] * a[q][r];
                    }
                }
            }
            add_up(dot, entry, a, k - base, t, g);
#pragma unroll
            for (int q = 0; q < K; ++q) {
                const int local = local_of(batch, q);
                const bool valid = local < local_count_;
                const Real factor = kappa * dot[q];
                const Real u = entry[q] - factor * head;
                Real* const to = column(local);
#pragma unroll
                for (int r = 0; r < R; ++r) {
                    if (needed(r)) {
                        a[q][r] -= factor * y[r];
                        if (valid && inside(r)) to[row(r)] = a[q][r];
                        if constexpr (bidiagonal) sum[r] += a[q][r] * u;
                    }
                }
                if (bidiagonal && valid && t == 0) {
                    row_[local] = u;
                    if (local * blocks_ + rank_ > k + 1) tail += u * u;
                }
            }
            if constexpr (Shared) {
                if (batch + 1 < batches) load(batch + 1, a);
            } else {
#pragma unroll
                for (int q = 0; q < K; ++q)
#pragma unroll
                    for (int r = 0; r < R; ++r) a[q][r] = ahead[q][r];
            }
        }
        if constexpr (bidiagonal) {
#pragma unroll
            for (int r = 0; r < R; ++r) {
                if (inside(r)) sums_[g * pad_ + row(r)] = sum[r];
            }
            if (t == 0) tails_[g] = tail;
        }
    }

    /// Sums `dot` over the threads of a group, and gives all of them the entries in row k, which thread
    /// `holder` has. Afterwards no thread needs `row` any more.
    template <int rows>
    __device__ void add_up(Real (&dot)[K], Real (&entry)[K], const Real (&a)[K][rows], int holder, int t,
                           int g) {
        constexpr int lanes = T < 32 ? T : 32;
#pragma unroll
        for (int q = 0; q < K; ++q) {
#pragma unroll
            for (int step = lanes / 2; step > 0; step /= 2)
                dot[q] += __shfl_xor_sync(0xffffffffU, dot[q], step);
            entry[q] = __shfl_sync(0xffffffffU, a[q][0], holder, lanes);
        }
        if constexpr (T <= 32) {
            __syncwarp();
        } else {
            constexpr int width = S::warps + 1;
            Real* const slots = dots_ + (turn_ * G + g) * K * width;
            turn_ ^= 1;
            if (t % 32 == 0) {
#pragma unroll
                for (int q = 0; q < K; ++q) {
                    slots[q * width + t / 32] = dot[q];
                    if (t == 0) slots[q * width + S::warps] = entry[q];
                }
            }
            asm volatile("bar.sync %0, %1;" ::"r"(g + 1), "n"(T) : "memory");
#pragma unroll
            for (int q = 0; q < K; ++q) {
                dot[q] = 0;
#pragma unroll
                for (int warp = 0; warp < S::warps; ++warp) dot[q] += slots[q * width + warp];
                entry[q] = slots[q * width + S::warps];
            }
        }
    }

    /// Row i of A u: the sum over the groups of this block.
    __device__ Real own_sum(int i) const {
        Real all = 0;
#pragma unroll
        for (int group = 0; group < G; ++group) all += sums_[group * pad_ + i];
        return all;
    }
    __device__ Real own_tail() const {
        Real all = 0;
#pragma unroll
        for (int group = 0; group < G; ++group) all += tails_[group];
        return all;
    }

    /// Where block `block` publishes its sums in step k: alternating, because they are read until the next
    /// synchronisation.
    __device__ Real* passed(int k, int block) const {
        return passing_.sums +
               static_cast<std::size_t>((2 * team_ + (k & 1)) * blocks_ + block) * passing_.stride;
    }

    /// Ends a step: afterwards the sums of all blocks are available.
    __device__ void pass_on(int k) {
        if constexpr (Spread && bidiagonal) {
            __syncthreads();
            Real* const mine = passed(k, rank_);
            for (int i = k + 1 + static_cast<int>(threadIdx.x); i < n_; i += S::block) mine[i] = own_sum(i);
            if (threadIdx.x == 0) mine[pad_] = own_tail();
        }
        meet();
    }

    /// The sum over all blocks; index pad_ means the square of the row's tail.
    __device__ Real passed_sum(int k, int i) const {
        Real all = 0;
#pragma unroll 8
        for (int block = 0; block < blocks_; ++block) all += __ldcg(passed(k, block) + i);
        return all;
    }

    /// Entry i of column k + 1, which another block may have written.
    __device__ Real of_next(int k, int i) const {
        if constexpr (Shared) return own_[(k + 1) * n_ + i];
        return __ldcg(global_column(k + 1) + i);
    }

    /// Column k + 1 becomes c.
    __device__ Real take_next_qr(int k) {
        Real part = 0;
        for (int i = k + 1 + static_cast<int>(threadIdx.x); i < n_; i += S::block) {
            const Real entry = of_next(k, i);
            c_[i] = entry;
            if (i > k + 1) part += entry * entry;
        }
        leave_norm(part);
        return 0;
    }

    /// The reflection of row k gives x; with it, column k + 1 becomes c. Returns the entry beside the
    /// diagonal.
    __device__ Real take_next_bidiagonal(int k) {
        const Real head = of_next(k, k);
        const auto right = reflection(head, Spread ? passed_sum(k, pad_) : own_tail());
        Real part = 0;
        for (int i = k + 1 + static_cast<int>(threadIdx.x); i < n_; i += S::block) {
            const Real product = Spread ? passed_sum(k, i) : own_sum(i);
            const Real entry = of_next(k, i);
            const Real of_x = right.kappa * (product - right.beta * entry);
            const Real of_c = entry - of_x * (head - right.beta);
            x_[i] = of_x;
            c_[i] = of_c;
            if (i > k + 1) part += of_c * of_c;
        }
        leave_norm(part);
        return right.beta;
    }

    Matrices<Real> matrices_;
    Passing<Real> passing_;
    int n_, pad_, blocks_, rank_, team_, local_count_;
    unsigned arrived_ = 0;  // of all blocks, so far
    int turn_ = 0;
    Real* global_ = nullptr;
    // Shared memory.
    Real* c_;      // the column that the next left reflection maps to its first entry
    Real* x_;      // of the pending right reflection
    Real* row_;    // u_j of local columns
    Real* sums_;   // [G][pad]: A u
    Real* norms_;  // one number per warp
    Real* dots_;   // [2][G][K][warps + 1]: contributions to yᵀ a, and the entry of row k
    Real* tails_;  // [G]: of the squares of u
    Real* own_;    // the matrix, if it is Shared
};

template <class Real, class S, bool Shared, bool Spread, Task task>
__global__ __launch_bounds__(S::block, Shared ? 512 / S::block : 1) void reduce(Matrices<Real> matrices,
                                                                                Passing<Real> passing,
                                                                                Real* out_a, Real* out_b) {
    extern __shared__ __align__(16) unsigned char shared_bytes[];
    Share<Real, S, Shared, Spread, task> share(matrices, passing, shared_bytes);
    for (int number = share.team(); number < matrices.count; number += share.teams()) {
        const std::size_t offset = static_cast<std::size_t>(number) * static_cast<std::size_t>(matrices.size);
        share.reduce(number, out_a + offset, out_b + offset);
    }
}

template <class S, bool Shared, class Real>
std::size_t bytes_of_share(const Matrices<Real>& matrices, int blocks) {
    return static_cast<std::size_t>(shared_numbers<S, Shared>(matrices.size, blocks)) * sizeof(Real);
}

/// One block per matrix.
template <class S, bool Shared, Task task, class Real>
void reduce_alone(const Matrices<Real>& matrices, Real* a, Real* b, cudaStream_t stream) {
    const auto kernel = reduce<Real, S, Shared, false, task>;
    const std::size_t bytes = bytes_of_share<S, Shared>(matrices, 1);
    allow_shared(kernel, bytes);
    kernel<<<static_cast<unsigned>(matrices.count), S::block, bytes, stream>>>(matrices, Passing<Real>{}, a,
                                                                               b);
    check(cudaGetLastError(), "householder");
}

/// Several blocks per matrix: as many matrices at once as fit on the device.
template <class S, Task task, class Real>
void reduce_spread(const Matrices<Real>& matrices, int blocks, Exchange<Real>& exchange, Real* a, Real* b,
                   cudaStream_t stream) {
    const auto kernel = reduce<Real, S, false, true, task>;
    const std::size_t bytes = bytes_of_share<S, false>(matrices, blocks);
    allow_shared(kernel, bytes);
    const int resident = resident_blocks(kernel, S::block, bytes);
    while (blocks > resident) blocks /= 2;
    if (blocks == 0) throw std::runtime_error("CUDA: householder: the device is too small");
    const int teams = std::min(resident / blocks, matrices.count);
    const int stride = padded(matrices.size) + 8;
    exchange.reserve(static_cast<std::size_t>(teams),
                     static_cast<std::size_t>(2 * teams * blocks) * static_cast<std::size_t>(stride));
    check(cudaMemsetAsync(exchange.arrivals.data(), 0, static_cast<std::size_t>(teams) * sizeof(unsigned),
                          stream),
          "cudaMemset");
    Passing<Real> passing{exchange.arrivals.data(), exchange.sums.data(), blocks, stride};
    Matrices<Real> all = matrices;
    void* arguments[] = {&all, &passing, &a, &b};
    check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel),
                                      dim3(static_cast<unsigned>(teams * blocks)), dim3(S::block), arguments,
                                      bytes, stream),
          "householder");
}

/// Matrices that stay in device memory, or its cache.
template <Task task, class Real>
void reduce_global(const Matrices<Real>& matrices, Exchange<Real>& exchange, Real* a, Real* b,
                   cudaStream_t stream) {
    const int n = matrices.size;
    const auto spread = [&](auto shape, int blocks) {
        reduce_spread<decltype(shape), task>(matrices, blocks, exchange, a, b, stream);
    };
    if (n <= 256)
        reduce_alone<Shape<32, 16, 8, 1>, false, task>(matrices, a, b, stream);
    else if (n <= 512)
        spread(Shape<64, 4, 8, 3>{}, 2);
    else if (n <= 1024)
        spread(Shape<128, 2, 8, 3>{}, 4);
    else if (n <= 2048)
        spread(Shape<256, 1, 8, 3>{}, 16);
    else if (n <= 4096)
        spread(Shape<512, 1, 8, 1>{}, 32);
    else
        spread(Shape<512, 1, 16, 1>{}, 32);
}

/// If the matrices fit into shared memory, does the work and returns true.
template <class S, class Real>
bool reduce_shared(const Matrices<Real>& matrices, Real* a, Real* b, cudaStream_t stream) {
    if (matrices.size > S::threads * S::rows) return false;
    if (bytes_of_share<S, true>(matrices, 1) > static_cast<std::size_t>(device_limits().shared_memory))
        return false;
    reduce_alone<S, true, Task::bidiagonal>(matrices, a, b, stream);
    return true;
}

}  // namespace

template <class Real>
void bidiagonalise(Matrices<Real> matrices, Exchange<Real>& exchange, Real* diagonal, Real* beside,
                   cudaStream_t stream) {
    if (matrices.count == 0) return;
    const auto in_block = [&](auto shape) {
        return reduce_shared<decltype(shape)>(matrices, diagonal, beside, stream);
    };
    // Four blocks fit on a processor in single precision, and two in double.
    using Middle = std::conditional_t<sizeof(Real) == 4, Shape<16, 8, 7, 2>, Shape<16, 16, 7, 1>>;
    if (in_block(Shape<8, 8, 4, 2>{}) || in_block(Shape<8, 16, 8, 1>{}) || in_block(Middle{}) ||
        in_block(Shape<32, 16, 6, 1>{}))
        return;
    reduce_global<Task::bidiagonal>(matrices, exchange, diagonal, beside, stream);
}

template <class Real>
void factorise_qr(Matrices<Real> matrices, Exchange<Real>& exchange, Real* kappa, Real* sign,
                  cudaStream_t stream) {
    if (matrices.count == 0) return;
    reduce_global<Task::qr>(matrices, exchange, kappa, sign, stream);
}

template void bidiagonalise(Matrices<double>, Exchange<double>&, double*, double*, cudaStream_t);
template void bidiagonalise(Matrices<float>, Exchange<float>&, float*, float*, cudaStream_t);
template void factorise_qr(Matrices<double>, Exchange<double>&, double*, double*, cudaStream_t);
template void factorise_qr(Matrices<float>, Exchange<float>&, float*, float*, cudaStream_t);

}  // namespace spectra::montecarlo::cuda
