#pragma once

#include "mixers/mixer.hpp"
#include "network/network.hpp"
#include "study/request.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spectra::study {

/// The network a request describes, at every depth: a deeper one begins with the layers of a shallower one.
/// With `noise` the branch of depth L has C/L per layer, with `sigma2` every layer keeps its own. A model has its
/// own noise.
class GrowingNetwork {
public:
    /// Reads files. Throws std::invalid_argument if the request, or a file it names, cannot be used.
    explicit GrowingNetwork(const Request& request);

    /// With draw number `draw` of the mixers, 0 being the network itself.
    Network at(int depth, std::uint32_t draw = 0);

    int max_depth() const { return max_depth_; }  ///< of a file or a tied branch; else the largest there is
    bool drawn() const { return recipe_.has_value(); }
    int streams() const { return base_.streams; }
    const std::string& mixer_name() const { return base_.mixer_name; }
    const std::string& short_name() const { return short_name_; }
    /// "bistochastic, n = 4, Lσ² = 0.05, seed 1"
    std::string title() const;

private:
    const Request& request_;
    Network base_;
    std::optional<mixers::Recipe> recipe_;
    std::string short_name_;
    bool repeated_ = false;  ///< one matrix of a file for all layers
    int max_depth_;
    std::vector<Mixer> pool_;
    std::uint32_t pool_draw_ = 0;
};

}  // namespace spectra::study
