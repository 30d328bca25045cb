#include "jacobian/jacobian.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/expect_refused.hpp"
#include "jacobian/jacobian_law.hpp"
#include "train/modules/sinkhorn.hpp"

namespace spectra::train {
namespace {

using spectra::testing::expect_refused;
using torch::Tensor;

const auto wide = torch::kDouble;

double distance(const Tensor& a, const Tensor& b) {
    return (a - b).norm().item<double>() / b.norm().item<double>();
}

/// Column by column, (f(x + h e_j) − f(x − h e_j))/2h.
Tensor by_differences(const jacobian::BatchFunction& f, const Tensor& x, double h = 1e-5) {
    const torch::NoGradGuard no_grad;
    std::vector<Tensor> columns;
    for (int64_t j = 0; j < x.numel(); ++j) {
        auto step = torch::zeros_like(x).flatten();
        step[j] = h;
        const auto at = [&](double sign) {
            return f((x + sign * step.view(x.sizes())).unsqueeze(0)).flatten();
        };
        columns.push_back((at(1) - at(-1)) / (2 * h));
    }
    return torch::stack(columns, 1);
}

/// Two layers m → 2m → k with a nonlinearity and a norm.
jacobian::BatchFunction network(int64_t m, int64_t k) {
    const auto first = torch::randn({m, 2 * m}, wide) / std::sqrt(static_cast<double>(m));
    const auto second = torch::randn({2 * m, k}, wide) / std::sqrt(2.0 * static_cast<double>(m));
    return [=](const Tensor& x) {
        const auto flat = x.flatten(1);
        return torch::matmul(torch::gelu(torch::matmul(torch::layer_norm(flat, {m}), first)), second);
    };
}

/// N → N, a few residual layers: singular values on both sides of 1 and near 0.
jacobian::BatchFunction residual(int64_t n, int64_t depth) {
    std::vector<Tensor> weights;
    for (int64_t l = 0; l < depth; ++l)
        weights.push_back(0.7 * torch::randn({n, n}, wide) / std::sqrt(static_cast<double>(n)));
    return [=](const Tensor& x) {
        auto y = x;
        for (const auto& w : weights) y = y + torch::matmul(torch::tanh(y), w);
        return y;
    };
}

TEST(ExactJacobian, OfAFunctionByHand) {
    const jacobian::BatchFunction f = [](const Tensor& x) {
        const auto a = x.select(1, 0), b = x.select(1, 1);
        return torch::stack({a * b, a * a, torch::sin(b)}, 1);
    };
    const auto j = jacobian::exact_jacobian(f, torch::tensor({2.0, 0.5}, wide));
    const auto expected = torch::tensor({{0.5, 2.0}, {4.0, 0.0}, {0.0, std::cos(0.5)}}, wide);
    EXPECT_LT((j - expected).abs().max().item<double>(), 1e-15);
}

TEST(ExactJacobian, IsThatOfFiniteDifferences) {
    torch::manual_seed(1);
    const auto f = network(12, 7);
    const auto x = torch::randn({3, 4}, wide);
    const auto j = jacobian::exact_jacobian(f, x);
    ASSERT_EQ(j.sizes(), (torch::IntArrayRef{7, 12}));
    EXPECT_LT(distance(by_differences(f, x), j), 1e-9);
}

TEST(ExactJacobian, DoesNotDependOnTheBlock) {
    torch::manual_seed(2);
    const auto f = network(9, 10);
    const auto x = torch::randn({9}, wide);
    const auto j = jacobian::exact_jacobian(f, x);
    for (const int64_t block : {1, 3, 7, 10, 64}) {
        jacobian::JacobianOptions options;
        options.block = block;
        EXPECT_LT(distance(jacobian::exact_jacobian(f, x, options), j), 1e-14) << block;
    }
    jacobian::JacobianOptions little;
    little.memory = 1;
    EXPECT_LT(distance(jacobian::exact_jacobian(f, x, little), j), 1e-14);
    jacobian::JacobianOptions one_by_one;
    one_by_one.batched = false;
    EXPECT_LT(distance(jacobian::exact_jacobian(f, x, one_by_one), j), 1e-14);
}

TEST(ExactJacobian, TakesNoMoreMemoryThanAllowed) {
    torch::manual_seed(2);
    int64_t most = 0;
    const auto inner = network(64, 64);
    const jacobian::BatchFunction f = [&](const Tensor& x) {
        most = std::max(most, x.size(0));
        return inner(x);
    };
    jacobian::JacobianOptions options;
    options.memory = 64 * 1024;
    jacobian::exact_jacobian(f, torch::randn({64}, wide), options);
    // A row keeps its input, its normed input, two hidden layers and its output: 64 · 7 doubles at least.
    EXPECT_LE(most, 64 * 1024 / (2 * 64 * 7 * 8));
    EXPECT_GE(most, 4);
}

TEST(ExactJacobian, KeepsZerosAndRefusesWhatIsNotFinite) {
    const auto x = torch::ones({3}, wide);
    const jacobian::BatchFunction constant = [](const Tensor& b) { return torch::ones({b.size(0), 2}, wide); };
    EXPECT_EQ(jacobian::exact_jacobian(constant, x).abs().max().item<double>(), 0);
    const jacobian::BatchFunction root = [](const Tensor& b) { return torch::sqrt(b - 1); };
    EXPECT_THROW(jacobian::exact_jacobian(root, x), std::runtime_error);
    const jacobian::BatchFunction sum = [](const Tensor& b) { return b.sum(); };
    expect_refused([&] { jacobian::exact_jacobian(sum, x); }, {"shape ()"});
}

TEST(TakesBatches, KnowsFunctionsOfTheWholeBatch) {
    torch::manual_seed(3);
    const auto x = torch::randn({5}, wide);
    EXPECT_TRUE(jacobian::takes_batches(network(5, 3), x));
    EXPECT_FALSE(jacobian::takes_batches([](const Tensor& b) { return b - b.mean(0, true); }, x));
    EXPECT_FALSE(jacobian::takes_batches([](const Tensor& b) { return b.view({1, 5}); }, x));
}

class Products : public ::testing::TestWithParam<std::pair<int64_t, int64_t>> {};

/// N×N of the operator's own products with unit vectors.
Tensor dense(jacobian::JacobianOperator& j, bool transposed) {
    const auto n = j.size();
    const auto unit = torch::eye(n, wide);
    auto out = torch::full({n, n}, NAN, wide);  // row i: the image of e_i
    if (transposed)
        j.apply_transpose(unit.data_ptr<double>(), out.data_ptr<double>(), n);
    else
        j.apply(unit.data_ptr<double>(), out.data_ptr<double>(), n);
    return out.t();
}

TEST_P(Products, AreThoseOfTheExactJacobian) {
    torch::manual_seed(4);
    const auto [m, k] = GetParam();
    const auto f = network(m, k);
    const auto x = torch::randn({m}, wide);
    auto j = jacobian::exact_jacobian(f, x);
    if (k < m) j = j.t();
    auto padded = torch::zeros({std::max(m, k), std::max(m, k)}, wide);
    padded.narrow(0, 0, j.size(0)).narrow(1, 0, j.size(1)).copy_(j);
    using Forward = jacobian::JacobianOperator::Forward;
    for (const auto& [forward, tolerance] :
         {std::pair{Forward::automatic, 1e-14}, {Forward::differences, 1e-10}})
        for (const int64_t block : {0, 7}) {
            jacobian::JacobianOptions options;
            options.block = block;
            jacobian::JacobianOperator products(f, x, options, forward);
            EXPECT_EQ(products.by_differences(), forward == Forward::differences);
            EXPECT_LT(distance(dense(products, false), padded), tolerance);
            EXPECT_LT(distance(dense(products, true), padded.t()), tolerance);
            EXPECT_LT(products.adjoint_defect(), tolerance);
        }
}

INSTANTIATE_TEST_SUITE_P(SquareTallWide, Products,
                         ::testing::Values(std::pair{11, 11}, std::pair{8, 13}, std::pair{13, 8}));

/// Its gradient is right, and has none itself.
struct Once : torch::autograd::Function<Once> {
    static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x) {
        context->save_for_backward({x});
        return torch::sin(x);
    }
    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   const torch::autograd::variable_list& g) {
        if (torch::GradMode::is_enabled()) throw std::logic_error("only once");
        return {g[0] * torch::cos(context->get_saved_variables()[0])};
    }
};

