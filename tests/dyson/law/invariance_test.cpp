#include "base/parallel.hpp"
#include "dyson/equations/scalar.hpp"
#include "dyson/exact/moments.hpp"
#include "dyson/exact/support_bounds.hpp"
#include "dyson/law/theory.hpp"
#include "dyson/solve/green_point.hpp"
#include "dyson/solve/newton.hpp"
#include "mixers/mixer.hpp"
#include "mixers/orthogonal.hpp"
#include "support/networks.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

/// Networks that differ, but have the same law: J' is J up to orthogonal factors, a transposition or a scale, for the
/// same random branches. Each identity is tested on random networks of every branch it holds for, at random ω of the
/// upper half plane, by the operator-valued and the scalar theory; and each must be missed if it is misstated.
///
/// Throughout, Y_l = A_l ⊗ 1 + X_l, J = Y_L ··· Y_1, and every Q_l is orthogonal.
namespace spectra::dyson {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// How far apart g of two descriptions of one law may be, relative to |g|. Newton's last step is below 1e-10 and it
/// converges quadratically, so that rounding remains: 5e-13 was the most of 33,000 networks.
constexpr double tolerance = 1e-11;  // a tenth of the step at which points are certified

#if defined(__SANITIZE_ADDRESS__)
constexpr int networks_per_identity = 30;
#else
constexpr int networks_per_identity = 250;
#endif

class Draws {
public:
    explicit Draws(std::uint32_t sample) : stream_(20, random::Purpose::test, 0, sample) {}

    int below(int count) { return std::min(count - 1, static_cast<int>(stream_.uniform() * count)); }
    double between(double low, double high) { return std::lerp(low, high, stream_.uniform()); }
    /// A factor between 1/3 and 3, and never near 1: what is scaled by it must show.
    double factor() { return std::exp((below(2) == 0 ? -1 : 1) * between(0.3, std::log(3.0))); }
    VectorXd vector(int n) {
        return VectorXd::NullaryExpr(n, [&] { return stream_.normal(); });
    }
    MatrixXd rotation(int n) { return mixers::draw_orthogonal(n, stream_); }
    MatrixXd permutation(int n) {
        std::vector<int> order(static_cast<std::size_t>(n));
        std::iota(order.begin(), order.end(), 0);
        MatrixXd out = MatrixXd::Zero(n, n);
        for (int i = 0; i < n; ++i) {
            std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(i + below(n - i))]);
            out(i, order[static_cast<std::size_t>(i)]) = 1;
        }
        return out;
    }
    /// Any mixer: full, singular, orthogonal or bistochastic, of any scale.
    MatrixXd mixer(int n) {
        using mixers::Family;
        constexpr std::array families{Family::gaussian, Family::orthogonal, Family::bistochastic,
                                      Family::grassmann};
        mixers::Recipe recipe;
        recipe.family = families[static_cast<std::size_t>(below(static_cast<int>(families.size())))];
        return factor() * mixers::draw(recipe, n, stream_);
    }

private:
    random::Stream stream_;
};

enum class Kind {
    isotropic,
    isotropic_law,
    relu,
    hyper_connection,
    hyper_connection_law,
    tied,
    tied_hyper_connection
};
const std::vector<Kind> every_kind{Kind::isotropic,
                                   Kind::isotropic_law,
                                   Kind::relu,
                                   Kind::hyper_connection,
                                   Kind::hyper_connection_law,
                                   Kind::tied,
                                   Kind::tied_hyper_connection};
const std::vector<Kind> rotation_invariant{
    Kind::isotropic, Kind::isotropic_law,        Kind::hyper_connection, Kind::hyper_connection_law,
    Kind::tied,      Kind::tied_hyper_connection};
/// Those with independent weights in every layer, or with weights that act inside the streams only.
const std::vector<Kind> gauge_invariant{Kind::isotropic, Kind::isotropic_law, Kind::hyper_connection,
                                        Kind::hyper_connection_law, Kind::tied_hyper_connection};
const std::vector<Kind> reads_and_writes{Kind::hyper_connection, Kind::hyper_connection_law,
                                         Kind::tied_hyper_connection};

