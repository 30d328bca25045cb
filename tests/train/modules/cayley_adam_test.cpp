#include "train/modules/cayley_adam.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "train/modules/checks.hpp"

namespace spectra::train {
namespace {

using testing::largest;
using testing::normal;
using torch::Tensor;

Tensor random_symmetric(int64_t n) {
    const Tensor a = normal({n, n});
    return (a + a.mT()) / 2;
}

Tensor random_frame(int64_t n, int64_t p) {
    return std::get<0>(torch::linalg_qr(normal({n, p})));
}

Tensor projector_of(const Tensor& u) {
    return torch::matmul(u, u.mT());
}

double frame_defect(const Tensor& u) {
    return largest(torch::matmul(u.mT(), u) - torch::eye(u.size(-1), u.options()));
}

/// The gradient of −tr UᵀAU.
Tensor slope(const Tensor& a, const Tensor& u) {
    return -2 * torch::matmul(a, u);
}

CayleyAdamOptions rate(double learning_rate) {
    CayleyAdamOptions options;
    options.learning_rate = learning_rate;
    return options;
}

TEST(CayleyAdam, FindsTheDominantSubspace) {
    torch::manual_seed(61);
    for (const auto& [n, p] : {std::pair<int64_t, int64_t>{4, 2}, {8, 3}, {5, 1}}) {
        for (int draw = 0; draw < 3; ++draw) {
            const Tensor a = random_symmetric(n);
            const Tensor top = std::get<1>(torch::linalg_eigh(a)).narrow(1, n - p, p);
            const Tensor u = random_frame(n, p);
            CayleyAdam optimiser(rate(0.1));
            double worst = 0;
            for (int step = 0; step < 1000; ++step) {
                optimiser.step({u}, {slope(a, u)});
                worst = std::max(worst, frame_defect(u));
            }
            EXPECT_LE(largest(projector_of(u) - projector_of(top)), 1e-8) << n << ' ' << p << ' ' << draw;
            EXPECT_LE(worst, 1e-12);
        }
    }
}

TEST(CayleyAdam, PublishedRetractionAndAdaptiveRateDescendToo) {
    torch::manual_seed(62);
    const Tensor a = random_symmetric(6);
    const Tensor top = std::get<0>(torch::linalg_eigh(a)).narrow(0, 4, 2).sum();
    for (const bool adaptive : {false, true}) {
        CayleyAdamOptions options = rate(0.02);
        options.adaptive = adaptive;
        options.retraction_iterations = 2;
        const Tensor u = random_frame(6, 2);
        CayleyAdam optimiser(options);
        for (int step = 0; step < 1000; ++step) optimiser.step({u}, {slope(a, u)});
        EXPECT_NEAR((u * torch::matmul(a, u)).sum().item<double>(), top.item<double>(), 1e-2) << adaptive;
        EXPECT_LE(frame_defect(u), 1e-12);
    }
}

TEST(CayleyAdam, PathDoesNotDependOnTheBasis) {
    torch::manual_seed(63);
    const Tensor a = random_symmetric(6);
    const Tensor u = random_frame(6, 3);
    const Tensor turned = torch::matmul(u, random_frame(3, 3));
    CayleyAdam first(rate(0.05));
    CayleyAdam second(rate(0.05));
    for (int step = 0; step < 100; ++step) {
        first.step({u}, {slope(a, u)});
        second.step({turned}, {slope(a, turned)});
        ASSERT_LE(largest(projector_of(u) - projector_of(turned)), 1e-12) << step;
    }
    EXPECT_GE(largest(u - turned), 0.1);
}

TEST(CayleyAdam, FirstStepIsTheWrittenOne) {
    torch::manual_seed(64);
    const Tensor u = random_frame(5, 2);
    const Tensor g = normal({5, 2});
    const Tensor m = 0.1 * (g - torch::matmul(u, torch::matmul(u.mT(), g)));
    const Tensor w = torch::matmul(u, m.mT()) - torch::matmul(m, u.mT());
    const Tensor one = torch::eye(5, torch::kDouble);
    const Tensor wanted = torch::matmul(torch::linalg_solve(one - 0.15 * w, one + 0.15 * w), u);
    const Tensor moved = u.clone();
    CayleyAdam(rate(0.3)).step({moved}, {g});
    EXPECT_LE(largest(moved - wanted), 1e-14);
    EXPECT_LE(largest(moved - (u - 0.3 * m)), 0.3 * 0.3 * largest(m));  // downhill to first order
}

TEST(CayleyAdam, AStateResumesBitForBit) {
    torch::manual_seed(65);
    const Tensor a = random_symmetric(6);
    CayleyAdamOptions options = rate(0.05);
    options.adaptive = true;
    const Tensor u = random_frame(6, 2);
    const Tensor other = torch::stack({random_frame(6, 2), random_frame(6, 2)});  // a batch is a frame too
    CayleyAdam straight(options);
    CayleyAdam broken(options);
    EXPECT_TRUE(straight.state().empty());
    Tensor v = u.clone();
    Tensor w = other.clone();
    const auto advance = [&](CayleyAdam& optimiser, const Tensor& x, const Tensor& y) {
        for (int step = 0; step < 5; ++step) optimiser.step({x, y}, {slope(a, x), slope(a, y)});
    };
    advance(straight, u, other);
    advance(straight, u, other);
    advance(broken, v, w);
    CayleyAdam resumed(options);
    resumed.set_state(broken.state());
    advance(resumed, v, w);
    EXPECT_TRUE(torch::equal(u, v));
    EXPECT_TRUE(torch::equal(other, w));
    EXPECT_EQ(straight.state().size(), 5U);

    auto state = broken.state();
    state[1].first = "momentum";
    EXPECT_THROW(resumed.set_state(state), std::invalid_argument);
    EXPECT_THROW(resumed.step({u}, {u}), std::invalid_argument);
    EXPECT_THROW(resumed.step({u, u}, {u, u}), std::invalid_argument);
}

TEST(CayleyAdam, MovesParametersInPlace) {
    torch::manual_seed(66);
    Tensor raw = random_frame(4, 2).to(torch::kFloat).flatten().requires_grad_(true);
    (raw.view({4, 2}) * torch::randn({4, 2})).sum().backward();
    const Tensor before = raw.detach().clone();
    CayleyAdam(rate(0.1)).step({raw.detach().view({4, 2})}, {raw.grad().view({4, 2})});
    EXPECT_GT(largest(raw - before), 1e-4);
    EXPECT_TRUE(raw.requires_grad());
    EXPECT_LE(frame_defect(raw.detach().view({4, 2})), 1e-6);
}

}  // namespace
}  // namespace spectra::train
