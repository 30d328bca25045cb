#pragma once

/// \file
/// Reads mixers from a JSON, HDF5, NumPy or CSV file.

#include "mixers/mixer.hpp"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace spectra::h5 {
class File;
}

namespace spectra {

/// The mixers of a file: one n×n matrix, or L of them, layer 1 first.
///
/// JSON: an n×n or L×n×n array, or an object with this array under `mixers`. HDF5: a dataset `mixers`, n×n or
/// L×n×n (or `network/mixers` of a result file). NumPy: a .npy file of that shape, or a .npz archive with an array
/// `mixers`, or with one array only. CSV: one n×n, or L of them with blank lines between; entries separated by commas,
/// semicolons or blanks; # begins a comment.
/// The format is recognised by content first (signatures, a leading bracket), then by extension.
///
/// Throws std::invalid_argument, one line with file, layer and row, if the file is missing, empty or in
/// another format, or if a matrix is ragged, not square, not finite, or differs in size from the first.
std::vector<Mixer> read_mixers(const std::filesystem::path& path);

/// The same from the text of a CSV file; `where` begins the messages.
std::vector<Mixer> mixers_from_csv(const std::string& text, const std::string& where);

/// \cond INTERNAL
/// The same from an open HDF5 file.
std::vector<Mixer> mixers_from_hdf5(const h5::File& file, const std::string& where);
/// The same from the bytes of a .npy or .npz file.
std::vector<Mixer> mixers_from_numpy(std::span<const std::byte> file, const std::string& where);
/// \endcond

}  // namespace spectra