/// The parts of a branch that identities change, whichever it is; null where it has none.
struct Parts {
    std::vector<double>* sigma2 = nullptr;
    BranchLaw* law = nullptr;
    std::vector<VectorXd>* pre = nullptr;
    std::vector<VectorXd>* post = nullptr;
    std::vector<int>* weights = nullptr;
};

Parts parts(Network& network) {
    if (auto* b = std::get_if<IsotropicBranch>(&network.branch)) return {&b->sigma2, &b->law};
    if (auto* b = std::get_if<ActivationBranch>(&network.branch)) return {&b->sigma_w2};
    if (auto* b = std::get_if<HyperConnectionBranch>(&network.branch))
        return {&b->sigma2, &b->law, &b->pre, &b->post};
    auto& b = std::get<TiedBranch>(network.branch);
    return {&b.sigma2, nullptr, &b.pre, &b.post, &b.weights};
}

/// Calls `change` with every list that has an entry per layer.
template <class Change>
void for_each_list(Network& network, const Change& change) {
    const Parts p = parts(network);
    change(network.mixers);
    if (!p.sigma2->empty()) change(*p.sigma2);
    if (p.law != nullptr && !p.law->empty()) change(*p.law);
    if (p.pre != nullptr && !p.pre->empty()) change(*p.pre);
    if (p.post != nullptr && !p.post->empty()) change(*p.post);
    if (p.weights != nullptr && !p.weights->empty()) change(*p.weights);
}

/// X_l times c.
void scale_noise(Network& network, std::size_t layer, double c) {
    const Parts p = parts(network);
    if (!p.sigma2->empty()) (*p.sigma2)[layer] *= c * c;
    if (p.law != nullptr && !p.law->empty())
        for (double& t : (*p.law)[layer]) t *= c;
}

/// Another layer like `layer` after it, with the same noise.
void repeat_layer(Network& network, std::size_t layer) {
    for_each_list(network, [&](auto& list) {
        const auto same = list[layer];
        list.insert(list.begin() + static_cast<std::ptrdiff_t>(layer) + 1, same);
    });
}

/// Y = B after `layer`, without noise.
void insert_noiseless(Network& network, std::size_t layer, const MatrixXd& b) {
    repeat_layer(network, layer);
    scale_noise(network, layer + 1, 0);
    network.mixers[layer + 1] = b;
}

Network draw_network(Kind kind, Draws& draws) {
    const bool tied = kind == Kind::tied || kind == Kind::tied_hyper_connection;
    const bool few =
        kind == Kind::relu;  // so that the sites are enumerated, n·L ≤ 12: a sample has no symmetry
    Network network;
    const int n = network.streams = 1 + draws.below(few ? 2 : tied ? 3 : 4);
    const int depth = 1 + draws.below(few ? 2 : tied ? 3 : 5);
    network.width = 1;
    std::vector<double> sigma2;
    BranchLaw law;
    std::vector<VectorXd> pre, post;
    std::vector<int> weights;
    for (int l = 0; l < depth; ++l) {
        network.mixers.push_back(draws.mixer(n));
        sigma2.push_back(draws.below(5) == 0 ? 0.0 : std::exp(draws.between(-4, 0.5)));
        law.push_back({draws.between(0, 0.5), draws.between(0.1, 1), draws.between(0.5, 2)});
        pre.push_back(draws.vector(n));
        post.push_back(draws.vector(n));
        weights.push_back(draws.below(2));
    }
    switch (kind) {
        case Kind::isotropic:
            network.branch = IsotropicBranch{sigma2};
            break;
        case Kind::isotropic_law:
            network.branch = IsotropicBranch{{}, law};
            break;
        case Kind::relu:
            network.branch = ActivationBranch{sigma2, activation_from_name("relu")};
            break;
        case Kind::hyper_connection:
            network.branch = HyperConnectionBranch{sigma2, pre, post};
            break;
        case Kind::hyper_connection_law:
            network.branch = HyperConnectionBranch{{}, pre, post, law};
            break;
        case Kind::tied:
            network.branch = TiedBranch{sigma2, {}, {}, weights};
            break;
        case Kind::tied_hyper_connection:
            network.branch = TiedBranch{sigma2, pre, post, weights};
            break;
    }
    return network;
}

