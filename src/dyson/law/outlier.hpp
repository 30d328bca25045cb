#pragma once

/// \file
/// Outliers of the law of aligned branches.

namespace spectra::dyson {

/// A narrow band above the bulk of a law with aligned branches: singular values that kept triplets make. A draw of the rest
/// has its value at `position` ± `spread`.
///
/// The band of the equation is narrower by √2: the equation pairs a real rest as it would a complex one (M dΣ M), and a real
/// one fluctuates twice as much, because M and Mᵀ are then the same. Simulated spreads agree.
struct Outlier {
    double position = 0;  ///< mean
    double spread = 0;    ///< standard deviation from draw to draw; of several values, that of the band
    int values = 1;       ///< singular values in it
};

}  // namespace spectra::dyson
