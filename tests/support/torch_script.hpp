#pragma once

#include "support/process.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace spectra::testing {

/// A python3 that has the module torch, as CMake found it (tests/python.cmake); empty if there is none.
inline std::string python_with_torch() {
    return SPECTRA_PYTHON_WITH_TORCH;
}

/// Runs tests/SCRIPT with that Python to write files into a folder. Returns what went wrong; nothing if all went well.
inline std::string run_torch_script(const std::string& script, const std::filesystem::path& folder) {
    const auto path = std::filesystem::path(SPECTRA_DATA_DIR) / ".." / "tests" / script;
    const auto run = run_process({python_with_torch(), path.string(), folder.string()});
    return run.status == 0 ? "" : path.string() + " failed: " + run.err;
}

}  // namespace spectra::testing

/// At the beginning of a test or of SetUp(): ctest lists those that were not run by name.
#define SPECTRA_NEEDS_PYTHON_TORCH() \
    if (spectra::testing::python_with_torch().empty()) GTEST_SKIP() << "not run: no python3 has the module torch"
