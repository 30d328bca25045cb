#pragma once

#include "montecarlo/cuda/band.cuh"
#include "montecarlo/cuda/runtime.cuh"

#include <cstddef>

/// The first stage of two_stage.cu: how the tiles of a panel are grouped.
namespace spectra::montecarlo::cuda::two_stage {

constexpr int tile = band_width;  // a warp
constexpr int group_tiles = 8;
constexpr int group_rows = tile * group_tiles;

/// One level of the tree over a panel: group q has the tiles first + (8 q + i)·stride.
struct Level {
    int first;            ///< the tile of the panel's diagonal, along the panel
    int stride;           ///< in tiles
    int count;            ///< of tiles
    int panel;            ///< its tile across
    std::size_t place;    ///< of its first group among all of the panel
    std::size_t per_all;  ///< groups per matrix
    __host__ __device__ int groups() const { return (count + group_tiles - 1) / group_tiles; }
    __host__ __device__ int tiles_of(int group) const {
        const int left = count - group * group_tiles;
        return left < group_tiles ? left : group_tiles;
    }
    __host__ __device__ int tile_at(int group, int i) const {
        return first + (group * group_tiles + i) * stride;
    }
    /// Where the reflections of a group are stored.
    __host__ __device__ std::size_t place_of(int number, int group) const {
        return static_cast<std::size_t>(number) * per_all + place + static_cast<std::size_t>(group);
    }
};

/// Calls take(level) for the levels of a panel of `count` tiles.
template <class Take>
void each_level(int first, int count, int panel, std::size_t per_all, Take take) {
    Level level{first, 1, count, panel, 0, per_all};
    for (;;) {
        take(level);
        const int groups = level.groups();
        if (groups == 1) return;
        level.place += static_cast<std::size_t>(groups);
        level.count = groups;
        level.stride *= group_tiles;
    }
}

/// Groups of the largest panel.
inline std::size_t most_groups(int tiles) {
    std::size_t out = 0;
    each_level(0, tiles, 0, 0, [&](const Level& level) { out += static_cast<std::size_t>(level.groups()); });
    return out;
}

}  // namespace spectra::montecarlo::cuda::two_stage
