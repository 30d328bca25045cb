#pragma once

#include "dyson/solve/equation.hpp"
#include "dyson/solve/newton.hpp"

#include <memory>
#include <vector>

namespace spectra::dyson {

/// Finds the right solution at any point, by continuation from |ω| → ∞, where it is known.
///
/// The companion line Im ω = ½ Re ω leads from there to any scale without failing, unless the support has
/// gaps of tens of e-folds. In the middle of these, the components of the unknowns that belong to bands far
/// above and far below differ by more than rounding allows. If the equation provides a start on the imaginary
/// axis, points of the line are reached from there instead. A point next to or on the real axis is reached
/// from a guess (a neighbour) or, if that is not certified, by descending from the companion. Solutions
/// depend only on the point and the guess, not on earlier solutions.
class Tracker {
public:
    /// log_far: ln of a scale above the support; anchors: ln of scales near which points will be requested
    /// (others work, at a higher cost).
    /// `when_needed`: the companion line is made at the first point that no guess leads to.
    Tracker(std::unique_ptr<Equation> equation, double log_far, std::vector<double> anchors,
            bool when_needed = false);
    Tracker(const Tracker& other);
    /// Another form of the same equation in the same unknowns, with the companions made so far.
    Tracker(const Tracker& other, std::unique_ptr<Equation> equation);
    Tracker& operator=(const Tracker&) = delete;

    /// Makes a companion at that scale, along the line from the nearest one, for several points near there. False if the line
    /// is lost on the way: then the companion is the last one.
    bool add_companion(double log_s);

    /// At ω = e^{log_s}(1 + i·tilt), tilt ≥ 0. `guess` may be null. A failed solution holds the
    /// nearest certified one above the axis.
    Solution solve(double log_s, double tilt, const Unknowns* guess = nullptr);

    /// The same from the guess only: failed if Newton does not converge to a certified solution.
    Solution try_from(double log_s, double tilt, const Unknowns& guess);

    /// The same at any ω. `enough`: the Newton step that is enough, if longer than the certified one.
    Solution at(const Frequency& omega, const Unknowns& guess, double enough = 0);

    /// At ω = e^{log_s}(1 + i·tilt), tilt > 0, from a guess that may be far off: first at larger tilts, where solutions
    /// change slowly with s, then down. From the companion line if that fails.
    Solution lower(double log_s, double tilt, const Unknowns& guess);

    /// At real ω, by steps along the axis from a solution there; failed if the steps would become too short.
    Solution walk(const Solution& from, double log_s);

    /// At any ω with Im ω > 0, Re ω ≥ 0 (g(−ω̄) = −conj g(ω) gives the rest). The guess is for points beside the axis only.
    Solution solve(Complex omega, const Unknowns* guess = nullptr);

    /// Mass of {ln s' ≤ log_s}: (2/π) ∫_0^∞ Re g(s + it) dt along a vertical line, where g is smooth.
    /// Independent of any density; accurate to 1e-8 in a gap.
    double cumulative(double log_s);

    Equation& equation() { return *equation_; }
    const Equation& equation() const { return *equation_; }
    long newton_steps() const { return newton_steps_; }
    int descents() const { return descents_; }
    double passes() const { return equation_->passes(); }

private:
    Solution attempt(const Frequency& omega, const Unknowns& guess, int max_steps = 25, double enough = 0);
    void make_companions();
    /// The polynomial in ln s through the last companions.
    Unknowns extrapolated(double log_s) const;
    /// Of a line that is not empty.
    std::vector<Solution>::const_iterator nearest_companion(double log_s) const;
    Solution companion(double log_s);
    Solution from_start(double log_s);
    /// At the imaginary ω of that scale, from weaker noise, which has a closer start.
    Solution from_weaker_noise(double log_s);
    /// Follows a straight path in direction, then in scale, from a solution; halves steps that fail.
    /// `enough`: the Newton step that is enough there; on the way Equation::passing_step is.
    Solution follow(const Solution& from, const Frequency& to, double enough = 0);

    /// Whether g is as large as the mean square allows: −Im g ≥ Im ω/(|ω|² + E s²) by Jensen's inequality. Solutions at
    /// infinity, where g is 0 to rounding, pass every other test.
    bool is_large_enough(const Frequency& omega, const Unknowns& m) const;

    std::unique_ptr<Equation> equation_;
    double log_far_;                    ///< at least ½ ln E s²
    std::vector<double> anchors_;       ///< of companions to be made
    std::vector<Solution> companions_;  ///< by decreasing scale
    long newton_steps_ = 0;
    int descents_ = 0;
};

/// Newton steps after which a search is given up: more if unknowns are few and a step is cheap, fewer
/// if they are many.
long search_steps(const Equation& equation);

}  // namespace spectra::dyson
