#pragma once

/// \file
/// A claim: one statement of a paper, how it is tested, and what was found.

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The ledger of published claims: what papers state, computed again.
namespace spectra::claims {

/// What was found of a claim.
enum class Verdict {
    holds,          ///< as stated
    holds_in_part,  ///< under conditions that the statement does not name, or for some of what it names
    refuted,        ///< not as stated; the claim has a correction
    not_testable,   ///< not with the data and machines at hand; the claim gives the reason
    open,           ///< nothing was found yet
};

/// "holds", "holds in part", "refuted", "not testable here", "open".
std::string_view name(Verdict verdict);
/// The verdict of that name, or nothing.
std::optional<Verdict> find_verdict(std::string_view name);

/// One number of a claim.
struct Number {
    std::string name;                                         ///< what it is: "E s² by equation (7)"
    double value = std::numeric_limits<double>::quiet_NaN();  ///< what was measured
    /// By how much a repetition may differ; infinite for times, which no machine repeats.
    double tolerance = 0;
    std::optional<double> published = {};  ///< what the paper has in its place
    std::optional<double> spread = {};     ///< standard deviation over seeds or draws
};

/// Where a claim is made.
struct Source {
    std::string paper;  ///< short name: "jpmhc"
    std::string place;  ///< section, equation or table
};

/// What is right where a claim is refuted.
struct Correction {
    std::string statement;  ///< the corrected statement
    std::string evidence;   ///< what shows it
};

/// An entry of the ledger. docs/claims.md is written from these.
struct Claim {
    std::string id;                    ///< "C9"
    Source source;                     ///< who states it, and where
    std::string statement;             ///< in our words
    std::string test;                  ///< what is computed
    std::string criterion;             ///< what decides, with its tolerance
    bool quick = false;                ///< computed again by every run; else the stored result is checked
    Verdict verdict = Verdict::open;   ///< what was found
    std::vector<Number> numbers = {};  ///< measured, published ones beside them
    std::vector<std::uint64_t> seeds = {};  ///< of everything drawn; empty: nothing is drawn
    std::string samples = {};               ///< how many draws; empty: none
    std::string sizes = {};                 ///< n, p, L and so on
    std::string machine = {};               ///< that found the numbers
    std::string version = {};               ///< of the program: "0.1.0 (61cac98)"
    std::string command = {};               ///< that repeats it
    std::string remark = {};  ///< one or two sentences: conditions, reasons, what was tested instead
    std::optional<Correction> correction = {};  ///< where it is refuted or holds in part
};

/// Reads a claim. Throws std::invalid_argument with one line that begins with `where`: unknown or missing keys,
/// values of other types, an unknown verdict.
Claim from_json(const nlohmann::json& json, const std::string& where);
/// The same as JSON, keys in the order above; what is empty is left out.
nlohmann::ordered_json to_json(const Claim& claim);

/// What a stored claim lacks, in a few words each; empty: it is whole. Every claim needs its source, statement, test and
/// command. A verdict that was found by measuring needs numbers, machine and version; "refuted" a correction, "not
/// testable here" a reason, and "open" what would be run.
std::vector<std::string> defects(const Claim& claim);

/// Whether `version`, as Claim::version has it, names a release that is not later than `current` ("0.1.0") and a commit.
bool known_version(std::string_view version, std::string_view current);

}  // namespace spectra::claims
