#pragma once

/// \file
/// Results of many networks in one file, and their summary.

#include "report/report.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spectra::h5 {
class File;
}

/// Results of many networks, and their file:
///
///     / attributes       those of every result file (result_file.hpp)
///     /runs/<name>       one network, with the structure of a result file, root attributes included
///     /summary           a table with one row per network, in the requested order
///
/// Every network is first written to its own result file, as soon as it is computed; the files are merged
/// at the end. An interruption loses no finished network.
namespace spectra::report {

/// The location of the results of one network.
struct StoredRun {
    std::string name;            ///< of the network
    std::filesystem::path file;  ///< a result file, or a file of many
    std::string group = {};  ///< "runs/<name>"; empty: the whole file
};

/// One network of many: a row of the summary.
struct Run {
    std::string name;        ///< "cayley-L10-noise0.05-seed1"
    std::string title;       ///< one line
    std::string mixer;       ///< a family, or a file
    std::string branch;      ///< its kind
    std::string activation;  ///< of an activation branch; else empty
    int depth = 0;           ///< L
    int streams = 0;         ///< n
    int width = 0;           ///< p
    double noise = 0;  ///< Σ σ_l², to twelve digits
    std::uint64_t seed = 1;  ///< of everything random
    bool certified = true;            ///< everything that can be certified
    std::vector<std::string> doubts;  ///< what is not certified: "ov", "green", …
    int samples = 0;  ///< simulated; 0: none
    SourceMetrics metrics;  ///< of every law
    PairAgreement agreement;  ///< of every pair of laws
};

/// A run that ended without results, and the reason.
struct FailedRun {
    std::string name;    ///< of the network
    std::string reason;  ///< in one line
};

/// All results of a command over many networks.
struct RunsReport {
    Provenance provenance;  ///< of the whole file
    std::vector<Run> runs;  ///< in the requested order
    std::vector<FailedRun> failed;  ///< networks without results
    std::vector<std::string> files;  ///< written, in order
};

/// The description (Provenance) that is stored with a run. Nothing if the run does not exist, or its file
/// is damaged or not a result file. Never throws.
std::optional<std::string> stored_description(const StoredRun& stored);
/// The same for an open file, ignoring `stored.file`.
std::optional<std::string> stored_description(const h5::File& file, const StoredRun& stored);

/// The names of the runs in a file of many; none if it has one run only. Throws std::invalid_argument if it cannot be
/// read.
std::vector<std::string> run_names(const std::filesystem::path& file);

/// The summary of a stored run. Throws std::invalid_argument, in one line, if the file cannot be read.
Run read_run(const StoredRun& stored);
/// The same for an open file, ignoring `stored.file`.
Run read_run(const h5::File& file, const StoredRun& stored);

/// Merges runs into one file and fills `report.runs`. `path` may be one of the files the runs come from. A
/// reader never sees an incomplete file, and on failure (std::runtime_error) an earlier one stays unchanged.
void write_runs_file(RunsReport& report, const std::vector<StoredRun>& stored,
                     const std::filesystem::path& path);

/// What a file of many networks holds: the values of the grid, how many networks are certified, and the first rows of
/// their table. Empty for a file of one. Of more than a thousand networks the first thousand are described.
std::string describe_runs(const std::filesystem::path& path, int columns, bool unicode);

/// The summary as comma-separated values: one line of names, one line per network, numbers with all digits.
std::string summary_csv(const RunsReport& report);

/// `runs` (each with `name`, its parameters, `certified`, `metrics`, `agreement`), `failed`, `files`.
std::string to_json(const RunsReport& report);

/// The summary as a table for users, with the first `rows` rows.
std::string terminal_page(const RunsReport& report, int columns, bool colour, bool unicode,
                          std::size_t rows = 60);

}  // namespace spectra::report
