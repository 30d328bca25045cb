#include "network/network.hpp"

#include "base/special_values.hpp"
#include "support/expect_refused.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace spectra {
namespace {

using testing::expect_refused;

Network valid() {
    Network network;
    network.streams = 2;
    network.width = 3;
    network.mixers.assign(3, Mixer::Identity(2, 2));
    network.branch = IsotropicBranch{{0.1, 0.0, 0.3}};
    return network;
}

TEST(Network, SaysItsSizes) {
    const Network network = valid();
    EXPECT_NO_THROW(check(network));
    EXPECT_EQ(network.depth(), 3);
    EXPECT_EQ(network.size(), 6);
    EXPECT_EQ(branch_name(network.branch), "isotropic");
    EXPECT_EQ(sigma2(network), (std::vector<double>{0.1, 0.0, 0.3}));
}

TEST(Network, LimitsAreAccepted) {
    Network network = valid();
    network.width = max_width;
    EXPECT_NO_THROW(check(network));
    network.streams = max_streams;
    network.mixers.assign(1, Mixer::Identity(max_streams, max_streams));
    network.branch = IsotropicBranch{{0.1}};
    EXPECT_NO_THROW(check(network));
}

TEST(Network, RefusesSizesOutOfRange) {
    for (const int bad : {-1, 0, max_streams + 1, std::numeric_limits<int>::min()}) {
        Network network = valid();
        network.streams = bad;
        expect_refused([&] { check(network); }, {"streams", "1 to 512"});
    }
    for (const int bad : {-1, 0, max_width + 1}) {
        Network network = valid();
        network.width = bad;
        expect_refused([&] { check(network); }, {"width", "1 to 100000"});
    }
    Network network = valid();
    network.mixers.clear();
    expect_refused([&] { check(network); }, {"depth", "1 to 1000000"});
}

TEST(Network, RefusesAMixerOfAnotherSizeOrNotFinite) {
    Network network = valid();
    network.mixers[1] = Mixer::Identity(3, 3);
    expect_refused([&] { check(network); }, {"layer 2", "3×3", "2×2"});
    network.mixers[1] = Mixer::Zero(2, 1);
    expect_refused([&] { check(network); }, {"layer 2", "2×1"});
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        network.mixers[1] = Mixer::Identity(2, 2);
        network.mixers[1](1, 0) = bad;
        expect_refused([&] { check(network); }, {"layer 2", "row 2", "column 1", "finite"});
    }
}

