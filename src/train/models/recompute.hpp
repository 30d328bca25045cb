#pragma once

#include <functional>

#include "train/models/connection.hpp"

namespace spectra::train {

/// f(x) without keeping what it computes on the way: computed again when the gradient is wanted. Parameters
/// that f uses get their gradients too; x must need one (it does behind a trained embedding).
Connection::Output recompute(const std::function<Connection::Output(const torch::Tensor&)>& f,
                             const torch::Tensor& x);

}  // namespace spectra::train
