#include "train/modules/mixer.hpp"

#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "mixers/cayley.hpp"
#include "mixers/cayley_hybrid.hpp"
#include "mixers/generating_set.hpp"
#include "mixers/grassmann.hpp"
#include "mixers/householder.hpp"
#include "mixers/permutation.hpp"
#include "mixers/sinkhorn.hpp"
#include "mixers/spectral_sphere.hpp"
#include "support/expect_refused.hpp"
#include "train/modules/checks.hpp"
#include "train/modules/maps.hpp"

namespace spectra::train {
namespace {

using spectra::testing::expect_refused;
using testing::distance;
using testing::gradient_error;
using testing::largest;
using testing::normal;
using testing::to_eigen;
using torch::Tensor;

constexpr double gradient_tolerance = 1e-6;

testing::Map map_of(const Mixer& mixer) {
    return [&mixer](const Tensor& raw) { return mixer.matrix(raw); };
}

Tensor double_start(const Mixer& mixer) {
    return mixer.start().to(torch::kDouble);
}

/// A number with sigmoid(x) = p.
double logit(double p) {
    return std::log(p / (1 - p));
}

Tensor numbers(const std::vector<double>& values) {
    return torch::tensor(values, torch::kDouble);
}

Tensor upper_entries(const Tensor& skew) {
    const Tensor index = torch::triu_indices(skew.size(0), skew.size(0), 1);
    return skew.index({index[0], index[1]});
}

Tensor draw_skew(int64_t n) {
    const Tensor r = normal({n, n});
    return r - r.mT();
}

class EveryFamily : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Mixer, EveryFamily, ::testing::ValuesIn(mixer_names()), [](const auto& family) {
    std::string name = family.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

TEST_P(EveryFamily, HasTheGradientOfItsMatrix) {
    torch::manual_seed(1);
    for (const int64_t n : {1, 2, 4, 5}) {
        const auto mixer = make_mixer(GetParam(), n);
        if (mixer->size() == 0) continue;
        SCOPED_TRACE(n);
        for (int draw = 0; draw < 5; ++draw)
            EXPECT_LE(gradient_error(map_of(*mixer), normal({mixer->size()})), gradient_tolerance);
        EXPECT_LE(gradient_error(map_of(*mixer), double_start(*mixer)), gradient_tolerance);
        EXPECT_LE(gradient_error(map_of(*mixer), double_start(*mixer) + 0.1 * normal({mixer->size()})),
                  gradient_tolerance);
    }
}

TEST_P(EveryFamily, KeepsItsPromise) {
    torch::manual_seed(2);
    for (const int64_t n : {1, 2, 3, 4, 6}) {
        MixerOptions options;
        options.cayley_iterations = 0;
        const auto mixer = make_mixer(GetParam(), n, options);
        const Tensor raw = 2 * normal({300, mixer->size()});
        EXPECT_LE(mixer->defect(mixer->matrix(raw)), 1e-11) << n;
        EXPECT_LE(mixer->defect(mixer->matrix(raw.to(torch::kFloat))), 1e-5) << n;
        EXPECT_LE(mixer->defect(mixer->matrix(mixer->start())), 1e-5) << n;
    }
}

TEST_P(EveryFamily, TakesAnyBatch) {
    torch::manual_seed(3);
    const auto mixer = make_mixer(GetParam(), 4);
    const Tensor raw = normal({2, 3, mixer->size()});
    const Tensor all = mixer->matrix(raw);
    EXPECT_EQ(all.sizes(), torch::IntArrayRef({2, 3, 4, 4}));
    EXPECT_EQ(all.scalar_type(), torch::kDouble);
    for (int64_t i = 0; i < 2; ++i)
        for (int64_t j = 0; j < 3; ++j)
            EXPECT_LE(largest(all[i][j] - mixer->matrix(raw[i][j])), 1e-13) << i << ' ' << j;
    EXPECT_EQ(mixer->matrix(raw.narrow(0, 0, 0)).sizes(), torch::IntArrayRef({0, 3, 4, 4}));
    EXPECT_EQ(mixer->defect(mixer->matrix(raw.narrow(0, 0, 0))), 0);
}

TEST_P(EveryFamily, WidensShortNumbersBeforeTheMap) {
    torch::manual_seed(4);
    const auto mixer = make_mixer(GetParam(), 4);
    for (const auto type : {torch::kBFloat16, torch::kHalf}) {
        const Tensor raw = normal({200, mixer->size()}).to(type);
        const Tensor h = mixer->matrix(raw);
        EXPECT_EQ(h.scalar_type(), torch::kFloat);
        EXPECT_LE(largest(h.to(torch::kDouble) - mixer->matrix(raw.to(torch::kDouble))), 1e-5);
    }
}

void set_cpu_autocast(bool on) {
#if SPECTRA_TORCH_AT_LEAST(2, 4)
    at::autocast::set_autocast_enabled(torch::kCPU, on);
#else
    at::autocast::set_cpu_enabled(on);
#endif
}

TEST_P(EveryFamily, IgnoresAutocast) {
    torch::manual_seed(5);
    const auto mixer = make_mixer(GetParam(), 4);
    const Tensor raw = normal({20, mixer->size()}).to(torch::kFloat);
    const Tensor plain = mixer->matrix(raw);
    set_cpu_autocast(true);
    const Tensor product = torch::matmul(plain, plain);
    const Tensor cast = mixer->matrix(raw);
    set_cpu_autocast(false);
    EXPECT_EQ(product.scalar_type(), torch::kBFloat16);  // autocast was on
    EXPECT_TRUE(torch::equal(plain, cast));
}

TEST_P(EveryFamily, StartsNearTheIdentityOrWhereItsGateSays) {
    for (const int64_t n : {1, 2, 4, 6}) {
        const auto mixer = make_mixer(GetParam(), n);
        const Tensor start = mixer->start();
        ASSERT_EQ(start.sizes(), torch::IntArrayRef({mixer->size()}));
        ASSERT_EQ(start.scalar_type(), torch::kFloat);
        Tensor wanted = torch::eye(n);
        if (GetParam() == "cayley-hybrid")
            wanted = wanted - 1.0 / static_cast<double>(n);  // γ = ½, k constant
        if (GetParam() == "grassmann") wanted.diagonal().narrow(0, (n + 1) / 2, n / 2).zero_();
        // 719 permutations of weight e⁻⁸ at n = 6; β = .036 at the householder's start.
        const double bound = GetParam() == "permutation" ? 0.25 : 0.04;
        EXPECT_LE(largest(mixer->matrix(start) - wanted), bound) << n;
    }
}

TEST_P(EveryFamily, PassesNaNOn) {
    const auto mixer = make_mixer(GetParam(), 3);
    if (mixer->size() == 0) return;
    Tensor raw = double_start(*mixer);
    raw[0] = std::numeric_limits<double>::quiet_NaN();
    const Tensor h = mixer->matrix(raw);
    EXPECT_TRUE(h.isnan().any().item<bool>());
    EXPECT_TRUE(std::isnan(mixer->defect(h)));
}

TEST_P(EveryFamily, RefusesRawNumbersOfAnotherSize) {
    const auto mixer = make_mixer(GetParam(), 4);
    expect_refused([&] { mixer->matrix(torch::zeros({3, mixer->size() + 1})); }, {GetParam(), "shape"});
    expect_refused([&] { mixer->matrix(torch::zeros({mixer->size()}, torch::kLong)); },
                   {GetParam(), "floating"});
}

// The gradients where a family ends. Blocks of raw numbers are compared each with its own scale.

TEST(MixerEdge, BistochasticNearAPermutation) {
    torch::manual_seed(6);
    const auto mixer = make_mixer("bistochastic", 4);
    const Tensor p = torch::eye(4, torch::kDouble).index_select(0, torch::tensor({2, 0, 3, 1}));
    const Tensor raw = (10 * p - 5 + 0.5 * normal({4, 4})).flatten();
    EXPECT_LE(gradient_error(map_of(*mixer), raw, 1e-2 / largest(raw)), gradient_tolerance);
    // Sharper still: differences of the diagonal are lost in rounding, those of small entries are not.
    const Tensor sharp = (14 * p - 7 + 0.5 * normal({4, 4})).flatten();
    const auto small_entries = [&](const Tensor& x) { return mixer->matrix(x) * (1 - p); };
    EXPECT_LE(gradient_error(small_entries, sharp, 1e-2 / largest(sharp), {}, 1e-20), gradient_tolerance);
}

TEST(MixerEdge, HouseholderAtNoStepAndAtReflection) {
    torch::manual_seed(7);
    const auto mixer = make_mixer("householder", 4);
    for (const double beta : {1e-5, 1.0, 2 - 1e-5}) {
        const Tensor raw = torch::cat({normal({4}), numbers({logit(beta / 2)})});
        EXPECT_LE(gradient_error(map_of(*mixer), raw, 1e-3, {{0, 4}, {4, 1}}, 1e-9), gradient_tolerance)
            << beta;
    }
    for (const double length : {1e-100, 1e-3, 1e3, 1e100}) {  // scale-invariant in k
        const Tensor raw = torch::cat({length * normal({4}), numbers({0.3})});
        const Tensor unit = torch::cat({raw.narrow(0, 0, 4) / length, raw.narrow(0, 4, 1)});
        const Tensor upstream = normal({4, 4});
        EXPECT_LE(largest(mixer->matrix(raw) - mixer->matrix(unit)), 1e-15);
        const Tensor long_one = testing::gradient_of(map_of(*mixer), raw, upstream).narrow(0, 0, 4) * length;
        const Tensor unit_one = testing::gradient_of(map_of(*mixer), unit, upstream).narrow(0, 0, 4);
        EXPECT_LE(largest(long_one - unit_one), 1e-13) << length;
    }
}

TEST(MixerEdge, HouseholderAndHybridWithoutADirection) {
    const Tensor upstream = normal({4, 4});
    for (const std::string name : {"householder", "cayley-hybrid", "rotation"}) {
        const auto mixer = make_mixer(name, 4);
        const Tensor raw = torch::zeros({mixer->size()}, torch::kDouble);
        EXPECT_LE(largest(mixer->matrix(raw) - torch::eye(4)), 1e-15) << name;
        EXPECT_EQ(largest(testing::gradient_of(map_of(*mixer), raw, upstream)), 0) << name;
    }
}

TEST(MixerEdge, RotationByNearlyPiAndByNothing) {
    torch::manual_seed(8);
    const auto mixer = make_mixer("rotation", 4);
    const std::vector<std::pair<int64_t, int64_t>> blocks{{0, 8}, {8, 1}};
    for (const double beta : {-12.0, -8.0, 30.0, 1000.0}) {  // softplus: 6e-6, 3e-4, β itself
        const Tensor raw = torch::cat({normal({8}), numbers({beta})});
        EXPECT_LE(gradient_error(map_of(*mixer), raw, 1e-3, blocks, 1e-9), gradient_tolerance) << beta;
    }
    // u and v parallel, opposite, one of them zero: Q = I, and its gradient is that of −2M.
    const Tensor u = normal({4});
    for (const Tensor& v : {2 * u, -u, 0 * u}) {
        const Tensor raw = torch::cat({u, v, numbers({0.5})});
        EXPECT_LE(largest(mixer->matrix(raw) - torch::eye(4)), 1e-15);
        EXPECT_LE(gradient_error(map_of(*mixer), raw), gradient_tolerance);
        const Tensor exchanged = torch::cat({v, u, numbers({0.5})});
        EXPECT_LE(gradient_error(map_of(*mixer), exchanged), gradient_tolerance);
    }
}

TEST(MixerEdge, HybridAtBothGates) {
    torch::manual_seed(9);
    const auto mixer = make_mixer("cayley-hybrid", 4);
    for (const double gate : {-8.0, 0.0, 8.0}) {
        for (const double beta : {-5.0, 0.0, 50.0}) {
            const Tensor raw = torch::cat({normal({8}), numbers({beta}), normal({4}), numbers({gate})});
            EXPECT_LE(gradient_error(map_of(*mixer), raw, 5e-4, {{0, 9}, {9, 4}, {13, 1}}, 1e-8),
                      gradient_tolerance)
                << gate << ' ' << beta;
        }
    }
}

TEST(MixerEdge, SphereAtItsSurface) {
    torch::manual_seed(10);
    const auto mixer = make_mixer("spectral-sphere", 4);
    for (const double sigma : {-6.0, 6.0}) {
        const Tensor raw = torch::cat({normal({6}), torch::full({3}, sigma, torch::kDouble)});
        EXPECT_LE(gradient_error(map_of(*mixer), raw, 1e-3, {{0, 6}, {6, 3}}, 1e-9), gradient_tolerance);
    }
}

TEST(MixerEdge, FramesThatNearlyLoseRank) {
    torch::manual_seed(11);
    const auto mixer = make_mixer("grassmann", 4);
    for (const double gap : {1e-1, 1e-2, 1e-3}) {
        const Tensor first = normal({4});
        const Tensor raw = torch::stack({first, first + gap * normal({4})}, 1).flatten();
        EXPECT_LE(gradient_error(map_of(*mixer), raw, 2e-3 * gap), gradient_tolerance) << gap;
    }
    // Rank lost: still a projector of that rank, the gradient finite.
    const Tensor first = normal({4});
    for (const Tensor& frame : {torch::stack({first, first}, 1), torch::zeros({4, 2}, torch::kDouble)}) {
        const Tensor h = mixer->matrix(frame.flatten());
        EXPECT_LE(mixer->defect(h), 1e-14);
        EXPECT_NEAR(h.trace().item<double>(), 2, 1e-14);
        const Tensor slope = testing::gradient_of(map_of(*mixer), frame.flatten(), normal({4, 4}));
        EXPECT_TRUE(slope.isfinite().all().item<bool>());
    }
}

// The same matrices as the plain families.

TEST(MixerPlain, EqualsTheFamiliesThatAreDrawn) {
    torch::manual_seed(12);
    constexpr double rounding = 1e-13;
    for (const int64_t n : {1, 2, 4, 5}) {
        for (int draw = 0; draw < 20; ++draw) {
            SCOPED_TRACE(n);
            const Tensor r = normal({n, n});
            const Tensor flat = r.flatten();
            EXPECT_LE(
                distance(make_mixer("bistochastic", n)->matrix(3 * flat), mixers::sinkhorn(to_eigen(3 * r))),
                2e-12);
            MixerOptions options;
            options.sinkhorn_backward = MixerOptions::Backward::unrolled;
            options.sinkhorn_iterations = 3;
            EXPECT_LE(distance(make_mixer("bistochastic", n, options)->matrix(flat),
                               mixers::sinkhorn_sweeps(to_eigen(r), 3)),
                      rounding);
            const Eigen::MatrixXd w = mixers::skew_part(to_eigen(r));
            EXPECT_LE(distance(make_mixer("cayley", n)->matrix(flat), mixers::cayley_iteration(w, 0.1, 2)),
                      rounding);
            options.cayley_iterations = 0;
            options.cayley_step = 0.7;
            EXPECT_LE(
                distance(make_mixer("cayley", n, options)->matrix(flat), mixers::cayley_transform(0.35 * w)),
                rounding);
            const Tensor skew = draw_skew(n);
            EXPECT_LE(distance(make_mixer("orthogonal", n)->matrix(upper_entries(skew)),
                               mixers::cayley_transform(-to_eigen(skew))),
                      rounding);

            const Tensor u = normal({n});
            const Tensor v = normal({n});
            const Tensor k = normal({n});
            const double beta = 0.1 + draw;
            const double gate = (draw + 0.5) / 20;
            const Tensor raw_beta = numbers({std::log(std::expm1(beta))});
            EXPECT_LE(distance(make_mixer("rotation", n)->matrix(torch::cat({u, v, raw_beta})),
                               mixers::plane_rotation(to_eigen(u), to_eigen(v), beta)),
                      rounding);
            EXPECT_LE(distance(make_mixer("cayley-hybrid", n)
                                   ->matrix(torch::cat({u, v, raw_beta, k, numbers({logit(gate)})})),
                               mixers::cayley_hybrid(to_eigen(u), to_eigen(v), to_eigen(k), beta, gate)),
                      rounding);
            EXPECT_LE(distance(make_mixer("householder", n)->matrix(torch::cat({k, numbers({logit(gate)})})),
                               mixers::householder(to_eigen(k), 2 * gate)),
                      rounding);

            const Tensor left = draw_skew(n - 1);
            const Tensor right = draw_skew(n - 1);
            const Tensor sigma = normal({n - 1});
            const Eigen::VectorXd values = to_eigen(sigma.tanh());
            EXPECT_LE(distance(make_mixer("spectral-sphere", n)
                                   ->matrix(torch::cat({upper_entries(left), upper_entries(right), sigma})),
                               mixers::spectral_sphere(mixers::cayley_transform(to_eigen(left)), values,
                                                       mixers::cayley_transform(to_eigen(right)))),
                      rounding);
            const int64_t rank = (n + 1) / 2;
            const Tensor frame = normal({n, rank});
            EXPECT_LE(distance(make_mixer("grassmann", n)->matrix(frame.flatten()),
                               mixers::projector(to_eigen(frame))),
                      rounding);
        }
    }
}

TEST(MixerPlain, EqualsTheMixtureOfPermutations) {
    torch::manual_seed(13);
    MixerOptions options;
    options.permutations = 9;
    for (const int64_t n : {4, 8}) {
        const auto mixer = make_mixer("permutation", n, options);
        ASSERT_EQ(mixer->size(), 9);
        const Tensor logits = normal({9});
        const auto list = mixers::published_permutations(static_cast<int>(n), 9);
        EXPECT_LE(distance(mixer->matrix(logits),
                           mixers::permutation_mixture(list, mixers::softmax(to_eigen(logits)))),
                  1e-14);
    }
    // Starts at the identity where that is in the list, otherwise at equal weights.
    EXPECT_LT(
        largest(
            make_mixer("permutation", 4, options)->matrix(make_mixer("permutation", 4, options)->start()) -
            torch::eye(4)),
        9 * std::exp(-8));
    options.permutations = 4;
    options.basis = MixerOptions::Basis::optimal;
    const auto optimal = make_mixer("permutation", 4, options);
    const auto set = mixers::largest_gap(4, 4).permutations;
    EXPECT_LE(distance(optimal->matrix(optimal->start().to(torch::kDouble)),
                       mixers::permutation_mixture(set, Eigen::VectorXd::Constant(4, 0.25))),
              1e-15);
    // All 24 of four streams in lexicographic order: the last one reverses them.
    const auto all = make_mixer("permutation", 4);
    ASSERT_EQ(all->size(), 24);
    Tensor last = torch::full({24}, -1000, torch::kDouble);
    last[23] = 0;
    EXPECT_LE(largest(all->matrix(last) - torch::eye(4, torch::kDouble).flip(0)), 1e-14);
    Tensor weights = torch::zeros({24, 24}, torch::kDouble);
    EXPECT_LE(largest(all->matrix(weights) - 0.25), 1e-14);
}

TEST(MixerOptions, TemperatureDividesLogits) {
    torch::manual_seed(14);
    MixerOptions options;
    options.temperature = 0.05;
    for (const std::string name : {"bistochastic", "permutation"}) {
        const auto cold = make_mixer(name, 4, options);
        const auto plain = make_mixer(name, 4);
        const Tensor raw = 0.2 * normal({cold->size()});
        EXPECT_LE(largest(cold->matrix(raw) - plain->matrix(20 * raw)), 1e-12) << name;
    }
}

TEST(MixerOptions, AreRefusedByName) {
    const auto refused = [](const std::string& name, int64_t n, const auto& change,
                            std::vector<std::string> words) {
        MixerOptions options;
        change(options);
        expect_refused([&] { make_mixer(name, n, options); }, words);
    };
    const auto nothing = [](MixerOptions&) {};
    refused("sphere", 4, nothing, {"sphere", "spectral-sphere", "cayley-hybrid", "identity"});
    refused("gaussian", 4, nothing, {"gaussian", "must be one of"});
    refused("identity", 0, nothing, {"streams", "0"});
    refused("permutation", 9, nothing, {"permutations", "9", "1..8"});
    refused("permutation", 3, [](auto& o) { o.permutations = 7; }, {"permutations 7", "6"});
    refused("grassmann", 4, [](auto& o) { o.rank = 5; }, {"rank 5", "4"});
    refused("bistochastic", 4, [](auto& o) { o.temperature = 0; }, {"temperature 0"});
    refused("bistochastic", 4, [](auto& o) { o.sinkhorn_iterations = -1; }, {"sinkhorn_iterations -1"});
    refused("bistochastic", 4,
            [](auto& o) {
                o.sinkhorn_iterations = 0;
                o.sinkhorn_backward = MixerOptions::Backward::unrolled;
            },
            {"sinkhorn_iterations 0", "unrolled"});
    refused("bistochastic", 4, [](auto& o) { o.gauss_seidel_sweeps = 0; }, {"gauss_seidel_sweeps 0"});
    refused("cayley", 4, [](auto& o) { o.cayley_iterations = -2; }, {"cayley_iterations -2"});
    refused("cayley", 4, [](auto& o) { o.cayley_step = 0; }, {"cayley_step 0"});
    refused("spectral-sphere", 4, [](auto& o) { o.sphere_bound = 0; }, {"sphere_bound 0"});
}

TEST(MixerStatistics, GiveGateAndBeta) {
    torch::manual_seed(15);
    const auto hybrid = make_mixer("cayley-hybrid", 4);
    const Tensor raw = normal({3, 5, 14}).requires_grad_(true);
    const auto statistics = hybrid->statistics(raw);
    ASSERT_EQ(statistics.size(), 2U);
    EXPECT_EQ(statistics[0].first, "gate");
    EXPECT_EQ(statistics[1].first, "beta");
    EXPECT_EQ(statistics[0].second.sizes(), torch::IntArrayRef({3, 5}));
    EXPECT_FALSE(statistics[0].second.requires_grad());
    EXPECT_LE(largest(statistics[0].second - raw.select(-1, 13).sigmoid()), 1e-15);
    EXPECT_LE(largest(statistics[1].second - (1 + raw.select(-1, 8).exp()).log()), 1e-14);
    EXPECT_EQ(make_mixer("rotation", 4)->statistics(normal({9}))[0].first, "beta");
    const Tensor k = normal({5});
    EXPECT_LE(largest(make_mixer("householder", 4)->statistics(k)[0].second - 2 * k[4].sigmoid()), 1e-15);
    EXPECT_TRUE(make_mixer("cayley", 4)->statistics(normal({16})).empty());
}

TEST(MixerRegulariser, IsFlatAtTheMiddleAndZeroAtTheEnds) {
    const auto hybrid = make_mixer("cayley-hybrid", 4);
    const auto value_and_slope = [&](double gate) {
        Tensor raw = torch::zeros({14}, torch::kDouble);
        raw[13] = gate;
        raw.requires_grad_(true);
        const Tensor penalty = hybrid->regulariser(raw);
        penalty.backward();
        return std::pair(penalty.item<double>(), raw.grad()[13].item<double>());
    };
    EXPECT_DOUBLE_EQ(value_and_slope(0).first, 1);
    EXPECT_EQ(value_and_slope(0).second, 0);
    EXPECT_GT(value_and_slope(-1).second, 0);  // downhill is towards the ends
    EXPECT_LT(value_and_slope(1).second, 0);
    EXPECT_NEAR(value_and_slope(40).first, 4 * std::exp(-40), 1e-25);
    EXPECT_FALSE(make_mixer("bistochastic", 4)->regulariser(normal({16})).defined());
}

TEST(MixerDefect, SeesWhatIsBroken) {
    // Of 1.5 I: HᵀH − I, H² − H, or sums, norm and difference from I.
    const std::map<std::string, double> other{
        {"orthogonal", 1.25}, {"rotation", 1.25}, {"cayley", 1.25}, {"grassmann", 0.75}, {"hyper", 0}};
    const Tensor one = torch::eye(4);
    for (const auto& name : mixer_names()) {
        const auto mixer = make_mixer(name, 4);
        const double wanted = other.count(name) > 0 ? other.at(name) : 0.5;
        EXPECT_LE(mixer->defect(one), 1e-15) << name;
        EXPECT_NEAR(mixer->defect(1.5 * one), wanted, 1e-6) << name;
    }
    Tensor negative = torch::eye(4);
    negative.narrow(0, 0, 2).narrow(1, 0, 2) += torch::tensor({{0.25, -0.25}, {-0.25, 0.25}});
    EXPECT_NEAR(make_mixer("bistochastic", 4)->defect(negative), 0.25, 1e-7);
}

}  // namespace
}  // namespace spectra::train
