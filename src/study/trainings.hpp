#pragma once

/// \file
/// Runs the trainings that claims rest on, several at a time, each result written as it is done.

#include "base/temporary_folder.hpp"
#include "claims/claim.hpp"
#include "claims/training.hpp"
#include "study/observer.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace spectra::study {

/// Which trainings, and how.
struct TrainingsRequest {
    std::vector<claims::Training> trainings;
    std::filesystem::path
        folder;  ///< of the results, NAME.json, and of files of trainings that are not finished
    std::filesystem::path program;  ///< that trains
    /// What it is called with, so that it writes STEM.h5 and continues what it finds there.
    std::function<std::vector<std::string>(const claims::Training&, const std::filesystem::path& stem)>
        arguments;
    std::string machine;  ///< to be recorded, in words
    int at_once = 1;      ///< trainings at a time
    bool afresh = false;  ///< also what the program itself has results of
};

/// How far it came.
struct TrainingsDone {
    int trained = 0;                    ///< results that were written
    int there = 0;                      ///< that had been there
    std::vector<std::string> failures;  ///< one line each
    bool stopped = false;               ///< by the observer
};

/// All trainings that these claims rest on, in the order in which they are run: that of the claims.
std::vector<claims::Training> trainings_of(const std::vector<claims::Claim>& ledger);

/// "NVIDIA H200", or empty if there is none.
std::string gpu_name();

/// The trainings among `wanted` of which neither the folder nor, unless they are to be made afresh, the program itself has a
/// result.
std::vector<claims::Training> missing_trainings(const std::vector<claims::Training>& wanted,
                                                const std::filesystem::path& folder, bool afresh = false);

/// Runs what is missing, and at the end, one after the other, what must be alone on the machine. A result counts once it is written: whatever ends this, a later call goes on. No further training
/// is started after one has failed. One that diverged has not failed: that is its result.
TrainingsDone run_trainings(const TrainingsRequest& request, Observer& observer);

/// The result of a training from its log, STEM.h5. Throws std::invalid_argument if it is no finished training.
claims::TrainingResult training_result(const std::filesystem::path& log, const std::string& name,
                                       const std::string& machine);

/// Lets processes share a GPU without taking turns, as long as it lives: starts CUDA's Multi-Process Service where it is
/// installed and none was started by the user.
class SharedGpu {
public:
    SharedGpu();
    ~SharedGpu();
    SharedGpu(const SharedGpu&) = delete;
    SharedGpu& operator=(const SharedGpu&) = delete;
    /// Whether it is so.
    bool shared() const { return shared_; }

private:
    bool shared_ = false;
    std::optional<TemporaryFolder> folder_;  ///< of its own service
};

}  // namespace spectra::study