TEST(JacobianOperator, FallsBackOnDifferencesInDoubleOnly) {
    torch::manual_seed(5);
    const auto inner = residual(6, 2);
    const jacobian::BatchFunction f = [=](const Tensor& x) {
        return inner(Once::apply(x).to(wide)).to(x.scalar_type());
    };
    const auto x = torch::randn({6}, wide);
    jacobian::JacobianOperator products(f, x);
    EXPECT_TRUE(products.by_differences());
    EXPECT_LT(distance(dense(products, false), jacobian::exact_jacobian(f, x)), 1e-10);
    expect_refused([&] { jacobian::JacobianOperator(f, x.to(torch::kFloat)); }, {"double precision"});
}

TEST(JacobianOperator, PassesTheImplicitSinkhornGradient) {
    torch::manual_seed(6);
    for (const auto backward : {MixerOptions::Backward::direct, MixerOptions::Backward::unrolled}) {
        MixerOptions options;
        options.sinkhorn_backward = backward;
        const jacobian::BatchFunction f = [&](const Tensor& x) { return sinkhorn(x, options); };
        const auto x = torch::randn({4, 4}, wide);
        jacobian::JacobianOperator products(f, x);
        const auto j = jacobian::exact_jacobian(f, x);
        EXPECT_LT(distance(dense(products, false), j), 1e-10);
        EXPECT_LT(distance(by_differences(f, x), j), 1e-8);
    }
}

