#pragma once

#include <cstddef>

namespace spectra::linalg {

/// A row, and the squared modulus of its entry in the column to be eliminated.
struct Pivot {
    std::size_t row = 0;
    double norm = -1;
};

/// The first of the rows begin … end − 1 with the largest norm(row).
template <class Norm>
Pivot largest_pivot(std::size_t begin, std::size_t end, const Norm& norm) {
    Pivot best{begin, -1};
    for (std::size_t i = begin; i < end; ++i)
        if (const double value = norm(i); value > best.norm) best = {i, value};
    return best;
}

}  // namespace spectra::linalg
