#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <string>

namespace spectra::testing {

/// The program is on the search path.
inline bool program_is_there(const std::string& name) {
    const char* const places = std::getenv("PATH");
    std::istringstream list(places != nullptr ? places : "");
    for (std::string place; std::getline(list, place, ':');)
        if (access((place + "/" + name).c_str(), X_OK) == 0) return true;
    return false;
}

}  // namespace spectra::testing

/// At the beginning of a test: ctest lists those that were not run by name.
#define SPECTRA_NEEDS_PROGRAM(name) \
    if (!spectra::testing::program_is_there(name)) GTEST_SKIP() << "not run: there is no " name
#define SPECTRA_NEEDS_GNUPLOT() SPECTRA_NEEDS_PROGRAM("gnuplot")
