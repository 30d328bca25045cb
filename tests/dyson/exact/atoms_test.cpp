#include "dyson/exact/atoms.hpp"

#include "base/special_values.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <cmath>
#include <random>
#include <string>

namespace spectra::dyson {
namespace {

using tests::draw_network;
using tests::kronecker;
using tests::make_network;

/// Plain draws of J at a modest width, by the definition of each branch.
class Plain {
public:
    Plain(const Network& network, int width) : network_(network), width_(width) {}

    Eigen::VectorXd singular_values() {
        Eigen::MatrixXd j = Eigen::MatrixXd::Identity(size(), size());
        for (std::size_t l = 0; l < network_.mixers.size(); ++l)
            tied_.push_back(gaussian(hyper() ? width_ : size()));
        for (std::size_t l = 0; l < network_.mixers.size(); ++l)
            j = (kronecker(network_.mixers[l], static_cast<int>(width_)) + branch(l)) * j;
        return j.jacobiSvd().singularValues();
    }

private:
    Eigen::Index size() const { return network_.streams * width_; }
    bool hyper() const {
        const auto* tied = std::get_if<TiedBranch>(&network_.branch);
        return tied != nullptr && tied->hyper_connection();
    }

    Eigen::MatrixXd gaussian(Eigen::Index n) {
        Eigen::MatrixXd x(n, n);
        for (auto& value : x.reshaped()) value = normal_(engine_) / std::sqrt(static_cast<double>(n));
        return x;
    }
    Eigen::MatrixXd haar(Eigen::Index n) {
        return Eigen::MatrixXd(gaussian(n).householderQr().householderQ());
    }
    Eigen::MatrixXd law(const std::vector<double>& t, Eigen::Index n) {
        Eigen::VectorXd values(n);
        for (Eigen::Index i = 0; i < n; ++i)
            values(i) = t[static_cast<std::size_t>(i) * t.size() / static_cast<std::size_t>(n)];
        return haar(n) * values.asDiagonal() * haar(n);
    }
    Eigen::MatrixXd outer(const Eigen::VectorXd& post, const Eigen::VectorXd& pre, const Eigen::MatrixXd& f) {
        Eigen::MatrixXd x(size(), size());
        for (Eigen::Index i = 0; i < post.size(); ++i)
            for (Eigen::Index k = 0; k < pre.size(); ++k)
                x.block(i * width_, k * width_, width_, width_) = post(i) * pre(k) * f;
        return x;
    }

    Eigen::MatrixXd branch(std::size_t l) {
        if (const auto* b = std::get_if<IsotropicBranch>(&network_.branch))
            return b->law.empty() ? Eigen::MatrixXd(std::sqrt(b->sigma2[l]) * gaussian(size()))
                                  : law(b->law.front(), size());
        if (const auto* b = std::get_if<HyperConnectionBranch>(&network_.branch))
            return outer(b->post[l], b->pre[l],
                         b->law.empty() ? Eigen::MatrixXd(std::sqrt(b->sigma2[l]) * gaussian(width_))
                                        : law(b->law.front(), width_));
        if (const auto* b = std::get_if<ActivationBranch>(&network_.branch)) {
            Eigen::VectorXd d(size());
            for (auto& value : d) value = normal_(engine_) > 0 ? 1 : 0;
            return std::sqrt(b->sigma_w2[l]) * (d.asDiagonal() * gaussian(size()));
        }
        const auto& b = std::get<TiedBranch>(network_.branch);
        const Eigen::MatrixXd f = std::sqrt(b.sigma2[l]) * tied_[first_with_weights(network_)[l]];
        return b.hyper_connection() ? outer(b.post[l], b.pre[l], f) : f;
    }

