#include "network/slice.hpp"

#include "support/branch_networks.hpp"

#include <gtest/gtest.h>

namespace spectra {
namespace {

TEST(Part, KeepsTheLayersAskedFor) {
    for (const auto& [name, network] : tests::branch_networks()) {
        const std::size_t last = network.mixers.size() - 1;
        const Network part = part_of(network, last, 1);
        check(part);
        EXPECT_EQ(part.depth(), 1);
        EXPECT_EQ(part.mixers[0], network.mixers[last]) << name;
        EXPECT_EQ(sigma2(part)[0], sigma2(network)[last]) << name;
        EXPECT_EQ(branch_law(part, 0), branch_law(network, last)) << name;
        if (const auto* hyper = std::get_if<HyperConnectionBranch>(&part.branch)) {
            EXPECT_EQ(hyper->post[0], std::get<HyperConnectionBranch>(network.branch).post[last]);
        }
        if (const auto* tied = std::get_if<TiedBranch>(&part.branch); tied && tied->hyper_connection()) {
            EXPECT_EQ(tied->pre[0], std::get<TiedBranch>(network.branch).pre[last]);
        }
        const Network first = part_of(network, 0, last);
        check(first);
        EXPECT_EQ(first.mixers[0], network.mixers[0]) << name;
    }
}

TEST(Part, AllIsTheNetwork) {
    for (const auto& [name, network] : tests::branch_networks()) {
        const Network all = part_of(network, 0, network.mixers.size());
        EXPECT_EQ(all.mixers, network.mixers) << name;
        EXPECT_EQ(sigma2(all), sigma2(network)) << name;
    }
}

}  // namespace
}  // namespace spectra
