#pragma once

#include "layouts/measurement.hpp"

#include <algorithm>
#include <set>

namespace spectra::validation {

/// Whether every branch reads one mix of the streams (a hyper-connection), not all channels.
inline bool reads_one_mix(const layouts::Measurement& m) {
    return std::all_of(m.stack.connections.begin(), m.stack.connections.end(),
                       [](const auto& connection) { return connection.pre.size() > 0; });
}

/// Whether two connections have the same weights.
inline bool shares_weights(const layouts::Measurement& m) {
    std::set<int> seen;
    for (const auto& branch : m.branches)
        if (!seen.insert(branch.weights).second) return true;
    return false;
}

}  // namespace spectra::validation
