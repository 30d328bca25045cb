#include "layouts/layout.hpp"

#include "base/text.hpp"
#include "mixers/raw.hpp"
#include "mixers/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace spectra::layouts {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

VectorXd gelu(const VectorXd& x) {
    return x.unaryExpr([](double value) { return 0.5 * value * (1 + std::erf(value / std::sqrt(2.0))); });
}

/// Linear, GELU, Linear.
VectorXd generator(const Weights& weights, const std::string& name, const VectorXd& x, Index rows) {
    return linear(weights, name + ".2", gelu(linear(weights, name + ".0", x)), rows);
}

Index columns_of(const Weights& weights, const std::string& key) {
    weights.expect_shape(key, {-1, -1});
    return static_cast<Index>(weights.at(key).shape[1]);
}

Index rows_of(const Weights& weights, const std::string& key) {
    weights.expect_shape(key, {-1, -1});
    return static_cast<Index>(weights.at(key).shape[0]);
}

/// p = C/n.
void set_width(const Weights& weights, const std::string& key, Index channels, int streams, Stack& stack) {
    if (streams == 0 || channels == 0 || channels % streams != 0)
        weights.refuse(weights.at(key),
                       fmt::format("has {} channels, not a multiple of its {} streams", channels, streams));
    stack.width = static_cast<int>(channels) / streams;
}

VectorXd softmax(const VectorXd& x) {
    const VectorXd e = (x.array() - x.maxCoeff()).exp();
    return e / e.sum();
}

/// One scale for all, one per stream, or none.
VectorXd scaled(const Weights& weights, const std::string& key, const VectorXd& x, int streams) {
    if (!weights.has(key)) return x;
    const VectorXd scale = weights.numbers(key);
    if (scale.size() == 1) return scale(0) * x;
    if (scale.size() != streams || x.size() % streams != 0)
        weights.refuse(weights.at(key), fmt::format("must have 1 or {} elements", streams));
    const Index each = x.size() / streams;
    VectorXd result = x;
    for (Index s = 0; s < streams; ++s) result.segment(s * each, each) *= scale(s);
    return result;
}

}  // namespace

bool any_key(const Weights& weights, std::string_view suffix) {
    const auto& keys = weights.keys();
    return std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
        return key.ends_with(suffix) || (suffix.starts_with('.') && key == suffix.substr(1));
    });
}

void add_connection(const Weights& weights, Connection connection, Stack& stack) {
    const auto& a = connection.mixer;
    if (!a.allFinite() || !connection.pre.allFinite() || !connection.post.allFinite())
        weights.refuse(fmt::format("the mixer of {} is not finite", in_quotes(connection.name)));
    const int n = static_cast<int>(a.rows());
    if (stack.streams == 0) stack.streams = n;
    if (stack.streams != n)
        weights.refuse(fmt::format(
            "the mixer of {} has {} streams, but {} has {}; mixers must have the same size",
            in_quotes(connection.name), n, in_quotes(stack.connections.front().name), stack.streams));
    stack.connections.push_back(std::move(connection));
}

VectorXd linear(const Weights& weights, const std::string& name, const VectorXd& x, Index rows) {
    const auto weight = name + ".weight", bias = name + ".bias";
    weights.expect_shape(weight, {rows, x.size()});
    VectorXd y = x.isZero(0) ? VectorXd::Zero(rows_of(weights, weight))
                             : VectorXd(weights.matrix(weight, rows, x.size()) * x);
    if (weights.has(bias)) y += weights.numbers(bias, y.size());
    return y;
}

VectorXd layer_norm(const Weights& weights, const std::string& name, const VectorXd& x) {
    VectorXd y = layer_normed(x).cwiseProduct(weights.numbers(name + ".weight", x.size()));
    if (weights.has(name + ".bias")) y += weights.numbers(name + ".bias", x.size());
    return y;
}

