#pragma once

#include "base/bytes.hpp"
#include "dyson/solve/equation.hpp"

namespace spectra::dyson {

/// The outcome of a point of the Dyson equation.
enum class State {
    failed,     ///< no certified solution
    certified,  ///< Im m < 0: the right solution at Im ω > 0, or inside the support at real ω
    gap,        ///< real solution at real ω outside the support, linearised map stable
};

struct Solution {
    Frequency omega;
    Unknowns m;
    State state = State::failed;
    double residual = 1;  ///< last Newton step, largest relative to an unknown
    double floor = 0;     ///< limit set by conditioning, if above the tolerance
    int steps = 0;        ///< Newton steps, failed attempts included; two chords count as one
    int probes = 0;       ///< of these, used to measure the floor

    bool ok() const { return state != State::failed; }
};

/// A solution between the processes of a team.
void put(ByteWriter& writer, const Solution& solution, bool with_unknowns = true);
Solution get_solution(ByteReader& reader);

/// Newton from a guess. Where the equation can repeat its last linear solution for less (Equation::chord_step), the steps
/// after the first are chords with Broyden's updates, as long as they shrink fast enough. The step is halved while an order
/// parameter would leave the correct half plane. At Im ω > 0 the outcome is certified or failed. At real ω a complex solution
/// with no Im m > 0 is the right one inside the support (it continues into the upper half plane, where it is unique);
/// a real one is the right one if the linearised map is stable; anything else has failed.
/// A step of `enough` ends it sooner: for a point on the way to another.
Solution newton(Equation& equation, const Frequency& omega, const Unknowns& guess, int max_steps = 25,
                double enough = 0);

/// For real ω and a real solution: true if it continues into the upper half plane like the right solution,
/// with the imaginary part of every order parameter below zero. One Newton step at ω(1 + iε).
bool continues_above(Equation& equation, const Frequency& omega, const Unknowns& m);

}  // namespace spectra::dyson
