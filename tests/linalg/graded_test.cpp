#include "linalg/graded.hpp"

#include "base/special_values.hpp"
#include "linalg/blas.hpp"
#include "linalg/singular_values.hpp"
#include "montecarlo/sample/rounding.hpp"
#include "montecarlo/sample/sampler.hpp"
#include "montecarlo/wide_values.hpp"
#include "support/branches.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

namespace {

using namespace spectra;
using namespace spectra::tests;
using montecarlo::scaled_layers;
using Layers = std::vector<Eigen::MatrixXd>;

struct Graded {
    std::vector<double> log_values;
    int rank = 0;
    double error = 0;
};

Graded graded(const Layers& layers, const std::vector<long>& exponents = {}) {
    const int size = static_cast<int>(layers.front().rows());
    linalg::GradedProduct product(size);
    for (std::size_t l = 0; l < layers.size(); ++l)
        EXPECT_TRUE(product.multiply(layers[l].data(), exponents.empty() ? 0 : exponents[l]));
    Graded out;
    out.log_values.resize(static_cast<std::size_t>(size));
    EXPECT_TRUE(product.log_values(out.log_values));
    out.rank = product.rank();
    out.error = product.relative_error();
    return out;
}

/// The layers that the sampler draws, with their powers of two.
Layers drawn(const Network& network, std::uint32_t sample) {
    montecarlo::Sampler sampler(network.streams, network.width);
    Layers out;
    for (const auto& layer : scaled_layers(network)) {
        auto& matrix = out.emplace_back(network.size(), network.size());
        sampler.draw_layer(layer, static_cast<std::uint32_t>(out.size() - 1), 1, sample, matrix.data());
        matrix *= std::ldexp(1.0, layer.exponent);
    }
    return out;
}

template <unsigned digits>
std::vector<double> exact(const Layers& layers) {
    WideMatrix<digits> product = layers.front().cast<Wide<digits>>();
    for (std::size_t l = 1; l < layers.size(); ++l)
        product = WideMatrix<digits>(layers[l].cast<Wide<digits>>()).lazyProduct(product).eval();
    return wide_log_values<digits>(product);
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
    double out = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double difference = a[i] == b[i] ? 0 : std::abs(a[i] - b[i]);
        out = difference <= out ? out : difference;  // NaN is large
    }
    return out;
}

/// Right to `tolerance` and to the product's own estimate.
template <unsigned digits>
void expect_exact(const Layers& layers, double tolerance, const std::string& name) {
    const auto out = graded(layers);
    const double error = largest_difference(out.log_values, exact<digits>(layers));
    EXPECT_LE(error, tolerance) << name;
    EXPECT_LE(error, out.error) << name;
    EXPECT_EQ(out.rank, layers.front().rows()) << name;
}

TEST(GradedProduct, AgreesWithArbitraryPrecision) {
    for (const auto family : {mixers::Family::bistochastic, mixers::Family::gaussian,
                              mixers::Family::orthogonal, mixers::Family::grassmann}) {
        const std::string name(mixers::name(family));
        expect_exact<110>(drawn(draw_network(family, 4, 1, 6, 0.05), 0), 1e-11, name + ", L = 1");
        expect_exact<110>(drawn(draw_network(family, 4, 10, 6, 0.05), 1), 1e-11, name + ", L = 10");
        expect_exact<110>(drawn(draw_network(family, 4, 30, 3, 0.05), 2), 1e-11, name + ", L = 30");
        expect_exact<300>(drawn(draw_network(family, 4, 100, 2, 0.05), 3), 1e-11, name + ", L = 100");
    }
    expect_exact<110>(drawn(make_network(Mixer::Zero(1, 1), 30, 13, 1.0), 0), 1e-11, "no mixer");
}

TEST(GradedProduct, EveryBranch) {
    auto network = draw_network(mixers::Family::bistochastic, 3, 20, 4, 0);
    for (const auto& [name, branch] : every_branch(3, 20, 0.05)) {
        network.branch = branch;
        expect_exact<110>(drawn(network, 0), 1e-11, name);
    }
}