    Network network_;
    Eigen::Index width_;
    std::mt19937_64 engine_{11};
    std::normal_distribution<double> normal_;
    std::vector<Eigen::MatrixXd> tied_;  ///< of the set whose first layer it is
};

/// Every cluster of equal singular values of a draw is an atom found, and the other way round.
void expect_atoms_of_a_draw(const Network& network, const char* what, int width = 12) {
    const Eigen::VectorXd s = Plain(network, width).singular_values();
    std::vector<Density::Atom> drawn;
    for (Eigen::Index i = s.size() - 1; i >= 0;) {
        Eigen::Index end = i;
        while (end >= 0 && s(end) - s(i) <= 1e-9 * s(0)) --end;
        const auto count = static_cast<double>(i - end);
        if (count >= width / 4.0)
            drawn.push_back(
                {s(i) <= 1e-9 * s(0) ? -infinity : std::log(s(i)), count / static_cast<double>(s.size())});
        i = end;
    }
    const auto found = atoms(network);
    ASSERT_EQ(found.size(), drawn.size()) << what;
    for (std::size_t k = 0; k < found.size(); ++k) {
        EXPECT_NEAR(found[k].mass, drawn[k].mass, 1e-12) << what;
        if (drawn[k].log_place == -infinity)
            EXPECT_EQ(found[k].log_place, -infinity) << what;
        else
            EXPECT_NEAR(found[k].log_place, drawn[k].log_place, 1e-8) << what;
    }
}

class Draw {
public:
    explicit Draw(unsigned seed) : engine_(seed) {}

