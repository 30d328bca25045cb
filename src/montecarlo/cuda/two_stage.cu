#include "montecarlo/cuda/two_stage.cuh"

#include "montecarlo/cuda/launch.cuh"
#include "montecarlo/cuda/two_stage_device.cuh"
#include "montecarlo/cuda/two_stage_panel.cuh"
#include "montecarlo/cuda/two_stage_shared.cuh"
#include "montecarlo/cuda/two_stage_tiles.cuh"
#include "montecarlo/cuda/two_stage_update.cuh"

#include <algorithm>
#include <stdexcept>
#include <type_traits>

namespace spectra::montecarlo::cuda {
namespace two_stage {
namespace {

/// Copies to a size that is a multiple of a tile, with zeros.
template <class Real>
__global__ void pad(Matrices<Real> from, Matrices<Real> to) {
    const auto number = static_cast<std::size_t>(blockIdx.x) / static_cast<std::size_t>(to.size);
    const int column = static_cast<int>(blockIdx.x) % to.size;
    for (int row = static_cast<int>(threadIdx.x); row < to.size; row += static_cast<int>(blockDim.x)) {
        const bool inside = row < from.size && column < from.size;
        to.data[number * to.stride + static_cast<std::size_t>(column) * to.leading + row] =
            inside ? from.data[number * from.stride + static_cast<std::size_t>(column) * from.leading + row]
                   : Real(0);
    }
}

template <class Real>
__global__ void copy_band(int size, Matrices<Real> from, Real* band, std::size_t stride) {
    const int columns = band_columns(size);
    const auto number = static_cast<std::size_t>(blockIdx.x) / static_cast<std::size_t>(columns);
    const int column = static_cast<int>(blockIdx.x) % columns, slot = static_cast<int>(threadIdx.x);
    const int row = column + slot - 2 * band_width;
    const bool inside = row >= 0 && row <= column && row + band_width >= column && column < size;
    band[number * stride + static_cast<std::size_t>(column) * band_leading + slot] =
        inside ? from.data[number * from.stride + static_cast<std::size_t>(column) * from.leading + row]
               : Real(0);
}

template <class Real>
__global__ void read_bidiagonal(int size, const Real* band, std::size_t stride, Real* diagonal,
                                Real* beside) {
    band += static_cast<std::size_t>(blockIdx.x) * stride + 2 * band_width;
    const auto offset = static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(size);
    for (int i = static_cast<int>(threadIdx.x); i < size; i += static_cast<int>(blockDim.x)) {
        diagonal[offset + static_cast<std::size_t>(i)] = band[static_cast<std::size_t>(i) * band_leading];
        if (i + 1 < size)
            beside[offset + static_cast<std::size_t>(i)] =
                band[(static_cast<std::size_t>(i) + 1) * band_leading - 1];
    }
}

int rounded(int size) {
    return (size + tile - 1) / tile * tile;
}

/// Of small matrices there are many: more blocks per processor with fewer registers each. Not chosen by the number
/// of matrices, because then roundings might depend on it.
bool is_small(int size) {
    return size <= 256;
}

/// Blocks per matrix that can be busy: a sweep follows two tasks behind the one before.
int most_workers(int size) {
    const int tasks = tasks_before(size, 0);
    return std::max(1, std::min(size - 2, (tasks + 1) / 2 + (tasks > 8 ? 1 : 0)));
}

template <class Kernel, class... Arguments>
void launch(Kernel kernel, int blocks, int threads, std::size_t bytes, cudaStream_t stream,
            Arguments... arguments) {
    allow_shared(kernel, bytes);
    kernel<<<static_cast<unsigned>(blocks), static_cast<unsigned>(threads), bytes, stream>>>(arguments...);
    check(cudaGetLastError(), "two stages");
}

/// In clusters of `together` blocks, if the device holds all of them at once and the kernel is compiled for such
/// devices.
template <class Kernel, class... Arguments>
bool launch_in_clusters(int together, Kernel kernel, int blocks, int threads, std::size_t bytes,
                        cudaStream_t stream, Arguments... arguments) {
    cudaFuncAttributes compiled{};
    check(cudaFuncGetAttributes(&compiled, kernel), "cudaFuncGetAttributes");
    if (compiled.ptxVersion < 90) return false;
    allow_shared(kernel, bytes);
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {static_cast<unsigned>(together), 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.dynamicSmemBytes = bytes;
    config.stream = stream;
    config.attrs = &cluster;
    config.numAttrs = 1;
    int resident = 0;
    check(cudaOccupancyMaxActiveClusters(&resident, kernel, &config), "cudaOccupancy");
    if (resident * together < blocks) return false;
    check(cudaLaunchKernelEx(&config, kernel, arguments...), "two stages");
    return true;
}

/// The first stage, of matrices whose size is a multiple of a tile.
template <class Real>
class ToBand {
public:
    ToBand(Matrices<Real> matrices, const TwoStages<Real>& work, cudaStream_t stream)
        : matrices_(matrices),
          tiles_(matrices.size / tile),
          groups_(most_groups(tiles_)),
          reflectors_(work.reflectors.data()),
          factors_(work.factors.data()),
          stream_(stream) {}

    void reduce() const {
        for (int k = 0; k < tiles_; ++k) {
            reduce_panel<false>(k, k);
            if (k + 1 < tiles_) reduce_panel<true>(k, k + 1);
        }
    }

private:
    /// `first`: its first tile.
    template <bool across>
    void reduce_panel(int panel, int first) const {
        const auto levels = [&](auto take) { each_level(first, tiles_ - first, panel, groups_, take); };
        levels([&](const Level& level) {
            is_small(matrices_.size) ? factorise(factorise_panel<Real, across, 2>, level)
                                     : factorise(factorise_panel<Real, across, 1>, level);
        });
        const int strips = tiles_ - panel - 1;
        if (strips == 0) return;
        levels([&](const Level& level) {
            launch(update<Real, across>, matrices_.count * level.groups() * strips, update_block,
                   Strip<Real, across>::numbers * sizeof(Real), stream_, matrices_, level, panel + 1, strips,
                   reflectors_, factors_);
        });
    }

    template <class Kernel>
    void factorise(Kernel kernel, const Level& level) const {
        launch(kernel, matrices_.count * level.groups(), panel_block,
               Panel<Real, false>::numbers * sizeof(Real), stream_, matrices_, level, reflectors_, factors_);
    }

    Matrices<Real> matrices_;
    int tiles_;
    std::size_t groups_;
    Real* reflectors_;
    Real* factors_;
    cudaStream_t stream_;
};

/// As many matrices at once as fit on the device.
template <class Real>
void chase_all(int size, int count, TwoStages<Real>& work, cudaStream_t stream) {
    const auto kernel = chase<Real>;
    const int resident = resident_blocks(kernel, chase_threads, 0);
    int workers = std::min(most_workers(size), resident);
    if (workers == 0) throw std::runtime_error("CUDA: two stages: the device is too small");
    const int teams = std::min(resident / workers, count);
    Real* band = work.band.data();
    std::size_t stride = work.band_stride(size);
    unsigned *progress = work.progress.data(), *failures = work.failures.data();
    void* arguments[] = {&size, &count, &workers, &band, &stride, &progress, &failures};
    check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel),
                                      dim3(static_cast<unsigned>(teams * workers)), dim3(chase_threads),
                                      arguments, 0, stream),
          "two stages");
}

/// If bands fit into shared memory, of a block or of a cluster, does the work and returns true. A result does not
/// depend on where a band is: the tasks are the same. Clusters of more than two blocks were slower than device
/// memory.
template <class Real>
bool chase_in_shared(int size, int count, const TwoStages<Real>& work, Real* diagonal, Real* beside,
                     cudaStream_t stream) {
    const auto in_blocks = [&](auto spread, int blocks) {
        using Band = SharedBand<Real, spread>;
        const int share = (band_columns(size) + blocks - 1) / blocks;
        const int groups = std::min(most_workers(std::min(size, share)), most_sweeps<Real, spread>);
        const std::size_t bytes =
            Band::bytes(size, share) + static_cast<std::size_t>(groups) * Chase<Band>::bytes;
        if (bytes > static_cast<std::size_t>(device_limits().shared_memory)) return false;
        const auto with = [&](auto start) {
            return start(chase_shared<Real, spread>, count * blocks, groups * chase_threads, bytes, stream,
                         size, share, blocks, groups, static_cast<const Real*>(work.band.data()),
                         work.band_stride(size), diagonal, beside);
        };
        if constexpr (spread)
            return with([&](auto... what) { return launch_in_clusters(blocks, what...); });
        else
            return with([](auto... what) { return launch(what...), true; });
    };
    return in_blocks(std::false_type(), 1) || in_blocks(std::true_type(), 2);
}

template <class T>
void grow(Buffer<T>& buffer, std::size_t size) {
    if (buffer.size() >= size) return;
    buffer = Buffer<T>();
    buffer = Buffer<T>(size);
}

/// Of each buffer, for one matrix.
struct Numbers {
    std::size_t padded, reflectors, factors, band, progress;
};

Numbers numbers_of(int size) {
    const auto n = static_cast<std::size_t>(rounded(size));
    const std::size_t groups = most_groups(rounded(size) / tile);
    return {rounded(size) == size ? 0 : n * n, groups * group_rows * tile, groups * tile * tile,
            static_cast<std::size_t>(band_columns(size)) * band_leading, static_cast<std::size_t>(size)};
}

}  // namespace
}  // namespace two_stage

