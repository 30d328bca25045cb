#pragma once

#include "validation/requirements.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spectra::study {

/// The validation of trained models. What is empty was not given.
struct ValidateRequest {
    std::vector<std::string> files;
    std::optional<std::string> layout;  ///< a name, or a map's file (.json)
    std::optional<std::string> input;   ///< a tensor's file
    std::vector<std::int64_t> shape;    ///< of a drawn input for TorchScript
    std::optional<int> inputs;
    std::optional<int> token;  ///< from 0; none: the last
    bool all_tokens = false;
    std::optional<std::string> at;  ///< zero or data
    std::optional<double> noise;
    std::optional<std::vector<validation::Requirement>> require;
    bool list = false;
    bool run_script = false;  ///< TorchScript modules may be run
    std::string device = "auto";
    std::string precision = "f64";
    std::uint64_t seed = 1;

    std::optional<std::string> out;
    std::vector<std::string> plot{"png"};
    bool force = false, json = false, quiet = false;
    std::optional<int> threads;
};

inline constexpr int default_inputs = 8;

/// Throws std::invalid_argument where the fields contradict each other.
void check_conflicts(const ValidateRequest& request);

/// What the result's files are called: `out`, or spectra-validate-NAME; of several, those of all together.
std::string stem_of(const ValidateRequest& request);

/// Those of one of several: STEM-1, STEM-2, …, or spectra-validate-NAME, with a number where names are the
/// same.
std::string stem_of(const ValidateRequest& request, std::size_t index);

}  // namespace spectra::study
