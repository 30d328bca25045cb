#pragma once

/// \file
/// How far a simulation of finite width is expected to be from a right theory.

#include "montecarlo/run/simulate.hpp"

#include <array>
#include <optional>

namespace spectra::montecarlo {

/// Mean of a distance, and the standard deviation of an observed distance from it.
struct Expected {
    double mean = 0;       ///< of the distance
    double deviation = 0;  ///< of one distance that is found
};

/// The expected distances between a simulation and the limit p → ∞ (spectrum.hpp, Agreement).
struct ExpectedDistance {
    Expected wasserstein1;         ///< of Agreement::wasserstein1
    Expected wasserstein1_log;     ///< of Agreement::wasserstein1_log
    Expected kolmogorov_smirnov;   ///< of Agreement::kolmogorov_smirnov
    std::array<int, 2> widths{};   ///< p' and p'', simulated for it
    std::array<int, 2> samples{};  ///< of each
};

/// The distances expected from finite width p and S samples alone, from simulations of smaller widths with
/// another seed. It uses no theory, so a theory can be judged by it.
///
/// With F_p the mean distribution function of samples of width p, real matrices have F_p = F_∞ + b/p +
/// O(p⁻²), and a simulation has F_p + ε, ε of variance V_p/S. From widths p' = ⌊p/2⌋ and p'' = ⌊p'/2⌋
///
///     b̂ = β (F_p'' − F_p'),   β = (1/p) / (1/p'' − 1/p')
///
/// estimates b/p with variance v̂ = β² (V_p'/S' + V_p''/S''). V_p is extrapolated from V_p' and V_p'' by a
/// power law: V ~ p⁻² if singular values repel each other, p⁻¹ with slopes drawn unit by unit, p⁰ for redrawn
/// mixers. S' = 2S and S'' = 8S make v̂ ≈ V_p/S in the first case and less in the others; normal multipliers
/// on the samples, ε', add the difference. The mean of a distance is the mean norm of b̂ + ε'; its deviation
/// combines that of a simulation, that of b̂, and 4/p of the mean for the neglected orders of 1/p (at least ¼
/// of the mean for Kolmogorov–Smirnov, which is attained at edges, where b is not smooth).
///
/// If a law reaches zero, the lowest levels lie at s ~ p^{−c}, and F_p − F_∞ is not b/p there but a
/// function of s p^c divided by N. This adds to ∫ |F_p − F_∞| d ln s
///
///     0.52 (γ − 0.42)₊ / N,   γ = mean of ln s_2 − ln s_1 of a sample's two lowest values,
///
/// beyond b̂. The two numbers are fitted to products of 1, 2, 3 and 5 Gaussian matrices, which have a law in
/// closed form (within 7 % at N = 48 and 96); half of the term is included in the deviation.
///
/// Uses device, precision, slopes and recipe of `options`; options.samples is the number of samples of the
/// simulation. Its own samples have the seed ~options.seed, about a million values at most per width, and are
/// drawn by the calling rank. It takes 3/8 of the simulation's time if that grows as N³, about the same time
/// if it grows as N². Returns nothing at p = 1, without samples, for quadrature and aligned branches, and if
/// `stop` was set.
std::optional<ExpectedDistance> expected_distance(const Network& network, const Options& options = {});

}  // namespace spectra::montecarlo
