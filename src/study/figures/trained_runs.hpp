#pragma once

#include "study/figures/figures.hpp"
#include "plot/figure.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

/// What spectra train logged of a model, for figures.
namespace spectra::study {

/// A diagnostic at every row of the log and every place of the network.
struct Along {
    std::size_t rows = 0, places = 0;
    std::vector<double> values;

    double at(std::size_t row, std::size_t place) const { return values[row * places + place]; }
    /// Over the rows, at one place or as a mean of all.
    std::vector<double> column(std::size_t place) const;
    std::vector<double> means() const;
};

struct TrainedRun {
    std::string label, task, architecture;
    std::vector<double> step, loss;
    std::vector<double> gradient_norm = {};  ///< at every row, NaN at the first; or empty
    std::map<std::string, Along> diagnostics = {};  ///< by their names in the log (train/diagnostics.hpp)
    bool tokens = false;
    std::vector<std::pair<std::string, double>> baselines = {};  ///< losses of trivial predictors, by name

    /// Null where the log has none of that name.
    const Along* along(const std::string& name) const {
        const auto found = diagnostics.find(name);
        return found == diagnostics.end() ? nullptr : &found->second;
    }
};

/// One run per STEM.h5 written by spectra train. Throws std::invalid_argument for a file without a training
/// run. Labels are distinct.
std::vector<TrainedRun> read_trained(const std::vector<std::string>& files);

/// A diagnostic of that row over the places of the network, from 1.
plot::Series along_places(const TrainedRun& run, const Along& along, std::size_t row, std::size_t style);

/// The panel framed by what is in it, steps or places across; none where that is nothing.
void add_framed(Drawing& drawing, plot::Panel panel, const std::string& x, const std::string& y,
                plot::Scale scale);

}  // namespace spectra::study
