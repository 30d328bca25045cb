#pragma once

#include <functional>

#include "train/models/connection.hpp"

namespace spectra::train {

/// f(x) without keeping intermediate results: they are recomputed for the gradient. Parameters
/// of f get their gradients too; x must require a gradient (it does after a trained embedding).
Connection::Output recompute(const std::function<Connection::Output(const torch::Tensor&)>& f,
                             const torch::Tensor& x);

}  // namespace spectra::train
