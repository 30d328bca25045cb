#include "network/network.hpp"

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

}  // namespace
}  // namespace spectra
