#pragma once

#include "dyson/exact/moments.hpp"
#include "dyson/exact/support_bounds.hpp"
#include "dyson/law/theory.hpp"
#include "network/network.hpp"
#include "random/stream.hpp"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

/// Is what a solver returned the Green's function of the right law?
///
/// Sound and complete for what a few values can say: by Nevanlinna and Pick a function with Im f ≤ 0 in the
/// upper half plane takes the values f_i at ω_i if and only if the matrix
///
///     P_ij = −(f_i − f̄_j)/(ω_i − ω̄_j)  =  ∫ dμ(t) / ((ω_i − t)(ω̄_j − t))      for f = ∫ dμ(t)/(ω − t)
///
/// is positive semidefinite. Its diagonal is the sign of Im f, its 2×2 minors are the lemma of Schwarz and
/// Pick (values that belong to different branches are too far apart for their distance in the half plane).
/// The law is symmetric, so −ω̄_i with −f̄_i joins the points. Mass and moments enter by the continued fraction
///
///     g = 1/(ω − m_2 f_1),   f_1 = 1/(ω − b_2 f_2),   b_2 = m_4/m_2 − m_2,
///
/// in which f_1 and f_2 are Cauchy transforms of probability measures if and only if the law of g has mass
/// one, mean square m_2 and fourth moment m_4: P is tested for g, f_1 and f_2. Values that pass all three are
/// those of some symmetric law with these moments. What they cannot show is that it is *the* law; for that
/// the density of the law integrates to its moments, and g is compared with the integral over the
/// density, the dense reference and simulation, each where it can be had.
namespace spectra::tests {

using Complex = std::complex<double>;

/// Values at points of the upper half plane, `error` their absolute accuracy.
struct Sampled {
    std::vector<Complex> omega, value;
    std::vector<double> error;
};

/// By how much P fails to be positive, in units of what the errors explain: at most 1 for a Green's function.
inline double pick_violation(const Sampled& f) {
    Sampled kept;
    double worst = 0;
    for (std::size_t i = 0; i < f.omega.size(); ++i) {
        if (!(f.error[i] < std::numeric_limits<double>::infinity())) continue;
        const double sign = f.value[i].imag();
        worst = std::max(worst, sign / f.error[i]);
        if (!(-sign > 100 * f.error[i])) continue;  // its sign is all that it can show
        for (const bool mirrored : {false, true}) {
            if (mirrored && f.omega[i].real() == 0) continue;
            kept.omega.push_back(mirrored ? -std::conj(f.omega[i]) : f.omega[i]);
            kept.value.push_back(mirrored ? -std::conj(f.value[i]) : f.value[i]);
            kept.error.push_back(f.error[i]);
        }
    }
    const auto size = static_cast<Eigen::Index>(kept.omega.size());
    if (size == 0) return worst;
    Eigen::MatrixXcd p(size, size);
    Eigen::MatrixXd noise(size, size);
    for (Eigen::Index i = 0; i < size; ++i) {
        for (Eigen::Index j = 0; j < size; ++j) {
            const auto a = static_cast<std::size_t>(i), b = static_cast<std::size_t>(j);
            // Each entry relative to √(P_ii P_jj): points of all scales count alike.
            const double own = std::sqrt(-kept.value[a].imag() / kept.omega[a].imag()) *
                               std::sqrt(-kept.value[b].imag() / kept.omega[b].imag());
            const Complex apart = kept.omega[a] - std::conj(kept.omega[b]);
            p(i, j) = -(kept.value[a] - std::conj(kept.value[b])) / apart / own;
            noise(i, j) = (kept.error[a] + kept.error[b]) / std::abs(apart) / own;
        }
    }
    const double lowest =
        Eigen::SelfAdjointEigenSolver<Eigen::MatrixXcd>(p, Eigen::EigenvaluesOnly).eigenvalues().minCoeff();
    return std::max(worst, -lowest / (noise.norm() + 1e-13 * static_cast<double>(size)));
}

/// f_1 of f at mean square b: f = 1/(ω − b f_1).
inline Sampled continued(const Sampled& f, double b) {
    Sampled next;
    for (std::size_t i = 0; i < f.omega.size(); ++i) {
        const Complex inverse = 1.0 / f.value[i];
        next.omega.push_back(f.omega[i]);
        next.value.push_back((f.omega[i] - inverse) / b);
        const double relative = f.error[i] / std::abs(f.value[i]);
        // Far above the support f is lost in its error, and its inverse is anything.
        next.error.push_back(relative < 0.1
                                 ? (std::abs(inverse) * (relative + 1e-11) + 1e-15 * std::abs(f.omega[i])) / b
                                 : std::numeric_limits<double>::infinity());
    }
    return next;
}

/// What is wrong with the certified points of `green` as a Green's function of the network; empty where
/// nothing is. `sampled`: an average over sampled sites, whose fourth moment is not the exact one.
inline std::string wrong_branch(const Network& network, const dyson::Green& green, bool sampled) {
    Sampled g;
    for (std::size_t i = 0; i < green.omega.size(); ++i) {
        if (green.certified[i] == 0) continue;
        if (!std::isfinite(green.g[i].real()) || !std::isfinite(green.g[i].imag())) return "g is not finite";
        g.omega.push_back(green.omega[i]);
        g.value.push_back(green.g[i]);
        g.error.push_back(std::abs(green.g[i]) * (1e-9 + 30 * green.residual[i]));
    }
    const auto report = [](const char* what, double size) {
        return "g is not that of a law " + std::string(what) + " (by " + std::to_string(size) + " errors)";
    };
    if (const double size = pick_violation(g); !(size <= 1)) return report("of mass 1", size);
    const double m2 = dyson::mean_square(network);
    if (!(m2 > 1e-200 && m2 < 1e200)) return {};
    const Sampled first = continued(g, m2);
    if (const double size = pick_violation(first); !(size <= 1)) return report("of this mean square", size);
    const auto m4 = sampled ? std::nullopt : dyson::mean_fourth(network);
    const double b2 = m4.value_or(0) / m2 - m2;
    if (!(b2 > 1e-3 * m2 && std::isfinite(b2))) return {};
    if (const double size = pick_violation(continued(first, b2)); !(size <= 1))
        return report("of this fourth moment", size);
    return {};
}

/// Points on ladders ω = e^x (1 + it), every other one mirrored: t = 1, 0.1, 1e-3, 1e-6 towards the axis and
/// t = 0.3, 0.1, 0.03, 0.01 close enough for the lemma of Schwarz and Pick to bite, in turn. The scales x are
/// where there is something to see: the root mean square, the mean of ln s, noiseless singular values,
/// anywhere in the range.
inline std::vector<Complex> fuzz_points(const Network& network, std::uint32_t index, int count,
                                        std::uint64_t seed = 1) {
    constexpr double down[] = {1, 0.1, 1e-3, 1e-6}, close[] = {0.3, 0.1, 0.03, 0.01};
    constexpr double deepest = -300, highest = 300;  // e-folds within the range of double
    random::Stream stream(seed, random::Purpose::test, 1, index);
    const dyson::SupportBounds range = dyson::support_bounds(network);
    std::vector<double> seeds;
    for (const double x : range.log_seeds)
        if (x > deepest && x < highest) seeds.push_back(x);
    const double top = std::clamp(range.log_upper, deepest + 60, highest);
    const double bottom = std::max({deepest, top - 60, std::min(range.log_lower, top)});
    const auto anywhere = [&] { return std::lerp(bottom, top, stream.uniform()); };
    std::vector<double> scales{0.5 * dyson::log_mean_square(network)};
    const double log_mean = dyson::log_mean(network).value_or(anywhere());
    scales.push_back(std::isfinite(log_mean) ? log_mean : anywhere());
    while (static_cast<int>(4 * scales.size()) < count) {
        const bool at_seed = scales.size() % 2 == 0 && !seeds.empty();
        const auto which = static_cast<std::size_t>(stream.uniform() * static_cast<double>(seeds.size()));
        scales.push_back(at_seed ? seeds[which] : anywhere());
    }
    std::vector<Complex> points;
    for (std::size_t k = 0; k < scales.size(); ++k) {
        for (const double tilt : k % 2 == 0 ? down : close) {
            if (static_cast<int>(points.size()) == count) break;
            const double x = scales[k];
            const double s = std::exp(std::clamp(std::isfinite(x) ? x : anywhere(), deepest, highest));
            points.emplace_back(points.size() % 2 == 0 ? s : -s, tilt * s);
        }
    }
    return points;
}

/// ∫ ω/(ω² − s²) dF by the law's own quadrature.
inline Complex green_of_law(const Spectrum& law, Complex omega) {
    const auto part = [&](bool imaginary) {
        return law.expectation([&](double x) {
            const double s = std::exp(x);
            const Complex value = omega / ((omega - s) * (omega + s));  // ½/(ω − s) + ½/(ω + s)
            return imaginary ? value.imag() : value.real();
        });
    };
    return {part(false), part(true)};
}

/// The largest distance of neighbouring nodes of one band within two e-folds of x.
inline double node_spacing(const Density& density, double x) {
    double largest = 0;
    const auto& grid = density.log_s;
    for (std::size_t k = 1; k < grid.size(); ++k) {
        if (grid[k] < x - 2 || grid[k - 1] > x + 2) continue;
        const bool same_band =
            std::none_of(density.support.begin(), density.support.end(),
                         [&](const auto& b) { return grid[k - 1] <= b.log_upper && b.log_upper < grid[k]; });
        if (same_band) largest = std::max(largest, grid[k] - grid[k - 1]);
    }
    return largest;
}

/// The mass of power laws beyond cuts, which a law has on the node next to the cut: the nodes whose weight is no distance
/// of nodes.
inline double mass_at_cuts(const Density& density) {
    double mass = 0;
    const auto& grid = density.log_s;
    for (std::size_t k = 0; k < grid.size(); ++k) {
        const double below = k > 0 ? grid[k] - grid[k - 1] : 0,
                     above = k + 1 < grid.size() ? grid[k + 1] - grid[k] : 0;
        if (density.weight[k] > 2 * std::max(below, above))
            mass += density.weight[k] * density.density_log[k];
    }
    return mass;
}

/// Certified points whose g is not the integral over the law's density, where its nodes resolve the kernel (a
/// pole at the distance t beside nodes h apart leaves an error of e^{−2πt/h}); empty where there are none.
inline std::string differs_from_law(const dyson::Green& green, const Spectrum& law) {
    for (std::size_t k = 0; k < green.omega.size(); ++k) {
        const Complex omega = green.omega[k];
        const double x = std::log(std::abs(omega.real())), tilt = omega.imag() / std::abs(omega.real());
        const auto& grid = law.density().log_s;
        if (law.density().tail_exponent > 0 && (grid.empty() || x < grid.front() + 2)) continue;
        if (green.certified[k] == 0 || !(node_spacing(law.density(), x) < 0.4 * tilt)) continue;
        const Complex expected = green_of_law(law, omega);
        const double error = std::abs(green.g[k] - expected) / std::abs(expected);
        // Mass m that a law lacks (its summary says so), or has in another place, is worth at most 2m/Im ω.
        const double astray = std::abs(1 - law.mass()) + mass_at_cuts(law.density());
        const double missing = 2 * astray / (omega.imag() * std::abs(expected));
        if (!(error <= 1e-3 + 30 * green.residual[k] + missing))
            return "g differs from the law's by " + std::to_string(error);
    }
    return {};
}

}  // namespace spectra::tests
