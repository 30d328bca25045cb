#pragma once

#include "study/figures/figures.hpp"
#include "plot/figure.hpp"

#include <optional>
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
};

struct TrainedRun {
    std::string label, task, architecture;
    std::vector<double> step, loss;
    std::vector<double> gradient_norm = {};  ///< at every row, NaN at the first; or empty
    std::optional<Along> gate, beta, cosine, effective_rank;
    bool tokens = false;
    std::vector<std::pair<std::string, double>> baselines = {};  ///< losses of trivial predictors, by name
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
