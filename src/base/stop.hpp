#pragma once

/// \file
/// How a long computation is stopped from outside.

namespace spectra {

/// Thrown out of a computation that was asked to stop. It is not an error: whoever asked catches it.
struct Stopped {};

}  // namespace spectra
