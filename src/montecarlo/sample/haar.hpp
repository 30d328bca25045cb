#pragma once

#include "linalg/aligned.hpp"
#include "random/stream.hpp"

#include <cstddef>
#include <span>

namespace spectra::montecarlo {

/// Draws U diag(t) Vᵀ, U and V uniform (Haar) in O(m): matrices of given singular values whose law no
/// rotation changes. Holds the workspace: one object a thread.
///
/// A uniform matrix is the orthogonal factor of a Gaussian G = Q R, Q diag(sign R_ii). Neither is formed:
/// their reflections are applied to diag(t).
class BiInvariant {
public:
    explicit BiInvariant(int size);

    int size() const { return size_; }

    /// out = U diag(values) Vᵀ, m×m column-major. Reads 2 m² normals: the Gaussian of U column by column,
    /// then that of V.
    void draw(std::span<const double> values, random::Stream& stream, double* out);

private:
    void factorise_gaussian(random::Stream& stream);
    double sign(std::size_t k) const;

    int size_;
    linalg::AlignedDoubles gaussian_, reflections_, work_;
};

}  // namespace spectra::montecarlo
