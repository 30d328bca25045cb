#include "train/measure.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "train/modules/streams.hpp"

namespace spectra::train {

using torch::Tensor;

namespace {

/// The model in double while it exists; floats are restored unchanged.
class Widened {
public:
    Widened(torch::nn::Module& module, bool wanted) : module_(module) {
        const auto parameters = module.parameters();
        if (parameters.empty()) return;
        before_ = parameters.front().scalar_type();
        if (wanted && before_ != torch::kDouble) {
            module.to(torch::kDouble);
            changed_ = true;
        }
    }
    ~Widened() {
        if (changed_) module_.to(before_);
    }
    Widened(const Widened&) = delete;
    Widened& operator=(const Widened&) = delete;

private:
    torch::nn::Module& module_;
    torch::ScalarType before_ = torch::kFloat;
    bool changed_ = false;
};

/// While it exists, backward passes do not collect gradients of parameters.
class WithoutParameters {
public:
    explicit WithoutParameters(torch::nn::Module& module) {
        for (auto& p : module.parameters())
            if (p.requires_grad()) wanted_.push_back(p.requires_grad_(false));
    }
    ~WithoutParameters() {
        for (auto& p : wanted_) p.requires_grad_(true);
    }
    WithoutParameters(const WithoutParameters&) = delete;
    WithoutParameters& operator=(const WithoutParameters&) = delete;

private:
    std::vector<Tensor> wanted_;
};

Transformer::Start start_of(Transformer& model, const Tensor& input) {
    if (input.dim() < 2 || input.size(0) != 1)
        throw std::invalid_argument(
            fmt::format("measuring requires one sequence, (1, tokens, …); got {}", input.size(0)));
    const torch::NoGradGuard no_grad;
    const auto like = model.parameters().front();
    return model.start(input.is_floating_point() ? input.to(like.options()) : input.to(like.device()));
}

int64_t token_of(const Tensor& state, int64_t token) {
    const auto steps = state.size(1), t = token < 0 ? steps + token : token;
    if (t < 0 || t >= steps)
        throw std::invalid_argument(
            fmt::format("token {} does not exist: the input has {} (0 to {})", token, steps, steps - 1));
    return t;
}

/// `states` (1, T, C) for each row of a batch (B, C), with token t replaced by that row.
Tensor with_token(const Tensor& states, const Tensor& rows, int64_t t) {
    const auto all = states.expand({rows.size(0), states.size(1), states.size(2)});
    return torch::cat({all.narrow(1, 0, t), rows.unsqueeze(1), all.slice(1, t + 1)}, 1);
}

/// A function of whole sequences, (B, T, ·) → (B, T, ·).
using SequenceFunction = std::function<Tensor(const Tensor&)>;

/// Only token t of `states`, unless `like` has all tokens.
Tensor fitting(const Tensor& states, const Tensor& like, int64_t t) {
    const auto same = states.size(1) == like.size(1) ? states : states.narrow(1, t, 1);
    return same.expand({like.size(0), -1, -1}).contiguous();
}

/// Does token t of g depend only on that token? Tested at random states: actual ones may be all the same.
bool acts_alone(const SequenceFunction& g, const Tensor& states, int64_t t) {
    const torch::NoGradGuard no_grad;
    const auto generator = at::make_generator<at::CPUGeneratorImpl>(1);
    const auto random =
        torch::randn(states.sizes(), generator, torch::dtype(torch::kDouble)).to(states.options());
    const auto among = g(random).select(1, t), alone = g(random.narrow(1, t, 1)).select(1, 0);
    const double rounding = states.scalar_type() == torch::kDouble ? 1e-13 : 1e-5;
    return (among - alone).norm().item<double>() <= rounding * among.norm().item<double>();
}

/// ∂(token t of g)/∂(token t) at `states` with the other tokens fixed, and left out if they do not matter.
Tensor token_jacobian(const SequenceFunction& g, const Tensor& states, int64_t t,
                      const jacobian::JacobianOptions& options) {
    if (states.size(1) > 1 && acts_alone(g, states, t))
        return token_jacobian(g, states.narrow(1, t, 1), 0, options);
    return jacobian::exact_jacobian([&](const Tensor& rows) { return g(with_token(states, rows, t)).select(1, t); },
                          states[0][t], options);
}

Tensor on_host(const Tensor& t) {
    return t.detach().to(torch::kCPU, torch::kDouble).contiguous();
}

Tensor identity(int64_t n) {
    return torch::eye(n, torch::kDouble);
}

double squared_norm(const Tensor& t) {
    return t.square().sum().item<double>();
}

Eigen::MatrixXd to_eigen(const Tensor& matrix) {
    const auto columns = matrix.t().contiguous();
    return Eigen::Map<const Eigen::MatrixXd>(columns.data_ptr<double>(), matrix.size(0), matrix.size(1));
}

Eigen::VectorXd vector_of(const Tensor& v) {
    return to_eigen(v.reshape({-1, 1}));
}

/// One connection at one token, everything in double on the host.
struct Seen {
    Tensor matrix;     ///< from Connection::mixing; the identity if undefined
    Tensor pre, post;  ///< or undefined
    Tensor jacobian;   ///< Y
    Tensor core;       ///< F, p×p, of a branch that reads and writes one combination of streams
    Tensor frozen;     ///< Y°
};

/// A connection around its branch, at the states before it. With z the input of the branch's norm and v the
/// output of the branch, the next state is h(x, v(z(x))), and
///
///     Y = ∂h/∂x + (∂h/∂v ∂v/∂z) ∂z/∂x.
///
/// For most connections only ∂v/∂z (attention) depends on other tokens, and only through their z.
class Sublayer {
public:
    Sublayer(Block& block, int sublayer, const Tensor& before, int64_t token, const jacobian::JacobianOptions& options)
        : connection_(block.connection(sublayer)),
          branch_(block.branch(sublayer)),
          before_(before),
          token_(token),
          options_(options) {
        const torch::NoGradGuard no_grad;
        Tensor fed;
        next_ = connection_
                    .forward(before_, {[this](const Tensor& z) {
                                           read_ = z;
                                           return branch_.norm(z);
                                       },
                                       [&](const Tensor& z) { return given_ = branch_.core(fed = z); }})
                    .state;
        alone_ = block.branch_at(sublayer, fed, token_);
    }

