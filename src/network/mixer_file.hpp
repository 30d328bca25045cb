#pragma once

/// \file
/// Reads mixers from a JSON, HDF5 or CSV file.

#include "mixers/mixer.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace spectra::h5 {
class File;
}

namespace spectra {

/// The mixers of a file: one n×n matrix, or L of them, layer 1 first.
///
/// JSON: an n×n or L×n×n array, or an object with such an array under `mixers`.
/// HDF5: a dataset `mixers`, n×n or L×n×n (a result file's own `network/mixers` is found too).
/// CSV:  one n×n, or L of them with blank lines between; entries apart by commas, semicolons or blanks;
///       what follows a # is a comment.
/// What a file is, its content says first (HDF5's signature, a leading bracket), then its extension.
///
/// Throws std::invalid_argument, one line with file, layer and row, for a file that is missing, empty, of
/// none of these formats, or holds a matrix that is ragged, not square, not finite, or not of the size of
/// the first.
std::vector<Mixer> read_mixers(const std::filesystem::path& path);

/// The same from the text of a CSV file; `where` begins the messages.
std::vector<Mixer> mixers_from_csv(const std::string& text, const std::string& where);

/// \cond INTERNAL
/// The same from an open HDF5 file.
std::vector<Mixer> mixers_from_hdf5(const h5::File& file, const std::string& where);
/// \endcond

}  // namespace spectra
