#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace spectra::study {

/// A figure. What is empty was not given: every figure has its own default.
struct FigureRequest {
    std::string name;                ///< of a figure, or "all"; empty: list them
    std::vector<std::string> files;  ///< behind the name

    std::vector<std::string> mixers;  ///< families or files
    std::vector<int> depths;
    std::optional<int> max_depth, streams, width, samples;
    std::optional<double> noise;  ///< L·σ²
    std::uint64_t seed = 1;

    std::optional<std::string> out;
    std::vector<std::string> plots{"png"};
    bool force = false, json = false, quiet = false, grey = false, column = false;
    int threads = 0;  ///< 0: all

    std::set<std::string> given;  ///< fields of the network and the simulation that were, by name: "depths"
};

}  // namespace spectra::study
