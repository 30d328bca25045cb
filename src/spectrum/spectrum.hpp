#pragma once

/// \file
/// The law of singular values, its metrics, and distances between two laws. Theory, simulation and
/// measurement all end as a Spectrum.

#include "spectrum/cumulative.hpp"
#include "spectrum/density.hpp"

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace spectra {

/// Lower end of the metric window, in s.
inline constexpr double window_lower = 0.75;
/// Upper end of the metric window, in s.
inline constexpr double window_upper = 1.25;
/// Singular values below this one are collapsed.
inline constexpr double collapsed_below = 0.1;

/// The metrics of a law of singular values (docs/metrics.md).
struct Metrics {
    double mean_square = std::numeric_limits<double>::quiet_NaN();  ///< ∫ s² ρ
    double log_mean = std::numeric_limits<double>::quiet_NaN();     ///< ∫ ln s ρ, −∞ with mass at 0
    double window = std::numeric_limits<double>::quiet_NaN();       ///< mass in [0.75, 1.25]
    double collapsed = std::numeric_limits<double>::quiet_NaN();    ///< mass below 0.1
    double smallest = std::numeric_limits<double>::quiet_NaN();     ///< lower end of the support
    double largest = std::numeric_limits<double>::quiet_NaN();      ///< upper end of the support
    /// exp(−∫ (s/μ) ln(s/μ) ρ), μ = ∫ s ρ: 1 for an isometry, towards 0 as the spectrum collapses.
    double effective_rank = std::numeric_limits<double>::quiet_NaN();
};

/// A law on s ≥ 0, given by its density or by sorted values. Theory, simulation and measured
/// Jacobians all produce one, and all metrics are computed here.
class Spectrum {
public:
    /// No law.
    Spectrum() = default;

    /// From a density; cumulative and weight must be filled.
    static Spectrum from_density(Density density);

    /// From values of ln s (−∞ allowed: zeros), equally weighted, sorted here. `log_floor`: values
    /// below it are counted but their position is not trusted (rounding); distances in ln s omit the
    /// range below it.
    static Spectrum from_log_values(std::vector<double> log_values,
                                    double log_floor = -std::numeric_limits<double>::infinity());

    /// From counts between increasing edges in ln s: uniform in ln s within a bin. `below` and `above`
    /// count what fell outside; they become atoms at zero and at the last edge.
    static Spectrum from_histogram(std::vector<double> log_edges, std::vector<double> counts, double below,
                                   double above, double log_floor = -std::numeric_limits<double>::infinity());

    /// Whether there is no law: the state of a default Spectrum.
    bool empty() const { return density_.log_s.empty() && density_.atoms.empty() && log_values_.empty(); }
    /// Whether the law is a set of values.
    bool is_empirical() const { return !log_values_.empty(); }

    /// Mass of {ln s ≤ x} (of {ln s < x} with open = true); total mass is 1 up to the solver's error.
    double cdf(double log_s, bool open = false) const;
    /// dF/d ln s of the continuous part. Values: the share of them within a window around the point,
    /// as wide as a Freedman-Diaconis bin (twice the interquartile range over the cube root of the count).
    double density_log(double log_s) const;
    /// Smallest x with F(x) ≥ u; the lower end of the law for u ≤ 0, its upper end if u exceeds the mass.
    double log_quantile(double u) const;
    /// Mass of the whole law: 1 up to the solver's error.
    double mass() const;
    /// ∫ f(ln s) dF with the density's weights, and Gauss-Laguerre in the tail below its range; an atom
    /// at zero contributes f(−∞).
    double expectation(const std::function<double(double)>& f) const;
    /// All metrics of the law.
    Metrics metrics() const;

    /// The density; empty for values.
    const Density& density() const { return density_; }
    /// The values of ln s, ascending; empty for a density.
    const std::vector<double>& log_values() const { return log_values_; }
    /// Values of ln s below it are counted, but their place is not trusted; −∞: all are trusted.
    double log_floor() const { return log_floor_; }
    /// Values below log_floor.
    std::size_t unresolved() const;
    /// Number of values below x, for values or a histogram; 0 for a theory.
    std::size_t count_below(double log_s) const;

    /// F without its steps; empty for values.
    const Cumulative& continuous() const { return continuous_; }

private:
    double log_lower() const;
    double log_upper() const;

    Density density_;  // atoms sorted by place
    Cumulative continuous_;
    double sampled_ = 0;  // number of values in a histogram
    std::vector<double> log_values_;
    double log_floor_ = -std::numeric_limits<double>::infinity();
};

/// Distances between two laws. Below the higher of their floors the position of values is only rounding, so
/// the two distances that depend on ln s compare F only above it; values below still count in F there.
struct Agreement {
    double wasserstein1 = std::numeric_limits<double>::quiet_NaN();  ///< ∫ |F_a − F_b| ds
    double wasserstein1_log =
        std::numeric_limits<double>::quiet_NaN();  ///< ∫ |F_a − F_b| d ln s above both floors
    double kolmogorov_smirnov =
        std::numeric_limits<double>::quiet_NaN();                 ///< sup |F_a − F_b| above both floors
    double log_floor = -std::numeric_limits<double>::infinity();  ///< where the ln s integral begins
    std::size_t left_out = 0;  ///< values below that floor (zeros included), counted but not compared in ln s
};

/// One sweep over the breakpoints of both laws; between two of them F_a − F_b is smooth and is integrated by
/// Gauss-Legendre on either side of its sign changes. Without floors the integral in ln s covers the whole
/// finite range of both laws; masses at s = 0 that differ then count over that range, from its lowest finite
/// point (see log_floor). The distance of an empty law is NaN.
Agreement agreement(const Spectrum& a, const Spectrum& b);

}  // namespace spectra
