#include "train/modules/maps.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "mixers/spectral_sphere.hpp"
#include "train/modules/checks.hpp"
#include "train/modules/mixer.hpp"

namespace spectra::train {
namespace {

using testing::distance;
using testing::largest;
using testing::normal;
using torch::Tensor;

constexpr int64_t draws = 4000;

Tensor eye(int64_t n) {
    return torch::eye(n, torch::kDouble);
}

double orthogonality(const Tensor& q) {
    const Tensor wide = q.to(torch::kDouble);
    return largest(torch::matmul(wide.mT(), wide) - eye(q.size(-1)));
}

Tensor skew_of(const Tensor& r) {
    return r - r.mT();
}

/// M = (β/2)(uvᵀ − vuᵀ) and the solve that the closed form replaces.
Tensor solved_rank2(const Tensor& u, const Tensor& v, const Tensor& beta) {
    const Tensor product = u.unsqueeze(-1) * v.unsqueeze(-2);
    const Tensor m = 0.5 * beta.unsqueeze(-1).unsqueeze(-1) * (product - product.mT());
    const Tensor one = eye(u.size(-1));
    return torch::linalg_solve(one + m, one - m);
}

/// 10^x, x uniform between the exponents.
Tensor spread(int64_t count, double low, double high) {
    return torch::pow(10.0, low + (high - low) * torch::rand({count}, torch::kDouble));
}

TEST(CayleyRank2, EqualsTheSolve) {
    torch::manual_seed(41);
    for (const int64_t n : {1, 2, 3, 4, 8}) {
        const Tensor u = normal({draws, n});
        const Tensor v = normal({draws, n});
        const Tensor beta = spread(draws, -3, 1);
        EXPECT_LE(largest(cayley_rank2(u, v, beta) - solved_rank2(u, v, beta)), 1e-12) << n;
    }
}

TEST(CayleyRank2, IsARotationForEveryGenerator) {
    torch::manual_seed(42);
    for (const int64_t n : {1, 2, 4, 7}) {
        for (const double size : {1.0, 1e3, 1e6}) {
            const Tensor u = size * normal({draws, n});
            Tensor v = size * normal({draws, n});
            // A quarter all but parallel to u.
            v.narrow(0, 0, draws / 4) = u.narrow(0, 0, draws / 4) * (1 + 1e-6 * normal({draws / 4, n}));
            const Tensor beta = spread(draws, -3, 3);
            const Tensor q = cayley_rank2(u, v, beta);
            EXPECT_LE(orthogonality(q), 4e-15) << n << ' ' << size;
            EXPECT_LE(largest(torch::linalg_det(q) - 1), 1e-13) << n << ' ' << size;
            const Tensor narrow =
                cayley_rank2(u.to(torch::kFloat), v.to(torch::kFloat), beta.to(torch::kFloat));
            EXPECT_LE(orthogonality(narrow), 4e-6) << n << ' ' << size;
        }
    }
    // Past the square root of float's range.
    const Tensor huge = torch::tensor({{1e15F, 0.0F, 0.0F}});
    const Tensor other = torch::tensor({{0.0F, 1e15F, 0.0F}});
    EXPECT_LE(orthogonality(cayley_rank2(huge, other, torch::tensor({1e3F}))), 1e-6);
}

TEST(CayleyRank2, KeepsItsDistanceFromMinusOne) {
    torch::manual_seed(43);
    const Tensor u = normal({draws, 4});
    const Tensor v = normal({draws, 4});
    const Tensor beta = spread(draws, -3, 3);
    const Tensor q = cayley_rank2(u, v, beta);
    const Tensor shifted = torch::linalg_eigvals(q) + 1;
    const Tensor nearest = shifted.abs().amin(-1);
    const Tensor uu = u.square().sum(-1);
    const Tensor vv = v.square().sum(-1);
    const Tensor t = 0.5 * beta * (uu * vv - (u * v).sum(-1).square()).sqrt();
    EXPECT_GT(nearest.min().item<double>(), 0);
    EXPECT_LE(largest(nearest - 2 / (1 + t * t).sqrt()), 1e-11);
    const Tensor bound = 2 / (1 + (0.5 * beta).square() * uu * vv).sqrt();
    EXPECT_TRUE((nearest >= bound - 1e-12).all().item<bool>());
}

TEST(CayleyExact, IsARotationOfItsSkew) {
    torch::manual_seed(44);
    for (const int64_t n : {1, 2, 3, 4, 5, 16}) {
        for (const double size : {1e-3, 1.0, 1e3}) {
            const Tensor skew = size * skew_of(normal({200, n, n}));
            const Tensor q = cayley_exact(skew);
            EXPECT_LE(orthogonality(q), 2e-14) << n << ' ' << size;
            EXPECT_LE(largest(torch::linalg_det(q) - 1), 1e-12) << n << ' ' << size;
            EXPECT_LE(largest(torch::matmul(eye(n) - skew, q) - (eye(n) + skew)), 1e-12 * (1 + size)) << n;
            EXPECT_LE(orthogonality(cayley_exact(skew.to(torch::kFloat))), 1e-5) << n << ' ' << size;
        }
    }
}

TEST(CayleyIterative, TendsToTheExactTransform) {
    torch::manual_seed(45);
    const Tensor skew = skew_of(normal({100, 4, 4}));
    EXPECT_LE(largest(cayley_iterative(skew, 0.1, 60) - cayley_exact(0.05 * skew)), 1e-13);
    // After two steps σ² = 1 − m⁴/4 + m⁶/16, m = αμ.
    const Tensor y = cayley_iterative(skew, 0.1, 2);
    const Tensor m = 0.1 * torch::linalg_svdvals(skew);
    const Tensor wanted = 1 - m.pow(4) / 4 + m.pow(6) / 16;
    const Tensor measured = torch::linalg_svdvals(y).square();
    EXPECT_LE(largest(std::get<0>(wanted.sort(-1)) - std::get<0>(measured.sort(-1))), 1e-13);
}

TEST(TrainHouseholder, IsOrthogonalAtZeroAndTwoOnly) {
    torch::manual_seed(46);
    const Tensor k = normal({draws, 5});
    for (const double beta : {0.0, 2.0})
        EXPECT_LE(orthogonality(householder(k, torch::full({draws}, beta, torch::kDouble))), 2e-15);
    const Tensor beta = 0.01 + 1.98 * torch::rand({draws}, torch::kDouble);
    const Tensor h = householder(k, beta);
    const Tensor unit = k / k.norm(2, -1, true);
    // HᵀH − I = (β² − 2β) k̂k̂ᵀ
    const Tensor wanted =
        (beta * beta - 2 * beta).unsqueeze(-1).unsqueeze(-1) * (unit.unsqueeze(-1) * unit.unsqueeze(-2));
    EXPECT_LE(largest(torch::matmul(h.mT(), h) - eye(5) - wanted), 1e-14);
    EXPECT_GT(wanted.abs().amax({1, 2}).min().item<double>(), 1e-3);
}

TEST(TrainHybrid, IsOrthogonalAtItsEndsOnly) {
    torch::manual_seed(47);
    const auto mixer = make_mixer("cayley-hybrid", 4);
    Tensor raw = normal({draws, 14});
    for (const double gate : {-800.0, 800.0}) {
        raw.select(-1, 13).fill_(gate);
        EXPECT_LE(orthogonality(mixer->matrix(raw)), 4e-15);
    }
    raw.select(-1, 13).copy_(3 * normal({draws}));
    const Tensor h = mixer->matrix(raw);
    const Tensor gate = raw.select(-1, 13).sigmoid().unsqueeze(-1).unsqueeze(-1);
    const Tensor q =
        cayley_rank2(raw.narrow(-1, 0, 4), raw.narrow(-1, 4, 4), (1 + raw.select(-1, 8).exp()).log());
    const Tensor two = torch::full({draws}, 2, torch::kDouble);
    const Tensor r = householder(raw.narrow(-1, 9, 4), two);
    // HᵀH − I = γ(1 − γ)(QᵀR + RQ − 2I), and QᵀR ≠ I: determinants differ.
    const Tensor cross = torch::matmul(q.mT(), r);
    const Tensor wanted = gate * (1 - gate) * (cross + cross.mT() - 2 * eye(4));
    EXPECT_LE(largest(torch::matmul(h.mT(), h) - eye(4) - wanted), 1e-14);
    // det(QᵀR) = −1, so −1 is an eigenvalue and the norm of the bracket is 4.
    const Tensor norm = torch::linalg_svdvals(wanted).amax(-1) / (gate * (1 - gate)).squeeze(-1).squeeze(-1);
    EXPECT_LE(largest(norm - 4), 1e-10);
}

TEST(TrainSphere, IsClosedUnderProducts) {
    torch::manual_seed(48);
    const auto mixer = make_mixer("spectral-sphere", 5);
    const Tensor a = mixer->matrix(2 * normal({draws, mixer->size()}));
    const Tensor b = mixer->matrix(2 * normal({draws, mixer->size()}));
    const Tensor product = torch::matmul(a, b);
    EXPECT_LE(mixer->defect(product), 1e-13);
    EXPECT_LT(a.min().item<double>(), -0.1);  // and not bistochastic
    MixerOptions half;
    half.sphere_bound = 0.5;
    const auto inner = make_mixer("spectral-sphere", 5, half);
    const Tensor h = inner->matrix(10 * normal({100, inner->size()}));
    EXPECT_LE(largest(torch::linalg_svdvals(h - 0.2)), 0.5 + 1e-14);
    EXPECT_LE(inner->defect(h), 1e-13);
}

TEST(TrainHelmert, IsThePlainBasis) {
    EXPECT_EQ(helmert(1).sizes(), torch::IntArrayRef({1, 0}));
    for (const int64_t n : {2, 3, 8})
        EXPECT_LE(distance(helmert(n), mixers::helmert_basis(static_cast<int>(n))), 1e-16) << n;
}

TEST(TrainProjector, IsTheProjectorOfItsColumns) {
    torch::manual_seed(49);
    for (const double size : {1e-200, 1.0, 1e200}) {
        const Tensor frames = normal({500, 6, 3});
        const Tensor h = projector(size * frames);
        EXPECT_LE(largest(torch::matmul(h, frames) - frames), 1e-13);
        EXPECT_LE(largest(torch::matmul(h, h) - h), 1e-14);
        EXPECT_LE(largest(h - h.mT()), 1e-14);
        EXPECT_LE(largest(h.diagonal(0, -2, -1).sum(-1) - 3), 1e-13);
    }
    // A function of the subspace alone.
    const Tensor frame = normal({6, 3});
    EXPECT_LE(largest(projector(frame) - projector(torch::matmul(frame, normal({3, 3})))), 1e-12);
}

}  // namespace
}  // namespace spectra::train