TEST(JacobianOperator, TakesFewerRowsWhereMemoryEnds) {
    torch::manual_seed(11);
    const auto inner = network(8, 8);
    int64_t most = 0;
    const jacobian::BatchFunction f = [&](const Tensor& x) {
        if (x.size(0) > 3) throw c10::OutOfMemoryError({"f", __FILE__, __LINE__}, "no more");
        most = std::max(most, x.size(0));
        return inner(x);
    };
    const auto x = torch::randn({8}, wide);
    jacobian::JacobianOptions options;
    options.block = 16;
    jacobian::JacobianOperator products(f, x, options);
    EXPECT_LT(distance(dense(products, false), jacobian::exact_jacobian(inner, x)), 1e-14);
    EXPECT_LT(distance(dense(products, true), jacobian::exact_jacobian(inner, x).t()), 1e-14);
    EXPECT_EQ(most, 2);
    EXPECT_EQ(products.work().products, 16);
}

// Both ways of keeping the vectors take the same steps; padded zeros are not in the device's.
TEST(DeviceBidiagonalisation, IsThatOfTheHost) {
    torch::manual_seed(12);
    for (const auto& [m, k] : {std::pair<int64_t, int64_t>{80, 80}, {60, 90}, {90, 60}}) {
        const auto f = network(m, k);
        jacobian::JacobianOperator products(f, torch::randn({m}, wide));
        const auto probes = torch::randn({3, products.rank()}, wide);
        const auto padded = torch::constant_pad_nd(probes, {0, products.size() - products.rank()});
        linalg::GolubKahanOptions options;
        options.steps = 10;
        options.extremes = 0.01;
        options.most_steps = 1000;
        const auto host = linalg::golub_kahan(
            products, {padded.data_ptr<double>(), padded.data_ptr<double>() + padded.numel()}, options);
        const auto device = linalg::golub_kahan(*jacobian::device_bidiagonalisation(products, probes, 10), options);
        ASSERT_EQ(device.size(), host.size());
        for (std::size_t c = 0; c < host.size(); ++c) {
            ASSERT_EQ(device[c].node.size(), host[c].node.size());
            for (std::size_t i = 0; i < host[c].node.size(); ++i) {
                EXPECT_NEAR(device[c].node[i], host[c].node[i], 1e-12);
                EXPECT_NEAR(device[c].weight[i], host[c].weight[i], 1e-11);
            }
        }
        EXPECT_GT(host[0].node.size(), 10U);
        // To the end: every singular value.
        options.extremes = 0;
        options.steps = 200;
        const auto all = linalg::golub_kahan(*jacobian::device_bidiagonalisation(products, probes, 200), options);
        EXPECT_EQ(all[1].node.size(), static_cast<std::size_t>(products.rank()));
    }
    jacobian::JacobianOperator products(network(4, 4), torch::randn({4}, wide));
    EXPECT_THROW(jacobian::device_bidiagonalisation(products, torch::zeros({1, 4}, wide), 2), std::invalid_argument);
}

