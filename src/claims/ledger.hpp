#pragma once

/// \file
/// All claims, from the program itself or from a folder of files.

#include "claims/claim.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace spectra::claims {

/// The papers by their short names, in the order of the ledger.
struct Paper {
    std::string name;     ///< "jpmhc"
    std::string title;    ///< "JPmHC: Dynamical Isometry via Orthogonal Hyper-Connections"
    std::string address;  ///< "arXiv:2602.18308"
};
const std::vector<Paper>& papers();

/// The claims that were compiled into the program, data/claims/ of its sources, in the order of their numbers.
std::vector<Claim> ledger();
/// Those of a folder's JSON files. Throws std::invalid_argument, one line with the file, where one cannot be read, has
/// another name than its claim (C9 is C009.json), or belongs to no known paper.
std::vector<Claim> read_ledger(const std::filesystem::path& folder);

/// "C009.json", the file of claim C9.
std::string file_name(const std::string& id);
/// Writes the claim's file into the folder, whole or not at all.
void write(const Claim& claim, const std::filesystem::path& folder);

/// \cond INTERNAL
/// The files of data/claims/ (written by cmake/SpectraClaims.cmake).
std::vector<std::string> embedded_claims();
/// \endcond

}  // namespace spectra::claims
