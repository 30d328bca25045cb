#pragma once

#include "base/text.hpp"
#include "dyson/law/theory.hpp"

#include <complex>
#include <cstdint>
#include <string>
#include <vector>

namespace spectra::console {

/// The values of options, from what was typed. Each throws std::invalid_argument with one line that names
/// the option, the value and the accepted values.

std::int64_t to_integer(const std::string& option, const std::string& text, std::int64_t least,
                        std::int64_t largest);
std::uint64_t to_seed(const std::string& option, const std::string& text);

/// A finite number.
double to_number(const std::string& option, const std::string& text);
/// A duration in seconds, 0 or more.
double to_seconds(const std::string& option, const std::string& text);

/// "0.1" or "0.1,0.2,…": finite numbers ≥ 0.
std::vector<double> to_variances(const std::string& option, const std::string& text);

/// "0.1,-0.2,…": finite numbers.
std::vector<double> to_numbers(const std::string& option, const std::string& text);

/// One of the accepted words; the error message suggests the nearest.
std::string to_choice(const std::string& option, const std::string& text,
                      const std::vector<std::string>& accepted);

/// Comma-separated words, without repetition; or "none" alone, which gives an empty list.
std::vector<std::string> to_choices(const std::string& option, const std::string& text,
                                    const std::vector<std::string>& accepted);

/// MIN:MAX:POINTS[:log], 0 ≤ MIN < MAX (0 < MIN for log), 2 or more points.
dyson::Grid to_grid(const std::string& option, const std::string& text);

/// Points of the upper half plane: "0.3+0.05i,1e-3+1e-2j,.5i", or a file (read_points()).
std::vector<std::complex<double>> to_omega(const std::string& option, const std::string& text);

}  // namespace spectra::console
