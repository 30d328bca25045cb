#pragma once

/// \file
/// Reads the singular values of branches from a text, JSON or NumPy file.

#include "network/network.hpp"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace spectra {

/// The singular values of a branch: one set for all layers, or one per layer.
///
/// JSON: an array of numbers (one set) or of arrays (one per set), or an object with one of these under
///       `singular_values`.
/// Text: one set per line, entries separated by commas, semicolons or blanks; # begins a comment. A column
///       (several lines of one number) is refused: it could mean one set or one per layer.
/// NumPy: a .npy file with one dimension (one set) or two (one per row), or a .npz archive with an array
///       `singular_values`, or with one array only.
///
/// Sets may differ in length. check(Network) checks their number. Throws std::invalid_argument, one line with
/// file, set and value, for a file that is missing, empty or in another format, and for values that are
/// negative or not finite.
BranchLaw read_branch_law(const std::filesystem::path& path);

/// The same from a file's text; `where` begins the messages.
BranchLaw branch_law_from_text(const std::string& text, const std::string& where);

/// \cond INTERNAL
/// The same from the bytes of a .npy or .npz file.
BranchLaw branch_law_from_numpy(std::span<const std::byte> file, const std::string& where);
/// \endcond

}  // namespace spectra
