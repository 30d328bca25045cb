#pragma once

#include "layouts/input_point.hpp"
#include "layouts/stack.hpp"
#include "layouts/weights.hpp"

#include <string>
#include <string_view>
#include <vector>

/// The internals of tensor-name layouts; other folders use layouts.hpp.
namespace spectra::layouts {

/// A tensor-name layout: how to recognise its keys and how to make mixers from them.
struct Layout {
    std::string_view name;
    std::string_view keys;  ///< the keys that identify it, for messages
    bool (*fits)(const Weights& weights);
    /// Fills connections, streams and width.
    void (*read)(const Weights& weights, const InputPoint& input, Stack& stack);
    /// Why the keys alone do not tell this layout from one that means something else, and what would; empty where they
    /// do. Files of which this is said are read only if the user names the layout.
    std::string (*doubt)(const Weights& weights) = nullptr;
};

// In the order they are tried.
extern const Layout spectra_layout;
extern const Layout deepseek_v41_layout;
extern const Layout deepseek_layout;
extern const Layout megatron_layout;
extern const Layout qwen_layout;
extern const Layout tokenbender_layout;
extern const Layout s2hc_layout;
extern const Layout mhc_lite_layout;
extern const Layout hyper_connections_layout;
extern const Layout edelta_layout;

struct LayoutMap;
/// As a Layout's read, by a map (layout_map.hpp): fills connections, streams and input.
void read_mapped(const Weights& weights, const LayoutMap& map, Stack& stack);

/// Is there a key that ends so (or is it)?
bool any_key(const Weights& weights, std::string_view suffix);

/// Adds a connection; refuses a mixer, pre or post that is not finite or has a different number of streams
/// from those before.
void add_connection(const Weights& weights, Connection connection, Stack& stack);

/// A linear layer applied to x: the tensors name.weight (rows×x) and name.bias, if it exists. If x is 0 the
/// weight is not read.
Eigen::VectorXd linear(const Weights& weights, const std::string& name, const Eigen::VectorXd& x,
                       Eigen::Index rows = -1);
/// LayerNorm with the tensors name.weight and name.bias.
Eigen::VectorXd layer_norm(const Weights& weights, const std::string& name, const Eigen::VectorXd& x);

/// The routing of JPmHC and EΔ-stream, from 2n² numbers: pre is the softmax of the rows averaged over rows,
/// post the softmax of the columns summed over columns.
struct Routes {
    Eigen::VectorXd pre, post;
};
Routes softmax_routes(const Eigen::VectorXd& raw, int streams);

// Connections shared by EΔ's suite and the models of `spectra train`; `name` is the beginning of their keys.

/// The hybrid from its generator networks, or without gate_net the rotation alone; C follows from their weights.
Connection read_hybrid(const Weights& weights, const std::string& name, const InputPoint& input,
                       std::size_t number, Stack& stack);
/// EΔ-stream's hybrid and its router, which reads the output of the mixer: F(r · AX), so that pre = Aᵀr.
Connection read_stream_hybrid(const Weights& weights, const std::string& name, const InputPoint& input,
                              std::size_t number, Stack& stack);
/// JPmHC with a Cayley map of this many iterations (none: exact), and logits of the routes over the temperature.
Connection read_jpmhc(const Weights& weights, const std::string& name, const InputPoint& input,
                      std::size_t number, std::optional<int> iterations, double step, Stack& stack,
                      double temperature = 1);

/// H̃ = α φ(RMSNorm x) + b for pre, post and the mixer's raw numbers, for mHC with the tensor names of EΔ's
/// suite. With gamma_u and gamma_v the raw numbers are those of sHC: skews γ tanh H̃, with τ in place of α.
struct HyperNumbers {
    Eigen::VectorXd pre, post, raw;  ///< post is empty without b_post, raw without b_res
    int streams = 0;
};
/// `tanh`: applied to the dynamic part, as in hyper-connections.
HyperNumbers read_hyper(const Weights& weights, const std::string& name, const InputPoint& input,
                        std::size_t number, bool tanh, Stack& stack);

}  // namespace spectra::layouts
