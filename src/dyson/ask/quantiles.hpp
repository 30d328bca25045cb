#pragma once

/// \file
/// Quantiles of the operator-valued law, without the law as a whole.

#include "network/network.hpp"

#include <functional>
#include <vector>

namespace spectra::dyson {

/// Places of given shares of the operator-valued law: F(x) = u, from single points of the Dyson equation
/// (mass_below) and a bracketing search, without the law as a whole. The last point solved has F right within 0.3 % of
/// the smaller of u and 1 − u; Newton's step from there, whose error is of second order, gives the place.
struct Quantiles {
    std::vector<double> log_s;  ///< one per share
    int points = 0;             ///< solved
    int uncertified = 0;        ///< of these, without a certificate
    long newton_steps = 0;      ///< over all points
};
/// `before_point` is called before every point and may throw to stop.
Quantiles quantiles(const Network& network, const std::vector<double>& shares,
                    const std::function<void()>& before_point = {});

}  // namespace spectra::dyson
