#pragma once

/// \file
/// Examines the machine: what the program needs there, and whether it works.

#include "report/diagnosis.hpp"
#include "study/observer.hpp"

#include <filesystem>
#include <optional>

namespace spectra::study {

/// What the caller knows and the library does not.
struct DoctorRequest {
    std::optional<std::filesystem::path> torch_program;  ///< the program spectra-torch; none: it is missing
};

/// Tries every part, the whole in a few seconds: a singular value decomposition with a known result, a certified solve,
/// a result file, a picture, a simulation on the GPU, spectra-torch, MPI. Nothing is left behind. A part that fails is
/// reported, not thrown.
report::Diagnosis doctor(const DoctorRequest& request, Observer& observer);

}  // namespace spectra::study
