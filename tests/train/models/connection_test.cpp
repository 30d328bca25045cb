#include "train/models/connection.hpp"

#include <gtest/gtest.h>

#include "layouts/layouts.hpp"
#include "mixers/generating_set.hpp"
#include "support/temporary_folder.hpp"
#include "tasks/tasks.hpp"
#include "train/checkpoint_file.hpp"
#include "train/make_learner.hpp"
#include "train/model_description.hpp"
#include "train/models/transformer.hpp"

/// The papers' connections against their equations, written out.
namespace spectra::train {
namespace {

using torch::Tensor;

constexpr int64_t channels = 16, streams = 4, width = channels / streams;

/// A model's configuration that differs from its architecture's own in what is tested.
struct ConnectionCase {
    std::string name;
    ModelConfig config;
};

ModelConfig small_connected(const std::string& architecture, const std::string& mixer = "") {
    auto config = matched_config(architecture, mixer);
    config.layers = 1;
    config.channels = channels;
    return config;
}

std::vector<ConnectionCase> connection_cases() {
    std::vector<ConnectionCase> cases;
    const auto add = [&](const std::string& name, ModelConfig config) -> ModelConfig& {
        return cases.emplace_back(ConnectionCase{name, std::move(config)}).config;
    };
    for (const auto* name : {"shc", "delta", "edelta-cayley", "post-ln", "mgt", "mgt-mhc", "mgt-ddl"})
        add(name, small_connected(name));
    add("ddl with values", small_connected("ddl")).value_injection = true;
    auto& mgt = add("mgt, λ and ε, post-norm", small_connected("mgt"));
    mgt.beta_scale = 1.5;
    mgt.beta_offset = -0.2;
    mgt.post_norm = true;
    add("mgt-mhc, pre-norm", small_connected("mgt-mhc")).post_norm = false;
    add("jpmhc, temperature", small_connected("jpmhc")).mixer_options.temperature = 0.5;
    auto& mhc = add("mhc, clamp and temperature", small_connected("mhc")).mixer_options;
    mhc.sinkhorn_clamp = 1.5;
    mhc.temperature = 0.7;
    add("six permutations", small_connected("mhc-lite")).mixer_options.permutations = 6;
    auto& optimal =
        add("four permutations of largest gap", small_connected("mixer", "permutation")).mixer_options;
    optimal.permutations = 4;
    optimal.basis = MixerOptions::Basis::optimal;
    add("edelta, entropy", small_connected("edelta")).mixer_options.regulariser =
        MixerOptions::Regulariser::entropy;
    return cases;
}

/// The connection of the attention sublayer in double, every number of it away from its start.
std::shared_ptr<Transformer> stirred_connected(const ModelConfig& config) {
    torch::manual_seed(11);
    auto model = std::make_shared<Transformer>(config);
    const torch::NoGradGuard no_grad;
    for (auto& p : model->parameters()) p.add_(0.3 * torch::randn_like(p));
    model->to(torch::kDouble);
    return model;
}

std::shared_ptr<Transformer> stirred_connected(const std::string& architecture) {
    return stirred_connected(small_connected(architecture));
}

/// A norm and a branch that need no parameters.
Connection::Branch test_branch() {
    return {[](const Tensor& x) { return torch::layer_norm(x, {x.size(-1)}); },
            [](const Tensor& x) { return torch::sin(2 * x) + 0.3; }};
}

Tensor test_state(int64_t tokens = 5) {
    torch::manual_seed(12);
    return torch::randn({2, tokens, channels}, torch::kDouble);
}

/// The parameters of a connection by name.
class Numbers {
public:
    explicit Numbers(const Connection& connection) : all_(connection.named_parameters()) {}
    Tensor operator[](const std::string& name) const { return all_[name].detach(); }
    /// Linear, GELU, Linear.
    Tensor net(const std::string& name, const Tensor& x) const {
        const auto hidden =
            torch::gelu(torch::matmul(x, (*this)[name + ".0.weight"].t()) + (*this)[name + ".0.bias"]);
        return torch::matmul(hidden, (*this)[name + ".2.weight"].t()) + (*this)[name + ".2.bias"];
    }

private:
    torch::OrderedDict<std::string, Tensor> all_;
};

double largest_difference(const Tensor& a, const Tensor& b) {
    return (a - b).abs().max().item<double>();
}

Tensor rms_normed(const Numbers& p, const Tensor& x) {
    return x * torch::rsqrt(x.square().mean(-1, true) + 1e-6) * p["rms_norm.weight"];
}

// Equations (8) and (9) of the sHC paper for one token, entry by entry.
TEST(ShcConnection, IsEquationEight) {
    const auto model = stirred_connected("shc");
    auto& connection = model->blocks()[0]->connection(0);
    const Numbers p(connection);
    const auto x = test_state();
    const auto matrices = connection.mixing(x).matrix;
    const auto seen = rms_normed(p, x);
    const auto one = torch::eye(3, torch::kDouble);
    for (int64_t t = 0; t < x.size(1); ++t) {
        const auto numbers = torch::matmul(p["phi_res.weight"], seen[0][t]);
        const auto skew = [&](int64_t from, const char* tau, const char* gamma) {
            auto s = torch::zeros({3, 3}, torch::kDouble);
            int64_t k = from;
            for (int64_t i = 0; i < 3; ++i)
                for (int64_t j = i + 1; j < 3; ++j, ++k) {
                    const auto entry = p[gamma] * torch::tanh(p[tau] * numbers[k] + p["b_res"][k]);
                    s[i][j] = entry;
                    s[j][i] = -entry;
                }
            return torch::matmul(torch::inverse(one - s), one + s);
        };
        const auto u = skew(0, "tau_u", "gamma_u"), v = skew(3, "tau_v", "gamma_v");
        const auto sigma = torch::tanh(p["tau_s"] * numbers.narrow(0, 6, 3) + p["b_res"].narrow(0, 6, 3));
        // Helmert's basis: (1, −1, 0, 0)/√2, (1, 1, −2, 0)/√6, (1, 1, 1, −3)/√12.
        auto z = torch::zeros({4, 3}, torch::kDouble);
        for (int64_t k = 0; k < 3; ++k) {
            const double length = std::sqrt(static_cast<double>((k + 1) * (k + 2)));
            for (int64_t i = 0; i <= k; ++i) z[i][k] = 1 / length;
            z[k + 1][k] = -static_cast<double>(k + 1) / length;
        }
        const auto expected = 0.25 + torch::matmul(torch::matmul(z, u) * sigma, torch::matmul(z, v).t());
        EXPECT_LT(largest_difference(matrices[0][t], expected), 1e-13);
    }
}

// Appendix G: weights 0, skews' biases 0, Σ's 4, γ 1, τ .01. The count of a connection follows from (8): weights and
// biases of pre, post and (n − 1)² numbers, a norm, two α, three τ and two γ.
TEST(ShcConnection, StartsAndCountsAsPublished) {
    Transformer model(small_connected("shc"));
    auto& connection = model.blocks()[0]->connection(0);
    const Numbers p(connection);
    for (const auto* name : {"tau_u", "tau_v", "tau_s", "alpha_pre", "alpha_post"})
        EXPECT_NEAR(p[name].item<double>(), 0.01, 1e-9) << name;
    for (const auto* name : {"gamma_u", "gamma_v"}) EXPECT_EQ(p[name].item<double>(), 1) << name;
    EXPECT_EQ(p["phi_res.weight"].abs().max().item<double>(), 0);
    EXPECT_EQ(p["b_res"].narrow(0, 0, 6).abs().max().item<double>(), 0);
    EXPECT_TRUE(torch::equal(p["b_res"].narrow(0, 6, 3), torch::full({3}, 4.0F)));
    constexpr int64_t numbers = 4 + 4 + 9;
    EXPECT_EQ(parameter_count(connection), numbers * channels + numbers + channels + 2 + 3 + 2);
}

// x + β(v − kᵀx)k, then + F.
TEST(DdlConnection, ErasesAndWrites) {
    auto config = small_connected("ddl");
    config.value_injection = true;
    const auto model = stirred_connected(config);
    auto& connection = model->blocks()[0]->connection(0);
    const Numbers p(connection);
    const auto x = test_state(1);
    const auto raw = p.net("k_net", x);
    const auto k = raw / raw.norm(2, -1, true);
    const auto beta = 2 * torch::sigmoid(p.net("beta_net", x)), v = p.net("v_net", x);
    const auto operator_form = x - beta * (k * x).sum(-1, true) * k + beta * v * k;
    EXPECT_LT(largest_difference(connection.forward(x, test_branch()).state,
                                 operator_form + test_branch()(operator_form)),
              1e-13);
    config.value_injection = false;
    EXPECT_EQ(parameter_count(connection) - parameter_count(Transformer(config).blocks()[0]->connection(0)),
              channels * 4 + 4 + 4 + 1);
}

// X + β k (vᵀ − kᵀX), v = F(pre · X), of 4×4 states.
TEST(DeltaConnection, IsTheDeltaResidualBlock) {
    const auto model = stirred_connected("delta");
    auto& connection = model->blocks()[0]->connection(0);
    const Numbers p(connection);
    const auto x = test_state();
    const auto seen = rms_normed(p, x);
    const auto after = connection.forward(x, test_branch()).state;
    for (int64_t t = 0; t < x.size(1); ++t) {
        const auto state = x[1][t].view({streams, width});
        const auto raw = p["alpha_res"] * torch::matmul(p["phi_res.weight"], seen[1][t]) + p["b_res"];
        const auto k = raw.narrow(0, 0, streams) / raw.narrow(0, 0, streams).norm();
        const auto beta = 2 * torch::sigmoid(raw[streams]);
        const auto pre =
            torch::sigmoid(p["alpha_pre"] * torch::matmul(p["phi_pre.weight"], seen[1][t]) + p["b_pre"]);
        const auto v = test_branch()(torch::matmul(pre, state));
        const auto expected = state + beta * torch::outer(k, v - torch::matmul(k, state));
        EXPECT_LT(largest_difference(after[1][t], expected.flatten()), 1e-13);
    }
}

// Algorithm 1 of MGT, its ablations, and the place of the norm.
TEST(MgtConnection, IsTheBlockWithAnyOfItsParts) {
    for (const auto* architecture : {"gpt", "mgt-mhc", "mgt-ddl", "mgt"})
        for (const bool post_norm : {false, true}) {
            SCOPED_TRACE(architecture);
            auto config = small_connected(architecture);
            config.post_norm = post_norm;
            config.beta_scale = 1.7;
            config.beta_offset = 0.05;
            const auto model = stirred_connected(config);
            auto& connection = model->blocks()[0]->connection(1);
            const Numbers p(connection);
            const std::string name = architecture;
            const bool gate = name == "mgt-mhc" || name == "mgt", delta = name == "mgt-ddl" || name == "mgt";
            const auto x = test_state();
            const auto branch = test_branch();
            auto value = post_norm ? branch.core(x) : branch.core(branch.norm(x));
            if (gate) {
                const auto scores = torch::matmul(x, p["w_gate.weight"].t());
                const auto centred = scores - scores.mean(-1, true);
                const auto normed = centred / (centred.square().mean(-1, true) + 1e-5).sqrt();
                value = value * torch::sigmoid(normed * p["norm.weight"] + p["norm.bias"]);
            }
            if (delta) {
                const auto beta =
                    1.7 * torch::tanh(torch::matmul(x, p["w_beta.weight"].t()) + p["w_beta.bias"]) + 0.05;
                value = beta * (value - p["alpha"] * x);
            }
            const auto expected = post_norm ? branch.norm(x + value) : x + value;
            EXPECT_LT(largest_difference(connection.forward(x, branch).state, expected), 1e-13);
        }
}

TEST(EdeltaCayleyConnection, TurnsAndNeverReflects) {
    const auto model = stirred_connected("edelta-cayley");
    auto& connection = model->blocks()[0]->connection(0);
    const Numbers p(connection);
    const auto x = test_state(1);
    const auto m = connection.mixing(x);
    const auto u = p.net("u_net", x)[0][0], v = p.net("v_net", x)[0][0];
    const auto beta = torch::log1p(torch::exp(p.net("beta_net", x)[0][0]));
    const auto plane = beta / 2 * (torch::outer(u, v) - torch::outer(v, u));
    const auto one = torch::eye(streams, torch::kDouble);
    EXPECT_LT(largest_difference(m.matrix[0][0], torch::matmul(torch::inverse(one + plane), one - plane)),
              1e-13);
    EXPECT_NEAR(torch::det(m.matrix[0][0]).item<double>(), 1, 1e-13);
    EXPECT_FALSE(connection.forward(x, test_branch()).penalty.defined());
    // The hybrid has k (C → C/4 → n) and the gate besides.
    const auto hybrid = parameter_count(Transformer(small_connected("edelta")).blocks()[0]->connection(0));
    EXPECT_EQ(hybrid - parameter_count(connection), channels * 4 + 4 + 4 * streams + streams + channels + 1);
    const auto core = core_parameter_count(Transformer(matched_config("edelta-cayley")));
    EXPECT_EQ(core, 1'787'688 - 12 * (128 * 32 + 32 + 32 * 4 + 4 + 128 + 1));
}

TEST(JpmhcConnection, DividesTheRoutesByTheTemperature) {
    auto config = small_connected("jpmhc");
    config.mixer_options.temperature = 0.25;
    const auto model = stirred_connected(config);
    auto& connection = model->blocks()[0]->connection(0);
    const Numbers p(connection);
    const auto x = test_state(1);
    const auto normed = torch::layer_norm(x, {channels}, p["norm.weight"], p["norm.bias"]);
    const auto raw = torch::matmul(normed, p["fused_proj.weight"].t()) + p["fused_proj.bias"];
    const auto m = connection.mixing(x);
    const auto pre = raw[0][0].narrow(0, 0, 16).view({4, 4}) * 4,
               post = raw[0][0].narrow(0, 16, 16).view({4, 4}) * 4;
    EXPECT_LT(largest_difference(m.pre[0][0], torch::softmax(pre, 1).mean(0)), 1e-13);
    EXPECT_LT(largest_difference(m.post[0][0], torch::softmax(post, 0).sum(1)), 1e-13);
}

// Along random directions of all parameters at once.
TEST(Connection, GradientsAreThoseOfDifferences) {
    for (const auto& c : connection_cases()) {
        SCOPED_TRACE(c.name);
        const auto model = stirred_connected(c.config);
        auto& connection = model->blocks()[0]->connection(0);
        std::vector<Tensor> parameters;
        for (const auto& item : connection.named_parameters()) parameters.push_back(item.value());
        if (parameters.empty()) continue;  // post-ln: its norm belongs to the block
        const auto x = test_state();
        const auto upstream = torch::randn(x.sizes(), torch::kDouble);
        const auto loss = [&] {
            const auto out = connection.forward(x, test_branch());
            const auto sum = (out.state * upstream).sum();
            return out.penalty.defined() ? sum + out.penalty : sum;
        };
        loss().backward();
        for (int trial = 0; trial < 3; ++trial) {
            const torch::NoGradGuard no_grad;
            std::vector<Tensor> direction;
            double exact = 0;
            for (const auto& p : parameters) {
                direction.push_back(torch::randn_like(p));
                if (p.grad().defined()) exact += (p.grad() * direction.back()).sum().item<double>();
            }
            const auto moved = [&](double by) {
                for (std::size_t k = 0; k < parameters.size(); ++k) parameters[k].add_(by * direction[k]);
                const double value = loss().item<double>();
                for (std::size_t k = 0; k < parameters.size(); ++k) parameters[k].sub_(by * direction[k]);
                return value;
            };
            const double h = 1e-4;
            const double measured = (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h);
            EXPECT_NEAR(exact, measured, 1e-7 * std::max(1.0, std::abs(measured)));
        }
    }
}

Checkpoint checkpoint_of(Learner& learner, const ModelConfig& config) {
    Description d{{"task", "near-pi-single"}};
    d.update(describe_model(config));
    d.update(Description{{"data_seed", 42},
                         {"samples", 2},
                         {"text", ""},
                         {"context", 0},
                         {"gate_weight", 0.1},
                         {"steps", 5},
                         {"validation_samples", 2}});
    Checkpoint c;
    c.config = d.dump();
    for (const auto& item : learner.module().named_parameters()) c.model.emplace(item.key(), item.value());
    c.first_moment = c.second_moment = c.log = c.pending = torch::zeros({1});
    c.log_columns = "[]";
    return c;
}

// A checkpoint gives the same model again, and its mixers without Torch.
TEST(Connection, SurvivesACheckpoint) {
    const spectra::testing::TemporaryFolder folder;
    tasks::TaskOptions few;
    few.samples = few.validation_samples = 2;
    const auto data = tasks::make_dataset("near-pi-single", few);
    for (const auto& c : connection_cases()) {
        SCOPED_TRACE(c.name);
        torch::manual_seed(5);
        const auto learner = make_learner(data, c.config, 0.1);
        const torch::NoGradGuard no_grad;
        for (auto& p : learner->module().parameters()) p.add_(0.3 * torch::randn_like(p));
        const auto path = folder.path() / "model.ckpt";
        save_checkpoint(path, checkpoint_of(*learner, c.config));
        const auto again = trained_model(load_checkpoint(path), "model.ckpt");
        const auto x = torch::randn({1, 6, 64});
        auto& model = *learner->transformer();
        EXPECT_TRUE(
            torch::equal(model.forward(x).prediction, again.learner->transformer()->forward(x).prediction));

        const auto file = weightfile::TensorFile::open(path);
        if (!has_streams(c.config.architecture)) {
            EXPECT_THROW(layouts::read_stack(file), std::invalid_argument);
            continue;
        }
        layouts::LayoutOptions options;
        options.input.state = Eigen::VectorXd::LinSpaced(channels, -1, 2);
        const auto stack = layouts::read_stack(file, options);
        ASSERT_EQ(stack.connections.size(), 2U);
        const auto state = torch::linspace(-1, 2, channels, torch::kDouble).view({1, 1, channels});
        model.to(torch::kDouble);
        for (const int sublayer : {0, 1}) {
            const auto m = model.blocks()[0]->connection(sublayer).mixing(state);
            const auto& read = stack.connections[static_cast<std::size_t>(sublayer)];
            for (int64_t i = 0; i < streams; ++i) {
                for (int64_t j = 0; j < streams; ++j)
                    EXPECT_NEAR(read.mixer(i, j), m.matrix[0][0][i][j].item<double>(), 1e-9);
                if (read.pre.size() == 0) continue;
                EXPECT_NEAR(read.pre(i), m.pre[0][0][i].item<double>(), 1e-12);
                EXPECT_NEAR(read.post(i), m.post[0][0][i].item<double>(), 1e-12);
            }
        }
    }
}

// Checkpoints of --architecture shc from before its γ and τ hold a plain stack on the spectral sphere.
TEST(Connection, OlderShcCheckpointsAreReadAsTheyWereWritten) {
    tasks::TaskOptions few;
    few.samples = few.validation_samples = 2;
    const auto data = tasks::make_dataset("near-pi-single", few);
    const auto learner = make_learner(data, small_connected("mixer", "spectral-sphere"), 0.1);
    const auto again = trained_model(checkpoint_of(*learner, small_connected("shc")), "old.ckpt");
    const auto x = torch::randn({1, 6, 64});
    EXPECT_TRUE(torch::equal(learner->transformer()->forward(x).prediction,
                             again.learner->transformer()->forward(x).prediction));
}

// What is default is left out, so that older runs can be resumed.
TEST(Connection, DescriptionsHaveNewOptionsOnlyWhereTheyAreUsed) {
    for (const auto& name : architecture_names())
        for (const auto* key : {"value_injection", "post_norm", "beta_scale", "beta_offset", "temperature",
                                "sinkhorn_clamp", "permutations", "permutation_basis", "gate_regulariser"})
            EXPECT_FALSE(describe_model(matched_config(name)).contains(key)) << name << ' ' << key;
    for (const auto& c : connection_cases()) {
        const auto there = describe_model(c.config);
        EXPECT_EQ(describe_model(described_model(there)), there) << c.name;
    }
}

}  // namespace
}  // namespace spectra::train
