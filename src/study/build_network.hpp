#pragma once

/// \file
/// Builds a network from its description: a family or files of mixers, sizes, and a branch.

#include "mixers/mixer.hpp"
#include "network/network.hpp"
#include "study/request.hpp"

#include <optional>
#include <string>

namespace spectra::study {

/// The network a request describes.
struct DescribedNetwork {
    Network network;                       ///< checked, with mixer_name and title
    std::optional<mixers::Recipe> recipe;  ///< how its mixers were drawn; none where they come from a file
    std::string short_name;                ///< for file names: the family, or the file's stem
};

/// Reads files and draws mixers. Throws std::invalid_argument if the request, or a file it names, cannot
/// be used.
DescribedNetwork describe_network(const Request& request);

/// Throws std::invalid_argument where `mixer` is neither a family nor a file; `field` names it in the message.
void check_mixer(const std::string& field, const std::string& mixer);

}  // namespace spectra::study