TEST(JacobianLaw, WithoutTheMatrixIsThatOfTheMatrix) {
    torch::manual_seed(7);
    constexpr int64_t n = 512;
    const auto f = residual(n, 4);
    const auto x = torch::randn({n}, wide);
    const auto exact = jacobian::jacobian_law(f, x);
    ASSERT_TRUE(exact.exact);
    ASSERT_EQ(exact.log_values.size(), static_cast<std::size_t>(n));

    jacobian::JacobianLawOptions options;
    options.most_exact = 0;
    const auto probed = jacobian::jacobian_law(f, x, options);
    EXPECT_FALSE(probed.exact);
    EXPECT_LT(probed.adjoint_defect, 1e-14);
    ASSERT_EQ(probed.log_values.size(), exact.log_values.size());
    EXPECT_LT(agreement(exact.law, probed.law).wasserstein1, 0.01);

    const double largest = exact.metrics.largest;
    EXPECT_TRUE(probed.largest_converged && probed.smallest_converged);
    EXPECT_NEAR(probed.metrics.largest, largest, 1e-6 * largest);
    EXPECT_NEAR(probed.metrics.smallest, exact.metrics.smallest, 1e-6 * largest);
    EXPECT_LE(probed.error.largest, 1e-6 * largest);
    EXPECT_LE(probed.error.smallest, 1e-6 * largest);
    // Error bars that mean something: neither missed by far nor wide.
    for (const auto metric : {&Metrics::mean_square, &Metrics::window, &Metrics::collapsed}) {
        EXPECT_NEAR(probed.metrics.*metric, exact.metrics.*metric, 4 * probed.error.*metric + 2e-3);
        EXPECT_LT(probed.error.*metric, 0.02 * std::max(1.0, exact.metrics.*metric));
    }

    options.most_steps = 20;
    options.steps = 20;
    const auto cut = jacobian::jacobian_law(f, x, options);
    EXPECT_FALSE(cut.smallest_converged);
    EXPECT_GE(cut.metrics.smallest, exact.metrics.smallest * (1 - 1e-9));
}

TEST(JacobianLaw, TakesNoMoreProbesAndStepsThanItsErrorNeeds) {
    torch::manual_seed(10);
    constexpr int64_t n = 1200;
    const auto w = 0.2 * torch::randn({n, n}, wide) / std::sqrt(static_cast<double>(n));
    const jacobian::BatchFunction f = [=](const Tensor& x) { return x + torch::matmul(torch::tanh(x), w); };
    const auto x = torch::randn({n}, wide);
    const auto exact = jacobian::jacobian_law(f, x);

    jacobian::JacobianLawOptions options;
    options.most_exact = 0;
    options.error = 0.02;
    int64_t calls = 0, steps_done = 0;
    options.progress = [&](int64_t done, int64_t total) {
        ++calls;
        EXPECT_GT(done, steps_done);
        EXPECT_LE(done, total);
        steps_done = done;
    };
    const auto probed = jacobian::jacobian_law(f, x, options);
    EXPECT_EQ(probed.probes, 4);
    EXPECT_LT(probed.steps, 100);
    EXPECT_GE(calls, probed.steps);
    EXPECT_EQ(probed.work.products, 2 * steps_done);
    EXPECT_GT(probed.seconds, probed.work.seconds);
    EXPECT_LT(agreement(exact.law, probed.law).wasserstein1, 0.01);
    for (const auto metric : {&Metrics::window, &Metrics::collapsed})
        EXPECT_NEAR(probed.metrics.*metric, exact.metrics.*metric, 4 * probed.error.*metric + 5e-3);
    EXPECT_TRUE(probed.largest_converged && probed.smallest_converged);
    EXPECT_NEAR(probed.metrics.smallest, exact.metrics.smallest, 1e-6 * exact.metrics.largest);

    options.error = 0;
    options.probes = 3;
    options.steps = 30;
    options.progress = {};
    const auto all = jacobian::jacobian_law(f, x, options);
    EXPECT_EQ(all.probes, 3);
    EXPECT_EQ(all.steps, 30);

    struct Enough {};
    options.progress = [](int64_t, int64_t) { throw Enough{}; };
    EXPECT_THROW(jacobian::jacobian_law(f, x, options), Enough);
}

/// x ↦ s ∘ x: its singular values are s.
jacobian::BatchFunction scaling(const Tensor& s) {
    return [=](const Tensor& x) { return x * s; };
}

TEST(JacobianLaw, MissesByAboutItsErrors) {
    constexpr int64_t n = 300;
    const auto s = torch::linspace(0, 2, n, wide);
    const auto x = torch::ones({n}, wide);
    const auto exact = jacobian::jacobian_law(scaling(s), x);
    jacobian::JacobianLawOptions options;
    options.most_exact = 0;
    options.error = 0.02;
    options.extremes = 0;
    constexpr int seeds = 40;
    Metrics squares{0, 0, 0, 0, 0, 0, 0};
    const auto metrics = {&Metrics::window, &Metrics::collapsed, &Metrics::mean_square};
    for (int seed = 1; seed <= seeds; ++seed) {
        options.seed = static_cast<std::uint64_t>(seed);
        const auto probed = jacobian::jacobian_law(scaling(s), x, options);
        for (const auto metric : metrics) {
            const double missed = (probed.metrics.*metric - exact.metrics.*metric) / probed.error.*metric;
            squares.*metric += missed * missed / seeds;
        }
        for (const auto metric : {&Metrics::window, &Metrics::collapsed})
            EXPECT_LT(probed.error.*metric, 0.03);
    }
    // Four probes' own spread is known to a factor only.
    EXPECT_LT(squares.mean_square, 4);
    for (const auto metric : {&Metrics::window, &Metrics::collapsed}) {
        EXPECT_GT(squares.*metric, 0.2);
        EXPECT_LT(squares.*metric, 1.5);
    }
}

