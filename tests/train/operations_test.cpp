#include "train/operations.hpp"

#include "train/models/transformer.hpp"

#include <gtest/gtest.h>

/// Costs counted operator by operator, against counts by hand.
namespace spectra::train {
namespace {

using torch::Tensor;
using List = torch::autograd::variable_list;

constexpr int64_t rows = 6, in = 8, hidden = 20, out = 5;  // floats of 4 bytes

struct Perceptron {
    Tensor w1 = torch::randn({hidden, in}).requires_grad_(true),
           w2 = torch::randn({out, hidden}).requires_grad_(true);
    Tensor x = torch::randn({rows, in}).requires_grad_(true);
    Tensor operator()(const Tensor& input) const {
        return torch::matmul(torch::gelu(torch::matmul(input, w1.t())), w2.t());
    }
};

TEST(Operations, APerceptronCostsWhatItsShapesSay) {
    const Perceptron net;
    Tensor y;
    const auto forward = count_operations([&] { y = net(net.x); });
    // Two products, one function.
    EXPECT_EQ(forward.operations, 3);
    EXPECT_EQ(forward.product_flops, 2 * rows * in * hidden + 2 * rows * hidden * out);
    EXPECT_EQ(forward.other_flops, rows * hidden);
    // Two transposes, two products, one function.
    EXPECT_EQ(graph_nodes({y}), 5);
    const auto slope = torch::ones_like(y);
    const auto backward = count_operations([&] { torch::autograd::backward({y}, {slope}); });
    // Of every product one for each factor.
    EXPECT_EQ(backward.operations, 5);
    EXPECT_EQ(backward.product_flops, 2 * forward.product_flops);
    EXPECT_EQ(backward.other_flops, rows * hidden);
}

TEST(Operations, KeptAreTheFactorsOfProductsAndTheArgumentOfTheFunction) {
    const Perceptron net;
    const auto kept = [&](bool learns) {
        return kept_bytes(
            [&]() -> List {
                const auto x = net.x * 2.0;  // keeps nothing: the factor is a number
                return {learns ? net(x) : torch::gelu(x)};
            },
            torch::kCPU);
    };
    // x for w1, the argument of gelu, its value for w2; parameters were there before.
    EXPECT_EQ(kept(true), 4 * rows * (in + hidden + hidden));
    EXPECT_EQ(kept(false), 4 * rows * in);
    const torch::NoGradGuard nothing_to_learn;
    EXPECT_EQ(kept(true), 0);
}

TEST(Operations, ViewsAreNoneAndCopiesAreNoArithmetic) {
    const Tensor x = torch::randn({4, 6});
    EXPECT_EQ(count_operations([&] { x.t().unsqueeze(0).expand({3, 6, 4}).narrow(0, 1, 2); }).operations, 0);
    const auto copied = count_operations([&] { x.t().contiguous(); });
    EXPECT_EQ(copied.operations, 1);
    EXPECT_EQ(copied.flops(), 0);
    // Broadcast operands are smaller than the result.
    const auto broadcast = count_operations([&] { x.unsqueeze(0) + torch::ones({5, 1, 1}).fill_(2.0); });
    EXPECT_EQ(broadcast.other_flops, 5 * 24);
    // With a number that must be converted first, still one operation.
    const auto scaled = count_operations([&] { x * 2.5; });
    EXPECT_EQ(scaled.operations, 1);
    EXPECT_EQ(scaled.other_flops, 24);
    const auto total = count_operations([&] { x.sum(); });
    EXPECT_EQ(total.operations, 1);
    EXPECT_EQ(total.other_flops, 24);
}

TEST(Operations, FunctionsOfRowsHaveTheirOwnFactors) {
    const Tensor x = torch::randn({3, 7}), gain = torch::ones({7}), bias = torch::zeros({7});
    EXPECT_EQ(count_operations([&] { torch::softmax(x, -1); }).flops(), 5 * 21);
    EXPECT_EQ(count_operations([&] { torch::layer_norm(x, {7}, gain); }).flops(), 7 * 21);
    EXPECT_EQ(count_operations([&] { torch::layer_norm(x, {7}, gain, bias); }).flops(), 8 * 21);
}

TEST(Operations, SolversCountByTheSizeOfTheirMatrices) {
    const Tensor a = torch::eye(6).expand({4, 6, 6}) * 3.0, b = torch::randn({4, 6, 2});
    const auto solved = count_operations([&] { torch::linalg_solve_ex(a, b); });
    EXPECT_EQ(solved.operations, 1);
    EXPECT_DOUBLE_EQ(solved.product_flops, 4 * (2.0 * 216 / 3 + 2 * 36 * 2));
    EXPECT_DOUBLE_EQ(count_operations([&] { torch::linalg_inv_ex(a); }).product_flops, 4 * 2.0 * 216);
}

TEST(Operations, ASummandOfAProductIsOneAdditionPerElement) {
    const Tensor x = torch::randn({6, 8}), w = torch::randn({5, 8}), b = torch::randn({5});
    const auto count = count_operations([&] { torch::addmm(b, x, w.t()); });
    EXPECT_EQ(count.operations, 1);
    EXPECT_EQ(count.product_flops, 2 * 6 * 8 * 5);
    EXPECT_EQ(count.other_flops, 6 * 5);
}

// s steps of X ← I + (α/2) W (I + X), one product of n×n matrices each.
TEST(Operations, AStepOfTheCayleyMapIsOneProduct) {
    for (const int64_t n : {2, 4, 7})
        for (const int steps : {1, 2, 5}) {
            MixerOptions options;
            options.cayley_iterations = steps;
            const auto mixer = make_mixer("cayley", n, options);
            const Tensor raw = torch::randn({10, mixer->size()});
            const auto count = count_operations([&] { mixer->matrix(raw); });
            EXPECT_EQ(count.product_flops, static_cast<double>(10 * steps * 2 * n * n * n))
                << n << " " << steps;
        }
}

// Table 13 of JPmHC: the graph of unrolled sweeps grows with them, that of the implicit derivative does not.
TEST(Operations, UnrolledSweepsGrowWhereImplicitOnesDoNot) {
    struct Cost {
        int64_t nodes, bytes, backward;
    };
    const auto cost = [](MixerOptions::Backward backward, int sweeps) {
        MixerOptions options;
        options.sinkhorn_iterations = sweeps;
        options.sinkhorn_backward = backward;
        const auto mixer = make_mixer("bistochastic", 4, options);
        const Tensor raw = torch::randn({50, 16}).requires_grad_(true);
        const auto p = mixer->matrix(raw);
        const auto slope = torch::randn_like(p);
        return Cost{graph_nodes({p}), kept_bytes([&]() -> List { return {mixer->matrix(raw)}; }, torch::kCPU),
                    count_operations([&] { torch::autograd::backward({p}, {slope}); }).operations};
    };
    using Backward = MixerOptions::Backward;
    const auto five = cost(Backward::unrolled, 5), ten = cost(Backward::unrolled, 10),
               twenty = cost(Backward::unrolled, 20);
    EXPECT_GT(ten.nodes, five.nodes);
    EXPECT_EQ(twenty.nodes - ten.nodes, 2 * (ten.nodes - five.nodes));
    EXPECT_EQ(twenty.bytes - ten.bytes, 2 * (ten.bytes - five.bytes));
    EXPECT_EQ(twenty.backward - ten.backward, 2 * (ten.backward - five.backward));
    const auto few = cost(Backward::gauss_seidel, 5), many = cost(Backward::gauss_seidel, 20);
    EXPECT_EQ(few.nodes, many.nodes);
    EXPECT_EQ(few.bytes, many.bytes);
    EXPECT_EQ(few.backward, many.backward);
}

TEST(Operations, OneCountAtATime) {
    EXPECT_THROW(count_operations([] { count_operations([] {}); }), std::logic_error);
    EXPECT_THROW(count_operations([] { throw std::runtime_error("stop"); }), std::runtime_error);
    const Tensor x = torch::ones({3});
    EXPECT_EQ(count_operations([&] { x + x; }).operations, 1);
}

}  // namespace
}  // namespace spectra::train
