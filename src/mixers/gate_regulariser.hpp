#pragma once

/// \file
/// Penalties of the gate γ of cayley-hybrid mixers, which is to be 0 or 1.

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace spectra::mixers {

/// A function of the gate: 0 at 0 and 1, 1 at ½, and symmetric, so that its slope at ½ is 0.
struct GateRegulariser {
    const char* name;              ///< "quadratic"
    const char* formula;           ///< "4γ(1 − γ)"
    double (*value)(double gate);  ///< for 0 ≤ γ ≤ 1
    double (*slope)(double gate);  ///< by γ; infinite where it has no bound
};

/// Five of them, the published one first. The Torch module train/modules/gate_regulariser.hpp has the same.
inline constexpr std::array gate_regularisers{
    GateRegulariser{"quadratic", "4γ(1 − γ)", [](double x) { return 4 * x * (1 - x); },
                    [](double x) { return 4 * (1 - 2 * x); }},
    GateRegulariser{"quartic", "16γ²(1 − γ)²", [](double x) { return 16 * x * x * (1 - x) * (1 - x); },
                    [](double x) { return 32 * x * (1 - x) * (1 - 2 * x); }},
    GateRegulariser{"sine", "sin πγ", [](double x) { return std::sin(std::numbers::pi * x); },
                    [](double x) { return std::numbers::pi * std::cos(std::numbers::pi * x); }},
    GateRegulariser{
        "entropy", "entropy",
        [](double x) { return x <= 0 || x >= 1 ? 0 : -(x * std::log2(x) + (1 - x) * std::log2(1 - x)); },
        [](double x) {
            constexpr double infinity = std::numeric_limits<double>::infinity();
            if (x <= 0 || x >= 1) return x <= 0 ? infinity : -infinity;
            return std::log2((1 - x) / x);
        }},
    GateRegulariser{"flat", "1 − (2γ − 1)⁴", [](double x) { return 1 - std::pow(2 * x - 1, 4); },
                    [](double x) { return -8 * std::pow(2 * x - 1, 3); }}};

}  // namespace spectra::mixers
