#include "train/modules/sinkhorn.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "train/modules/checks.hpp"
#include "train/modules/recording.hpp"
#include "train/operations.hpp"

namespace spectra::train {
namespace {

using Backward = MixerOptions::Backward;
using testing::gradient_error;
using testing::gradient_of;
using testing::graph_size;
using testing::largest;
using testing::normal;
using torch::Tensor;

MixerOptions with(Backward backward, int iterations = 20) {
    MixerOptions options;
    options.sinkhorn_backward = backward;
    options.sinkhorn_iterations = iterations;
    return options;
}

/// Raw numbers of one matrix in a row, as the gradient checks want them.
testing::Map flat_map(int64_t n, const MixerOptions& options) {
    return [n, options](const Tensor& raw) {
        return sinkhorn(raw.reshape({-1, n, n}), options).reshape(raw.sizes());
    };
}

/// Off-diagonal logits −8: where hyper-connections start.
Tensor identity_like(int64_t n) {
    return 8 * (torch::eye(n, torch::kDouble) - 1);
}

double sum_defect(const Tensor& p) {
    return std::max(largest(p.sum(-1) - 1), largest(p.sum(-2) - 1));
}

double relative(const Tensor& value, const Tensor& wanted) {
    return ((value - wanted).norm() / wanted.norm()).item<double>();
}

TEST(TrainSinkhorn, DirectGradientIsThatOfTheLimit) {
    torch::manual_seed(21);
    for (const int64_t n : {2, 3, 4, 8}) {
        for (const double scale : {0.5, 2.0, 4.0})
            EXPECT_LE(gradient_error(flat_map(n, with(Backward::direct)), scale * normal({n * n})), 1e-6)
                << n << ' ' << scale;
        const Tensor start = identity_like(n).flatten();
        EXPECT_LE(gradient_error(flat_map(n, with(Backward::direct)), start), 1e-6) << n;
        EXPECT_LE(gradient_error(flat_map(n, with(Backward::direct)), start + normal({n * n})), 1e-6) << n;
    }
}

TEST(TrainSinkhorn, DirectGradientEqualsLongUnrolling) {
    torch::manual_seed(22);
    for (int draw = 0; draw < 10; ++draw) {
        const Tensor logits = normal({16});
        const Tensor upstream = normal({16});
        const Tensor direct = gradient_of(flat_map(4, with(Backward::direct)), logits, upstream);
        const Tensor unrolled = gradient_of(flat_map(4, with(Backward::unrolled, 300)), logits, upstream);
        EXPECT_LE(relative(direct, unrolled), 1e-11);
    }
    // At the identity-like start sweeps converge as 0.997^T: 8000 of them for 5e-10.
    const Tensor upstream = normal({16});
    const Tensor start = identity_like(4).flatten();
    const Tensor direct = gradient_of(flat_map(4, with(Backward::direct)), start, upstream);
    const Tensor unrolled = gradient_of(flat_map(4, with(Backward::unrolled, 8000)), start, upstream);
    EXPECT_LE(relative(direct, unrolled), 1e-8);
    const Tensor twenty = gradient_of(flat_map(4, with(Backward::unrolled, 20)), start, upstream);
    EXPECT_GE(relative(twenty, unrolled), 0.1);  // what 20 sweeps give there is another gradient
}

TEST(TrainSinkhorn, TwoStreamsInClosedForm) {
    // P = [[a, 1 − a], [1 − a, a]], a = sigmoid((z₁₁ + z₂₂ − z₁₂ − z₂₁)/2)
    torch::manual_seed(23);
    const Tensor sign = torch::tensor({{1.0, -1.0}, {-1.0, 1.0}}, torch::kDouble);
    for (const double gap : {0.0, 1.0, 10.0, 20.0, 40.0, 400.0}) {
        const Tensor logits = gap / 2 * sign + 0.1 * normal({2, 2});
        const double z = ((logits * sign).sum() / 2).item<double>();
        const double a = 1 / (1 + std::exp(-z));
        const double b = 1 / (1 + std::exp(z));
        const Tensor p = sinkhorn(logits);
        EXPECT_NEAR(p[0][0].item<double>(), a, 1e-14);
        EXPECT_NEAR(p[1][0].item<double>(), b, 1e-14);
        const Tensor upstream = normal({2, 2});
        const Tensor slope = gradient_of([](const Tensor& x) { return sinkhorn(x); }, logits, upstream);
        const Tensor wanted = 0.5 * a * b * (upstream * sign).sum() * sign;
        // Rounding of the upstream numbers is divided by nothing: it stays below 1e-15.
        EXPECT_LE(largest(slope - wanted), 1e-6 * largest(wanted) + 1e-15) << gap;
    }
}

TEST(TrainSinkhorn, GaussSeidelConvergesToTheDirectSolution) {
    torch::manual_seed(24);
    const Tensor upstream = normal({16});
    MixerOptions options = with(Backward::gauss_seidel, 0);
    const Tensor logits = normal({16});
    options.gauss_seidel_sweeps = 200;
    EXPECT_LE(relative(gradient_of(flat_map(4, options), logits, upstream),
                       gradient_of(flat_map(4, with(Backward::direct)), logits, upstream)),
              1e-12);
    options.gauss_seidel_sweeps = 8000;
    const Tensor start = identity_like(4).flatten();
    EXPECT_LE(relative(gradient_of(flat_map(4, options), start, upstream),
                       gradient_of(flat_map(4, with(Backward::direct)), start, upstream)),
              1e-8);
}

TEST(TrainSinkhorn, SixteenGaussSeidelSweepsAreFarOffAtTheStart) {
    torch::manual_seed(25);
    const Tensor start = identity_like(4).flatten();
    std::vector<double> errors;
    for (int draw = 0; draw < 101; ++draw) {
        const Tensor upstream = normal({16});
        errors.push_back(relative(gradient_of(flat_map(4, with(Backward::gauss_seidel)), start, upstream),
                                  gradient_of(flat_map(4, with(Backward::direct)), start, upstream)));
    }
    std::sort(errors.begin(), errors.end());
    EXPECT_NEAR(errors[50], 0.85, 0.15);  // of the true gradient
}

TEST(TrainSinkhorn, SumsAreOneWhateverTheSpread) {
    torch::manual_seed(26);
    for (const int64_t n : {1, 2, 4, 7}) {
        for (const double scale : {0.0, 1.0, 6.0, 30.0, 1000.0}) {
            const Tensor p = sinkhorn(scale * normal({200, n, n}));
            EXPECT_LE(sum_defect(p), 1e-12) << n << ' ' << scale;
            EXPECT_GE(p.min().item<double>(), 0) << n << ' ' << scale;
        }
    }
    EXPECT_LE(sum_defect(sinkhorn((6 * normal({200, 4, 4})).to(torch::kFloat)).to(torch::kDouble)), 1e-6);
}

TEST(TrainSinkhorn, ExtremeLogitsGiveNumbers) {
    torch::manual_seed(27);
    const Tensor shuffled = torch::eye(4, torch::kDouble).index_select(0, torch::tensor({2, 0, 3, 1}));
    for (const auto type : {torch::kDouble, torch::kFloat}) {
        for (const Tensor& logits : {1000 * normal({50, 4, 4}), 1000 * (2 * shuffled - 1).unsqueeze(0),
                                     1000 * normal({50, 4, 4}).sign()}) {
            for (const auto backward : {Backward::direct, Backward::gauss_seidel, Backward::unrolled}) {
                const Tensor x = logits.to(type).clone().requires_grad_(true);
                const Tensor p = sinkhorn(x, with(backward));
                EXPECT_EQ(p.scalar_type(), type);
                (p * torch::randn_like(p)).sum().backward();
                EXPECT_TRUE(p.isfinite().all().item<bool>());
                EXPECT_TRUE(x.grad().isfinite().all().item<bool>());
                // Gauss-Seidel may diverge where 20 sweeps leave P far from bistochastic.
                EXPECT_LE(largest(x.grad()), backward == Backward::gauss_seidel ? 1e6 : 10);
            }
        }
    }
    EXPECT_LE(largest(sinkhorn(1000 * shuffled) - shuffled), 1e-15);
}

TEST(TrainSinkhorn, UnrolledAndGaussSeidelMakeExactlyTheirSweeps) {
    torch::manual_seed(28);
    const Tensor logits = 3 * normal({10, 4, 4});
    for (const int sweeps : {1, 7, 20}) {
        Tensor p = logits.exp();
        for (int t = 0; t < sweeps; ++t) {
            p = p / p.sum(-1, true);
            p = p / p.sum(-2, true);
        }
        EXPECT_LE(largest(sinkhorn(logits, with(Backward::unrolled, sweeps)) - p), 1e-13);
        EXPECT_LE(largest(sinkhorn(logits, with(Backward::gauss_seidel, sweeps)) - p), 1e-13);
    }
    EXPECT_LE(gradient_error(flat_map(4, with(Backward::unrolled, 3)), 2 * normal({16})), 1e-6);
    EXPECT_LE(
        largest(sinkhorn(logits, with(Backward::direct, 1)) - sinkhorn(logits, with(Backward::direct, 0))),
        1e-12);
}

int64_t bytes_held(const Tensor& logits, const MixerOptions& options) {
    return kept_bytes([&]() -> torch::autograd::variable_list { return {sinkhorn(logits, options)}; },
                      torch::kCPU);
}

TEST(TrainSinkhorn, OnlyUnrollingGrowsWithTheSweeps) {
    const Tensor logits = normal({1000, 4, 4}).requires_grad_(true);
    const auto nodes = [&](Backward backward, int sweeps) {
        return graph_size(sinkhorn(logits, with(backward, sweeps)));
    };
    for (const auto backward : {Backward::direct, Backward::gauss_seidel}) {
        EXPECT_EQ(nodes(backward, 200), nodes(backward, 5));
        EXPECT_LE(nodes(backward, 20), 3U);
        EXPECT_EQ(bytes_held(logits, with(backward, 200)), bytes_held(logits, with(backward, 5)));
        EXPECT_LE(bytes_held(logits, with(backward)), 2 * 1000 * 16 * 8);  // P, and a copy
    }
    EXPECT_GE(nodes(Backward::unrolled, 40), nodes(Backward::unrolled, 20) + 80);
    EXPECT_GE(bytes_held(logits, with(Backward::unrolled, 40)),
              bytes_held(logits, with(Backward::unrolled, 20)) + 20 * 1000 * 16 * 8);
}

TEST(TrainSinkhorn, RefusesASecondDerivative) {
    torch::manual_seed(29);
    for (const auto backward : {Backward::direct, Backward::gauss_seidel, Backward::unrolled}) {
        const Tensor x = normal({4, 4}).requires_grad_(true);
        const Tensor loss = sinkhorn(x, with(backward)).square().sum();
        const Tensor slope = torch::autograd::grad({loss}, {x}, {}, true, true)[0];
        const Tensor again = slope.square().sum();
        if (backward == Backward::unrolled)
            EXPECT_NO_THROW(again.backward());
        else
            EXPECT_THROW(again.backward(), std::logic_error);
    }
    EXPECT_THROW(sinkhorn(normal({4, 4}), with(Backward::unrolled, 0)), std::invalid_argument);
}

TEST(TrainSinkhorn, BrokenMatricesDoNotSpoilTheBatch) {
    torch::manual_seed(30);
    Tensor logits = normal({3, 4, 4});
    const Tensor good = sinkhorn(logits);
    logits[1][0][0] = std::nan("");
    const Tensor p = sinkhorn(logits);
    EXPECT_TRUE(p[1].isnan().any().item<bool>());
    EXPECT_LE(largest(p[0] - good[0]), 1e-14);
    EXPECT_LE(largest(p[2] - good[2]), 1e-14);
    EXPECT_EQ(sinkhorn(torch::zeros({0, 4, 4})).sizes(), torch::IntArrayRef({0, 4, 4}));
}

// A recorded step cannot look at its numbers: so many Newton steps, no more, reach the same limit or say that they did not.
TEST(TrainSinkhorn, AFixedNumberOfStepsReachesTheLimitOrSaysSo) {
    torch::manual_seed(31);
    for (const int64_t n : {2, 3, 4, 8})
        for (const double scale : {0.0, 0.5, 1.0, 2.0}) {
            const Tensor logits = identity_like(n) + scale * normal({500, n, n});
            const Tensor expected = sinkhorn(logits);
            const Tensor upstream = normal({500, n * n});
            const Tensor slope = gradient_of(flat_map(n, {}), logits.flatten(1), upstream);
            Tensor p, recorded_slope;
            bool failed = true;
            {
                const Recording recording;
                p = sinkhorn(logits);
                recorded_slope = gradient_of(flat_map(n, {}), logits.flatten(1), upstream);
                failed = recording.failed(torch::kCPU).item<bool>();
            }
            EXPECT_TRUE(scale > 1 || !failed) << n << ' ' << scale;
            if (failed) continue;
            EXPECT_LE(largest(p - expected), 1e-11) << n << ' ' << scale;
            EXPECT_LE(relative(recorded_slope, slope), 1e-9) << n << ' ' << scale;
        }
    for (const double hard : {300.0, std::nan("")}) {
        const Recording recording;
        sinkhorn(hard * normal({500, 4, 4}));
        EXPECT_TRUE(recording.failed(torch::kCPU).item<bool>()) << hard;
    }
    EXPECT_EQ(Recording::current(), nullptr);
}

}  // namespace
}  // namespace spectra::train
