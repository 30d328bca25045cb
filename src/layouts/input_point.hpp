#pragma once

/// \file
/// The input at which input-dependent mixers are evaluated.

#include <Eigen/Core>

#include <cstdint>
#include <optional>
#include <string>

namespace spectra::layouts {

/// The input at which the dynamic part of mixers is evaluated: zero, drawn, or a given state.
struct InputPoint {
    /// Input number `index` < `count`: a separate x ~ N(0, I) for every connection, which the layout then
    /// normalises like the model.
    struct Draw {
        std::uint64_t seed = 1;  ///< of all inputs
        int index = 0;           ///< which of them
        int count = 1;           ///< how many there are
    };
    std::optional<Draw> draw;  ///< set: a drawn input
    /// What every connection sees: the n streams of one token one after the other.
    std::optional<Eigen::VectorXd> state;

    /// The input of connection number `connection`, before any norm. Throws std::invalid_argument if the
    /// given state has another width.
    Eigen::VectorXd at(Eigen::Index width, std::size_t connection) const;
    /// Whether neither is set: zero input.
    bool is_zero() const { return !draw && !state; }
    /// "zero input", "input 3 of 8", "a given state".
    std::string name() const;
};

/// RMS norm, as models normalise what their mixers are made from: x/√(mean x² + ε).
Eigen::VectorXd rms_normed(const Eigen::VectorXd& x, double epsilon);
/// Length norm: √width · x/max(|x|, 1e-12).
Eigen::VectorXd length_normed(const Eigen::VectorXd& x);
/// Layer norm without weights: (x − mean)/√(variance + 1e-5).
Eigen::VectorXd layer_normed(const Eigen::VectorXd& x);

}  // namespace spectra::layouts