/// Two networks with J' = scale·J in law.
struct Pair {
    Network one, other;
    double scale = 1;
};

/// An identity. `misstated` asks for a plausible mistake instead, which must be noticed.
struct Identity {
    std::string name;
    std::vector<Kind> kinds;
    Pair (*draw)(Kind kind, Draws& draws, bool misstated);
    bool scalar = true;  ///< whether the scalar theory has it too
    int fewest_streams = 1;
    int fewest_layers = 1;
};

/// What GoogleTest prints of it.
void PrintTo(const Identity& identity, std::ostream* out) {
    *out << identity.name;
}

/// Y_l → Q_l Y_l Q_{l−1}ᵀ: the inner Q cancel in J' = Q_L J Q_0ᵀ.
///
/// pre and post turn with the streams they read and write. An isotropic X_l is left as it is: Q_l X_l Q_{l−1}ᵀ has its
/// law, and layers are independent. One F that is shared by layers must be turned in the same way in all of them: for a
/// tied isotropic branch all Q_l have to be one Q, while that of a hyper-connection acts within streams and is not
/// touched by any. D_l W_l of an activation allows permutations: P D Pᵀ is a diagonal matrix of the same law.
void turn(Network& network, const std::vector<MatrixXd>& q, bool misstated) {
    const Parts p = parts(network);
    for (std::size_t l = 0; l < network.mixers.size(); ++l) {
        network.mixers[l] = (q[l + 1] * network.mixers[l]).eval();
        if (!misstated) network.mixers[l] *= q[l].transpose();
        if (p.pre == nullptr || p.pre->empty()) continue;
        (*p.pre)[l] = (q[l] * (*p.pre)[l]).eval();
        (*p.post)[l] = (q[l + 1] * (*p.post)[l]).eval();
    }
}

Pair conjugation(Kind kind, Draws& draws, bool misstated) {
    Pair pair{draw_network(kind, draws), {}};
    pair.other = pair.one;
    turn(pair.other, std::vector<MatrixXd>(pair.one.mixers.size() + 1, draws.rotation(pair.one.streams)),
         misstated);
    return pair;
}

Pair gauge(Kind kind, Draws& draws, bool misstated) {
    Pair pair{draw_network(kind, draws), {}};
    pair.other = pair.one;
    std::vector<MatrixXd> q;
    for (std::size_t l = 0; l <= pair.one.mixers.size(); ++l) q.push_back(draws.rotation(pair.one.streams));
    turn(pair.other, q, misstated);
    return pair;
}

Pair permutation(Kind kind, Draws& draws, bool misstated) {
    Pair pair{draw_network(kind, draws), {}};
    pair.other = pair.one;
    std::vector<MatrixXd> q(1, draws.permutation(pair.one.streams));
    for (std::size_t l = 0; l < pair.one.mixers.size(); ++l)
        q.push_back(kind == Kind::tied ? q[0] : draws.permutation(pair.one.streams));
    turn(pair.other, q, misstated);
    return pair;
}

/// Jᵀ = Y_1ᵀ ··· Y_Lᵀ has the singular values of J. X_lᵀ has the law of X_l, also jointly where F is shared, and
/// (post preᵀ ⊗ F)ᵀ = pre postᵀ ⊗ Fᵀ. An activation is left out: (DW)ᵀ = WᵀD is not of its form.
Pair reversal(Kind kind, Draws& draws, bool misstated) {
    Pair pair{draw_network(kind, draws), {}};
    pair.other = pair.one;
    for_each_list(pair.other, [](auto& list) { std::reverse(list.begin(), list.end()); });
    const Parts p = parts(pair.other);
    if (p.pre != nullptr) std::swap(*p.pre, *p.post);
    if (misstated) return pair;
    for (Mixer& a : pair.other.mixers) a.transposeInPlace();
    return pair;
}

/// c Y_l in place of Y_l for one layer: c J.
Pair scaling(Kind kind, Draws& draws, bool misstated) {
    Pair pair{draw_network(kind, draws), {}, draws.factor()};
    pair.other = pair.one;
    const auto layer = static_cast<std::size_t>(draws.below(pair.one.depth()));
    pair.other.mixers[layer] *= pair.scale;
    if (!misstated) scale_noise(pair.other, layer, pair.scale);
    return pair;
}

