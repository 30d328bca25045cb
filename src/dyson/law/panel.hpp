#pragma once

#include <array>
#include <cstddef>

/// Gauss–Legendre nodes on [−1, 1] and functionals of a polynomial through them.
namespace spectra::dyson::panel {

inline constexpr std::size_t nodes = 12;

struct Rule {
    std::array<double, nodes> place{};  ///< increasing
    std::array<double, nodes> weight{};
    /// cumulative[i][j]: ∫ from −1 to place[i] of the j-th Lagrange polynomial.
    std::array<std::array<double, nodes>, nodes> cumulative{};
    /// coefficient[k][j]: k-th Legendre coefficient of the j-th Lagrange polynomial.
    std::array<std::array<double, nodes>, nodes> coefficient{};
    std::array<double, nodes> barycentric{};
};

const Rule& rule();

/// The remaining tail of the Legendre series of the values: an estimate of the error of the
/// integral over [−1, 1].
double truncation(const std::array<double, nodes>& values);

/// Weights that evaluate the interpolating polynomial at t.
std::array<double, nodes> interpolation(double t);

}  // namespace spectra::dyson::panel