    const Tensor& next() const { return next_; }

    Seen seen() {
        Seen out;
        mix(out);
        const auto channels = before_.size(2), n = out.matrix.size(0), p = channels / n;
        const auto core = through_branch();
        const bool routed = out.pre.defined() && connection_.branch_width() == p;
        if (routed) out.core = core;
        const auto through =
            routed ? torch::kron(out.post.unsqueeze(1), core) : torch::matmul(writing(), core);
        const auto mixed = torch::kron(out.matrix, identity(p));
        out.jacobian = round_branch() + torch::matmul(through, reading());
        out.frozen = mixed + torch::matmul(through, frozen_reading(out, mixed));
        return out;
    }

private:
    void mix(Seen& out) {
        const torch::NoGradGuard no_grad;
        const auto m = connection_.mixing(before_);
        // A pooled sequence has one operator for all tokens.
        const auto here = [this](const Tensor& t) { return on_host(t[0][std::min(token_, t.size(1) - 1)]); };
        out.matrix = m.matrix.defined() ? here(m.matrix) : identity(connection_.streams());
        if (m.pre.defined()) out.pre = here(m.pre);
        if (m.post.defined()) out.post = here(m.post);
    }

    /// ∂h/∂x with the output of the branch fixed.
    Tensor round_branch() {
        return token_jacobian(
            [this](const Tensor& x) {
                const auto given = fitting(given_, x, token_);
                return connection_.forward(x, {branch_.norm, [&](const Tensor&) { return given; }}).state;
            },
            before_, token_, options_);
    }

    /// ∂z/∂x, width × C.
    Tensor reading() {
        return token_jacobian(
            [this](const Tensor& x) {
                Tensor read;
                const auto given = fitting(given_, x, token_);
                connection_.forward(x, {[&](const Tensor& z) { return branch_.norm(read = z); },
                                        [&](const Tensor&) { return given; }});
                return read;
            },
            before_, token_, options_);
    }

    /// ∂v/∂z, width × width: norm, anything the connection inserts after it, and core.
    Tensor through_branch() {
        const auto state = before_.narrow(1, token_, 1);
        return jacobian::exact_jacobian(
            [&](const Tensor& rows) {
                Tensor given;
                connection_.forward(fitting(state, rows.unsqueeze(1), 0),
                                    {[&](const Tensor&) { return alone_.norm(rows.unsqueeze(1)); },
                                     [&](const Tensor& z) { return given = alone_.core(z); }});
                return given.select(1, 0);
            },
            read_[0][token_], options_);
    }

