#pragma once

namespace spectra::dyson {

/// Of the numbers that a point is solved in which rounding hides from double precision: sums of two doubles, which are enough for
/// most and take a twentieth of the time, or the longest (wide.hpp).
enum class Digits { thirty_two, hundred_and_twenty };

}  // namespace spectra::dyson
