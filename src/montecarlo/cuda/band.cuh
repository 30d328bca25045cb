#pragma once

namespace spectra::montecarlo::cuda {

/// Superdiagonals of the band between the stages; also the size of a tile.
constexpr int band_width = 32;

/// A stored column of a band: rows from 2·band_width above the diagonal to band_width − 1 below.
constexpr int band_leading = 3 * band_width;

}  // namespace spectra::montecarlo::cuda
