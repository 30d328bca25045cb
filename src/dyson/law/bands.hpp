#pragma once

#include "dyson/exact/support_bounds.hpp"
#include "dyson/solve/equation.hpp"
#include "dyson/solve/newton.hpp"
#include "dyson/solve/tracker.hpp"

#include <functional>
#include <vector>

namespace spectra::dyson {

/// The mass above a solved point of a gap, without atoms; NaN where rounding hides it.
using MassAbove = std::function<double(const Solution&)>;

/// One end of a band.
struct Edge {
    double log_s = 0;
    bool soft = true;   ///< a square-root edge; otherwise the range was cut inside the support
    double beyond = 0;  ///< if it was cut between bands: mass of the power law that was cut off
};

/// An interval of the support in x = ln s, with the angle θ that flattens the square roots at its soft ends:
/// x = middle − half·cos θ on [0, π]; cut below, x = lower + width·sin θ on [0, π/2]; cut above, x = upper −
/// width·cos θ on the same; cut at both ends, linear.
struct Band {
    Edge lower, upper;
    std::vector<Solution> known = {};  ///< solved points inside, increasing

    bool soft() const { return lower.soft && upper.soft; }
    double theta_end() const;
    double width() const { return upper.log_s - lower.log_s; }
    double x(double theta) const;
    double slope(double theta) const;  ///< dx/dθ
    double theta(double x) const;

    /// A guess at an angle from the nearest known points, by interpolating logarithms in θ.
    Unknowns guess(const Equation& equation, double theta) const;
    const Solution& nearest(double x) const;  ///< of the known points
};

/// The bands of a law, increasing, and the tail below the lowest if the density falls as a power of s.
struct Support {
    std::vector<Band> bands;
    double tail_exponent = 0;  ///< of the density per ln s; 0: no tail
    double mass_below = 0;     ///< of the tail, below the lowest band
};

/// Finds the bands of the support at real ω.
class BandFinder {
public:
    /// `tolerance`: of the mass; a tail is cut when a tenth of the tolerance is left. `threads`: two are of use, 0 for all;
    /// the result does not depend on it.
    BandFinder(Tracker& tracker, const SupportBounds& range, double tolerance, int threads = 1);

    /// More places to start from, as if they were noiseless singular values. False if there are none.
    bool add_seeds(const std::vector<double>& log_places);

    /// From every noiseless singular value outwards, inside the support, to the ends of its band: no point of
    /// a gap is solved. Bands without a noiseless singular value are not found; the mass reveals this.
    /// `near`: the bands of a network that differs little, with solutions in the same unknowns, or null. The search then
    /// starts from these, and finds the same bands in fewer steps.
    Support around_seeds(const Support* near = nullptr);

    /// From above the support downwards to its lower end, through the gaps, in steps of range.scan_step /
    /// `refine`.
    Support by_scan(double refine);

    /// Adds the bands between those of `support` that have no noiseless singular value inside: if the mass above the two
    /// ends of a gap differs, there is a band between them, and halving the gap by counts finds it, however narrow it is.
    /// Returns whether any was found.
    bool add_counted(Support& support, const MassAbove& mass_above);

    /// Splits a band in which a point turned out to lie in a gap.
    void split(Support& support, double hole);

    /// Whether the search was given up because it used too many Newton steps.
    bool exhausted() const;

    struct Work {
        long newton_steps = 0;
        double passes = 0;
        int descents = 0;
    };
    /// Done by trackers of its own, beside that of the given one.
    Work beside() const;

private:
    class March;

    /// Newton steps of the whole search so far.
    long steps() const;
    double density(const Solution& s) const;
    /// The solution at the seed or, if that lies in a gap, at a point of the support next to it, if there is
    /// one.
    Solution inside_near(double seed, double above);
    /// The same, first from a band that lies there in a network that differs little.
    Solution inside_near(double seed, double above, const Band& nearby);
    /// Follows `nearby` towards its end from the last of `points`, by halves, and appends what is certified. Returns a
    /// position at or beyond the edge: one in a gap, if it came there, or `bound`.
    double approach(Tracker& tracker, std::vector<Solution>& points, int direction, double bound,
                    const Band& nearby) const;
    /// The band of a solution, from `below` up to `above` at most; its two edges at the same time.
    Band band_around(const Solution& first, double below, double above, Support& support, const Band* nearby);
    /// A point of the support between two positions, if counts differ there and lead to one.
    Solution counted_between(double lower, double upper, const MassAbove& mass_above);
    double distance_to_seed(double x) const;
    std::vector<double> scan_places(double top, double bottom, double step) const;
    bool in_wide_gap(double x, double reach) const;
    void scan_point(double x);
    void scan(double refine);
    Support bands_of_scan();

    /// The exponent of the density over the last three points if it falls steadily as a power and the mass
    /// beyond them is less than `limit`; otherwise 0.
    double steady_exponent(const std::vector<Solution>& points, double limit) const;
    /// The same for a tail between bands that rounding is about to hide: up to `most` tolerances of mass, if
    /// it is a power of s and not of the distance to an edge.
    double hidden_exponent(const std::vector<Solution>& points, double most) const;
    /// The mass below which a tail is cut: a tenth of the tolerance or, if rounding matters, its effect
    /// on the mass: beyond that the power law is the better continuation.
    double negligible_tail(const Solution& last) const;
    /// A position below the support, or so far in its tail that no mass is left: s^{2/(1+κ)} has fallen by
    /// e⁻⁶⁰ there.
    double lowest() const;
    /// steady_exponent for points by decreasing x if only a tail can follow.
    double tail_exponent(const std::vector<Solution>& points, double limit) const;

    /// Follows the support from points inside it (in the order of the march) upwards (+1) or downwards (−1)
    /// to its edge, or to a cut: where the density falls as a power and less than a tenth of the
    /// tolerance is left (ten times the tolerance if rounding matters, more if it is about to hide the
    /// points). `bound`: a position at or beyond the edge. New points are appended. Where a band with soft edges is known
    /// that lies there in a network that differs little, it leads towards the edge (band_around).
    Edge march(std::vector<Solution>& points, int direction, double bound, Support& support);

    Tracker& tracker_;
    std::vector<Tracker> marchers_;  ///< upwards and downwards
    int threads_;
    const SupportBounds& range_;
    double tolerance_;
    long steps_before_;
    double passes_before_;
    std::vector<double> seeds_;   ///< increasing
    double lowest_noiseless_;     ///< of the seeds that are singular values without noise; infinity: none
    bool jumps_ = false;          ///< the equation can be entered at any scale
    std::vector<Solution> scan_;  ///< by decreasing x
};

/// −(2/π) Im of the scaled Green's function, never negative: the density with respect to ln s.
double density_log(const Equation& equation, const Solution& solution);

}  // namespace spectra::dyson
