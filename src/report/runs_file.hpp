#pragma once

#include "report/report.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spectra::h5 {
class File;
}

/// Results of many networks, and the file that holds them:
///
///     / attributes       those of every result file (result_file.hpp)
///     /runs/<name>       one network, laid out as a result file of its own, root attributes and all
///     /summary           a table with a row a network, in the order they were asked for
///
/// Every network is first a result file of its own, written as soon as it is computed; they are brought
/// together at the end. Nothing that was finished is lost on the way.
namespace spectra::report {

/// Where the results of one network are.
struct StoredRun {
    std::string name;
    std::filesystem::path file;
    std::string group = {};  ///< "runs/<name>"; empty: the whole file
};

/// One network of many: a row of the summary.
struct Run {
    std::string name;
    std::string title, mixer, branch, activation;
    int depth = 0, streams = 0, width = 0;
    double noise = 0;  ///< Σ σ_l², to twelve digits
    std::uint64_t seed = 1;
    bool certified = true;            ///< everything that can be
    std::vector<std::string> doubts;  ///< what is not: "ov", "green", …
    int samples = 0;
    SourceMetrics metrics;
    PairAgreement agreement;
};

/// A run that ended without results, and why.
struct FailedRun {
    std::string name, reason;
};

/// Everything a command over many networks found.
struct RunsReport {
    Provenance provenance;
    std::vector<Run> runs;
    std::vector<FailedRun> failed;
    std::vector<std::string> files;
};

/// The description (Provenance) that is stored with a run. Nothing where there is no such run, or its file
/// is none of ours or damaged. Never throws.
std::optional<std::string> stored_description(const StoredRun& stored);
/// The same of an open file, whatever `stored.file` says.
std::optional<std::string> stored_description(const h5::File& file, const StoredRun& stored);

/// What is said of a stored run. Throws std::invalid_argument, in one line, where the file cannot be read.
Run read_run(const StoredRun& stored);
/// The same of an open file, whatever `stored.file` says.
Run read_run(const h5::File& file, const StoredRun& stored);

/// Brings runs together in one file and fills `report.runs`. `path` may be one of the files the runs come
/// from. A reader never sees half a file, and on failure (std::runtime_error) an earlier one is untouched.
void write_runs_file(RunsReport& report, const std::vector<StoredRun>& stored,
                     const std::filesystem::path& path);

/// The summary as comma-separated values: a line of names, a line a network, numbers with all their digits.
std::string summary_csv(const RunsReport& report);

/// `runs` (each with `name`, its parameters, `certified`, `metrics`, `agreement`), `failed`, `files`.
std::string to_json(const RunsReport& report);

/// The summary as a table for a person, the first `rows` of it.
std::string terminal_page(const RunsReport& report, int columns, bool colour, bool unicode,
                          std::size_t rows = 60);

}  // namespace spectra::report
