#pragma once

#include "linalg/aligned.hpp"
#include "random/stream.hpp"

#include <cstddef>
#include <span>

namespace spectra::montecarlo {

/// Draws U diag(t) Vᵀ, U and V uniform (Haar) in O(m): matrices with given singular values and a
/// rotation-invariant law. Holds the workspace: one object per thread.
///
/// A uniform matrix is Q diag(sign R_ii), with the orthogonal factor of a Gaussian G = Q R. U and V are not
/// formed: their reflections are applied to diag(t).
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
