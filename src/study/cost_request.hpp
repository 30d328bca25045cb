#pragma once

#include "study/train_request.hpp"

#include <optional>
#include <string>
#include <vector>

namespace spectra::study {

/// Which models to cost, and how their parts are run.
struct CostRequest {
    TrainRequest model;  ///< the models' options; its architecture, mixer, channels and streams are not read
    std::vector<std::string> architectures, mixers;
    std::vector<std::string>
        modules;  ///< of the JPmHC paper's table 8: sinkhorn, cayley, grassmann, permutation
    std::vector<int> streams{4};
    int width = 128;  ///< channels that attention and MLP work on; with parallel streams, those of one stream
    int batch = 8, context = 64;
    int runs = 11;  ///< that are timed

    std::string device = "auto";
    std::optional<int> threads;
    std::optional<std::string> out;
    std::vector<std::string> plot{"png"};
    bool force = false, json = false, quiet = false;
};

/// Throws std::invalid_argument if there is nothing to cost, or none of the models has what the options are about.
void check_conflicts(const CostRequest& request);

/// Stem of the output files: `out`, or spectra-cost-NAME-NAME….
std::string stem_of(const CostRequest& request);

/// A model by name and as a training would ask for it, but for its streams and channels.
struct CostedModel {
    std::string name;  ///< "shc", "cayley mixers"
    TrainRequest model;
};
/// Architectures first, then stacks with mixers.
std::vector<CostedModel> costed_models(const CostRequest& request);

}  // namespace spectra::study
