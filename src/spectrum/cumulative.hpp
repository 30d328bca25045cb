#pragma once

#include "spectrum/density.hpp"

#include <cstddef>
#include <vector>

namespace spectra {

/// The continuous part of a distribution function in x = ln s, without atoms: adjoining cubic pieces,
/// constant above the last, and below the first either 0 or an exponential
/// tail_mass·e^{tail_exponent (x − x_0)}.
///
/// Every piece is a cubic Hermite polynomial with end slopes limited to the disc α² + β² ≤ 9 of Fritsch and
/// Carlson (SIAM J. Numer. Anal. 17, 238 (1980)), so it never decreases.
struct Cumulative {
    struct Piece {
        double lower = 0, upper = 0;  ///< in ln s
        double from = 0, to = 0;      ///< F at the ends
        /// Slopes at the ends times the piece's width.
        double rise_lower = 0, rise_upper = 0;

        bool constant() const { return from == to; }
        double value(double x) const;
        double slope(double x) const;
    };

    std::vector<Piece> pieces;  ///< increasing, without holes (a gap of the support is a constant piece)
    double tail_exponent = 0;   ///< 0: no tail
    double tail_mass = 0;

    bool empty() const { return pieces.empty(); }
    bool has_tail() const { return tail_exponent > 0 && tail_mass > 0; }
    double lowest() const { return pieces.front().lower; }
    double total() const { return pieces.empty() ? 0 : pieces.back().to; }

    double value(double x) const;
    double tail_value(double x) const;
};

/// Interpolates the density's nodes, minus the atoms below them, with its values as slopes. The edges of its
/// support are further nodes with zero slope, and F is constant in a gap. The mass between the neighbouring
/// nodes and the two edges of a gap is shared in proportion to (2/3)·density·distance, the mass of a
/// square-root edge.
Cumulative continuous_part(const Density& density);

/// Linear between the edges: counts[i] / total between edges[i] and edges[i + 1].
Cumulative piecewise_linear(const std::vector<double>& edges, const std::vector<double>& counts,
                            double total);

}  // namespace spectra
