#pragma once

#include "montecarlo/cuda/band.cuh"
#include "montecarlo/cuda/reflection.cuh"
#include "montecarlo/cuda/warp.cuh"

/// The second stage of two_stage.cu: from bands to bidiagonal matrices. Where a band is stored, two_stage_device.cuh
/// and two_stage_shared.cuh say.
namespace spectra::montecarlo::cuda::two_stage {

constexpr int chase_warps = 2;
constexpr int chase_threads = 32 * chase_warps;
constexpr int chase_rows = band_width / 8 / chase_warps;  // of a lane in a window: 8 lanes along a column,
constexpr int chase_columns = band_width / 4;             // 4 along a row

/// What a sweep has in registers between its tasks, in numbers.
constexpr int carried = ((chase_rows + 1) * chase_columns + 2) * chase_threads;

/// Columns of a stored band: windows reach beyond the matrix, where all is zero.
__host__ __device__ inline int band_columns(int size) {
    return size + 2 * band_width;
}

/// Tasks of sweep i before a column, which is the size for all: their first columns are i + 1 + 32 t.
__host__ __device__ inline int tasks_before(int column, int sweep) {
    return column <= sweep + 1 ? 0 : (column - 1 - sweep + band_width - 1) / band_width;
}

/// Synchronises the warps of a sweep.
__device__ inline void meet_group(int group) {
    asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "n"(chase_threads) : "memory");
}

/// The sweeps of a matrix, each by one of several groups of warps that are resident together.
///
/// Task t with its first column c has the windows U above D on the columns c, c + 1, …, and E at the right of D,
/// 32×32 each. The right reflection, from the first row of U, is known; it is applied to U and D. The left one,
/// from the first column of D, is applied to D and E. E is U in the next task and stays in registers; the
/// reflection of its first row is found at once and this row written, because the next sweep needs its first
/// entry before the remainder.
///
/// Task t of the next sweep has windows one row and column further. It needs task t + 1 of this sweep, and of
/// task t + 2 only the first entry of U.
///
/// Each warp has its own rows of all windows. So the warps meet once a task, for the sums over columns, and these are
/// taken before the left reflection I − τ v vᵀ is known: with v = (1, s x_2, s x_3, …) from the first column x of D,
///
///     vᵀ a = a_1 + s (x_2 a_2 + x_3 a_3 + …)
///
/// for a column a, and for x itself the same sum is what s is found from.
template <class Band>
class Chase {
    using Real = typename Band::Number;
    static constexpr int width = band_width;
    static constexpr int rows = chase_rows, columns = chase_columns;
    static constexpr int pairs = width;  // of the columns of D and E
    using Window = Real[rows][columns];

    /// By the parity of the task: the sums of each warp, then the first rows of D and E.
    using Sums = Pair<Real>[2][chase_warps + 1][pairs];

public:
    /// Of shared memory, for a group.
    static constexpr int bytes = sizeof(Sums);

    __device__ Chase(int size, int group, unsigned char* memory, Band band)
        : band_(band),
          n_(size),
          group_(group),
          lane_(lane_number()),
          warp_(warp_number() % chase_warps),
          sums_(*reinterpret_cast<Sums*>(memory + group * bytes)) {}

    /// Its tasks on the columns of this block.
    __device__ void sweep(int i) {
        unsigned seen = 0;
        Row row;
        Window above = {};
        const int first = tasks_before(band_.begin(), i), last = tasks_before(band_.end(), i);
        if (first == 0)
            start(i, row, seen);
        else
            receive(i, row, above);
        for (int t = first; t < last; ++t) {
            if (band_.reaches_beyond(i + 1 + t * width))
                task<Band::spread>(i, t, row, above, seen);
            else
                task<false>(i, t, row, above, seen);
        }
        if (last < tasks_before(n_, i)) pass_on(i, row, above);
    }

private:
    /// A row of windows, of which a lane has its columns. As a reflection I − τ v vᵀ it has v = (1, scale x_2,
    /// scale x_3, …), and zero in the place of x_1.
    struct Row {
        Real x[columns];
        Real tau, scale;
    };

    /// `beyond`: it reaches columns of the next block, which takes longer.
    template <bool beyond>
    __device__ void task(int i, int t, Row& row, Window& above, unsigned& seen) {
        const int c = i + 1 + t * width;
        wait<beyond>(i, t + 2, seen);
        Window middle, right;
        load_middle<beyond>(middle, c);
        load_right<beyond>(right, c);
        apply_right(above, row);
        apply_right(middle, row);
        if (t > 0) store_above<beyond>(above, c);
        apply_left(middle, right, row, t % 2);
        each_entry([&](int r, int k) {
            above[r][k] = right[r][k];
            Band::store(entry<beyond>(r, c, c, k), middle[r][k]);
        });
        reflect<beyond>(row, c, c + width);
        __syncwarp();
        if (lane_ == 0) band_.template add_task<beyond>(i, c);
    }