/// Two layers without noise, C B, are one layer CB without noise. In the scalar theory only where they are multiples of
/// orthogonal matrices: it multiplies the singular values of layers as if these were free.
template <bool orthogonal>
Pair merging(Kind kind, Draws& draws, bool misstated) {
    Pair pair{draw_network(kind, draws), {}};
    pair.other = pair.one;
    const auto layer = static_cast<std::size_t>(draws.below(pair.one.depth()));
    const auto draw = [&]() -> MatrixXd {
        if (!orthogonal) return draws.mixer(pair.one.streams);
        return draws.factor() * draws.rotation(pair.one.streams);
    };
    const MatrixXd b = draw(), c = draw();
    insert_noiseless(pair.one, layer, c);
    insert_noiseless(pair.one, layer, b);  // between the layer and C
    const MatrixXd wrong =
        orthogonal ? b : b * c;  // the order of rotations does not show in an outermost layer
    insert_noiseless(pair.other, layer, misstated ? wrong : c * b);
    return pair;
}

/// B Y_l = B A_l + B X_l is one layer, if B X_l is a branch of the same kind. For a hyper-connection it is for any B,
/// which acts on what is written: post → B post. For others B = c Q: Q X_l has the law of X_l, so σ → cσ, where Q is any
/// rotation for independent isotropic branches, a permutation for an activation (see `turn`), and 1 where F is shared.
Pair absorption(Kind kind, Draws& draws, bool misstated) {
    Pair pair{draw_network(kind, draws), {}};
    pair.other = pair.one;
    const auto layer = static_cast<std::size_t>(draws.below(pair.one.depth()));
    const int n = pair.one.streams;
    const double c = draws.factor();
    MatrixXd b = c * MatrixXd::Identity(n, n);
    const Parts p = parts(pair.other);
    if (p.pre != nullptr && !p.pre->empty()) {
        b = draws.mixer(n);
        if (!misstated) (*p.post)[layer] = (b * (*p.post)[layer]).eval();
    } else {
        if (kind == Kind::relu) b *= draws.permutation(n);
        if (kind == Kind::isotropic || kind == Kind::isotropic_law) b *= draws.rotation(n);
        if (!misstated) scale_noise(pair.other, layer, c);
    }
    insert_noiseless(pair.one, layer, b);
    pair.other.mixers[layer] = (b * pair.one.mixers[layer]).eval();
    return pair;
}

/// n streams of width 2p as 2n streams of width p: A ⊗ 1_{2p} = (A ⊗ 1_2) ⊗ 1_p, while an isotropic X of N = 2np rows
/// does not refer to streams.
Pair splitting_of_streams(Kind kind, Draws& draws, bool misstated) {
    Pair pair{draw_network(kind, draws), {}};
    pair.other = pair.one;
    pair.other.streams *= 2;
    for (Mixer& a : pair.other.mixers) a = tests::kronecker(a, 2);
    if (misstated)
        for (std::size_t l = 0; l < pair.one.mixers.size(); ++l) scale_noise(pair.other, l, std::sqrt(0.5));
    return pair;
}

