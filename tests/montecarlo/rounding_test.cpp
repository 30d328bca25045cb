#include "montecarlo/rounding.hpp"

#include "montecarlo/singular_values.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/eigen.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace {

using namespace spectra;
using namespace spectra::tests;
using montecarlo::expectation;
using montecarlo::log_floor;
using montecarlo::scaled_layers;

/// 50 digits.
using Wide =
    boost::multiprecision::number<boost::multiprecision::cpp_bin_float<50>, boost::multiprecision::et_off>;
using WideMatrix = Eigen::Matrix<Wide, Eigen::Dynamic, Eigen::Dynamic>;

/// ln of the singular values of the same layers' product, held exactly enough, ascending: one-sided Jacobi.
std::vector<double> exact_log_values(const Network& network, std::uint64_t seed, std::uint32_t sample) {
    const auto layers = scaled_layers(network.mixers, sigma2(network));
    const montecarlo::Sampler sampler(network.streams, network.width);
    WideMatrix product = WideMatrix::Identity(network.size(), network.size());
    Eigen::MatrixXd layer(network.size(), network.size());
    double shift = 0;
    for (std::size_t l = 0; l < layers.size(); ++l) {
        const random::Stream stream(seed, random::Purpose::branch, static_cast<std::uint32_t>(l), sample);
        sampler.draw_layer(layers[l], stream, layer.data());
        product = (layer.cast<Wide>() * product).eval();
        shift += layers[l].exponent * std::log(2.0);
    }
    bool turned = true;
    while (turned) {
        turned = false;
        for (Eigen::Index i = 0; i < product.cols(); ++i) {
            for (Eigen::Index j = i + 1; j < product.cols(); ++j) {
                const Wide a = product.col(i).squaredNorm();
                const Wide b = product.col(j).squaredNorm();
                const Wide c = product.col(i).dot(product.col(j));
                if (abs(c) <= Wide(1e-20) * sqrt(a * b)) continue;
                turned = true;
                const Wide zeta = (b - a) / (2 * c);
                const Wide root = sqrt(1 + zeta * zeta);
                const Wide t = (zeta < 0 ? Wide(-1) : Wide(1)) / (abs(zeta) + root);
                const Wide cosine = 1 / sqrt(1 + t * t);
                const Wide sine = cosine * t;
                const WideMatrix left = product.col(i);
                product.col(i) = cosine * left - sine * product.col(j);
                product.col(j) = sine * left + cosine * product.col(j);
            }
        }
    }
    std::vector<double> out;
    for (Eigen::Index i = 0; i < product.cols(); ++i) {
        out.push_back(static_cast<double>(Wide(log(product.col(i).squaredNorm()) / 2)) + shift);
    }
    std::sort(out.begin(), out.end());
    return out;
}

struct Compared {
    std::vector<double> exact, computed;
    double floor = 0;
};

Compared compared(const Network& network, std::uint32_t sample) {
    Compared out;
    out.exact = exact_log_values(network, 1, sample);
    const auto layers = scaled_layers(network.mixers, sigma2(network));
    montecarlo::Sampler sampler(network.streams, network.width);
    sampler.draw(layers, 1, sample);
    montecarlo::SingularValues solver(network.size());
    out.computed.resize(out.exact.size());
    EXPECT_TRUE(solver.compute(sampler.matrix(), sampler.exponent(), out.computed));
    out.floor =
        log_floor(std::log(sampler.matrix().norm()) + static_cast<double>(sampler.exponent()) * std::log(2.0),
                  expectation(layers).rounding);
    return out;
}

Network contracting(int depth, int width, double ratio) {
    // diag(1, ratio) turned differently in every layer, so that nothing is graded by rows.
    std::vector<Mixer> mixers;
    for (int l = 0; l < depth; ++l) {
        Mixer turn(2, 2);
        const double angle = 0.7 * l + 0.3;
        turn << std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle);
        mixers.push_back(turn * Eigen::Vector2d(1, ratio).asDiagonal() * turn.transpose());
    }
    return make_network(mixers, width, std::vector<double>(static_cast<std::size_t>(depth), 1e-3));
}

TEST(Rounding, FloorSeparatesWhatTheProductHolds) {
    const std::vector<Network> networks = {
        make_network(Mixer::Zero(1, 1), 30, 12, 1.0),
        contracting(20, 6, 0.05),
        draw_network(mixers::Family::bistochastic, 4, 30, 3, 0.05),
        draw_network(mixers::Family::gaussian, 3, 40, 4, 0.05),
    };
    for (std::size_t k = 0; k < networks.size(); ++k) {
        int above = 0;
        int wrong_below = 0;
        for (std::uint32_t sample = 0; sample < 3; ++sample) {
            const auto [exact, computed, floor] = compared(networks[k], sample);
            for (std::size_t i = 0; i < exact.size(); ++i) {
                const double error = std::abs(exact[i] - computed[i]);
                if (exact[i] > floor) {
                    ++above;
                    EXPECT_LE(error, 0.1) << "network " << k << ", value " << i << " at " << exact[i] - floor
                                          << " above the floor";
                    // Twenty floors up, 1 %.
                    if (exact[i] > floor + 3) {
                        EXPECT_LE(error, 0.01) << "network " << k << ", value " << i;
                    }
                } else {
                    // Counted below, even where they are lost.
                    EXPECT_LE(computed[i], floor + 0.1);
                    wrong_below += error > 0.5 ? 1 : 0;
                }
            }
        }
        // The floor is neither above everything nor so low that nothing below it is lost.
        EXPECT_GT(above, 10) << k;
        EXPECT_GT(wrong_below, 0) << k;
    }
}

TEST(Rounding, IsometriesAccumulateOneProductAtATime) {
    for (const int depth : {1, 2, 10, 100}) {
        const auto network = make_network(Mixer::Identity(3, 3), depth, 4, 0.05 / depth);
        const auto expected = expectation(scaled_layers(network.mixers, sigma2(network)));
        EXPECT_NEAR(expected.rounding, std::sqrt(depth), 1e-10 * depth);
        EXPECT_NEAR(expected.log_mean_square, depth * std::log1p(0.05 / depth), 1e-12 * depth);
    }
}

TEST(Rounding, MeanSquareAtAnyScale) {
    // diag(1, ½) at depth 2 by hand: T_1 = diag(1, ¼) + σ², tr = t_1; T_2 = diag(T_1,11, T_1,22/4) + σ² t_1.
    Mixer mixer = Eigen::Vector2d(1, 0.5).asDiagonal();
    const double v = 0.1;
    const double t1 = 0.5 * (1.25 + 2 * v);
    const double t2 = 0.5 * ((1 + v) + 0.25 * (0.25 + v) + 2 * v * t1);
    for (const double scale : {1.0, 1e-100, 1e100}) {
        const auto out = expectation(
            scaled_layers({scale * mixer, mixer / scale}, {v * scale * scale, v / scale / scale}));
        EXPECT_NEAR(out.log_mean_square, std::log(t2), 1e-12);
    }
    const auto deep =
        expectation(scaled_layers(std::vector<Mixer>(1000, 1e-3 * mixer), std::vector<double>(1000, 0)));
    EXPECT_NEAR(deep.log_mean_square, 2000 * std::log(1e-3) + std::log(0.5), 1e-9);
    const auto nothing = expectation(scaled_layers({Mixer::Zero(2, 2)}, {0}));
    EXPECT_EQ(nothing.log_mean_square, -std::numeric_limits<double>::infinity());
    EXPECT_EQ(nothing.rounding, 1);
}

}  // namespace