Routes softmax_routes(const VectorXd& raw, int streams) {
    const Index n = streams;
    const MatrixXd pre = mixers::by_rows(raw.head(n * n), streams, streams);
    const MatrixXd post = mixers::by_rows(raw.tail(n * n), streams, streams);
    Routes routes{VectorXd::Zero(n), VectorXd::Zero(n)};
    for (Index k = 0; k < n; ++k) {
        routes.pre += softmax(pre.row(k)) / static_cast<double>(n);
        routes.post += softmax(post.col(k));
    }
    return routes;
}

Connection read_hybrid(const Weights& weights, const std::string& name, const InputPoint& input,
                       std::size_t number, Stack& stack) {
    const auto key = name + ".u_net.0.weight";
    const Index channels = columns_of(weights, key), n = rows_of(weights, name + ".u_net.2.weight");
    set_width(weights, key, channels, static_cast<int>(n), stack);
    const VectorXd x = input.at(channels, number);
    const auto made = [&](const char* net, Index rows) { return generator(weights, name + net, x, rows); };
    if (!weights.has(name + ".gate_net.weight")) {
        VectorXd raw(2 * n + 1);
        raw << made(".u_net", n), made(".v_net", n), made(".beta_net", 1);
        return {name, mixers::mixer_of("rotation", raw, static_cast<int>(n)), {}, {}};
    }
    const double beta = mixers::softplus(made(".beta_net", 1)(0));
    const double gate = mixers::sigmoid(linear(weights, name + ".gate_net", x, 1)(0));
    return {name, mixers::hybrid(made(".u_net", n), made(".v_net", n), beta, made(".k_net", n), gate), {}, {}};
}

Connection read_stream_hybrid(const Weights& weights, const std::string& name, const InputPoint& input,
                              std::size_t number, Stack& stack) {
    const auto key = name + ".geo_proj.0.weight", last = name + ".geo_proj.2.weight";
    const Index channels = columns_of(weights, key), size = rows_of(weights, last);
    const auto streams = mixers::streams_of("cayley-hybrid", static_cast<std::uint64_t>(size));
    if (!streams) weights.refuse(weights.at(last), "must have 3n + 2 rows (u, v, β, k, γ of n streams)");
    const int n = *streams;
    set_width(weights, key, channels, n, stack);
    const VectorXd x = input.at(channels, number);
    const VectorXd raw = generator(weights, name + ".geo_proj", layer_norm(weights, name + ".norm", x), size);
    Connection connection{name, mixers::mixer_of("cayley-hybrid", raw, n), {}, {}};

    // The router is beside it in the block (router_attn beside geo_attn) and reads the rotated state.
    const auto cut = name.rfind("geo_");
    const auto router =
        cut == std::string::npos ? name + ".router" : name.substr(0, cut) + "router_" + name.substr(cut + 4);
    const MatrixXd turned = connection.mixer * mixers::by_rows(x, n, stack.width);
    const VectorXd seen = layer_norm(weights, router + ".norm", turned.reshaped<Eigen::RowMajor>());
    const auto routes = softmax_routes(linear(weights, router + ".proj", seen, Index{2} * n * n), n);
    connection.pre = connection.mixer.transpose() * routes.pre;  // F reads pre · AX
    connection.post = routes.post;
    return connection;
}

Connection read_jpmhc(const Weights& weights, const std::string& name, const InputPoint& input,
                      std::size_t number, std::optional<int> iterations, double step, Stack& stack,
                      double temperature) {
    const auto key = name + ".fused_proj.weight";
    const Index channels = columns_of(weights, key), size = rows_of(weights, key);
    const int n = static_cast<int>(std::lround(std::sqrt(static_cast<double>(size) / 3)));
    if (n < 1 || Index{3} * n * n != size) weights.refuse(weights.at(key), "must have 3n² rows");
    set_width(weights, key, channels, n, stack);
    const VectorXd x = input.at(channels, number);
    const VectorXd raw = linear(weights, name + ".fused_proj", layer_norm(weights, name + ".norm", x), size);
    const auto routes = softmax_routes(raw.head(Index{2} * n * n) / temperature, n);
    mixers::RawOptions options;
    options.cayley_iterations = iterations;
    options.cayley_step = step;
    return {name, mixers::mixer_of("cayley", raw.tail(Index{n} * n), n, options), routes.pre, routes.post};
}