template <class Real>
std::size_t TwoStages<Real>::band_stride(int size) {
    return two_stage::numbers_of(size).band;
}

template <class Real>
std::size_t TwoStages<Real>::bytes(int size) {
    const auto of = two_stage::numbers_of(size);
    return (of.padded + of.reflectors + of.factors + of.band) * sizeof(Real) + of.progress * sizeof(unsigned);
}

template <class Real>
void TwoStages<Real>::reserve(const Matrices<Real>& matrices) {
    const auto count = static_cast<std::size_t>(matrices.count);
    const auto of = two_stage::numbers_of(matrices.size);
    two_stage::grow(padded, count * of.padded);
    two_stage::grow(reflectors, count * of.reflectors);
    two_stage::grow(factors, count * of.factors);
    two_stage::grow(band, count * of.band);
    two_stage::grow(progress, count * of.progress);
    two_stage::grow(failures, 1);
}

template <class Real>
void TwoStages<Real>::release() {
    *this = TwoStages();
}

template <class Real>
void TwoStages<Real>::confirm(const Stream& stream) {
    unsigned count = 0;
    if (failures.size() > 0)
        check(cudaMemcpyAsync(&count, failures.data(), sizeof(count), cudaMemcpyDeviceToHost, stream),
              "cudaMemcpy");
    stream.wait();
    if (count > 0) throw std::runtime_error("CUDA: two stages: a thread block waited for another in vain");
}