    __device__ void start(int i, Row& row, unsigned& seen) {
        wait<Band::spread>(i, 2, seen);
        each([&](int k) { row.x[k] = Band::load(entry<Band::spread>(i, i + 1, k)); });
        meet_group(group_);  // all warps have read the row, and the sums of the sweep before
        reflect<Band::spread>(row, i, i + 1);
    }

    /// From the block that has the columns before, and to that of those after, where there are several.
    __device__ void receive(int i, Row& row, Window& above) const {
        if constexpr (Band::spread) {
            band_.wait_for_sweep(i);
            meet_group(group_);  // all warps have read the sums of the sweep before
            each_number(row, above, [from = band_.received(i) + thread()](int place, Real& x) {
                x = from[place * chase_threads];
            });
        }
    }
    __device__ void pass_on(int i, Row& row, Window& above) const {
        if constexpr (Band::spread) {
            each_number(row, above, [to = band_.passed(i) + thread()](int place, Real& x) {
                to[place * chase_threads] = x;
            });
            __syncwarp();
            if (lane_ == 0) band_.add_sweep(i);
        }
    }
    template <class Take>
    __device__ static void each_number(Row& row, Window& above, Take take) {
        each_entry([&](int r, int k) { take(r * columns + k, above[r][k]); });
        each([&](int k) { take(rows * columns + k, row.x[k]); });
        take((rows + 1) * columns, row.tau);
        take((rows + 1) * columns + 1, row.scale);
    }
    __device__ int thread() const { return warp_ * 32 + lane_; }

    /// The lane's places along a column and along a row.
    __device__ int down() const { return lane_ / 4; }
    __device__ int across() const { return lane_ % 4; }
    __device__ int row(int r) const { return (warp_ * rows + r) * 8 + down(); }
    /// In the lane's column k of a window.
    template <bool beyond>
    __device__ Real* entry(int row, int first_column, int k) const {
        return band_.template at<beyond>(row, first_column + 2 * across(), 8 * (k / 2) + k % 2);
    }
    template <bool beyond>
    __device__ Real* entry(int r, int first_row, int first_column, int k) const {
        return entry<beyond>(first_row + row(r), first_column, k);
    }
    __device__ bool is_first_column(int k) const { return k == 0 && across() == 0; }
    __device__ bool is_last_column(int k) const { return k == columns - 1 && across() == 3; }
    __device__ bool has_first_row(int r) const { return r == 0 && warp_ == 0 && down() == 0; }

    template <class Take>
    __device__ static void each(Take take) {
#pragma unroll
        for (int k = 0; k < columns; ++k) take(k);
    }
    template <class Take>
    __device__ static void each_entry(Take take) {
#pragma unroll
        for (int r = 0; r < rows; ++r)
#pragma unroll
            for (int k = 0; k < columns; ++k) take(r, k);
    }

    /// Until `needed` tasks of the sweep before `i` are done, by all its warps. Those on columns before this block's
    /// are not counted.
    template <bool beyond>
    __device__ void wait(int i, int needed, unsigned& seen) {
        if (i > 0) {
            const int counted = min(needed, tasks_before(n_, i - 1)) - tasks_before(band_.begin(), i - 1);
            const auto of_all = static_cast<unsigned>(counted * chase_warps);
            if (beyond || seen < of_all) band_.template wait<beyond>(i - 1, of_all, seen);
        }
        __syncwarp();
    }

    template <bool beyond>
    __device__ void load_middle(Window& to, int c) const {
        each_entry([&](int r, int k) { to[r][k] = Band::load(entry<beyond>(r, c, c, k)); });
    }
    /// The last column of E, c + 63, is the first of D in task t + 2 of the sweep before, which may be at work there:
    /// it is written when it is in U. Only its last entry is not zero before.
    template <bool beyond>
    __device__ void load_right(Window& to, int c) const {
        each_entry([&](int r, int k) {
            const bool zero = is_last_column(k) && row(r) < width - 1;
            to[r][k] = zero ? Real(0) : Band::load(entry<beyond>(r, c, c + width, k));
        });
    }

    /// The sum over the lanes of a row, in all of them.
    __device__ static Real sum_of_row(Real x) {
        x += __shfl_xor_sync(0xffffffffU, x, 1);
        return x + __shfl_xor_sync(0xffffffffU, x, 2);
    }

    __device__ void apply_right(Window& window, const Row& row) const {
#pragma unroll
        for (int r = 0; r < rows; ++r) {
            Real even = 0, odd = 0;
#pragma unroll
            for (int k = 0; k < columns; k += 2) {
                even += window[r][k] * row.x[k];
                odd += window[r][k + 1] * row.x[k + 1];
            }
            const Real head = across() == 0 ? window[r][0] : Real(0);
            const Real factor = row.tau * sum_of_row(head + row.scale * (even + odd));
            const Real scaled = factor * row.scale;
            each([&](int k) { window[r][k] -= scaled * row.x[k]; });
            if (across() == 0) window[r][0] -= factor;
        }
    }

    /// Its first row was written before.
    template <bool beyond>
    __device__ void store_above(const Window& above, int c) const {
        each_entry([&](int r, int k) {
            if (!has_first_row(r)) Band::store(entry<beyond>(r, c - width, c, k), above[r][k]);
        });
    }