TEST(Network, RefusesVariancesThatAreNone) {
    for (const double bad :
         {-1e-300, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        Network network = valid();
        network.branch = IsotropicBranch{{0.1, 0.1, bad}};
        expect_refused([&] { check(network); }, {"sigma2", "layer 3"});
    }
    Network network = valid();
    network.branch = IsotropicBranch{{0.1}};
    expect_refused([&] { check(network); }, {"sigma2", "1 values", "3 layers"});
}

// Branches

Network with_branch(Branch branch) {
    Network network = valid();
    network.branch = std::move(branch);
    return network;
}

const double nan = std::numeric_limits<double>::quiet_NaN();
const Eigen::VectorXd half = Eigen::VectorXd::Constant(2, 0.5);
const std::vector<Eigen::VectorXd> halves(3, half);

TEST(Network, SaysWhatItsBranchIs) {
    EXPECT_EQ(branch_name(ActivationBranch{}), "activation");
    EXPECT_EQ(branch_name(HyperConnectionBranch{}), "hyper-connection");
    EXPECT_EQ(branch_name(TiedBranch{}), "tied");
    EXPECT_FALSE(TiedBranch{}.hyper_connection());
    EXPECT_TRUE(tied_branch(3, 0.1, half, half).hyper_connection());
}

TEST(Network, VariancesOfEveryBranch) {
    using List = std::vector<double>;
    EXPECT_EQ(sigma2(with_branch(HyperConnectionBranch{{1, 2, 3}, halves, halves})), (List{1, 2, 3}));
    EXPECT_EQ(sigma2(with_branch(tied_branch(3, 0.5))), (List{0.5, 0.5, 0.5}));
    const Activation relu = activation_from_name("relu"), erf = activation_from_name("erf");
    EXPECT_EQ(sigma2(with_branch(ActivationBranch{{1, 2, 3}, relu})), (List{0.5, 1, 1.5}));
    const auto of_erf = sigma2(with_branch(ActivationBranch{{1, 2, 3}, erf, {0.1, 0.1, 7}}));
    for (std::size_t l = 0; l < 3; ++l)
        EXPECT_EQ(of_erf[l], List({1, 2, 3})[l] * mean_derivative2(erf, List({0.1, 0.1, 7})[l]));
    EXPECT_EQ(sigma2(with_branch(ActivationBranch{{1, 2, 3}, {ActivationKind::bernoulli, 0.25}})),
              (List{0.25, 0.5, 0.75}));
    EXPECT_EQ(sigma2(with_branch(IsotropicBranch{{}, {{3, 4}}})), (List{12.5, 12.5, 12.5}));
    EXPECT_EQ(sigma2(with_branch(IsotropicBranch{{}, {{3, 4}, {1}, {0, 0, 3}}})), (List{12.5, 1, 3}));
    EXPECT_EQ(sigma2(with_branch(HyperConnectionBranch{{}, halves, halves, {{3, 4}}}))[2], 12.5);
}

TEST(Network, SingularValuesOfTheBranch) {
    using List = std::vector<double>;
    const BranchLaw sets{{1}, {2, 3}, {4}};
    EXPECT_EQ(branch_law(with_branch(IsotropicBranch{{}, sets}), 1), (List{2, 3}));
    EXPECT_EQ(branch_law(with_branch(HyperConnectionBranch{{}, halves, halves, {{5, 6}}}), 2), (List{5, 6}));
    EXPECT_TRUE(branch_law(valid(), 0).empty());
    EXPECT_TRUE(branch_law(with_branch(tied_branch(3, 1)), 0).empty());
    EXPECT_TRUE(branch_law(with_branch(ActivationBranch{{1, 1, 1}}), 0).empty());
}

TEST(Network, RefusesLawsThatAreNone) {
    const auto refused = [](const std::vector<double>& sigma2, const BranchLaw& law,
                            const std::vector<std::string>& words) {
        expect_refused([&] { check(with_branch(IsotropicBranch{sigma2, law})); }, words);
        expect_refused(
            [&] {
                check(with_branch(HyperConnectionBranch{sigma2, halves, halves, law}));
            },
            words);
    };
    EXPECT_NO_THROW(check(with_branch(IsotropicBranch{{}, {{1, 0}}})));
    EXPECT_NO_THROW(check(with_branch(IsotropicBranch{{5, 5, 5}, {{1, 3}}})))
        << "the mean square, said twice";
    refused({}, {}, {"sigma2 has 0 values"});
    refused({}, {{1}, {1}}, {"2 sets of singular values", "3 layers"});
    refused({}, {{1}, {}, {1}}, {"layer 2", "no singular values"});
    refused({}, {{}}, {"no singular values"});
    for (const double bad : {-1.0, nan, infinity})
        refused({}, {{1}, {1}, {2, bad}}, {"layer 3", "singular value", "≥ 0"});
    refused({}, {{1e200}}, {"overflow"});
    refused({5, 5, 4}, {{1, 3}}, {"sigma2 of layer 3 is 4", "5"});
}

TEST(Network, RefusesActivationsThatDoNotFit) {
    const Activation tanh = activation_from_name("tanh"), relu = activation_from_name("relu");
    const auto refused = [](const ActivationBranch& branch, const std::vector<std::string>& words) {
        expect_refused([&] { check(with_branch(branch)); }, words);
    };
    EXPECT_NO_THROW(check(with_branch(ActivationBranch{{1, 0, 1}, tanh, {1, 0, 2}})));
    EXPECT_NO_THROW(check(with_branch(ActivationBranch{{1, 1, 1}, relu})));
    EXPECT_NO_THROW(check(with_branch(ActivationBranch{{1, 1, 1}, relu, {1, 1, 1}})));
    refused({{1, 1}, relu}, {"sigma_w2", "2 values", "3 layers"});
    refused({{1, -1, 1}, relu}, {"sigma_w2 of layer 2"});
    refused({{1, 1, 1}, tanh}, {"preactivation_variance", "0 values"});
    refused({{1, 1, 1}, relu, {1}}, {"preactivation_variance", "1 values"});
    refused({{1, 1, 1}, tanh, {1, nan, 1}}, {"preactivation_variance of layer 2"});
    for (const double bad : {-0.1, 1.1, nan})
        refused({{1, 1, 1}, {ActivationKind::bernoulli, bad}}, {"probability", "0 to 1"});
}

TEST(Network, RefusesConnectionsThatDoNotFit) {
    const std::vector<Eigen::VectorXd> two(2, half);
    std::vector<Eigen::VectorXd> wrong = halves;
    wrong[1] = Eigen::VectorXd::Ones(3);
    std::vector<Eigen::VectorXd> endless = halves;
    endless[2](0) = infinity;
    const std::vector<double> s{1, 1, 1};
    for (const auto& [bad, words] : {std::pair(two, std::vector<std::string>{"2 vectors", "3 layers"}),
                                     {wrong, {"layer 2", "3 entries"}},
                                     {endless, {"layer 3", "finite"}}}) {
        expect_refused([&, &b = bad] { check(with_branch(HyperConnectionBranch{s, b, halves})); }, words);
        expect_refused([&, &b = bad] { check(with_branch(HyperConnectionBranch{s, halves, b})); }, words);
    }
    EXPECT_NO_THROW(check(with_branch(HyperConnectionBranch{s, halves, halves})));
    EXPECT_NO_THROW(check(with_branch(tied_branch(3, 1, half, half))));
    expect_refused([&] { check(with_branch(tied_branch(3, 1, half))); }, {"post", "0 vectors"});
    expect_refused([&] { check(with_branch(tied_branch(3, 1, {}, half))); }, {"pre", "0 vectors"});
    expect_refused(
        [&] {
            check(with_branch(TiedBranch{s, wrong, halves}));
        },
        {"pre of layer 2", "3 entries"});
    for (const double bad : {-1.0, nan, infinity})
        expect_refused([&] { check(with_branch(tied_branch(3, bad))); }, {"sigma2", "≥ 0"});
    expect_refused([&] { check(with_branch(tied_branch(2, 1))); }, {"sigma2", "2 values for 3 layers"});
    expect_refused(
        [&] {
            check(with_branch(TiedBranch{s, {}, {}, {0, 1}}));
        },
        {"weights has 2 values for 3 layers", "one per layer"});
}

TEST(Network, SaysWhichLayersHaveTheSameWeights) {
    using Layers = std::vector<std::size_t>;
    const std::vector<double> s{1, 1, 1};
    EXPECT_EQ(first_with_weights(valid()), (Layers{0, 1, 2}));
    EXPECT_EQ(first_with_weights(with_branch(tied_branch(3, 1))), (Layers{0, 0, 0}));
    EXPECT_EQ(first_with_weights(with_branch(TiedBranch{s, {}, {}, {9, 2, 9}})), (Layers{0, 1, 0}));
    EXPECT_EQ(first_with_weights(with_branch(TiedBranch{s, {}, {}, {3, 2, 1}})), (Layers{0, 1, 2}));
}

}  // namespace
}  // namespace spectra
