#include "train/models/reflection.hpp"

#include <gtest/gtest.h>

#include "train/models/transformer.hpp"

namespace spectra::train {
namespace {

TEST(ReflectionModel, HasThePublishedNumberOfParameters) {
    EXPECT_EQ(parameter_count(*make_reflection_model("ddl", 64)), 25'025);
    EXPECT_EQ(parameter_count(*make_reflection_model("jpmhc", 64)), 536'704);
    EXPECT_EQ(parameter_count(*make_reflection_model("edelta", 64)), 58'242);
}

// γ → 1 leaves the rotation alone: isometric, and never −x.
TEST(ReflectionModel, HybridTurnsOrReflects) {
    torch::manual_seed(1);
    const auto x = torch::randn({200, 6}, torch::kDouble);
    for (const double bias : {-40.0, 40.0}) {
        const auto model = make_reflection_model("edelta", 6, 32, 0.5, bias);
        model->to(torch::kDouble);
        const auto y = model->forward(x).prediction;
        EXPECT_LT((y.norm(2, -1) - x.norm(2, -1)).abs().max().item<double>(), 1e-12);
    }
}

// The rotation against (I + M)⁻¹(I − M) solved for.
TEST(ReflectionModel, RotationIsTheCayleyTransform) {
    torch::manual_seed(2);
    const auto model = make_reflection_model("edelta", 6, 32, 0.5, 60.0);
    model->to(torch::kDouble);
    const auto x = torch::randn({50, 6}, torch::kDouble);
    const auto out = model->forward(x);
    const auto named = [&](const std::string& net) {
        const auto p = model->named_parameters();
        const auto hidden = torch::gelu(torch::matmul(x, p[net + ".0.weight"].t()) + p[net + ".0.bias"]);
        return torch::matmul(hidden, p[net + ".2.weight"].t()) + p[net + ".2.bias"];
    };
    const auto unit = [](const torch::Tensor& v) { return v / v.norm(2, -1, true); };
    const auto u = unit(named("u_net")), w = unit(named("v_net"));
    const auto v = unit(w - (u * w).sum(-1, true) * u);
    const auto plane = torch::einsum("bi,bj->bij", {u, v}) - torch::einsum("bi,bj->bij", {v, u});
    const auto m = (out.beta / 2).unsqueeze(-1) * plane;
    const auto one = torch::eye(6, torch::kDouble);
    const auto q = torch::matmul(torch::inverse(one + m), one - m);
    const auto expected = torch::matmul(q, x.unsqueeze(-1)).squeeze(-1);
    EXPECT_LT((out.prediction - expected).abs().max().item<double>(), 1e-12);
}

TEST(ReflectionModel, RefusesOthersByName) {
    try {
        make_reflection_model("gpt", 64);
        FAIL();
    } catch (const std::invalid_argument& error) {
        EXPECT_NE(std::string(error.what()).find("'gpt'"), std::string::npos);
        EXPECT_NE(std::string(error.what()).find("ddl, jpmhc or edelta"), std::string::npos);
    }
}

}  // namespace
}  // namespace spectra::train
