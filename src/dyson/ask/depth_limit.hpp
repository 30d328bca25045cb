#pragma once

/// \file
/// How deep a network can go before too many of its singular values collapse.

#include "network/network.hpp"

#include <functional>
#include <vector>

namespace spectra::dyson {

/// What a network must keep, and how far to look.
struct DepthLimitOptions {
    double keep = 0.9;   ///< least share of the singular values …
    double above = 0.1;  ///< … that are at least this large
    int max_depth = 1000;     ///< deepest network to look at
    bool look_behind = true;  ///< evaluate a few depths behind the first failure too
    /// Asked before every depth, with that depth; false ends the search.
    std::function<bool(int)> proceed = {};
};

/// One depth that was evaluated.
struct DepthPoint {
    int depth = 0;           ///< L
    double share = 0;        ///< of the singular values at or above the threshold: 1 − F
    bool certified = false;  ///< the share is
};

/// The largest depth of a network.
struct DepthLimit {
    int depth = 0;                   ///< the last depth before the first that fails; 0 if one layer fails
    bool failed = false;             ///< a depth fails; otherwise all up to max_depth keep the share
    bool certified = false;          ///< all deciding shares are certified
    bool stopped = false;            ///< `proceed` ended the search
    std::vector<DepthPoint> points;  ///< all evaluated depths, in order
    std::vector<int> again;          ///< those beyond the first failure that keep the share again
};

/// The deepest network that keeps its spectrum. network_of(L) is the network of depth L, which extends the
/// shallower ones.
///
/// The share need not fall with depth (random mixers; noise shared by more layers), so every depth up to 64
/// is evaluated in turn until one fails, each from one point of the Dyson equation (potential.hpp). Beyond
/// 64, depths are doubled and the first bracket is bisected. This finds the first failure if the share falls
/// monotonically between the evaluated depths. After a failure at L, depths L + 1, 2L and 4L are evaluated
/// too.
DepthLimit depth_limit(const std::function<Network(int)>& network_of, const DepthLimitOptions& options = {});

}  // namespace spectra::dyson
