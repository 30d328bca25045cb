#pragma once

namespace spectra::montecarlo {

/// Precision of matrices and their products; f32 only on a GPU. Singular values are doubles.
enum class Precision { f64, f32 };

}  // namespace spectra::montecarlo