/// Layers Q_l diag(values_l) Q_{l−1}ᵀ, all Q uniform: the product's singular values are Π_l values_l[k].
Layers layers_of(const std::vector<Eigen::VectorXd>& values) {
    random::Stream stream(1, random::Purpose::test);
    const auto size = static_cast<int>(values.front().size());
    Eigen::MatrixXd before = haar_reference<double>(size, stream);
    Layers out;
    for (const auto& of_layer : values) {
        const Eigen::MatrixXd q = haar_reference<double>(size, stream);
        out.push_back(q * of_layer.asDiagonal() * before.transpose());
        before = q;
    }
    return out;
}

std::vector<double> log_products(const std::vector<Eigen::VectorXd>& values) {
    Eigen::ArrayXd sum = Eigen::ArrayXd::Zero(values.front().size());
    for (const auto& of_layer : values) sum += of_layer.array().log();
    std::vector<double> out(sum.begin(), sum.end());
    std::sort(out.begin(), out.end());
    return out;
}

TEST(GradedProduct, KnownValuesFarBeyondTheRangeOfDouble) {
    // Every layer of condition 1e4 (1e-16 of its norm is 1e-12 of its smallest value), the product of 1e400.
    const int depth = 100;
    for (const int size : {2, 7, 40}) {
        const Eigen::VectorXd ramp = Eigen::ArrayXd::LinSpaced(size, 0, -4 * std::numbers::ln10).exp();
        std::vector<Eigen::VectorXd> aligned(depth, ramp);
        const auto expected = log_products(aligned);
        EXPECT_NEAR(expected.front(), -400 * std::numbers::ln10, 1e-9);
        EXPECT_LE(largest_difference(graded(layers_of(aligned)).log_values, expected), 1e-10) << size;

        // The order changes from layer to layer: clusters, and values that overtake one another.
        std::vector<Eigen::VectorXd> turning;
        for (int l = 0; l < depth; ++l) {
            auto& of_layer = turning.emplace_back(ramp);
            std::rotate(of_layer.begin(), of_layer.begin() + (l * l) % size, of_layer.end());
        }
        const auto out = graded(layers_of(turning));
        const double error = largest_difference(out.log_values, log_products(turning));
        EXPECT_LE(error, 1e-7) << size;
        EXPECT_LE(error, out.error) << size;
    }
}

TEST(GradedProduct, KnowsWhatTheLayersDoNotDetermine) {
    // Ten layers make 1 : 1e-20 and ten more undo it. Rounding of any layer in the middle, 1e-16 of the
    // largest, is carried on beside what should be 1e-20.
    for (const int size : {2, 30}) {
        const Eigen::VectorXd ramp = Eigen::ArrayXd::LinSpaced(size, 0, -2 * std::numbers::ln10).exp();
        std::vector<Eigen::VectorXd> values(20, ramp);
        std::fill_n(values.begin() + 10, 10, ramp.reverse());
        const auto out = graded(layers_of(values));
        EXPECT_GT(largest_difference(out.log_values, log_products(values)), 1);
        EXPECT_GT(out.error, 1);
        // As far as there are digits for it, all is well.
        values.erase(values.begin() + 3, values.begin() + 17);
        const auto shorter = graded(layers_of(values));
        const double error = largest_difference(shorter.log_values, log_products(values));
        EXPECT_LE(error, 1e-8);
        EXPECT_LE(error, shorter.error);
    }
}

TEST(GradedProduct, SingularLayersLeaveExactZeros) {
    // The smallest component left is cut, again and again.
    const int size = 12;
    const Eigen::VectorXd ramp = Eigen::ArrayXd::LinSpaced(size, 0, -3).exp();
    for (const int cut : {1, 4, 11, 12}) {
        std::vector<Eigen::VectorXd> values(130, ramp);
        for (int k = 0; k < cut; ++k) values[static_cast<std::size_t>(10 * k + 5)][size - 1 - k] = 0;
        const auto out = graded(layers_of(values));
        EXPECT_EQ(out.rank, size - cut);
        EXPECT_EQ(std::count(out.log_values.begin(), out.log_values.end(), -infinity), cut);
        EXPECT_LE(largest_difference(out.log_values, log_products(values)), 1e-11) << cut;
        EXPECT_LE(out.error, 1e-9);
    }
    // Of the largest, layers in double precision leave 1e-16, here far more than all the others.
    std::vector<Eigen::VectorXd> values(60, ramp);
    values[50][0] = 0;
    EXPECT_GT(graded(layers_of(values)).error, 1);
}

