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

/// How deep a network can go.
struct DepthLimit {
    int depth = 0;                   ///< the last depth before the first that fails; 0 where one layer fails
    bool failed = false;             ///< a depth fails; otherwise all up to max_depth keep the share
    bool certified = false;          ///< every share that decides is
    bool stopped = false;            ///< `proceed` ended the search
    std::vector<DepthPoint> points;  ///< all that was evaluated, by depth
    std::vector<int> again;          ///< of these, deeper than the first failure and keeping the share again
};

/// The deepest network that keeps its spectrum, where network_of(L) is the network of depth L (growing: its
/// layers those of a shallower one and more).
///
/// The share need not fall with depth (random mixers; noise shared by more layers), so every depth up to 64
/// is evaluated in turn until one fails, each from one point of the Dyson equation (potential.hpp). Beyond,
/// depths are doubled and the first bracket is bisected, which finds a first failure where the share falls
/// monotonically between the evaluated depths. Behind a failure at L, depths L + 1, 2L and 4L are looked at.
DepthLimit depth_limit(const std::function<Network(int)>& network_of, const DepthLimitOptions& options = {});

}  // namespace spectra::dyson
