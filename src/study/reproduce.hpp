#pragma once

/// \file
/// Computes the published claims again and compares the results with the ledger.

#include "report/claims_report.hpp"
#include "study/observer.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace spectra::study {

/// Which claims, and where they are.
struct ReproduceRequest {
    std::vector<std::string> ids;                 ///< "C9", …; empty: all
    std::optional<std::string> paper;             ///< only those of this one: "jpmhc"
    std::optional<std::filesystem::path> ledger;  ///< a folder of claims; none: those of the program itself
    /// A folder with results of trainings, which are used before those of the program itself.
    std::optional<std::filesystem::path> trainings;
    /// Write the numbers that were found into the files of this folder. Verdicts are not changed: one that no longer
    /// agrees is for people to look at.
    std::optional<std::filesystem::path> record;
    std::string machine;  ///< to be recorded with numbers, in words
};

/// The ledger of the request, restricted to what it names and in the order in which it does. Throws std::invalid_argument for an unknown claim or paper.
std::vector<claims::Claim> requested_claims(const ReproduceRequest& request);

/// Computes the quick claims again, checks that the stored results of the others are whole and made by a known version,
/// and reports where a result no longer agrees with its verdict. A computation that throws disagrees, with its message.
/// Throws Stopped where the observer stops it.
report::ClaimsReport reproduce(const ReproduceRequest& request, Observer& observer);

}  // namespace spectra::study
