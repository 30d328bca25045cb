#include "dyson/equations/aligned_chain.hpp"

#include "support/aligned_networks.hpp"
#include "support/dense_aligned.hpp"

#include <gtest/gtest.h>

namespace spectra::dyson {
namespace {

using tests::aligned_network;
using tests::AlignedCase;

std::vector<AlignedCase> cases() {
    return {{.streams = 2, .width = 6, .depth = 3, .rank = 2},
            {.streams = 3, .width = 5, .depth = 2, .rank = 1, .derivative = true},
            {.streams = 1, .width = 9, .depth = 4, .rank = 3},
            {.streams = 2, .width = 4, .depth = 2, .rank = 3, .hyper_connection = false},
            {.streams = 2, .width = 4, .depth = 3, .rank = 2, .hyper_connection = false, .derivative = true}};
}

/// Any c in the lower half plane.
std::vector<Complex> some_c(int sides) {
    std::vector<Complex> c;
    for (int a = 0; a < sides; ++a) c.emplace_back(0.1 * a - 0.2, -0.3 - 0.05 * a);
    return c;
}

/// In the gauge that changes nothing.
bool run(AlignedChain& chain, Complex omega, const std::vector<Complex>& c) {
    const auto layers = static_cast<Eigen::Index>(chain.layers());
    Eigen::VectorXcd cv(layers), cw(layers);
    for (Eigen::Index l = 0; l < layers; ++l) {
        cw(l) = c[static_cast<std::size_t>(2 * l)];
        cv(l) = c[static_cast<std::size_t>(2 * l + 1)];
    }
    return chain.run(omega, cv, cw);
}

/// The network in units of its layers, so that the chain's gauge changes nothing.
Network in_units(Network network) {
    const AlignedChain chain(network);
    auto& branch = std::get<AlignedBranch>(network.branch);
    for (std::size_t l = 0; l < network.mixers.size(); ++l) {
        const double unit = std::exp(chain.log_units()[l]);
        network.mixers[l] /= unit;
        branch.kept[l].values /= unit;
        for (double& t : branch.rest[l]) t /= unit;
        if (!branch.derivative.empty()) branch.derivative[l].values /= unit;
    }
    return network;
}

TEST(AlignedChain, TracesAreThoseOfTheDenseInverse) {
    for (const AlignedCase& wanted : cases()) {
        const Network network = in_units(aligned_network(wanted));
        const tests::DenseAligned dense(network);
        const Complex omega(0.7, 0.4);
        const auto c = some_c(2 * network.depth());
        AlignedChain chain(network);
        chain.set_gauge(0);
        ASSERT_TRUE(run(chain, omega, c));
        const Eigen::MatrixXcd m = dense.pencil(omega, c).partialPivLu().inverse();
        const auto block = [&](int i, int j) {
            return m.block(i * network.size(), j * network.size(), network.size(), network.size());
        };
        const int last = 2 * network.depth() - 1;
        EXPECT_LT(std::abs(chain.green() - block(last, last).trace() / static_cast<double>(network.size())), 1e-13);
        for (int l = 0; l < network.depth(); ++l) {
            const auto k = static_cast<std::size_t>(l);
            const Complex read = (dense.patterns[2 * k] * block(2 * l, 2 * l)).trace() / dense.free[k];
            const Complex written = (dense.patterns[2 * k + 1] * block(2 * l + 1, 2 * l + 1)).trace() / dense.free[k];
            EXPECT_LT(std::abs(chain.read(k) - read), 1e-13);
            EXPECT_LT(std::abs(chain.written(k) - written), 1e-13);
        }
        const Eigen::MatrixXcd response = chain.response();
        for (int a = 0; a <= last; ++a) {
            for (int b = 0; b <= last; ++b) {
                const auto x = static_cast<std::size_t>(a), y = static_cast<std::size_t>(b);
                const Complex exact =
                    (dense.patterns[x] * block(a, b) * dense.patterns[y] * block(b, a)).trace() / dense.free[x / 2];
                EXPECT_LT(std::abs(response(a, b) - exact), 1e-12) << a << " " << b;
            }
        }
    }
}

TEST(AlignedChain, ItsDeterminantIsThatOfTheDensePencil) {
    for (const AlignedCase& wanted : cases()) {
        const Network network = in_units(aligned_network(wanted));
        const tests::DenseAligned dense(network);
        const auto c = some_c(2 * network.depth());
        AlignedChain chain(network);
        chain.set_gauge(0);
        ASSERT_TRUE(run(chain, {0.7, 0.4}, c));
        const Eigen::MatrixXcd ck = chain.coupled();
        const Complex exact = dense.pencil({0.7, 0.4}, c).partialPivLu().determinant();
        const Complex low_rank = std::pow(chain.base().partialPivLu().determinant(), network.width) *
                                 (Eigen::MatrixXcd::Identity(ck.rows(), ck.cols()) + ck).partialPivLu().determinant();
        EXPECT_LT(std::abs(low_rank / exact - 1.0), 1e-10);
    }
}

TEST(AlignedChain, AFewProbesEstimateTheResponse) {
    // Wide enough that the exact sum would cost more than the inverse.
    const Network network = in_units(aligned_network({.streams = 2, .width = 100, .depth = 2, .rank = 12}));
    const tests::DenseAligned dense(network);
    const auto c = some_c(2 * network.depth());
    AlignedChain chain(network);
    chain.set_gauge(0);
    ASSERT_FALSE(chain.exact_response());
    ASSERT_TRUE(run(chain, {0.7, 0.4}, c));
    const Eigen::MatrixXcd m = dense.pencil({0.7, 0.4}, c).partialPivLu().inverse();
    const Eigen::MatrixXcd response = chain.response();
    double error = 0, norm = 0;
    for (int a = 0; a < 4; ++a) {
        const auto k = static_cast<std::size_t>(a);
        const auto block = m.block(a * network.size(), a * network.size(), network.size(), network.size());
        const Eigen::MatrixXcd seen = dense.patterns[k] * block;
        const Complex exact = (seen * seen).trace() / dense.free[k / 2];
        error = std::max(error, std::abs(response(a, a) - exact));
        norm = std::max(norm, std::abs(exact));
    }
    EXPECT_LT(error, 0.1 * norm);
}

}  // namespace
}  // namespace spectra::dyson