TEST(JacobianLaw, SaysWhatItsStepsDoNotResolve) {
    // A fiftieth lies far below a wide rest.
    constexpr int64_t n = 3000;
    auto s = torch::linspace(0.5, 30, n, wide);
    s.narrow(0, 0, n / 50).fill_(0.02);
    const auto x = torch::ones({n}, wide);
    jacobian::JacobianLawOptions options;
    options.most_exact = 0;
    options.steps = options.most_steps = 30;
    const auto few = jacobian::jacobian_law(scaling(s), x, options);
    EXPECT_LT(few.metrics.collapsed, 0.005);
    EXPECT_GT(few.error.collapsed, 0.02 - few.metrics.collapsed);
    EXPECT_FALSE(few.smallest_converged);

    jacobian::JacobianLawOptions plain;
    plain.most_exact = 0;
    plain.error = 0.01;
    const auto more = jacobian::jacobian_law(scaling(s), x, plain);
    EXPECT_GT(more.steps, 100);
    EXPECT_LT(more.error.collapsed, 0.012);
    EXPECT_LT(more.error.window, 0.012);
    EXPECT_NEAR(more.metrics.collapsed, 0.02, 4 * more.error.collapsed);
}

TEST(JacobianLaw, TakesProbesOneByOneWhereMemoryIsShort) {
    constexpr int64_t n = 150;
    const auto s = torch::linspace(0, 2, n, wide);
    const auto x = torch::ones({n}, wide);
    jacobian::JacobianLawOptions options;
    options.most_exact = 0;
    options.error = 0.05;
    const auto together = jacobian::jacobian_law(scaling(s), x, options);
    options.basis_memory = 250 * n * sizeof(double);  // of one probe
    const auto one_by_one = jacobian::jacobian_law(scaling(s), x, options);
    EXPECT_EQ(one_by_one.probes, together.probes);
    EXPECT_NEAR(one_by_one.metrics.window, together.metrics.window, 0.05);
    // What the shorter ones do not resolve is in the error, though the first one has every singular value.
    const double mass = one_by_one.metrics.window;
    EXPECT_GT(one_by_one.error.window,
              1.0001 * std::sqrt(2 * mass * (1 - mass) / (n + 2) / one_by_one.probes));

    options.input = 1;
    EXPECT_NE(jacobian::jacobian_law(scaling(s), x, options).metrics.window, one_by_one.metrics.window);
}

TEST(JacobianLaw, OfRectanglesCountsNoPaddedZeros) {
    torch::manual_seed(8);
    for (const auto& [m, k] : {std::pair<int64_t, int64_t>{60, 90}, {90, 60}}) {
        const auto f = network(m, k);
        const auto x = torch::randn({m}, wide);
        const auto exact = jacobian::jacobian_law(f, x);
        jacobian::JacobianLawOptions options;
        options.most_exact = 80;
        const auto probed = jacobian::jacobian_law(f, x, options);
        EXPECT_FALSE(probed.exact);
        EXPECT_EQ(probed.log_values.size(), 60U);
        EXPECT_NEAR(probed.metrics.largest, exact.metrics.largest, 1e-6 * exact.metrics.largest);
        EXPECT_NEAR(probed.metrics.smallest, exact.metrics.smallest, 1e-6 * exact.metrics.largest);
        EXPECT_LT(agreement(exact.law, probed.law).wasserstein1, 0.05);
    }
}

TEST(JacobianLaw, InSinglePrecisionHasAHigherFloor) {
    torch::manual_seed(9);
    const auto f = residual(16, 2);
    const jacobian::BatchFunction single = [=](const Tensor& x) { return f(x.to(wide)).to(torch::kFloat); };
    const auto x = torch::randn({16}, torch::kFloat);
    const auto floor = jacobian::jacobian_law(single, x).law.log_floor();
    EXPECT_NEAR(floor, jacobian::jacobian_law(f, x.to(wide)).law.log_floor() + 29 * std::log(2.0), 1e-3);
}

}  // namespace
}  // namespace spectra::train
