#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <string>

namespace spectra::testing {

/// gnuplot is on the search path.
inline bool gnuplot_is_there() {
    const char* const places = std::getenv("PATH");
    std::istringstream list(places != nullptr ? places : "");
    for (std::string place; std::getline(list, place, ':');)
        if (access((place + "/gnuplot").c_str(), X_OK) == 0) return true;
    return false;
}

}  // namespace spectra::testing

/// At the beginning of a test: ctest lists those that were not run by name.
#define SPECTRA_NEEDS_GNUPLOT() \
    if (!spectra::testing::gnuplot_is_there()) GTEST_SKIP() << "not run: there is no gnuplot"
