#pragma once

#include "weightfile/bytes.hpp"
#include "weightfile/tensor.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace spectra::weightfile {

/// An array of a NumPy file, its elements in row-major order whatever the file's order.
struct NumpyArray {
    Shape shape;
    std::vector<double> values;  ///< complex numbers as pairs: twice as many as the shape has elements
    bool complex = false;
    bool whole = false;  ///< integers or truth values
};

/// Largest number of numbers, two per complex element: 128 MiB of doubles, as in an HDF5 dataset of mixers.
constexpr std::size_t most_numpy_numbers = std::size_t{1} << 24;
/// Longest header in bytes; NumPy's own limit is 10000.
constexpr std::size_t longest_numpy_header = 65536;

/// Does it begin as a file of np.save?
bool looks_like_npy(Bytes file);
/// Is it a zip archive with an array in it? Archives of torch.save have none.
bool looks_like_npz(Bytes file);
/// Does it begin as a file of np.save, or as a zip archive, which np.savez and np.savez_compressed write?
bool is_numpy_file(const std::filesystem::path& path);

/// The array of a .npy file, format 1.0 to 3.0: float16, float32, float64, integers and bool of up to 64 bits,
/// complex64 and complex128, in either byte order, in C or Fortran order. Each element is rounded once: integers
/// above 2^53 are. Refused are object arrays (a pickle, which would have to be executed), structured types, texts,
/// dates, long doubles, a length that differs from what the header declares, and anything above the limits.
NumpyArray read_npy(Bytes file, const std::string& where);

/// An array of a .npz archive, stored or deflated: the one called `wanted`, or the only one.
NumpyArray read_npz(Bytes file, const std::string& where, std::string_view wanted);

/// Either, by content.
NumpyArray read_numpy(Bytes file, const std::string& where, std::string_view wanted);
NumpyArray read_numpy_file(const std::filesystem::path& path, std::string_view wanted);

/// "(3, 4)", as NumPy shows it; for messages.
std::string shape_text(const Shape& shape);

}  // namespace spectra::weightfile
