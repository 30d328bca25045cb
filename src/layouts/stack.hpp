#pragma once

/// \file
/// The residual connections of a trained model, in the order they are applied.

#include "mixers/mixer.hpp"

#include <string>
#include <vector>

namespace spectra::layouts {

/// One residual connection of a trained model at one input: X' = (A ⊗ I_p) X + post ⊗ F(pre · X).
struct Connection {
    std::string name;      ///< as its keys in the file begin: "transformer.h.3.hc_attn"
    Mixer mixer;           ///< A as it acts, x ↦ A x on the stream axis
    Eigen::VectorXd pre;   ///< what F reads; empty where it is no such branch
    Eigen::VectorXd post;  ///< where F writes; empty where it is no such branch
    /// F gives every stream an output of its own (mHC of the EΔ suite): post scales them, it does not copy
    /// one.
    bool separate_outputs = false;
};

/// The residual connections of a model in the order they are applied, two per block if a block has two.
struct Stack {
    std::string layout;  ///< tensor-name layout: "mhc-lite", or "spectra" for a model of spectra train
    std::string input;   ///< where the dynamic part was evaluated: "zero input", "input 3 of 8"
    int streams = 0;     ///< n
    int width = 0;       ///< p; 0 where the file does not say
    std::vector<Connection> connections;  ///< first applied first

    /// Number of connections.
    int depth() const { return static_cast<int>(connections.size()); }
    /// A_1 … A_L.
    std::vector<Mixer> mixers() const;
};

}  // namespace spectra::layouts
