#pragma once

/// \file
/// What the program needs from the machine, and whether it works there: as data, as a page and as JSON.

#include "report/terminal.hpp"

#include <string>
#include <utility>
#include <vector>

namespace spectra::report {

/// The state of one part after its trial.
enum class Health {
    works,    ///< its trial succeeded
    missing,  ///< it is not there
    fails,    ///< it is there, and its trial did not succeed
};

/// One thing that the program uses. The defaults mean that its trial has not succeeded.
struct Part {
    std::string name;               ///< "HDF5"
    bool required = false;          ///< every command needs it
    std::string purpose;            ///< what needs it: "result files"
    std::string remedy;             ///< what to install or do if it is missing or fails
    Health health = Health::fails;  ///< after its trial
    std::string found = {};         ///< what is there: "1.10.8"; or that nothing is
    std::string trial = {};         ///< what the trial showed, or why it failed; empty if there was none
    std::vector<std::pair<std::string, double>> measured = {};  ///< by name: {"gflops", 3.1}
    double seconds = 0;                                         ///< that the trial took
};

/// All parts, in the order they are shown.
struct Diagnosis {
    std::string version;      ///< of the program: "0.1.0"
    std::string git;          ///< commit
    std::string build;        ///< "Release"
    std::string compiler;     ///< "g++ 12.2.0"
    std::string features;     ///< optional parts the build included, one line
    std::vector<Part> parts;  ///< what was examined

    /// Whether everything required works.
    bool works() const;
};

/// One line per part if it works; if not, also what it is needed for and what to do. The last line is the verdict.
std::string terminal_page(const Diagnosis& diagnosis, int columns, bool colour, bool unicode = locale_is_utf8());

/// `works`, `program` and `parts`, an array with all fields of each part; `remedy` is null for those that work.
std::string to_json(const Diagnosis& diagnosis);

}  // namespace spectra::report
