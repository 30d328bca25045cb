#include "layouts/stack.hpp"

#include <algorithm>
#include <iterator>

namespace spectra::layouts {

std::vector<Mixer> Stack::mixers() const {
    std::vector<Mixer> all;
    all.reserve(connections.size());
    std::transform(connections.begin(), connections.end(), std::back_inserter(all),
                   [](const Connection& connection) { return connection.mixer; });
    return all;
}

}  // namespace spectra::layouts
