#pragma once

/// \file
/// The precision of a simulation.

namespace spectra::montecarlo {

/// Precision of matrices and their products; f32 on a GPU only. Singular values are doubles.
enum class Precision { f64, f32 };

}  // namespace spectra::montecarlo