TEST(GradedProduct, SingularLayersAmongNoise) {
    auto network = draw_network(mixers::Family::bistochastic, 4, 20, 3, 0.05);
    for (const std::size_t l : {2U, 9U}) {
        network.mixers[l] = Eigen::Vector4d(1, 0.5, 0, 0).asDiagonal();
        std::get<IsotropicBranch>(network.branch).sigma2[l] = 0;
    }
    const auto layers = drawn(network, 0);
    const auto out = graded(layers);
    const auto expected = exact<110>(layers);
    EXPECT_EQ(out.rank, 6);
    for (std::size_t k = 0; k < 6; ++k) {
        EXPECT_EQ(out.log_values[k], -infinity);
        EXPECT_NEAR(out.log_values[k + 6], expected[k + 6], 1e-11);
    }
}

TEST(GradedProduct, SingularLayerAfterAGradedProduct) {
    // Column 3 of the last layer is the sum of the first two, exactly: its rounding, 1e-16 of column 3 of the
    // product, is far above the columns that follow and must not be seen.
    const int size = 6;
    random::Stream stream(1, random::Purpose::test);
    Eigen::MatrixXd last =
        gaussian_reference<double>(size, stream).unaryExpr([](double x) { return std::round(8 * x); });
    last.col(2) = last.col(0) + last.col(1);
    Eigen::VectorXd steps(size);
    steps << 1, 0.75, 0.5, 0x1p-5, 0x1p-8, 0x1p-12;
    Layers layers(10, steps.asDiagonal());
    layers.push_back(last);
    const auto out = graded(layers);
    const auto expected = exact<110>(layers);
    EXPECT_EQ(out.rank, size - 1);
    EXPECT_EQ(out.log_values[0], -infinity);
    for (std::size_t k = 1; k < 6; ++k) EXPECT_NEAR(out.log_values[k], expected[k], 1e-12);
}

TEST(GradedProduct, TransposedProduct) {
    // The same values by other roundings, at sizes where arbitrary precision takes too long.
    for (const auto family : {mixers::Family::bistochastic, mixers::Family::grassmann}) {
        Layers layers = drawn(draw_network(family, 4, 30, 20, 0.05), 0);
        const auto out = graded(layers);
        EXPECT_LT(out.log_values.front(), -60);
        std::reverse(layers.begin(), layers.end());
        for (auto& layer : layers) layer.transposeInPlace();
        const double error = largest_difference(graded(layers).log_values, out.log_values);
        EXPECT_LE(error, 1e-9);
        EXPECT_LE(error, out.error);
    }
}

TEST(GradedProduct, MixersWithoutNoise) {
    // J = (A_L ··· A_1) ⊗ I_p: every value p times. Projectors of rank 2 leave half of them.
    for (const auto family :
         {mixers::Family::grassmann, mixers::Family::bistochastic, mixers::Family::identity}) {
        const int width = 5;
        const auto network = draw_network(family, 4, 12, width, 0);
        const auto of_mixers = exact<110>({network.mixers.begin(), network.mixers.end()});
        const auto out = graded(drawn(network, 0));
        const int zeros = family == mixers::Family::grassmann ? 2 : 0;
        EXPECT_EQ(out.rank, (4 - zeros) * width);
        for (int k = 0; k < 4 * width; ++k) {
            const double value = out.log_values[static_cast<std::size_t>(k)];
            if (k < zeros * width) {
                EXPECT_EQ(value, -infinity);
            } else {
                EXPECT_NEAR(value, of_mixers[static_cast<std::size_t>(k / width)], 1e-11);
            }
        }
    }
}

