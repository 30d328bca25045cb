#include "montecarlo/sample/probing.hpp"

#include "random/stream.hpp"
#include "support/dense_operator.hpp"

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include <cmath>

namespace spectra::montecarlo {
namespace {

using Dense = tests::DenseOperator;

constexpr int size = 60;

/// Q diag(s) Qᵀ with s from 0.05 to 2 in equal steps.
Eigen::MatrixXd matrix_of_known_values() {
    std::vector<double> numbers(static_cast<std::size_t>(size * size));
    random::Stream(1, random::Purpose::probe).fill_normal(numbers);
    const Eigen::HouseholderQR<Eigen::MatrixXd> qr(Eigen::Map<Eigen::MatrixXd>(numbers.data(), size, size));
    const Eigen::MatrixXd q = qr.householderQ();
    return q * Eigen::VectorXd::LinSpaced(size, 0.05, 2).asDiagonal() * q.transpose();
}

/// To probe `dense`; every call appends the number of its probes to `calls`.
ProbedMatrix probed(Dense& dense, std::vector<int>& calls) {
    ProbedMatrix out;
    out.rank = out.size = dense.size();
    out.columns = 100'000;
    out.bidiagonalise = [&](const std::vector<double>& probes, int count, const linalg::GolubKahanOptions& how) {
        calls.push_back(count);
        return linalg::golub_kahan(dense, probes, how);
    };
    return out;
}

/// Shares of the values above, by counting.
double share(double from, double to) {
    int count = 0;
    for (const double s : Eigen::VectorXd::LinSpaced(size, 0.05, 2)) count += s >= from && s < to ? 1 : 0;
    return count / static_cast<double>(size);
}

TEST(Probing, FindsALawWithinItsErrors) {
    Dense dense(matrix_of_known_values());
    std::vector<int> calls;
    const auto law = probe(probed(dense, calls));
    EXPECT_NEAR(law.metrics.window, share(0.75, 1.25), 4 * law.error.window);
    EXPECT_NEAR(law.metrics.collapsed, share(0, 0.1), 4 * law.error.collapsed + 1e-3);
    EXPECT_NEAR(law.metrics.largest, 2, 1e-6);
    EXPECT_NEAR(law.metrics.smallest, 0.05, 1e-6);
    EXPECT_TRUE(law.largest_converged && law.smallest_converged);
    EXPECT_EQ(law.log_values.size(), static_cast<std::size_t>(size));
    EXPECT_LE(law.probes, 40);
}

TEST(Probing, TakesAllProbesAndStepsWhereNoErrorIsWanted) {
    Dense dense(matrix_of_known_values());
    std::vector<int> calls;
    ProbingOptions options;
    options.probes = 3;
    options.steps = 7;
    options.error = options.extremes = 0;
    const auto law = probe(probed(dense, calls), options);
    EXPECT_EQ(calls, std::vector<int>{3});
    EXPECT_EQ(law.probes, 3);
    EXPECT_EQ(law.steps, 7);
    EXPECT_EQ(probe(probed(dense, calls), options).log_values, law.log_values) << "the same probes in every run";
    options.input = 1;
    EXPECT_NE(probe(probed(dense, calls), options).log_values, law.log_values) << "others of another input";
}

TEST(Probing, TakesFewerProbesAtATimeWhereMemoryIsShort) {
    Dense dense(matrix_of_known_values());
    std::vector<int> calls;
    ProbingOptions options;
    options.probes = 4;
    options.steps = 10;
    options.error = options.extremes = 0;
    const auto expected = probe(probed(dense, calls), options);
    auto matrix = probed(dense, calls);
    int freed = 0;
    matrix.start_over = [&] { ++freed; };
    const auto enough = matrix.bidiagonalise;
    matrix.bidiagonalise = [&](const std::vector<double>& probes, int count, const linalg::GolubKahanOptions& how) {
        if (count > 2) throw OutOfMemory("no more");
        return enough(probes, count, how);
    };
    calls.clear();
    EXPECT_EQ(probe(matrix, options).log_values, expected.log_values);
    EXPECT_EQ(calls, (std::vector<int>{2, 2}));
    EXPECT_EQ(freed, 1);
    matrix.bidiagonalise = [](const auto&, int, const auto&) -> std::vector<linalg::GaussQuadrature> {
        throw OutOfMemory("none at all");
    };
    EXPECT_THROW(probe(matrix, options), OutOfMemory);
}

}  // namespace
}  // namespace spectra::montecarlo