/// The noise of one layer on two. A product of two noisy layers has a term with both noises, so no identity holds for
/// isotropic branches at finite depth. For hyper-connections let the second layer not read what the first one writes:
///
///     (A + (A u) vᵀ ⊗ F_2) (1 + u vᵀ ⊗ F_1)
///         = A + (A u) vᵀ ⊗ F_1 + (A u) vᵀ ⊗ F_2 + (A u)(vᵀu) vᵀ ⊗ F_2 F_1
///         = A + (A u) vᵀ ⊗ (F_1 + F_2)                                         if vᵀu = 0.
///
/// Independent Gaussian F_1 and F_2 add up to one of variance σ_1² + σ_2²; shared ones, σ_1 F and σ_2 F, to (σ_1 + σ_2)F.
Pair splitting_of_noise(Kind kind, Draws& draws, bool misstated) {
    Pair pair{draw_network(kind, draws), {}};
    const auto layer = static_cast<std::size_t>(draws.below(pair.one.depth()));
    const int n = pair.one.streams;
    const VectorXd u = draws.vector(n);
    VectorXd v = draws.vector(n);
    v -= v.dot(u) / u.squaredNorm() * u;
    const double first = draws.between(0.3, 1), second = draws.between(0.3, 1);
    const bool shared = (kind == Kind::tied_hyper_connection) != misstated;
    const Parts p = parts(pair.one);
    (*p.pre)[layer] = v;
    (*p.post)[layer] = pair.one.mixers[layer] * u;
    (*p.sigma2)[layer] = second * second;
    pair.other = pair.one;
    (*p.sigma2)[layer] = shared ? (first + second) * (first + second) : first * first + second * second;
    repeat_layer(pair.other, layer);
    const Parts two = parts(pair.other);
    (*two.sigma2)[layer] = first * first;
    (*two.post)[layer] = u;
    pair.other.mixers[layer] = MatrixXd::Identity(n, n);
    return pair;
}

/// Only the product of σ, pre and post matters.
Pair division_of_strength(Kind kind, Draws& draws, bool misstated) {
    Pair pair{draw_network(kind, draws), {}};
    pair.other = pair.one;
    const Parts p = parts(pair.other);
    for (std::size_t l = 0; l < pair.one.mixers.size(); ++l) {
        const double a = draws.factor(), b = draws.factor();
        (*p.pre)[l] *= a;
        (*p.post)[l] *= b;
        scale_noise(pair.other, l, misstated ? 1 / a : 1 / (a * b));
    }
    return pair;
}

const std::vector<Identity> identities{
    {"Conjugation", rotation_invariant, conjugation, true, 2, 2},
    {"RotationOfEveryLayer", gauge_invariant, gauge, true, 2, 2},
    {"Permutation", every_kind, permutation, true, 2, 2},
    {"Reversal", rotation_invariant, reversal, true, 2, 2},
    {"Scaling", every_kind, scaling},
    {"MergingOfOrthogonalLayers", {Kind::isotropic}, merging<true>, true, 2},
    {"MergingOfNoiselessLayers", every_kind, merging<false>, false, 2},
    {"AbsorptionOfANoiselessLayer", every_kind, absorption},
    {"SplittingOfStreams", {Kind::isotropic, Kind::isotropic_law, Kind::tied}, splitting_of_streams},
    {"SplittingOfNoise", {Kind::hyper_connection, Kind::tied_hyper_connection}, splitting_of_noise, false, 2},
    {"DivisionOfStrength", reads_and_writes, division_of_strength, false},
};

/// |g − g'|/|g| at a few ω; NaN if a point is not certified.
double operator_valued_difference(const Pair& pair, const std::vector<Complex>& omega) {
    Options options;
    options.threads = 1;
    std::vector<Complex> scaled;
    for (const Complex w : omega) scaled.push_back(pair.scale * w);
    const Green one = green(pair.one, omega, options), other = green(pair.other, scaled, options);
    double worst = 0;
    for (std::size_t k = 0; k < omega.size(); ++k) {
        const double apart = std::abs(pair.scale * other.g[k] - one.g[k]) / std::abs(one.g[k]);
        if (!std::isnan(worst) && !(apart <= worst)) worst = apart;
    }
    return worst;
}

double scalar_difference(const Pair& pair, const std::vector<Complex>& omega) {
    constexpr double above = 4;  // e-folds above the support, where far() is good enough to start from
    const auto one = make_scalar(pair.one), other = make_scalar(pair.other);
    const double top = support_bounds(pair.one).log_upper + above;
    double worst = 0;
    for (const Complex w : omega) {
        const GreenPoint a = green_by_descent(*one, w, top);
        const GreenPoint b = green_by_descent(*other, pair.scale * w, top + std::log(pair.scale));
        const double apart = a.certified && b.certified ? std::abs(pair.scale * b.g - a.g) / std::abs(a.g)
                                                        : std::numeric_limits<double>::quiet_NaN();
        if (!std::isnan(worst) && !(apart <= worst)) worst = apart;
    }
    return worst;
}

