#pragma once

#include "support/process.hpp"

#include <filesystem>
#include <string>

namespace spectra::testing {

/// Runs tests/SCRIPT with the system's Python, which has Torch (scripts/setup.sh), to write files into a
/// folder. Nothing where it went well; else what it said.
inline std::string run_torch_script(const std::string& script, const std::filesystem::path& folder) {
    const auto path = std::filesystem::path(SPECTRA_DATA_DIR) / ".." / "tests" / script;
    const auto run = run_process({"/usr/bin/python3", path.string(), folder.string()});
    return run.status == 0 ? "" : "python3-torch is needed: " + run.err;
}

}  // namespace spectra::testing