namespace {

/// Entries above the diagonal of a skew of sHC, whose raw numbers are two such skews and n − 1 logits.
Index sphere_skews(const Weights& weights, const std::string& name, const HyperNumbers& h) {
    const Index n = h.streams, skews = (n - 1) * (n - 2) / 2;
    if (h.raw.size() != 2 * skews + n - 1)
        weights.refuse(weights.at(name + ".b_res"),
                       fmt::format("does not have the size of a spectral-sphere mixer of {} streams", n));
    return skews;
}

/// sHC: γ tanh of the skews of U and V; Σ's logits as they are.
void gate_rotations(const Weights& weights, const std::string& name, HyperNumbers& h) {
    if (!weights.has(name + ".gamma_u")) return;
    const Index skews = sphere_skews(weights, name, h);
    h.raw.head(skews) = weights.scalar(name + ".gamma_u") * h.raw.head(skews).array().tanh();
    h.raw.segment(skews, skews) =
        weights.scalar(name + ".gamma_v") * h.raw.segment(skews, skews).array().tanh();
}

}  // namespace

HyperNumbers read_hyper(const Weights& weights, const std::string& name, const InputPoint& input,
                        std::size_t number, bool tanh, Stack& stack) {
    const auto key = name + ".phi_pre.weight";
    HyperNumbers h;
    if (!weights.has(key)) {  // static mappings
        h.pre = weights.numbers(name + ".b_pre");
        h.streams = static_cast<int>(h.pre.size());
        if (weights.has(name + ".b_post")) h.post = weights.numbers(name + ".b_post", h.streams);
        if (weights.has(name + ".b_res")) h.raw = weights.numbers(name + ".b_res");
        gate_rotations(weights, name, h);
        stack.input = "every input";
        return h;
    }
    const Index channels = columns_of(weights, key);
    h.streams = static_cast<int>(rows_of(weights, key));
    set_width(weights, key, channels, h.streams, stack);
    const VectorXd x = rms_normed(input.at(channels, number), 1e-6);
    const VectorXd seen = weights.has(name + ".rms_norm.weight")
                              ? VectorXd(x.cwiseProduct(weights.numbers(name + ".rms_norm.weight", channels)))
                              : x;
    const auto made = [&](const std::string& which) -> VectorXd {
        VectorXd dynamic = linear(weights, name + ".phi_" + which, seen);
        if (tanh) dynamic = dynamic.array().tanh();
        if (which == "res" && weights.has(name + ".tau_u")) {
            h.raw = dynamic;
            const Index skews = sphere_skews(weights, name, h);
            dynamic.head(skews) *= weights.scalar(name + ".tau_u");
            dynamic.segment(skews, skews) *= weights.scalar(name + ".tau_v");
            dynamic.tail(h.streams - 1) *= weights.scalar(name + ".tau_s");
            return dynamic + weights.numbers(name + ".b_res", dynamic.size());
        }
        return scaled(weights, name + ".alpha_" + which, dynamic, h.streams) +
               weights.numbers(name + ".b_" + which, dynamic.size());
    };
    h.pre = made("pre");
    const bool writes = weights.has(name + ".b_post");
    if (writes) h.post = made("post");
    if (weights.has(name + ".phi_res.weight")) h.raw = made("res");
    gate_rotations(weights, name, h);
    if (writes && h.post.size() != h.streams)
        weights.refuse(weights.at(name + ".phi_post.weight"), fmt::format("must have {} rows", h.streams));
    return h;
}

}  // namespace spectra::layouts
