#include "claims/nested_product.hpp"

#include "dyson/equations/two_layers.hpp"
#include "dyson/law/theory.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>

namespace spectra::claims::jpmhc {
namespace {

using dyson::Complex;

TEST(NestedSTransform, IsExactForTwoLayers) {
    for (const auto family : {mixers::Family::gaussian, mixers::Family::bistochastic}) {
        const Network network = tests::draw_network(family, 3, 2, 1, 0.2);
        const Complex omega(0.7, 0.4), exact = dyson::two_layers_green(network, omega).g;
        EXPECT_LT(std::abs(nested_green(network, omega, {true, false}) - exact), 1e-9 * std::abs(exact));
    }
}

TEST(NestedSTransform, IsExactForThreeLayersOfOneStream) {
    // Numbers commute, and every average is a trace.
    const Network network = tests::make_network(Mixer{{0.9}}, 3, 1, 0.05);
    const Complex omega(0.7, 0.3), exact = dyson::green(network, {omega}).g.front();
    EXPECT_LT(std::abs(nested_green(network, omega, {false, false, false}) - exact), 1e-8 * std::abs(exact));
}

}  // namespace
}  // namespace spectra::claims::jpmhc