template <class Real>
void reduce_to_band(Matrices<Real> matrices, TwoStages<Real>& work, cudaStream_t stream) {
    using namespace two_stage;
    if (matrices.count == 0) return;
    work.reserve(matrices);
    const int size = rounded(matrices.size);
    Matrices<Real> used = matrices;
    if (size != matrices.size) {
        const auto n = static_cast<std::size_t>(size);
        used = {work.padded.data(), size, size, n * n, matrices.count};
        launch(pad<Real>, matrices.count * size, 128, 0, stream, matrices, used);
    }
    ToBand<Real>(used, work, stream).reduce();
    launch(copy_band<Real>, matrices.count * band_columns(matrices.size), band_leading, 0, stream,
           matrices.size, used, work.band.data(), work.band_stride(matrices.size));
}

template <class Real>
void reduce_band(const Matrices<Real>& matrices, TwoStages<Real>& work, Real* diagonal, Real* beside,
                 cudaStream_t stream) {
    using namespace two_stage;
    const int size = matrices.size, count = matrices.count;
    if (count == 0) return;
    check(cudaMemsetAsync(work.failures.data(), 0, sizeof(unsigned), stream), "cudaMemset");
    if (chase_in_shared(size, count, work, diagonal, beside, stream)) return;
    const std::size_t sweeps = static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
    check(cudaMemsetAsync(work.progress.data(), 0, sweeps * sizeof(unsigned), stream), "cudaMemset");
    if (size > 2) chase_all(size, count, work, stream);
    launch(read_bidiagonal<Real>, count, 128, 0, stream, size, static_cast<const Real*>(work.band.data()),
           work.band_stride(size), diagonal, beside);
}

template <class Real>
void bidiagonalise_in_two_stages(Matrices<Real> matrices, TwoStages<Real>& work, Real* diagonal, Real* beside,
                                 cudaStream_t stream) {
    reduce_to_band(matrices, work, stream);
    reduce_band(matrices, work, diagonal, beside, stream);
}

template struct TwoStages<double>;
template struct TwoStages<float>;
template void reduce_to_band(Matrices<double>, TwoStages<double>&, cudaStream_t);
template void reduce_to_band(Matrices<float>, TwoStages<float>&, cudaStream_t);
template void reduce_band(const Matrices<double>&, TwoStages<double>&, double*, double*, cudaStream_t);
template void reduce_band(const Matrices<float>&, TwoStages<float>&, float*, float*, cudaStream_t);
template void bidiagonalise_in_two_stages(Matrices<double>, TwoStages<double>&, double*, double*,
                                          cudaStream_t);
template void bidiagonalise_in_two_stages(Matrices<float>, TwoStages<float>&, float*, float*, cudaStream_t);

}  // namespace spectra::montecarlo::cuda
