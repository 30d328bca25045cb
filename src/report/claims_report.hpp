#pragma once

/// \file
/// The ledger of claims as users see it: a page, JSON, and the document docs/claims.md.

#include "claims/ledger.hpp"
#include "claims/outcome.hpp"

#include <optional>
#include <string>
#include <vector>

namespace spectra::report {

/// A claim after a run.
struct ClaimRow {
    claims::Claim claim;                     ///< as stored
    std::optional<claims::Outcome> outcome;  ///< if it was computed again
    std::vector<std::string> disagreements;  ///< what differs from the ledger, or what a stored result lacks
    double seconds = 0;                      ///< of the computation

    /// Whether the result agrees with the ledger.
    bool agrees() const { return disagreements.empty(); }
};

/// The result of `reproduce`.
struct ClaimsReport {
    std::vector<ClaimRow> rows;  ///< in the order of the ledger
    std::string version;         ///< of the program
    double seconds = 0;          ///< of the whole run

    /// Whether every row agrees.
    bool agrees() const;
};

/// A table: claim, what was computed, verdict, number, how to repeat it; below it how many claims have which verdict, and
/// every disagreement.
std::string terminal_page(const ClaimsReport& report, int columns, bool colour);

/// `agrees`, `seconds`, `version`, `verdicts` (counts) and `claims`, an array with the stored fields of each, `computed`
/// (numbers and verdict, or null) and `disagreements`.
std::string to_json(const ClaimsReport& report);

/// The document of a ledger: a summary by paper, then every claim with its numbers.
std::string claims_markdown(const std::vector<claims::Claim>& ledger);

}  // namespace spectra::report
