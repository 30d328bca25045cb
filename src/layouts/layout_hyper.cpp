#include "mixers/cayley.hpp"
#include "mixers/permutation.hpp"
#include "mixers/spectral_sphere.hpp"
#include "base/text.hpp"
#include "layouts/connection_names.hpp"
#include "mixers/raw.hpp"
#include "mixers/registry.hpp"
#include "layouts/layout.hpp"

#include <fmt/format.h>

#include <cmath>

/// Hyper-connections and their manifold-constrained variants. Their code contracts 's t, s d → t d', so
/// the mixer is A = Hᵀ everywhere here.
namespace spectra::layouts {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// The stored weight fn (inputs×outputs) applied to x: fnᵀx. If x is 0 the tensor is not read.
VectorXd projected(const Weights& weights, const std::string& key, const VectorXd& x, Index columns) {
    weights.expect_shape(key, {x.size(), columns});
    if (x.isZero(0)) return VectorXd::Zero(columns);
    return weights.matrix(key, x.size(), columns).transpose() * x;
}

/// The key of a connection's tensor: "name.key", or "key" if the connection has no name.
std::string of(const std::string& name, const char* key) {
    return name.empty() ? key : name + "." + key;
}

/// √width·x/|x| times (gamma + 1), of norm.gamma.
VectorXd gamma_normed(const Weights& weights, const std::string& name, const VectorXd& x) {
    const VectorXd gain = weights.numbers(of(name, "norm.gamma"), x.size()).array() + 1;
    return length_normed(x).cwiseProduct(gain);
}

// --- tokenbender: static logits; Sinkhorn at a temperature, pre and post by softmax

bool fits_tokenbender(const Weights& weights) {
    return any_key(weights, ".H_res_logits");
}

void read_tokenbender(const Weights& weights, const InputPoint& /*input*/, Stack& stack) {
    if (const auto map = weights.text_setting("mhc_h_res_proj"); !map.empty() && map != "sinkhorn")
        weights.refuse(fmt::format("config: mhc_h_res_proj is {}; must be sinkhorn", in_quotes(map)));
    mixers::RawOptions options;
    options.sweeps = weights.count_setting("sinkhorn_iters", 10);
    options.temperature = weights.setting("sinkhorn_tau", 0.05);
    if (!(options.temperature > 0))
        weights.refuse(fmt::format("its setting sinkhorn_tau is {}; must be > 0", options.temperature));
    stack.input = "every input";
    for (const auto& name : connection_names(weights, ending_in({".H_res_logits"}))) {
        const auto key = of(name, "H_res_logits");
        const MatrixXd logits = weights.matrix(key, -1);
        const Index n = logits.rows();
        if (n == 0) weights.refuse(weights.at(key), "is empty");
        weights.expect_shape(key, {n, n});
        Connection c{name, {}, {}, {}};
        c.mixer = mixers::mixer_of("bistochastic", logits.reshaped<Eigen::RowMajor>(), static_cast<int>(n), options)
                      .transpose();
        c.pre = mixers::softmax(weights.numbers(of(name, "H_pre_logits"), n));
        if (const auto post = of(name, "H_post_logits"); weights.has(post))
            c.post = mixers::softmax(weights.numbers(post, n));
        if (const auto* const gamma = weights.find(of(name, "norm.gamma")); gamma && gamma->shape.size() == 1)
            stack.width = static_cast<int>(gamma->shape[0]);
        add_connection(weights, std::move(c), stack);
    }
}

// --- mhc-lite: RMSNorm of all streams; [pre | permutations], or [pre | logits] of its mhc.py

/// Projects all streams at once, so it has one column per number of static_alpha.
bool fits_mhc_lite(const Weights& weights) {
    for (const auto& key : weights.keys())
        if (const auto name = ending_in({".static_alpha"})(key)) {
            const auto* const fn = weights.find(of(*name, "dynamic_alpha_fn"));
            return fn != nullptr && fn->shape.size() == 2 && weights.has(of(*name, "residual_scale")) &&
                   fn->shape[1] == weightfile::element_count(weights.at(key).shape);
        }
    return false;
}

struct Alpha {
    VectorXd pre, raw;  ///< no pre where the branch reads several combinations of streams
    int streams = 0;
    int inputs = 1;  ///< combinations that the branch reads
    const char* family = "";
};

/// The columns of static_alpha before its n×n rest: more than one where streams are cut into fractions, each of which is
/// mixed as a stream: static_beta (streams, fractions, 1), n = streams · fractions. Refuses columns that are not these.
int inputs_of(const Weights& weights, const std::string& key, Index rows, Index columns) {
    const auto inputs = columns - rows;
    if (inputs == 1) return 1;
    const auto* const beta = weights.find(key.substr(0, key.size() - std::string_view("alpha").size()) + "beta");
    if (rows == 0 || inputs < 1) weights.refuse(weights.at(key), "must be n×(n + 1), pre and the n×n rest");
    if (beta == nullptr || beta->shape.size() != 3 || beta->shape[1] != static_cast<std::uint64_t>(inputs) ||
        beta->shape[0] * beta->shape[1] != static_cast<std::uint64_t>(rows))
        weights.refuse(weights.at(key),
                       fmt::format("has {} columns before its {}×{} rest; must have 1, or one per fraction with "
                                   "static_beta of streams × fractions × 1",
                                   inputs, rows, rows));
    return static_cast<int>(inputs);
}

/// static_alpha split into pre and the mixer's numbers.
Alpha static_alpha(const Weights& weights, const std::string& key) {
    const auto& tensor = weights.at(key);
    Alpha a;
    if (tensor.shape.size() == 1) {
        for (int n = 1; n <= 7; ++n)
            if (n + std::lround(std::tgamma(n + 1)) == static_cast<long>(tensor.shape[0])) a.streams = n;
        if (a.streams == 0) weights.refuse(tensor, "must have n + n! elements, n pre and n! permutations");
        const VectorXd all = weights.numbers(key);
        a.pre = all.head(a.streams);
        a.raw = all.tail(all.size() - a.streams);
        a.family = "permutation";
        return a;
    }
    const MatrixXd all = weights.matrix(key, -1);
    if (all.rows() == 0) weights.refuse(tensor, "must be n×(n + 1), pre and the n×n rest");
    a.inputs = inputs_of(weights, key, all.rows(), all.cols());
    a.streams = static_cast<int>(all.rows());
    if (a.inputs == 1) a.pre = all.col(0);
    a.raw = all.rightCols(a.streams).reshaped<Eigen::RowMajor>();
    a.family = "bistochastic";
    return a;
}

void read_mhc_lite(const Weights& weights, const InputPoint& input, Stack& stack) {
    mixers::RawOptions options;
    options.sweeps = 20;
    options.columns_first = true;
    for (const auto& name : connection_names(weights, ending_in({".static_alpha"}))) {
        auto a = static_alpha(weights, of(name, "static_alpha"));
        if (a.inputs > 1)
            weights.refuse(weights.at(of(name, "static_alpha")), "must be n×(n + 1), pre and the n×n rest");
        const Index n = a.streams, size = n + a.raw.size();
        const auto fn = of(name, "dynamic_alpha_fn");
        weights.expect_shape(fn, {-1, size});
        const auto channels = static_cast<Index>(weights.at(fn).shape[0]);
        if (channels % n != 0)
            weights.refuse(weights.at(fn), fmt::format("must have rows for {} streams", n));
        stack.width = static_cast<int>(channels / n);
        const VectorXd x = gamma_normed(weights, name, input.at(channels, stack.connections.size()));
        const VectorXd dynamic = projected(weights, fn, x, size);
        const double pre_scale = weights.scalar(of(name, "pre_branch_scale"));
        const double scale = weights.scalar(of(name, "residual_scale"));
        if (a.raw.size() == n * n && std::string_view(a.family) == "bistochastic") {
            const MatrixXd both = mixers::by_rows(dynamic, a.streams, a.streams + 1);
            a.pre += pre_scale * both.col(0);
            a.raw += scale * both.rightCols(n).reshaped<Eigen::RowMajor>();
        } else {
            a.pre += pre_scale * dynamic.head(n);
            a.raw += scale * dynamic.tail(a.raw.size());
        }
        Connection c{name, mixers::mixer_of(a.family, a.raw, a.streams, options).transpose(), mixers::sigmoid(a.pre), {}};
        if (const auto beta = of(name, "static_beta"); weights.has(beta))
            c.post = 2 * mixers::sigmoid(weights.numbers(beta, n) +
                                 weights.scalar(of(name, "h_post_scale")) *
                                     projected(weights, of(name, "dynamic_beta_fn"), x, n));
        add_connection(weights, std::move(c), stack);
    }
}

// --- lucidrains' hyper-connections: every stream normalised separately; residual_scale marks the constrained
// ones, dynamic_alpha_scale the free ones

bool fits_hyper_connections(const Weights& weights) {
    return any_key(weights, ".static_alpha") && any_key(weights, ".dynamic_alpha_fn") &&
           any_key(weights, ".static_beta");
}

/// Row s: gamma_normed stream s.
MatrixXd normed_streams(const Weights& weights, const std::string& name, const VectorXd& x, int streams) {
    MatrixXd rows = mixers::by_rows(x, streams, static_cast<int>(x.size()) / streams);
    for (Index s = 0; s < streams; ++s) rows.row(s) = gamma_normed(weights, name, rows.row(s)).transpose();
    return rows;
}

/// The proposals of dynamic_alpha_fn, (d, n + 1) or (P, d, n + 1): one d×(n + 1) matrix per proposal. With fractions f
/// in place of 1.
std::vector<MatrixXd> proposals(const Weights& weights, const std::string& key, int columns) {
    const auto& tensor = weights.at(key);
    const auto& shape = tensor.shape;
    if ((shape.size() != 2 && shape.size() != 3) || shape.back() != static_cast<std::uint64_t>(columns))
        weights.refuse(tensor, fmt::format("must be d×{0} or P×d×{0}", columns));
    const auto d = static_cast<Index>(shape[shape.size() - 2]);
    const Index count = shape.size() == 3 ? static_cast<Index>(shape[0]) : 1;
    const Index size = d * columns;
    const VectorXd all = weights.numbers(key);
    std::vector<MatrixXd> each;
    for (Index p = 0; p < count; ++p)
        each.push_back(mixers::by_rows(all.segment(p * size, size), static_cast<int>(d), columns));
    if (each.empty() || d == 0) weights.refuse(tensor, "is empty");
    return each;
}

/// Without residual_scale: alpha unchanged, tanh of the dynamic part.
void read_hyper_connections(const Weights& weights, const InputPoint& input, Stack& stack) {
    if (weights.setting("hc_num_streams", 0) > 0)
        weights.refuse(
            "hyper-connections from code that computes the mixing of streams but does not apply it "
            "(config has hc_num_streams, and there are no H_res_logits): every mixer is the identity");
    mixers::RawOptions options;
    options.sweeps = 20;
    options.columns_first = true;
    for (const auto& name : connection_names(weights, ending_in({".static_alpha"}))) {
        const auto a = static_alpha(weights, of(name, "static_alpha"));
        if (std::string_view(a.family) == "permutation")
            weights.refuse(weights.at(of(name, "static_alpha")), "must be n×(n + 1), pre and the n×n rest");
        const int n = a.streams;
        const bool constrained = weights.has(of(name, "residual_scale"));
        if (a.inputs > 1 && !constrained)
            weights.refuse(weights.at(of(name, "static_alpha")),
                           "has fractions without residual_scale; must be n×(n + 1), pre and the n×n rest");
        const auto fns = proposals(weights, of(name, "dynamic_alpha_fn"), n + a.inputs);
        const Index d = fns.front().rows();
        stack.width = static_cast<int>(d);
        const MatrixXd x = normed_streams(weights, name, input.at(d * n, stack.connections.size()), n);
        const auto act = [&](const MatrixXd& y) { return constrained ? y : MatrixXd(y.array().tanh()); };
        const double pre_scale =
            weights.scalar(of(name, constrained ? "pre_branch_scale" : "dynamic_alpha_scale"));
        const double scale = constrained ? weights.scalar(of(name, "residual_scale")) : pre_scale;

        Connection c{name, Mixer::Zero(n, n), VectorXd::Zero(a.pre.size()), {}};
        const double share = 1 / static_cast<double>(fns.size());
        for (const auto& fn : fns) {
            const MatrixXd dynamic = act(x * fn);
            const VectorXd pre = a.pre + pre_scale * dynamic.col(0).head(a.pre.size());
            const VectorXd raw = a.raw + scale * dynamic.rightCols(n).reshaped<Eigen::RowMajor>();
            c.pre += share * (constrained ? mixers::sigmoid(pre) : pre);
            c.mixer += share * mixers::mixer_of(constrained ? "bistochastic" : "matrix", raw, n, options).transpose();
        }
        // With fractions the branch reads and writes several combinations: pre and post are no vectors.
        if (const auto beta = of(name, "static_beta"); weights.has(beta) && a.inputs == 1) {
            const MatrixXd moved = act(x * weights.numbers(of(name, "dynamic_beta_fn"), d));
            const double post_scale =
                weights.scalar(of(name, constrained ? "h_post_scale" : "dynamic_beta_scale"));
            c.post = weights.numbers(beta, n) + post_scale * moved.col(0);
            if (constrained) c.post = 2 * mixers::sigmoid(c.post);
        }
        add_connection(weights, std::move(c), stack);
    }
}

// --- s2HC: J + U_Z U Σ Vᵀ U_Zᵀ; [skew U, skew V, Σ logits], the skews γ tanh, U and V (I + S)⁻¹(I − S)

bool fits_s2hc(const Weights& weights) {
    return any_key(weights, ".static_alpha_residual") && any_key(weights, ".residual_rot_scale_u");
}

Mixer sphere(const Weights& weights, const std::string& name, const VectorXd& raw, int n) {
    const Index skews = (n - 1) * (n - 2) / 2;
    const auto rotation = [&](const char* gamma, Index begin) -> MatrixXd {
        const VectorXd upper = weights.scalar(of(name, gamma)) * raw.segment(begin, skews).array().tanh();
        return mixers::cayley_transform(-mixers::skew_of(upper, n - 1));
    };
    return mixers::spectral_sphere(rotation("gamma_u", 0), raw.tail(n - 1).array().tanh(),
                                   rotation("gamma_v", skews));
}

void read_s2hc(const Weights& weights, const InputPoint& input, Stack& stack) {
    for (const auto& name : connection_names(weights, ending_in({".static_alpha_residual"}))) {
        const auto key = of(name, "static_alpha_residual");
        VectorXd raw = weights.numbers(key);
        const auto streams = mixers::streams_of("spectral-sphere", static_cast<std::uint64_t>(raw.size()));
        if (!streams) weights.refuse(weights.at(key), "must have (n − 1)² elements");
        const int n = *streams;
        const auto fn = of(name, "to_alpha_residual.weight");
        weights.expect_shape(fn, {raw.size(), -1});
        const auto channels = static_cast<Index>(weights.at(fn).shape[1]);
        if (channels == 0 || channels % n != 0)
            weights.refuse(weights.at(fn), fmt::format("must have columns for {} streams", n));
        stack.width = static_cast<int>(channels / n);
        const VectorXd x = gamma_normed(weights, name, input.at(channels, stack.connections.size()));

        const Index skews = (n - 1) * (n - 2) / 2;
        const VectorXd dynamic = linear(weights, of(name, "to_alpha_residual"), x);
        raw.head(skews) += weights.scalar(of(name, "residual_rot_scale_u")) * dynamic.head(skews);
        raw.segment(skews, skews) +=
            weights.scalar(of(name, "residual_rot_scale_v")) * dynamic.segment(skews, skews);
        raw.tail(n - 1) += weights.scalar(of(name, "residual_val_scale")) * dynamic.tail(n - 1);

        Connection c{name, sphere(weights, name, raw, n).transpose(), {}, {}};
        c.pre = mixers::sigmoid(weights.numbers(of(name, "static_alpha_pre"), n) +
                        weights.scalar(of(name, "pre_branch_scale")) *
                            linear(weights, of(name, "to_alpha_pre"), x, n));
        if (const auto beta = of(name, "static_beta"); weights.has(beta))
            c.post = 2 * mixers::sigmoid(weights.numbers(beta, n) + weights.scalar(of(name, "h_post_scale")) *
                                                                linear(weights, of(name, "to_beta"), x, n));
        add_connection(weights, std::move(c), stack);
    }
}

}  // namespace

const Layout tokenbender_layout{"tokenbender", "*.H_res_logits", fits_tokenbender, read_tokenbender};
const Layout mhc_lite_layout{"mhc-lite",
                             "*.static_alpha, *.residual_scale, and *.dynamic_alpha_fn of all streams",
                             fits_mhc_lite, read_mhc_lite};
const Layout hyper_connections_layout{"hyper-connections",
                                      "*.static_alpha, *.dynamic_alpha_fn, *.static_beta",
                                      fits_hyper_connections, read_hyper_connections};
const Layout s2hc_layout{"s2hc", "*.static_alpha_residual, *.residual_rot_scale_u", fits_s2hc, read_s2hc};

}  // namespace spectra::layouts
