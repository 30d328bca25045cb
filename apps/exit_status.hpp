#pragma once

namespace spectra::cli {

/// The program's exit statuses.
enum ExitStatus : int {
    done = 0,
    verdict_negative = 1,   ///< done, and what was required does not hold
    bad_input = 2,          ///< found before anything is computed or written
    not_finished = 3,       ///< points left uncertified (the file marks them), out of memory, disk full
    needs_torch = 78,       ///< for the script ./spectra, which then builds spectra-torch first
    was_interrupted = 130,  ///< what is done is kept
};

}  // namespace spectra::cli
