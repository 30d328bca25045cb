#pragma once

#include "mixers/mixer.hpp"

#include <string>
#include <vector>

namespace spectra::layouts {

/// One residual connection of a trained model at one input: X' = (A ⊗ I_p) X + post ⊗ F(pre · X).
struct Connection {
    std::string name;           ///< the beginning of its keys in the file: "transformer.h.3.hc_attn"
    Mixer mixer;                ///< A as it acts, x ↦ A x on the stream axis
    Eigen::VectorXd pre, post;  ///< how F reads and writes streams; empty for other branches
    /// F has a separate output per stream (mHC of the EΔ suite): post scales the outputs; it does not copy
    /// one output to all streams.
    bool separate_outputs = false;
};

/// The residual connections of a model in the order they are applied, two per block if a block has two.
struct Stack {
    std::string layout;  ///< tensor-name layout: "mhc-lite", or "spectra" for a model of spectra train
    std::string input;   ///< where the dynamic part was evaluated: "zero input", "input 3 of 8"
    int streams = 0;     ///< n
    int width = 0;       ///< p; 0 if the file does not determine it
    std::vector<Connection> connections;

    int depth() const { return static_cast<int>(connections.size()); }
    std::vector<Mixer> mixers() const;
};

}  // namespace spectra::layouts
