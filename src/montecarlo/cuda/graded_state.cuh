#pragma once

namespace spectra::montecarlo::cuda {

/// Largest size of graded products.
constexpr int max_graded_size = 1024;

/// The state of a sample's product.
struct GradedState {
    double condition2 = 0;  ///< Σ κ²
    int rank = 0;
    int rank_before = 0;  ///< before the last layer
    int fall = 0;         ///< log2 g
    int info = 0;         ///< 0; 1: a layer was not finite; 2: no convergence, or an error above 1e-3
};

}  // namespace spectra::montecarlo::cuda
