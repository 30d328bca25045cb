#pragma once

/// \file
/// Statistics over the seeds of a series of trainings.

#include "claims/outcome.hpp"
#include "claims/training.hpp"

#include <optional>
#include <string>
#include <vector>

namespace spectra::claims {

/// Mean and standard deviation over seeds.
struct Seeds {
    double mean = 0;    ///< infinite if one is
    double spread = 0;  ///< by count − 1
    int count = 0;      ///< seeds

    /// Standard error of the mean.
    double error() const;
};

/// Those of numbers, one per seed.
Seeds over_seeds(const std::vector<double>& values);

/// The results of a series. Throws std::out_of_range if one is missing.
std::vector<const TrainingResult*> series(const TrainingResults& results, const std::string& name);

/// A value of every training of a series.
Seeds value(const TrainingResults& results, const std::string& name, const std::string& which);

/// The final validation losses of a series; infinite for a training that diverged.
Seeds loss(const TrainingResults& results, const std::string& name);

/// How many trainings of some series diverged.
int diverged(const TrainingResults& results, const std::vector<std::string>& names);

/// "open", with their number, if any of these trainings diverged: what is asked of a trained model cannot be answered then.
std::optional<Outcome> undecided(const TrainingResults& results, const std::vector<std::string>& names);

/// Whether a's mean is below b's by more than twice the standard error of the difference.
bool clearly_below(const Seeds& a, const Seeds& b);

/// A number of a claim, with its standard deviation over seeds.
Number number(std::string name, const Seeds& seeds, std::optional<double> published = {});

}  // namespace spectra::claims
