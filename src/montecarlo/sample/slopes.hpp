#pragma once

/// \file
/// Where a simulation takes the slopes of activations from.

namespace spectra::montecarlo {

/// Where the slopes φ'(h) of an activation come from.
enum class Slopes {
    drawn,       ///< from their law under h ~ N(0, q), as the theory takes them
    propagated,  ///< from h = W x of the network run forward with the weights of the Jacobian (forward.hpp)
};

}  // namespace spectra::montecarlo
