#pragma once

/// \file
/// The continuous part of a distribution function as monotone cubic pieces in ln s.

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
    /// One cubic piece.
    struct Piece {
        double lower = 0;       ///< lower end, in ln s
        double upper = 0;       ///< upper end, in ln s
        double from = 0;        ///< F at the lower end
        double to = 0;          ///< F at the upper end
        double rise_lower = 0;  ///< slope at the lower end times the piece's width
        double rise_upper = 0;  ///< slope at the upper end times the piece's width

        /// Whether F does not rise: the piece is a gap of the support.
        bool constant() const { return from == to; }
        /// F at x = ln s, which lies in the piece.
        double value(double x) const;
        /// dF/dx at x = ln s, which lies in the piece.
        double slope(double x) const;
    };

    std::vector<Piece> pieces;  ///< increasing, without holes (a gap of the support is a constant piece)
    double tail_exponent = 0;   ///< 0: no tail
    double tail_mass = 0;       ///< mass of the tail

    /// Whether there is no continuous part.
    bool empty() const { return pieces.empty(); }
    /// Whether F goes on below the first piece.
    bool has_tail() const { return tail_exponent > 0 && tail_mass > 0; }
    /// Lower end of the first piece, in ln s. There must be one.
    double lowest() const { return pieces.front().lower; }
    /// Mass of the whole continuous part.
    double total() const { return pieces.empty() ? 0 : pieces.back().to; }

    /// F at x = ln s, anywhere.
    double value(double x) const;
    /// The tail's part of F at x = ln s below the first piece.
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