    /// The left reflection of D, which is then final, and E. Leaves the first row of E in `first_row`.
    __device__ void apply_left(Window& middle, Window& right, Row& first_row, int turn) {
        Real x[rows];
#pragma unroll
        for (int r = 0; r < rows; ++r) x[r] = __shfl_sync(0xffffffffU, middle[r][0], lane_ & ~3);
        leave_sums(middle, right, x, turn);
        meet_group(group_);
        const Pair<Real>(&of_warps)[chase_warps + 1][pairs] = sums_[turn];
        const auto total = [&](int pair) {
            Pair<Real> out = of_warps[0][pair];
#pragma unroll
            for (int warp = 1; warp < chase_warps; ++warp) {
                const Pair<Real> more = of_warps[warp][pair];
                out = {out.first + more.first, out.second + more.second};
            }
            return out;
        };
        const auto unit = unit_reflection(of_warps[chase_warps][0].first, total(0).first);
        Real factor[rows];
#pragma unroll
        for (int r = 0; r < rows; ++r)
            factor[r] = unit.tau * (has_first_row(r) ? Real(1) : x[r] * unit.scale);
#pragma unroll
        for (int k = 0; k < columns; k += 2) {
            const int pair = 2 * k + across();
            const auto subtract = [&](Window& window, const Pair<Real>& head, const Pair<Real>& sum) {
                const Pair<Real> product{head.first + unit.scale * sum.first,
                                         head.second + unit.scale * sum.second};
#pragma unroll
                for (int r = 0; r < rows; ++r) {
                    window[r][k] -= factor[r] * product.first;
                    window[r][k + 1] -= factor[r] * product.second;
                }
                return product;
            };
            subtract(middle, of_warps[chase_warps][pair], total(pair));
            const Pair<Real> head = of_warps[chase_warps][pairs / 2 + pair];
            const auto product = subtract(right, head, total(pairs / 2 + pair));
            first_row.x[k] = head.first - unit.tau * product.first;
            first_row.x[k + 1] = head.second - unit.tau * product.second;
        }
        each_entry([&](int r, int k) {
            if (is_first_column(k)) middle[r][k] = has_first_row(r) ? unit.beta : Real(0);
        });
    }

    /// Adds the sums of one half of the lanes to those of the other; each half goes on with `kept` of them.
    template <int kept>
    __device__ void add_halves(Real (&sum)[2 * columns]) const {
        constexpr int step = 2 * kept;  // down
        const bool upper = (lane_ & step) != 0;
#pragma unroll
        for (int q = 0; q < kept; ++q) {
            const Real first = sum[q], second = sum[q + kept];
            sum[q] =
                (upper ? second : first) + __shfl_xor_sync(0xffffffffU, upper ? first : second, step);
        }
    }

    /// x_2 a_2 + … over the rows of this warp, for all columns a of D and E, and their first entries.
    __device__ void leave_sums(const Window& middle, const Window& right, const Real (&x)[rows], int turn) {
        Real sum[2 * columns] = {};
        each_entry([&](int r, int k) {
            const Real weight = has_first_row(r) ? Real(0) : x[r];
            sum[k] += weight * middle[r][k];
            sum[columns + k] += weight * right[r][k];
        });
        add_halves<columns>(sum);
        add_halves<columns / 2>(sum);
        add_halves<columns / 4>(sum);
        sums_[turn][warp_][lane_] = {sum[0], sum[1]};
        if (!has_first_row(0)) return;
#pragma unroll
        for (int k = 0; k < columns; k += 2) {
            Pair<Real>* const heads = sums_[turn][chase_warps] + 2 * k + across();
            heads[0] = {middle[0][k], middle[0][k + 1]};
            heads[pairs / 2] = {right[0][k], right[0][k + 1]};
        }
    }

    /// The reflection of a row of the band, found from its entries. The first warp writes what the row is mapped to.
    template <bool beyond>
    __device__ void reflect(Row& row, int number, int first_column) const {
        const Real alpha = __shfl_sync(0xffffffffU, row.x[0], 0);
        if (across() == 0) row.x[0] = 0;
        Real even = 0, odd = 0;
#pragma unroll
        for (int k = 0; k < columns; k += 2) {
            even += row.x[k] * row.x[k];
            odd += row.x[k + 1] * row.x[k + 1];
        }
        const auto unit = unit_reflection(alpha, sum_of_row(even + odd));
        row.tau = unit.tau;
        row.scale = unit.scale;
        if (!has_first_row(0)) return;
        const bool of_right = first_column - number == width;
        each([&](int k) {
            if (of_right && is_last_column(k)) return;  // was never written to the band, and becomes zero
            Band::store(entry<beyond>(number, first_column, k), is_first_column(k) ? unit.beta : Real(0));
        });
    }

    Band band_;
    int n_, group_, lane_, warp_;
    Sums& sums_;  // in shared memory
};

}  // namespace spectra::montecarlo::cuda::two_stage