std::vector<Complex> draw_omega(const Network& network, Draws& draws) {
    std::vector<Complex> omega;
    for (int k = 0; k < 2; ++k) {
        const double size = std::sqrt(mean_square(network)) * std::exp(draws.between(-1.5, 1));
        omega.push_back(std::polar(size, draws.between(0.1, 0.9) * std::numbers::pi));
    }
    return omega;
}

struct Outcome {
    std::string where;
    double operator_valued = 0, scalar = 0;
};

Outcome compare(const Identity& identity, int number, bool misstated) {
    Draws draws(static_cast<std::uint32_t>(number));
    const Kind kind = identity.kinds[static_cast<std::size_t>(number) % identity.kinds.size()];
    Pair pair = identity.draw(kind, draws, misstated);
    // The mistakes do not show in one stream, and some not in one layer.
    while (pair.one.streams < identity.fewest_streams || pair.one.depth() < identity.fewest_layers)
        pair = identity.draw(kind, draws, misstated);
    Outcome outcome;
    outcome.where = branch_name(pair.one.branch) + ", network " + std::to_string(number) +
                    ", n = " + std::to_string(pair.one.streams) + ", L = " + std::to_string(pair.one.depth());
    const auto omega = draw_omega(pair.one, draws);
    outcome.operator_valued = operator_valued_difference(pair, omega);
    if (kind == Kind::isotropic && identity.scalar) outcome.scalar = scalar_difference(pair, omega);
    return outcome;
}

std::vector<Outcome> compare_all(const Identity& identity, int count, bool misstated) {
    std::vector<Outcome> outcomes(static_cast<std::size_t>(count));
    parallel_for(outcomes.size(), 0,
                 [&](std::size_t k) { outcomes[k] = compare(identity, static_cast<int>(k), misstated); });
    return outcomes;
}

/// Networks where solvers that were tried certified a wrong point, g = 0 to rounding.
TEST(InvarianceOf, NetworksThatHadAWrongPoint) {
    for (const auto& [name, number] : {std::pair{"Scaling", 2591}, {"AbsorptionOfANoiselessLayer", 2171}}) {
        const auto identity = std::find_if(identities.begin(), identities.end(),
                                           [&](const Identity& one) { return one.name == std::string(name); });
        ASSERT_NE(identity, identities.end());
        const Outcome outcome = compare(*identity, number, false);
        EXPECT_LE(outcome.operator_valued, tolerance) << outcome.where;
        EXPECT_LE(outcome.scalar, tolerance) << outcome.where;
    }
}

class Invariance : public ::testing::TestWithParam<Identity> {
protected:
    static void expect_on(int count) {
        double worst = 0;
        int uncertified = 0;
        for (const Outcome& one : compare_all(GetParam(), count, false)) {
            if (std::isnan(one.operator_valued) || std::isnan(one.scalar)) {
                ++uncertified;
                RecordProperty("uncertified", one.where);
                continue;
            }
            EXPECT_LE(one.operator_valued, tolerance) << "ov, " << one.where;
            EXPECT_LE(one.scalar, tolerance) << "scalar, " << one.where;
            worst = std::max({worst, one.operator_valued, one.scalar});
        }
        // Seen: hyper-connection network 1354 of DivisionOfStrength, which the solver itself reports as not certified.
        EXPECT_LE(uncertified, count / 1000);
        RecordProperty("largest_difference", fmt::format("{:.1e}", worst));
    }
};

TEST_P(Invariance, LeavesTheLaw) {
    expect_on(networks_per_identity);
}

// ctest -C Full -L full
TEST_P(Invariance, DISABLED_LeavesTheLawOfManyNetworks) {
    expect_on(3000);
}

TEST_P(Invariance, IsNoticedIfMisstated) {
    constexpr int count = 40;
    int noticed = 0;
    for (const Outcome& one : compare_all(GetParam(), count, true))
        noticed += one.operator_valued > 1e-6 ? 1 : 0;
    EXPECT_GE(noticed, count / 2);
}

INSTANTIATE_TEST_SUITE_P(All, Invariance, ::testing::ValuesIn(identities),
                         [](const auto& identity) { return identity.param.name; });

}  // namespace
}  // namespace spectra::dyson
