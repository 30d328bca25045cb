#pragma once

#include "dyson/solve/equation.hpp"

#include <functional>
#include <memory>

namespace spectra::dyson {

/// The same equation, which calls `on_step` before every Newton step, on whichever thread takes it. An exception from
/// `on_step` ends the solve.
std::unique_ptr<Equation> watched(std::unique_ptr<Equation> equation, std::function<void()> on_step);

}  // namespace spectra::dyson
