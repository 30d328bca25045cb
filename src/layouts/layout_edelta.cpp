#include "layouts/connection_names.hpp"
#include "mixers/raw.hpp"
#include "layouts/layout.hpp"

#include <fmt/format.h>

#include <cmath>

namespace spectra::layouts {

namespace {

/// Sinkhorn as in EΔ's mHC: on exp(Z), rows then columns, ε = 1e-8 added to every sum.
Mixer sinkhorn_with_epsilon(const Eigen::MatrixXd& logits, int sweeps) {
    constexpr double epsilon = 1e-8;
    Mixer p = logits.array().exp();
    for (int t = 0; t < sweeps; ++t) {
        const Eigen::VectorXd rows = p.rowwise().sum().array() + epsilon;
        p.array().colwise() /= rows.array();
        const Eigen::RowVectorXd columns = p.colwise().sum().array() + epsilon;
        p.array().rowwise() /= columns.array();
    }
    return p;
}

Connection read_mhc(const Weights& weights, const std::string& name, const InputPoint& input,
                    std::size_t number, Stack& stack) {
    const auto h = read_hyper(weights, name, input, number, false, stack);
    weights.expect_shape(name + ".b_res", {h.streams, h.streams});
    const auto sweeps = weights.count_setting("n_sinkhorn_iters", 20);
    return {name, sinkhorn_with_epsilon(mixers::by_rows(h.raw, h.streams, h.streams), sweeps), mixers::sigmoid(h.pre),
            2 * mixers::sigmoid(h.post), true};
}

bool fits(const Weights& weights) {
    for (const char* const suffix : {".u_net.2.weight", ".geo_proj.2.weight", ".fused_proj.weight"})
        if (any_key(weights, suffix)) return true;
    for (const auto& key : weights.keys())
        if (key.ends_with(".b_res") && key.find("mhc_") != std::string::npos) return true;
    return any_key(weights, "delta_attn.k_net.2.weight");
}

void read(const Weights& weights, const InputPoint& input, Stack& stack) {
    const auto each = [&](const char* suffix, const auto& connection) {
        for (const auto& name : connection_names(weights, ending_in({suffix})))
            add_connection(weights, connection(name, stack.connections.size()), stack);
    };
    each(".u_net.2.weight", [&](const std::string& name, std::size_t number) {
        return read_hybrid(weights, name, input, number, stack);
    });
    each(".geo_proj.2.weight", [&](const std::string& name, std::size_t number) {
        return read_stream_hybrid(weights, name, input, number, stack);
    });
    each(".fused_proj.weight", [&](const std::string& name, std::size_t number) {
        const auto iterations = weights.count_setting("cayley_iters", 2);
        return read_jpmhc(weights, name, input, number, iterations, weights.setting("cayley_alpha", 0.1),
                          stack);
    });
    each(".b_res", [&](const std::string& name, std::size_t number) {
        return read_mhc(weights, name, input, number, stack);
    });
    if (stack.connections.empty() && any_key(weights, "delta_attn.k_net.2.weight"))
        weights.refuse(
            "is a DDL model: its operator I − βkkᵀ acts on all channels, so it has no streams "
            "and no mixers");
}

}  // namespace

const Layout edelta_layout{"edelta", "geo_*.u_net, geo_*.geo_proj, jpmhc_*.fused_proj, mhc_*.b_res", fits,
                           read};

}  // namespace spectra::layouts
