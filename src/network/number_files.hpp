#pragma once

/// \file
/// Reads points of the complex plane and rows of numbers from files.

#include <complex>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace spectra {

/// re, re±im i, ±im i, with i or j at the end, "i" alone being 1i; no blanks. Nothing for other text.
std::optional<std::complex<double>> parse_complex(std::string text);

/// The point itself; throws std::invalid_argument, with `where`, if it is not finite and above the real axis.
std::complex<double> checked_point(std::complex<double> omega, const std::string& where);

/// Points of the upper half plane: a text file with one per line (# begins a comment); a JSON file with an array of
/// [re, im] pairs, alone or under `omega`; or a NumPy file with K complex numbers, or K×2 real ones. Throws
/// std::invalid_argument in one line that begins with `where`.
std::vector<std::complex<double>> read_points(const std::string& path, const std::string& where);

/// Rows of the same length.
struct NumberRows {
    std::vector<double> values;  ///< row after row
    std::size_t rows = 1;        ///< how many
};

/// Real numbers of a NumPy file, finite: one row, or several. `wanted` is the array to take from an archive. Throws
/// as read_points() does.
NumberRows read_number_rows(const std::string& path, const std::string& wanted, const std::string& where);

}  // namespace spectra
