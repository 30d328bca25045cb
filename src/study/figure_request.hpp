#pragma once

/// \file
/// What can be asked of a figure.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace spectra::study {

/// A figure. What is empty was not given: every figure has its own default.
struct FigureRequest {
    std::string name;                ///< of a figure, or "all"; empty: list them
    std::vector<std::string>
        files;  ///< of spectra train, for figures of training; of spectra validate, for those of mixers

    std::vector<std::string> mixers;  ///< families or files
    std::vector<int> depths;  ///< where curves are evaluated, or one panel each
    std::optional<int> max_depth;  ///< of curves against depth
    std::optional<int> streams;    ///< n
    std::optional<int> width;      ///< p of simulations
    std::optional<int> samples;    ///< of a simulation
    std::optional<double> noise;  ///< L·σ²
    std::optional<int> sinkhorn_iterations;  ///< bistochastic mixers: sweeps
    std::optional<double> logit_scale;       ///< bistochastic and cayley mixers
    std::uint64_t seed = 1;  ///< of mixers and samples

    std::optional<std::string> out;  ///< stem of the files to write
    std::vector<std::string> plots{"png"};  ///< formats
    bool force = false;   ///< replace files not written by spectra
    bool json = false;    ///< for programs: print JSON
    bool quiet = false;   ///< for programs: print errors only
    bool grey = false;    ///< the greys that print gives the colours
    bool dark = false;    ///< light on a dark page, for screens
    bool column = false;  ///< as wide as one of two columns of a page
    int threads = 0;  ///< 0: all

    std::set<std::string> given;  ///< fields of the network and the simulation that were, by name: "depths"
};

}  // namespace spectra::study