    Eigen::VectorXd vector(int n) {
        Eigen::VectorXd v(n);
        for (auto& value : v) value = normal_(engine_);
        return v;
    }
    Mixer matrix(int n) {
        Mixer m(n, n);
        for (auto& value : m.reshaped()) value = normal_(engine_) / std::sqrt(n);
        return m;
    }
    Mixer orthogonal(int n) { return Mixer(matrix(n).householderQr().householderQ()); }
    Mixer of_rank(int n, int rank) {
        Eigen::VectorXd s = Eigen::VectorXd::Zero(n);
        for (int i = 0; i < rank; ++i) s(i) = 1.0 / (1 + i);
        return orthogonal(n) * s.asDiagonal() * orthogonal(n);
    }
    Network hyper(std::vector<Mixer> mixers) {
        Network network;
        network.streams = static_cast<int>(mixers.front().rows());
        HyperConnectionBranch branch;
        for (std::size_t l = 0; l < mixers.size(); ++l) {
            branch.sigma2.push_back(0.3);
            branch.pre.push_back(vector(network.streams));
            branch.post.push_back(vector(network.streams));
        }
        network.mixers = std::move(mixers);
        network.branch = std::move(branch);
        return network;
    }
    Network tied(std::vector<Mixer> mixers) {
        Network network = hyper(std::move(mixers));
        const auto& branch = std::get<HyperConnectionBranch>(network.branch);
        network.branch = tied_branch(network.mixers.size(), 0.3, branch.pre[0], branch.post[0]);
        return network;
    }

private:
    std::mt19937_64 engine_;
    std::normal_distribution<double> normal_;
};

TEST(Atoms, ComeFromNoiselessSingularLayersWhereTheBranchIsIsotropic) {
    Network network = draw_network(mixers::Family::grassmann, 4, 3, 1, 0.3);
    EXPECT_EQ(atom_at_zero(network), 0);
    std::get<IsotropicBranch>(network.branch).sigma2[1] = 0;
    EXPECT_DOUBLE_EQ(atom_at_zero(network), 0.5);
    // Two noiseless layers of rank one whose product vanishes, between noisy ones.
    const Mixer nilpotent{{0, 1}, {0, 0}};
    EXPECT_EQ(atom_at_zero(make_network({nilpotent, nilpotent}, 1, {0, 0})), 1);
    EXPECT_EQ(atom_at_zero(make_network({nilpotent, nilpotent}, 1, {0, 0.1})), 0.5);
    EXPECT_EQ(atom_at_zero(make_network({nilpotent, nilpotent}, 1, {0.1, 0.1})), 0);
}

TEST(Atoms, WithoutNoiseAreTheSingularValuesOfTheProduct) {
    const Mixer a = Eigen::Vector3d(2, 0.5, 0).asDiagonal();
    const auto found = atoms(make_network({a, a}, 1, {0, 0}));
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[0].log_place, -infinity);
    EXPECT_NEAR(found[1].log_place, 2 * std::log(0.5), 1e-14);
    EXPECT_NEAR(found[2].log_place, 2 * std::log(2.0), 1e-14);
    for (const auto& atom : found) EXPECT_DOUBLE_EQ(atom.mass, 1.0 / 3);
    // An orthogonal product is one atom.
    const auto one = atoms(make_network({Draw(1).orthogonal(4), Draw(2).orthogonal(4)}, 1, {0, 0}));
    ASSERT_EQ(one.size(), 1u);
    EXPECT_DOUBLE_EQ(one[0].mass, 1);
}

TEST(Atoms, OfAnOrthogonalHyperConnection) {
    // theory: (n − 2)/n at s = 1 for one layer.
    for (const int n : {2, 3, 4, 6}) {
        const auto found = atoms(Draw(3).hyper({Draw(4).orthogonal(n)}));
        if (n == 2) {
            EXPECT_TRUE(found.empty());
            continue;
        }
        ASSERT_EQ(found.size(), 1u) << n;
        EXPECT_NEAR(found[0].log_place, 0, 1e-12);
        EXPECT_NEAR(found[0].mass, (n - 2.0) / n, 1e-14);
    }
}

/// Values that differ by 1e-4 and less are no atoms: noise reaches every direction, if only in several steps of which each
/// sees the product of such differences. Of two that are the same, the noise of one vector on either side leaves none.
TEST(Atoms, AreNoneWhereTheValuesOfALayerAreNearlyTheSame) {
    Network network = draw_network(mixers::Family::identity, 8, 1, 8, 0.01);
    Eigen::VectorXd pre(8), post(8), values(8);
    pre << 0.3, -0.2, 0.5, 0.1, 0.4, -0.6, 0.2, 0.7;
    post << 0.9, 0.4, -0.3, 0.8, 0.5, 0.2, -0.7, 0.6;
    values << 1, 1, 1 + 4e-6, 1 + 4e-6, 1 + 1.2e-4, 1 + 1.2e-4, 1 - 3e-4, 1 - 3e-4;
    network.mixers.front() = values.asDiagonal();
    network.branch = HyperConnectionBranch{{0.01}, {pre}, {post}};
    EXPECT_TRUE(atoms(network).empty());
    values(1) = values(2) = values(3) = 1;
    network.mixers.front() = values.asDiagonal();
    const auto found = atoms(network);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_NEAR(found.front().mass, 2.0 / 8, 1e-12);
    EXPECT_NEAR(found.front().log_place, 0, 1e-12);
}

TEST(Atoms, AreThoseOfDraws) {
    Draw draw(5);
    for (const int n : {2, 3, 4, 5, 6}) {
        expect_atoms_of_a_draw(draw.hyper({draw.orthogonal(n)}), "orthogonal, L = 1");
        expect_atoms_of_a_draw(draw.hyper({draw.matrix(n)}), "generic, L = 1");
        expect_atoms_of_a_draw(draw.hyper({draw.of_rank(n, n - 1)}), "rank n − 1, L = 1");
        expect_atoms_of_a_draw(draw.hyper({draw.of_rank(n, n / 2)}), "rank n/2, L = 1");
        expect_atoms_of_a_draw(draw.hyper({draw.orthogonal(n), draw.orthogonal(n)}), "orthogonal, L = 2");
        expect_atoms_of_a_draw(draw.hyper({draw.of_rank(n, n - 1), draw.of_rank(n, n / 2)}),
                               "singular, L = 2");
        expect_atoms_of_a_draw(
            draw.hyper({draw.of_rank(n, (n + 1) / 2), draw.orthogonal(n), draw.of_rank(n, n - 1)}),
            "singular, L = 3");
        expect_atoms_of_a_draw(draw.tied({draw.orthogonal(n), draw.orthogonal(n)}),
                               "tied, orthogonal, L = 2");
        expect_atoms_of_a_draw(
            draw.tied({draw.of_rank(n, n / 2), draw.of_rank(n, n - 1), draw.orthogonal(n)}),
            "tied, singular, L = 3");
    }
}

TEST(Atoms, OfMixersAndConnectionsThatShareTheirDirections) {
    Draw draw(6);
    // Streams read by their mean and written evenly, mixers that keep the mean: 1⊥ never meets the noise.
    for (const int depth : {1, 3, 8}) {
        Network network = draw_network(mixers::Family::bistochastic, 4, depth, 1, 0.3);
        HyperConnectionBranch branch;
        branch.sigma2.assign(static_cast<std::size_t>(depth), 0.3);
        branch.pre.assign(static_cast<std::size_t>(depth), Eigen::VectorXd::Constant(4, 0.25));
        branch.post.assign(static_cast<std::size_t>(depth), Eigen::VectorXd::Ones(4));
        network.branch = branch;
        const auto found = atoms(network);
        ASSERT_EQ(found.size(), 3u);
        if (depth < 8) expect_atoms_of_a_draw(network, "mean of streams, bistochastic");
    }
    // Noise that is written where the next layer does not look is no noise.
    Mixer kills = Mixer::Identity(4, 4);
    kills(0, 0) = 0;
    Network blind = draw.hyper({draw.orthogonal(4), kills});
    auto& branch = std::get<HyperConnectionBranch>(blind.branch);
    branch.post[0] = Eigen::VectorXd::Unit(4, 0);
    branch.pre[1](0) = 0;
    expect_atoms_of_a_draw(blind, "written where nothing reads");
    // A vanishing pre, a noiseless layer.
    branch.pre[1].setZero();
    expect_atoms_of_a_draw(blind, "reads nothing");
    branch.post[0] = draw.vector(4);
    branch.sigma2[0] = 0;
    expect_atoms_of_a_draw(blind, "no noise at all");
    // Tied, A's eigenvectors shared by pre and post.
    Network tied = draw.tied({Mixer(Eigen::Vector4d(1, -1, 0.5, 2).asDiagonal()),
                              Mixer(Eigen::Vector4d(2, 1, 0.5, -1).asDiagonal())});
    tied.branch = tied_branch(2, 0.3, Eigen::Vector4d(1, 0.5, 0, 0), Eigen::Vector4d(-1, 1, 0, 0));
    expect_atoms_of_a_draw(tied, "tied, diagonal");
}

TEST(Atoms, NeedNoSubspaceThatTheNoiseMisses) {
    // No vector escapes both pre and post here, and still a third of the singular values is √2 in every draw.
    Network network = Draw(1).hyper({Mixer{{0, -1, -1}, {-1, 1, 0}, {0, -1, 1}}});
    auto& branch = std::get<HyperConnectionBranch>(network.branch);
    branch.pre = {Eigen::Vector3d(1, 0, -1)};
    branch.post = {Eigen::Vector3d(0, 1, 0)};
    ASSERT_EQ(atoms(network).size(), 1u);
    EXPECT_NEAR(atoms(network)[0].log_place, 0.5 * std::log(2.0), 1e-12);
    expect_atoms_of_a_draw(network, "no subspace");
}

TEST(Atoms, OfManySmallIntegers) {
    // Entries −1, 0, 1 meet every degeneracy: singular and repeated values, noise that is not read or
    // written.
    std::mt19937_64 engine(3);
    std::uniform_int_distribution<int> three(-1, 1), streams(2, 4), layers(1, 4);
    Draw draw(1);
    int with_atoms = 0;
    for (int trial = 0; trial < 60; ++trial) {
        const int n = streams(engine), depth = layers(engine);
        std::vector<Mixer> mixers(static_cast<std::size_t>(depth), Mixer(n, n));
        for (Mixer& a : mixers)
            for (auto& x : a.reshaped()) x = three(engine);
        Network network = draw.hyper(mixers);
        auto& branch = std::get<HyperConnectionBranch>(network.branch);
        for (std::size_t l = 0; l < mixers.size(); ++l) {
            for (auto& x : branch.pre[l]) x = three(engine);
            for (auto& x : branch.post[l]) x = three(engine);
        }
        if (trial % 3 == 0) {
            const Eigen::VectorXd pre = branch.pre[0], post = branch.post[0];
            network.branch = tied_branch(mixers.size(), 0.3, pre, post);
        }
        if (trial % 3 == 1) {
            TiedBranch turns{branch.sigma2, branch.pre, branch.post};
            for (std::size_t l = 0; l < mixers.size(); ++l) turns.weights.push_back(static_cast<int>(l % 2));
            turns.sigma2.back() = 1.2;
            network.branch = turns;
        }
        with_atoms += atoms(network).empty() ? 0 : 1;
        expect_atoms_of_a_draw(network, ("trial " + std::to_string(trial)).c_str(), 8);
    }
    EXPECT_GT(with_atoms, 15);
}

TEST(Atoms, SurviveDepth) {
    // The noise stays in the mean of the streams: forty bistochastic layers leave 1⊥ to their product alone.
    const int depth = 40, n = 4;
    Network network = draw_network(mixers::Family::bistochastic, n, depth, 1, 0.3);
    const Eigen::MatrixXd q = Eigen::MatrixXd(Eigen::VectorXd::Ones(n)).householderQr().householderQ();
    const Eigen::MatrixXd beside = q.rightCols(n - 1);
    double expected = 0;
    for (const Mixer& a : network.mixers)
        expected += std::log(std::abs((beside.transpose() * a * beside).determinant()));
    HyperConnectionBranch branch;
    branch.sigma2.assign(depth, 0.3);
    branch.pre.assign(depth, Eigen::VectorXd::Constant(n, 1.0 / n));
    branch.post.assign(depth, Eigen::VectorXd::Ones(n));
    network.branch = branch;
    const auto found = atoms(network);
    ASSERT_EQ(found.size(), 3u);
    double sum = 0;
    for (const auto& atom : found) {
        sum += atom.log_place;
        EXPECT_DOUBLE_EQ(atom.mass, 0.25);
    }
    EXPECT_NEAR(sum, expected, 1e-9 * std::abs(expected));
    EXPECT_LT(found[0].log_place, std::log(1e-16));
}

TEST(Atoms, OfAnActivationWithASingularMixer) {
    // One layer of ReLU: a draw has the mass its own zero slopes give, to the fluctuation of their number.
    Draw draw(7);
    for (const int n : {1, 2, 3, 4}) {
        Network network;
        network.streams = n;
        network.mixers = {n == 1 ? Mixer(Mixer::Zero(1, 1)) : draw.of_rank(n, n / 2)};
        network.branch = ActivationBranch{{0.6}, Activation{ActivationKind::relu}};
        const int width = 240 / n;
        const Eigen::VectorXd s = Plain(network, width).singular_values();
        const double drawn =
            static_cast<double>((s.array() < 1e-9 * s(0)).count()) / static_cast<double>(s.size());
        // Each site loses between 0 and n dimensions.
        EXPECT_NEAR(atom_at_zero(network), drawn, 4 * 0.5 / std::sqrt(width)) << n;
        EXPECT_GT(atom_at_zero(network), 0) << n;
    }
    // n = 1, A = 0: a row vanishes with its slope.
    Network one;
    one.streams = 1;
    one.mixers = {Mixer::Zero(1, 1)};
    one.branch = ActivationBranch{{0.6}, Activation{ActivationKind::bernoulli, 0.3}};
    EXPECT_NEAR(atom_at_zero(one), 0.7, 1e-15);
    // Rank one of equal rows: k dead streams lose k − 1. Two streams: both dead in ¼ of the sites, ⅛ of all.
    one.streams = 2;
    one.mixers = {Mixer::Ones(2, 2)};
    one.branch = ActivationBranch{{0.6}, Activation{ActivationKind::relu}};
    EXPECT_NEAR(atom_at_zero(one), 0.125, 1e-15);
    // Slopes that never vanish leave no atom.
    one.branch = ActivationBranch{{0.6}, Activation{ActivationKind::leaky_relu}};
    EXPECT_EQ(atom_at_zero(one), 0);
}

TEST(Atoms, OfBranchesWithGivenSingularValues) {
    Draw draw(8);
    // Rank one of four and a branch t·(orthogonal): half of all singular values stay t.
    Network network = make_network({draw.of_rank(4, 1)}, 1, {0});
    std::get<IsotropicBranch>(network.branch).law = {{0.7}};
    expect_atoms_of_a_draw(network, "rank one and an orthogonal branch");
    ASSERT_EQ(atoms(network).size(), 1u);
    EXPECT_NEAR(atoms(network)[0].mass, 0.5, 1e-14);
    // A branch of rank one third: A's own equal values show through.
    network = make_network({Draw(9).orthogonal(3)}, 1, {0});
    std::get<IsotropicBranch>(network.branch).law = {{0.7, 0, 0}};
    expect_atoms_of_a_draw(network, "an orthogonal mixer and a branch of low rank");
    // Both singular: at zero.
    network = make_network({draw.of_rank(3, 1)}, 1, {0});
    std::get<IsotropicBranch>(network.branch).law = {{0.9, 0.8, 0.7, 0, 0, 0}};
    expect_atoms_of_a_draw(network, "both singular");
    EXPECT_NEAR(atom_at_zero(network), 2.0 / 3 + 0.5 - 1, 1e-14);
    // No mixer: the values themselves.
    network = make_network({Mixer::Zero(2, 2)}, 1, {0});
    std::get<IsotropicBranch>(network.branch).law = {{0.9, 0.7}};
    expect_atoms_of_a_draw(network, "no mixer");
    // Hyper-connection, a branch of rank one half and a mixer of rank n − 1: half of 1/n.
    network = draw.hyper({draw.of_rank(4, 3)});
    std::get<HyperConnectionBranch>(network.branch).law = {{0.9, 0}};
    EXPECT_NEAR(atom_at_zero(network), 0.125, 1e-14);
    const Eigen::VectorXd s = Plain(network, 24).singular_values();
    EXPECT_EQ((s.array() < 1e-9 * s(0)).count(), 12);
}

TEST(Atoms, OfABranchThatItsMixerDoesNotTouch) {
    Network network;
    network.streams = 3;
    Mixer mixer = Mixer::Zero(3, 3);
    mixer(0, 1) = 0.3;
    network.mixers = {mixer};
    HyperConnectionBranch branch;
    branch.law = {{0, 0.2, 0.2, 0.5}};
    branch.pre = {Eigen::Vector3d(3, 0, 4)};
    branch.post = {Eigen::Vector3d(0, 2, 0)};
    network.branch = branch;
    // J maps the second stream to the first, and a direction of the others to the second.
    const auto found = atoms(network);
    ASSERT_EQ(found.size(), 4U);
    EXPECT_EQ(found[0].log_place, -infinity);
    EXPECT_NEAR(found[0].mass, (1 + 0.25) / 3, 1e-14);
    EXPECT_NEAR(found[1].log_place, std::log(0.3), 1e-14);
    EXPECT_NEAR(found[1].mass, 1.0 / 3, 1e-14);
    EXPECT_NEAR(found[2].log_place, std::log(2), 1e-14);
    EXPECT_NEAR(found[2].mass, 0.5 / 3, 1e-14);
    EXPECT_NEAR(found[3].log_place, std::log(5), 1e-14);
    EXPECT_NEAR(found[3].mass, 0.25 / 3, 1e-14);
    // Touched, they are bands.
    network.mixers.front()(0, 0) = 0.1;
    EXPECT_LT(atoms(network).size(), 4U);
}

}  // namespace
}  // namespace spectra::dyson