TEST(GradedProduct, SmallestCases) {
    for (const double x : {0.3, -2.0}) {
        const auto out = graded(Layers(3, Eigen::MatrixXd::Constant(1, 1, x)), {1000, -3, 9000});
        EXPECT_NEAR(out.log_values[0], 3 * std::log(std::abs(x)) + 9997 * std::numbers::ln2, 1e-11);
    }
    for (const int size : {1, 5}) {
        const auto zero = Eigen::MatrixXd::Zero(size, size);
        const auto one = Eigen::MatrixXd::Identity(size, size);
        for (const Layers& layers : {Layers{zero}, Layers{one, zero, one}, Layers{zero, zero}}) {
            const auto out = graded(layers);
            EXPECT_EQ(out.rank, 0);
            EXPECT_EQ(out.log_values, std::vector<double>(static_cast<std::size_t>(size), -infinity));
        }
        EXPECT_EQ(graded({one, one}).log_values, std::vector<double>(static_cast<std::size_t>(size), 0.0));
    }
    // A column of zeros, a row of zeros, and equal columns.
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(3, 3);
    matrix(0, 1) = matrix(0, 2) = 3;
    const auto out = graded({matrix});
    EXPECT_EQ(out.rank, 1);
    EXPECT_NEAR(out.log_values[2], 0.5 * std::log(18), 1e-15);
    EXPECT_EQ(out.log_values[1], -infinity);
}

TEST(GradedProduct, RefusesWhatIsNotFinite) {
    linalg::GradedProduct product(2);
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Identity(2, 2);
    for (const double broken : {std::nan(""), infinity}) {
        matrix(1, 0) = broken;
        EXPECT_FALSE(product.multiply(matrix.data(), 0));
    }
    std::array<double, 2> values{};
    ASSERT_TRUE(product.log_values(values));
    EXPECT_EQ(values, (std::array<double, 2>{0, 0}));
}

TEST(GradedProduct, AgreesWithThePlainProductAboveItsFloor) {
    for (const auto family : {mixers::Family::bistochastic, mixers::Family::gaussian,
                              mixers::Family::orthogonal, mixers::Family::cayley}) {
        const auto network = draw_network(family, 4, 20, 20, 0.05);
        const auto layers = scaled_layers(network);
        montecarlo::Sampler sampler(4, 20);
        sampler.draw(layers, 1, 0);
        std::vector<double> plain(80);
        ASSERT_TRUE(linalg::SingularValues(80).compute(sampler.matrix(), sampler.exponent(), plain));
        const double floor = montecarlo::log_floor(
            std::log(sampler.matrix().norm()) + static_cast<double>(sampler.exponent()) * std::log(2.0),
            montecarlo::expectation(layers).rounding);
        const auto out = graded(drawn(network, 0)).log_values;
        for (std::size_t i = 0; i < 80; ++i) {
            if (out[i] < floor) continue;
            // A floor of error at the floor, less above it.
            EXPECT_NEAR(out[i], plain[i], std::min(0.1, 2 * std::exp(floor - out[i])) + 1e-14) << i;
        }
        EXPECT_GT(out[79], floor + 20);
    }
}

TEST(GradedProduct, PowersOfTwoOnlyShift) {
    const Layers layers = drawn(draw_network(mixers::Family::gaussian, 3, 12, 5, 0.05), 0);
    const auto plain = graded(layers).log_values;
    Layers scaled = layers;
    std::vector<long> exponents;
    for (std::size_t l = 0; l < layers.size(); ++l) {
        const int shift = l % 3 == 0 ? 900 : -700;
        scaled[l] *= std::ldexp(1.0, shift);
        exponents.push_back(-shift);
    }
    EXPECT_EQ(graded(scaled, exponents).log_values, plain);
    for (long& e : exponents) e += 100'000;
    const auto shifted = graded(scaled, exponents).log_values;
    for (std::size_t i = 0; i < plain.size(); ++i)
        EXPECT_NEAR(shifted[i], plain[i] + 1.2e6 * std::numbers::ln2, 1e-9);
}

TEST(GradedProduct, SameBitsInEveryThreadAndAfterAnyUse) {
    const Layers layers = drawn(draw_network(mixers::Family::bistochastic, 4, 10, 17, 0.05), 0);
    const linalg::SingleThreadedBlas single_threaded;
    const auto expected = graded(layers).log_values;
    std::array<std::vector<double>, 4> found;
#pragma omp parallel for num_threads(4)
    for (int k = 0; k < 4; ++k) {
        linalg::GradedProduct product(68);
        std::vector<double> values(68);
        product.multiply(Eigen::MatrixXd::Ones(68, 68).eval().data(), 5 * k);
        product.log_values(values);
        product.start();
        for (const auto& layer : layers) product.multiply(layer.data(), 0);
        product.log_values(values);
        found[static_cast<std::size_t>(k)] = values;
    }
    for (const auto& values : found) EXPECT_EQ(values, expected);
}

}  // namespace
