#pragma once

#include "study/reproduce.hpp"

#include <string>

namespace spectra::cli {

/// What `spectra reproduce` was asked for.
struct ReproduceOptions {
    study::ReproduceRequest request;
    bool json = false;
    bool markdown = false;  ///< print the document of the ledger; compute nothing
    bool gpu = false;       ///< run the trainings that are missing first
    bool afresh = false;    ///< also those that the program has results of
    std::string text;       ///< the file that trainings on a text learn
    int jobs = 0;           ///< of them at a time; 0: as many as the GPU shares well
};

/// `spectra reproduce`: prints a table, JSON or the document. Returns the exit status: ExitStatus::verdict_negative if a
/// result no longer agrees with the ledger.
int reproduce(ReproduceOptions options);

}  // namespace spectra::cli