    /// ∂h/∂v, C × width, with the state fixed. Computed from the difference to the actual output: pooled
    /// operators, which depend on other tokens, drop out.
    Tensor writing() {
        return token_jacobian(
            [this](const Tensor& v) {
                const auto state = fitting(before_, v, token_), given = fitting(given_, v, token_);
                const auto written = [&](const Tensor& value) {
                    return connection_.forward(state, {branch_.norm, [&](const Tensor&) { return value; }})
                        .state;
                };
                return written(v) - written(given);
            },
            given_, token_, options_);
    }

    /// ∂z/∂x with A and pre fixed.
    Tensor frozen_reading(const Seen& at, const Tensor& mixed) {
        const auto channels = before_.size(2), n = at.matrix.size(0), width = connection_.branch_width();
        if (at.pre.defined()) {
            const auto copies = torch::ones({width * n / channels}, torch::kDouble);  // n if F is C wide
            return torch::kron(torch::outer(copies, at.pre), identity(channels / n));
        }
        if (width != channels) throw std::logic_error("a connection does not report what its branch reads");
        const bool as_it_is = torch::equal(read_, before_);
        return as_it_is ? identity(channels) : mixed;
    }

    Connection& connection_;
    Connection::Branch branch_, alone_;  ///< of all tokens, and of this one with the others fixed
    const Tensor& before_;
    int64_t token_;
    const jacobian::JacobianOptions& options_;
    Tensor read_, given_, next_;  ///< z, v and the next state
};

/// Plain residuals and operators on channels have one stream.
int64_t stream_count(const Connection& connection) {
    return connection.mixer() == nullptr ? 1 : connection.streams();
}

Eigen::MatrixXd by_stream(const Tensor& x, int64_t n) {
    const auto p = x.size(0) / n;
    return to_eigen(x.view({n, p, n, p}).square().sum({1, 3}) / static_cast<double>(p));
}

/// Largest first, until what is left of the squares is at most `negligible`.
Triplets triplets_of(const Tensor& matrix, double negligible) {
    const auto [u, s, vh] = torch::linalg_svd(matrix, false);
    const Eigen::VectorXd values = vector_of(s);
    Eigen::Index count = values.size();
    for (double left = 0; count > 0; --count) {
        left += values(count - 1) * values(count - 1);
        if (left > negligible) break;
    }
    return {values.head(count), to_eigen(u).leftCols(count), to_eigen(vh.t()).leftCols(count)};
}

layouts::MeasuredBranch branch_of(const Seen& seen, const layouts::Connection& connection) {
    const auto n = static_cast<int64_t>(connection.mixer.rows()), size = seen.jacobian.size(0);
    const auto p = size / n;
    const auto skip = n == 1 ? identity(1) : seen.matrix;
    const auto x = seen.jacobian - torch::kron(skip, identity(p));
    const auto core = connection.pre.size() > 0 && seen.core.defined() ? seen.core : x;
    layouts::MeasuredBranch out;
    out.variance = squared_norm(x) / static_cast<double>(size);
    out.mixer_variance = squared_norm(seen.jacobian - seen.frozen) / static_cast<double>(size);
    out.by_stream = by_stream(x, n);
    out.core_variance = squared_norm(core) / static_cast<double>(core.size(0));
    out.core_values = jacobian::singular_values(core);
    out.values = jacobian::singular_values(seen.jacobian);
    constexpr double none = -1, share_of_branch = 1e-6;
    out.core = triplets_of(core, none);
    if (connection.pre.size() > 0 && seen.core.defined())
        out.derivative = triplets_of(seen.jacobian - seen.frozen, share_of_branch * squared_norm(x));
    return out;
}

layouts::Connection connection_of(const Seen& seen, std::string name, const Connection& connection) {
    layouts::Connection out;
    out.name = std::move(name);
    if (connection.mixer() == nullptr) {
        out.mixer = Eigen::MatrixXd::Identity(1, 1);
        if (connection.streams() == 1) out.pre = out.post = Eigen::VectorXd::Ones(1);
        return out;
    }
    out.mixer = to_eigen(seen.matrix);
    if (seen.core.defined()) {
        out.pre = vector_of(seen.pre);
        out.post = vector_of(seen.post);
    }
    return out;
}

/// A connection with the norm N before it, of which s = tr N/C: Y N, with s A and s pre. The rest of N takes the directions
/// of the state and of its mean away.
void put_norm_before(Seen& seen, const Tensor& norm) {
    const auto scale = norm.trace() / static_cast<double>(norm.size(0));
    seen.jacobian = torch::matmul(seen.jacobian, norm);
    seen.matrix = scale * seen.matrix;
    if (seen.pre.defined()) seen.pre = scale * seen.pre;
    seen.frozen = scale * seen.frozen;
}

/// The beginning of a sublayer's keys.
std::string key_of(const ModelConfig& config, std::size_t layer, int sublayer) {
    ConnectionConfig c;
    c.architecture = config.architecture;
    const bool plain = config.architecture == "gpt" || config.architecture == "post-ln";
    const std::string connection = plain ? "" : connection_name(c) + "_";
    return fmt::format("core.transformer.h.{}.{}{}", layer, connection, sublayer == 0 ? "attn" : "mlp");
}

/// Sublayer by sublayer, without recomputation, so that it can be differentiated any number of times.
Tensor last_state(Transformer& model, const Tensor& states, const Tensor& added) {
    auto last = states;
    model.walk({states, added}, [&](Connection&, const Tensor&, const Tensor& after) { last = after; });
    return last;
}

/// ‖U(J − product)‖/‖UJ‖ for a few random rows U; NaN if none are requested.
double defect_on_rows(const SequenceFunction& whole, const Tensor& start, int64_t t, const Tensor& product,
                      const MeasureOptions& options) {
    if (options.checks <= 0) return std::numeric_limits<double>::quiet_NaN();
    const auto generator = at::make_generator<at::CPUGeneratorImpl>(2);
    const auto rows = torch::randn({options.checks, start.size(2)}, generator, torch::dtype(torch::kDouble));
    const auto columns = rows.t().to(start.options());
    const auto seen =
        token_jacobian([&](const Tensor& states) { return torch::matmul(whole(states), columns); }, start, t,
                       options.jacobian);
    return (seen - torch::matmul(rows, product)).norm().item<double>() / seen.norm().item<double>();
}

/// A connection on whole sequences, split into what is kept and the branch.
struct Split {
    SequenceFunction kept, branch;
};

Split split_connection(Block& block, int sublayer, const Tensor& before) {
    auto& connection = block.connection(sublayer);
    const auto branch = block.branch(sublayer);
    const SequenceFunction whole = [&connection, branch](const Tensor& x) {
        return connection.forward(x, branch).state;
    };
    const torch::NoGradGuard no_grad;
    const auto at = connection.mixing(before);
    const bool mixes = connection.mixer() != nullptr && at.matrix.defined();
    const SequenceFunction skip = [matrix = at.matrix, mixes](const Tensor& x) {
        return mixes ? apply_mixer(matrix, x) : x;
    };
    const auto streams = stream_count(connection), width = before.size(2) / streams;
    if (connection.mixer() == nullptr || !at.pre.defined() || connection.branch_width() != width)
        return {skip, [whole, skip](const Tensor& x) { return whole(x) - skip(x); }};

    const SequenceFunction routed = [&connection, branch, before, at, streams, width](const Tensor& x) {
        const auto state = x.view({x.size(0), x.size(1), streams, width});
        const auto read = (at.pre.unsqueeze(-1) * state).sum(2);
        Tensor given;  // with what the connection puts between norm and core
        connection.forward(before.expand(x.sizes()).contiguous(),
                           {[&](const Tensor&) { return branch.norm(read); },
                            [&](const Tensor& z) { return given = branch.core(z); }});
        return (at.post.unsqueeze(-1) * given.unsqueeze(2)).reshape(x.sizes());
    };
    const auto elsewhere = connection.mixing(0.5 * before);
    const bool fixed = (!mixes || torch::equal(at.matrix, elsewhere.matrix)) &&
                       torch::equal(at.pre, elsewhere.pre) && torch::equal(at.post, elsewhere.post);
    if (fixed) return {skip, routed};
    return {[whole, routed](const Tensor& x) { return whole(x) - routed(x); }, routed};
}

}  // namespace

layouts::Measurement measure(Transformer& model, const Tensor& input, const MeasureOptions& options) {
    if (model.config().post_norm)
        throw std::invalid_argument(
            "norms after the sums stand in the skip connections, which no mixer describes: a post-norm model is measured as a "
            "whole, with `token` all");
    const Widened widened(model, options.double_precision);
    const WithoutParameters fixed(model);
    const auto from = start_of(model, input);
    const auto& start = from.state;
    const auto t = token_of(start, options.token);
    const auto& config = model.config();

    layouts::Measurement out;
    out.stack.layout = "spectra";
    out.stack.input = options.input;
    const auto n = stream_count(model.blocks().front()->connection(0));
    out.stack.streams = static_cast<int>(n);
    out.stack.width = static_cast<int>(config.channels / n);

    auto product = identity(config.channels);
    auto before = start;
    for (int64_t cycle = 0; cycle < config.cycles; ++cycle) {
        Tensor norm;  // before a further cycle
        if (cycle > 0 && from.added.defined())
            norm = on_host(jacobian::exact_jacobian(
                [&](const Tensor& rows) { return model.normalised(rows); }, before[0][t], options.jacobian));
        if (cycle > 0) before = model.next_cycle(before, from);
        for (std::size_t layer = 0; layer < model.blocks().size(); ++layer)
            for (const int sublayer : {0, 1}) {
                auto& block = *model.blocks()[layer];
                auto& connection = block.connection(sublayer);
                Sublayer parts(block, sublayer, before, t, options.jacobian);
                auto seen = parts.seen();
                if (norm.defined()) put_norm_before(seen, std::exchange(norm, Tensor{}));
                out.stack.connections.push_back(
                    connection_of(seen, key_of(config, layer, sublayer), connection));
                out.branches.push_back(branch_of(seen, out.stack.connections.back()));
                out.branches.back().weights = 2 * static_cast<int>(layer) + sublayer;
                product = torch::matmul(seen.jacobian, product);
                before = parts.next().clone();
            }
    }

    const SequenceFunction whole = [&](const Tensor& states) {
        return last_state(model, states, from.added);
    };
    out.product_defect = defect_on_rows(whole, start, t, product, options);
    const double rounding = start.scalar_type() == torch::kDouble ? 1e-10 : 1e-4;
    if (!(out.product_defect <= rounding)) {
        const auto jacobian = token_jacobian(whole, start, t, options.jacobian);
        out.product_defect = (jacobian - product).norm().item<double>() / jacobian.norm().item<double>();
        product = jacobian;
    }
    out.singular_values = jacobian::singular_values(product);
    return out;
}

jacobian::JacobianLaw measure_sequence(Transformer& model, const Tensor& input, const MeasureOptions& options) {
    const Widened widened(model, options.double_precision);
    const WithoutParameters fixed(model);
    const auto from = start_of(model, input);
    return jacobian_law([&](const Tensor& states) { return last_state(model, states, from.added); },
                        from.state[0], options.jacobian);
}

validation::Sequence sequence_factors(Transformer& model, const Tensor& input,
                                      const MeasureOptions& options) {
    if (model.config().post_norm)
        throw std::invalid_argument(
            "norms after the sums stand in the skip connections: there is no aligned prediction of a post-norm model");
    struct Held {
        Held(Transformer& m, bool wide) : widened(m, wide), fixed(m) {}
        Widened widened;
        WithoutParameters fixed;
    };
    validation::Sequence out;
    out.model = std::make_shared<Held>(model, options.double_precision);
    const auto from = start_of(model, input);
    const auto& config = model.config();
    out.width = static_cast<int>(config.channels / stream_count(model.blocks().front()->connection(0)));
    // All of them keep their graphs.
    auto how = static_cast<jacobian::JacobianOptions>(options.jacobian);
    const auto count = static_cast<std::size_t>(4 * config.layers * config.cycles);
    if (how.memory == 0)
        how.memory = from.state.is_cuda() ? (std::size_t{1} << 33U) / count : std::size_t{1} << 24U;
    const auto products = [&](const SequenceFunction& f, const Tensor& at) {
        return std::make_shared<jacobian::JacobianOperator>(f, at[0], how);
    };
    auto before = from.state;
    for (int64_t cycle = 0; cycle < config.cycles; ++cycle) {
        if (cycle > 0 && from.added.defined())
            out.factors.push_back(
                {products([&model](const Tensor& x) { return model.normalised(x); }, before), nullptr, 0});
        if (cycle > 0) before = model.next_cycle(before, from).detach();
        for (std::size_t layer = 0; layer < model.blocks().size(); ++layer)
            for (const int sublayer : {0, 1}) {
                auto& block = *model.blocks()[layer];
                const auto split = split_connection(block, sublayer, before);
                out.factors.push_back({products(split.kept, before), products(split.branch, before),
                                       2 * static_cast<int>(layer) + sublayer});
                const torch::NoGradGuard no_grad;
                before = block.connection(sublayer).forward(before, block.branch(sublayer)).state;
            }
    }
    return out;
}

}  // namespace spectra::train
