#include "montecarlo/sample/haar.hpp"

#include "support/branches.hpp"
#include "support/epsilon.hpp"

#include <gtest/gtest.h>

#include <Eigen/SVD>

#include <cmath>
#include <vector>

namespace {

using namespace spectra;
using montecarlo::BiInvariant;
using tests::epsilon;

random::Stream stream(int number) {
    return {1, random::Purpose::test, static_cast<std::uint32_t>(number)};
}

Eigen::MatrixXd drawn(const std::vector<double>& values, random::Stream from) {
    const int size = static_cast<int>(values.size());
    BiInvariant draws(size);
    Eigen::MatrixXd out(size, size);
    draws.draw(values, from, out.data());
    return out;
}

std::vector<double> ramp(int size) {
    std::vector<double> out;
    for (int k = 0; k < size; ++k) out.push_back(0.3 * k);
    return out;
}

TEST(BiInvariant, SingularValuesAreThoseGiven) {
    for (const int size : {1, 2, 3, 10, 33, 70}) {
        const auto values = ramp(size);
        const Eigen::VectorXd s =
            Eigen::JacobiSVD<Eigen::MatrixXd>(drawn(values, stream(size))).singularValues().reverse();
        for (int k = 0; k < size; ++k)
            EXPECT_NEAR(s[k], values[static_cast<std::size_t>(k)],
                        2 * epsilon * (size + 5) * (values.back() + 1))
                << size;
    }
}

TEST(BiInvariant, AgreesWithThePlainReference) {
    for (const int size : {1, 2, 5, 40, 70}) {
        const auto values = ramp(size);
        auto from = stream(size);
        const Eigen::MatrixXd u = tests::haar_reference<double>(size, from);
        const Eigen::MatrixXd v = tests::haar_reference<double>(size, from);
        const Eigen::MatrixXd expected =
            u * Eigen::Map<const Eigen::VectorXd>(values.data(), size).asDiagonal() * v.transpose();
        EXPECT_LE((drawn(values, stream(size)) - expected).norm(), 40 * epsilon * (expected.norm() + 1))
            << size;
    }
}

TEST(BiInvariant, DrawsFollowOneAnother) {
    BiInvariant draws(4);
    auto from = stream(0);
    const auto values = ramp(4);
    Eigen::MatrixXd first(4, 4);
    Eigen::MatrixXd second(4, 4);
    draws.draw(values, from, first.data());
    draws.draw(values, from, second.data());
    EXPECT_EQ(first, drawn(values, stream(0)));
    EXPECT_GT((first - second).norm(), 0.1);
    auto later = stream(0);
    for (int k = 0; k < 2 * 16; ++k) later.normal();
    EXPECT_EQ(second, drawn(values, later));
}

TEST(BiInvariant, EntriesHaveTheMomentsOfTheUniformLaw) {
    // With t = 1, X = U Vᵀ is uniform in O(m): every entry has mean 0, mean square 1/m and fourth moment
    // 3/(m(m + 2)), and so has tr X: moments 0, 1, 3 (m ≥ 2). Without the signs, tr X is not centred.
    const int draws = 4000;
    for (const int size : {2, 3, 4}) {
        const double m = size;
        auto from = stream(100 + size);
        BiInvariant bi_invariant(size);
        Eigen::MatrixXd x(size, size);
        const std::vector<double> ones(static_cast<std::size_t>(size), 1.0);
        Eigen::MatrixXd mean = Eigen::MatrixXd::Zero(size, size);
        Eigen::MatrixXd square = mean;
        Eigen::MatrixXd fourth = mean;
        double trace = 0;
        double trace2 = 0;
        for (int k = 0; k < draws; ++k) {
            bi_invariant.draw(ones, from, x.data());
            mean += x;
            square += x.cwiseAbs2();
            fourth += x.cwiseAbs2().cwiseAbs2();
            trace += x.trace();
            trace2 += x.trace() * x.trace();
        }
        const double root = std::sqrt(static_cast<double>(draws));
        const Eigen::MatrixXd one = Eigen::MatrixXd::Ones(size, size);
        // Five standard errors: the variances are at most 1/m, 1/m² times 2, and 1/m.
        EXPECT_LT((mean / draws).cwiseAbs().maxCoeff(), 5 / std::sqrt(m) / root);
        EXPECT_LT((square / draws - one / m).cwiseAbs().maxCoeff(), 5 * std::sqrt(2.0) / m / root);
        EXPECT_LT((fourth / draws - one * (3 / (m * (m + 2)))).cwiseAbs().maxCoeff(), 5 * 0.4 / root);
        EXPECT_LT(std::abs(trace / draws), 5 / root);
        EXPECT_NEAR(trace2 / draws, 1, 5 * std::sqrt(2.0) / root);
    }
    // O(1): a fair sign.
    auto from = stream(200);
    int negative = 0;
    BiInvariant sign(1);
    for (int k = 0; k < 400; ++k) {
        double x = 0;
        sign.draw(std::vector<double>{2}, from, &x);
        EXPECT_EQ(std::abs(x), 2);
        negative += x < 0 ? 1 : 0;
    }
    EXPECT_NEAR(negative, 200, 5 * 10);
}

}  // namespace
