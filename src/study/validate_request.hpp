#pragma once

/// \file
/// What can be asked of trained models.

#include "study/invocation.hpp"
#include "validation/requirements.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spectra::study {

/// The validation of trained models. What is empty was not given.
struct ValidateRequest {
    std::vector<std::string> files;  ///< weight files, checkpoints, TorchScript modules
    std::optional<std::string> layout;  ///< a name, or a map's file (.json)
    std::optional<std::string> input;   ///< a tensor's file
    std::vector<std::int64_t> shape;    ///< of a drawn input for TorchScript
    std::optional<int> inputs;  ///< how many, pooled; none: default_inputs
    std::optional<int> token;  ///< from 0; none: the last
    bool all_tokens = false;  ///< the Jacobian of all tokens together
    std::optional<std::string> at;  ///< zero or data
    std::optional<double> noise;  ///< total branch variance assumed for weight files
    std::optional<int> aligned;  ///< triplets of every branch to keep; none: the fewest that explain the measurement
    std::optional<bool> alignment;  ///< whether to look for that; none: yes of one token, no of all together
    int triplets = 0;            ///< of every branch, to be stored in the result file; 0: none
    std::optional<double> explain;  ///< W1 over the root mean square that counts as explained; none: 0.02
    std::optional<std::vector<validation::Requirement>> require;  ///< what must hold; none: the defaults
    bool list = false;  ///< only list what is inside the files
    bool run_script = false;  ///< TorchScript modules may be run
    std::string device = "auto";  ///< auto, cpu or cuda
    std::string precision = "f64";  ///< f64 or f32
    std::uint64_t seed = 1;  ///< of what is drawn

    std::optional<std::string> out;  ///< stem of the files to write
    std::vector<std::string> plot{"png"};  ///< formats of the figures
    bool force = false;          ///< replace files not written by spectra
    bool json = false;           ///< for programs: print JSON
    bool quiet = false;          ///< for programs: no progress line
    std::optional<int> threads;  ///< none: OMP_NUM_THREADS, or all cores
};

/// Inputs of a validation.
inline constexpr int default_inputs = 8;

/// Throws std::invalid_argument where the fields contradict each other.
void check_conflicts(const ValidateRequest& request);

/// What the result's files are called: `out`, or spectra-validate-NAME; of several, those of all together.
std::string stem_of(const ValidateRequest& request, const Settings& settings = {});

/// Those of one of several: STEM-1, STEM-2, …, or spectra-validate-NAME, with a number where names are the
/// same.
std::string stem_of(const ValidateRequest& request, std::size_t index, const Settings& settings = {});

}  // namespace spectra::study
