#include "dyson/equations/semicircular.hpp"

#include "support/expect_refused.hpp"

#include <gtest/gtest.h>
#include <Eigen/Dense>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <numbers>
#include <random>
#include <vector>

namespace spectra::dyson {
namespace {

using Complex = std::complex<double>;
using Eigen::Index;
using Eigen::MatrixXcd;

MatrixXcd unit(Index n, Index i, Index j) {
    MatrixXcd a = MatrixXcd::Zero(n, n);
    a(i, j) = 1;
    return a;
}

MatrixXcd random_matrix(Index n, std::mt19937& generator) {
    std::normal_distribution<double> normal;
    MatrixXcd a(n, n);
    for (Complex& value : a.reshaped()) value = {normal(generator), normal(generator)};
    return a / std::sqrt(2.0 * static_cast<double>(n));
}

MatrixXcd random_self_adjoint(Index n, std::mt19937& generator) {
    const MatrixXcd a = random_matrix(n, generator);
    return (a + a.adjoint()) / std::sqrt(2.0);
}

/// The averaged fixed point, plainly.
MatrixXcd plain(const std::vector<MatrixXcd>& kraus, const MatrixXcd& b) {
    MatrixXcd m = Complex(0, -1) * MatrixXcd::Identity(b.rows(), b.rows());
    for (int k = 0; k < 100'000; ++k) {
        MatrixXcd sigma = MatrixXcd::Zero(b.rows(), b.rows());
        for (const MatrixXcd& a : kraus) sigma += a * m * a.adjoint();
        const MatrixXcd next = (b - sigma).inverse();
        const double change = (next - m).norm();
        m = 0.5 * (m + next);
        if (change < 1e-15 * m.norm()) break;
    }
    return m;
}

/// Root of the semicircle's quadratic m² − zm + 1 = 0 with Im m < 0.
Complex semicircle(Complex z) {
    const Complex root = std::sqrt(z * z - 4.0), m = (z - root) / 2.0;
    return m.imag() < 0 ? m : (z + root) / 2.0;
}

void expect_solves(const Semicircular& solver, const SemicircularSolution& solution) {
    ASSERT_TRUE(solution.ok()) << solution.summary.message;
    const MatrixXcd image = (solution.b - solver.covariance(solution.m)).inverse();
    EXPECT_LT((image - solution.m).norm(), 1e-9 * solution.m.norm());
    const MatrixXcd im = (solution.m - solution.m.adjoint()) * Complex(0, -0.5);
    EXPECT_LT(Eigen::SelfAdjointEigenSolver<MatrixXcd>(im).eigenvalues().maxCoeff(),
              1e-9 * solution.m.norm());
}

TEST(Semicircular, OneElementIsTheSemicircle) {
    Semicircular solver({MatrixXcd::Ones(1, 1)});
    for (const Complex z : {Complex(0.3, 1e-9), Complex(-1.9, 1e-6), Complex(2.1, 1e-9), Complex(0.0, 5.0)}) {
        const auto solution = solver.solve(MatrixXcd::Constant(1, 1, z));
        ASSERT_TRUE(solution.ok()) << z;
        EXPECT_LT(std::abs(solution.m(0, 0) - semicircle(z)), 1e-11) << z;
    }
    EXPECT_NEAR(solver.density(MatrixXcd::Zero(1, 1), 0.5, 1e-12),
                std::sqrt(4 - 0.25) / (2 * std::numbers::pi), 1e-10);
    EXPECT_NEAR(solver.density(MatrixXcd::Zero(1, 1), 2.5, 1e-12), 0, 1e-10);
}

TEST(Semicircular, RectangularLinearisationIsMarchenkoPastur) {
    // XX* with X of N×M entries of variance 1/M, c = N/M: [[z, X], [X*, 1]] has (1,1) block (z − XX*)⁻¹.
    const double c = 0.4;
    Semicircular solver({unit(2, 0, 1), std::sqrt(c) * unit(2, 1, 0)});
    EXPECT_EQ(solver.range_dimension(), 2);
    const double lower = std::pow(1 - std::sqrt(c), 2), upper = std::pow(1 + std::sqrt(c), 2);
    for (const double x : {0.1, 0.2, 1.0, 2.0, 2.6, 3.0}) {
        const Complex z(x, 1e-8);
        const auto solution = solver.solve(Eigen::Vector2cd(z, 1.0).asDiagonal());
        ASSERT_TRUE(solution.ok()) << x;
        const Complex g = solution.m(0, 0);
        EXPECT_LT(std::abs(c * z * g * g - (z - 1.0 + c) * g + 1.0), 1e-10);
        const double inside = (x - lower) * (upper - x);
        const double density = inside > 0 ? std::sqrt(inside) / (2 * std::numbers::pi * c * x) : 0;
        EXPECT_NEAR(-g.imag() / std::numbers::pi, density, 1e-6) << x;
    }
}

TEST(Semicircular, SumsWithMatrixCoefficientsEqualThePlainFixedPoint) {
    std::mt19937 generator(7);
    for (const Index n : {2, 3, 5}) {
        const MatrixXcd a_0 = random_self_adjoint(n, generator);
        std::vector<MatrixXcd> kraus = {random_self_adjoint(n, generator), random_self_adjoint(n, generator)};
        if (n == 5) kraus.push_back(random_matrix(n, generator));
        Semicircular solver(kraus);
        for (const Complex z : {Complex(0.2, 0.2), Complex(-1.0, 0.3), Complex(3.0, 0.1)}) {
            const MatrixXcd b = z * MatrixXcd::Identity(n, n) - a_0;
            const auto solution = solver.solve(b);
            expect_solves(solver, solution);
            EXPECT_LT((solution.m - plain(kraus, b)).norm(), 1e-10 * solution.m.norm()) << n << " " << z;
        }
        for (const double x : {-2.0, -0.5, 0.1, 1.0, 4.0})
            expect_solves(solver, solver.solve(Complex(x, 1e-7) * MatrixXcd::Identity(n, n) - a_0));
    }
}

TEST(Semicircular, TakesBWithAnyPositiveImaginaryPart) {
    std::mt19937 generator(3);
    const MatrixXcd height = random_matrix(4, generator);
    const MatrixXcd b = random_self_adjoint(4, generator) + Complex(0, 0.5) * height * height.adjoint();
    const std::vector<MatrixXcd> kraus = {random_matrix(4, generator), random_matrix(4, generator)};
    Semicircular solver(kraus);
    const auto solution = solver.solve(b);
    expect_solves(solver, solution);
    EXPECT_LT((solution.m - plain(kraus, b)).norm(), 1e-10 * solution.m.norm());
}

TEST(Semicircular, ReproducesTheChainOfAGoldenNetwork) {
    std::ifstream file(SPECTRA_DATA_DIR "/golden/chain.json");
    const auto golden = nlohmann::json::parse(file);
    int points = 0;
    for (const auto& entry : golden["cases"]) {
        if (entry["name"] != "isotropic/bistochastic/L2") continue;
        const Index n = entry["streams"], depth = entry["depth"], size = 2 * depth * n;
        const auto w = [&](Index l) { return 2 * l * n; };
        const auto v = [&](Index l) { return (2 * l + 1) * n; };
        std::vector<MatrixXcd> kraus;
        MatrixXcd pencil = MatrixXcd::Zero(size, size), ends = pencil;
        ends.topLeftCorner(n, n).setIdentity();
        ends.bottomRightCorner(n, n).setIdentity();
        for (Index l = 0; l < depth; ++l) {
            const auto layer = static_cast<std::size_t>(l);
            const double sigma2 = entry["noise"]["sigma2"][layer];
            for (Index i = 0; i < n; ++i) {
                for (Index j = 0; j < n; ++j) {
                    const double a =
                        entry["mixers"][layer][static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
                    pencil(v(l) + i, w(l) + j) = pencil(w(l) + j, v(l) + i) = -a;
                    kraus.push_back(std::sqrt(sigma2 / static_cast<double>(n)) *
                                    unit(size, v(l) + i, w(l) + j));
                    kraus.push_back(kraus.back().transpose());
                }
                if (l + 1 < depth) pencil(v(l) + i, w(l + 1) + i) = pencil(w(l + 1) + i, v(l) + i) = 1;
            }
        }
        Semicircular solver(kraus);
        EXPECT_EQ(solver.range_dimension(), 2 * depth);
        for (std::size_t k = 0; k < entry["omega"].size(); ++k, ++points) {
            const Complex omega(entry["omega"][k][0], entry["omega"][k][1]);
            const Complex expected(entry["g"][k][0], entry["g"][k][1]);
            const auto solution = solver.solve(omega * ends + pencil);
            ASSERT_TRUE(solution.ok()) << omega;
            const Complex g = solution.m.bottomRightCorner(n, n).trace() / static_cast<double>(n);
            EXPECT_LT(std::abs(g - expected), 1e-9 * std::abs(expected)) << omega;
        }
    }
    EXPECT_EQ(points, 12);
}

TEST(Semicircular, SweepsAcrossGapsAndEdges) {
    // Free sum of ±3 and a semicircle: m = ½ Σ 1/(z ∓ 3 − m), two bands.
    std::vector<MatrixXcd> kraus;
    for (Index i = 0; i < 2; ++i)
        for (Index j = 0; j < 2; ++j) kraus.push_back(unit(2, i, j) / std::sqrt(2.0));
    Semicircular solver(kraus);
    EXPECT_EQ(solver.range_dimension(), 1);
    std::vector<MatrixXcd> b;
    const int points = 2001;
    const double reach = 6;
    for (int k = 0; k < points; ++k) {
        const Complex z(-reach + 2 * reach * k / (points - 1), 1e-7);
        b.push_back(Eigen::Vector2cd(z - 3.0, z + 3.0).asDiagonal());
    }
    double mass = 0, in_gap = 0;
    for (const auto& solution : solver.sweep(b)) {
        ASSERT_TRUE(solution.ok()) << solution.b(0, 0);
        const Complex m = solution.m.trace() / 2.0, z = solution.b(0, 0) + 3.0;
        EXPECT_LT(std::abs(m - 0.5 * (1.0 / (z - 3.0 - m) + 1.0 / (z + 3.0 - m))), 1e-9);
        mass += density(solution) * 2 * reach / (points - 1);
        if (std::abs(z.real()) < 0.5) in_gap = std::max(in_gap, density(solution));
    }
    EXPECT_NEAR(mass, 1, 1e-3);
    EXPECT_LT(in_gap, 1e-6);
}

TEST(Semicircular, MatrixFreeNewtonAgreesWithTheDenseOne) {
    std::mt19937 generator(5);
    const Index n = 4;
    const std::vector<MatrixXcd> kraus = {random_matrix(n, generator), random_matrix(n, generator)};
    SemicircularOptions options;
    options.dense_limit = 3;
    Semicircular dense(kraus), free(kraus, options);
    EXPECT_EQ(dense.range_dimension(), n * n);
    for (const double x : {0.0, 0.7, 3.0}) {
        const MatrixXcd b = Complex(x, 1e-5) * MatrixXcd::Identity(n, n);
        const auto expected = dense.solve(b), solution = free.solve(b);
        ASSERT_TRUE(expected.ok() && solution.ok()) << x;
        EXPECT_LT((solution.m - expected.m).norm(), 1e-9 * expected.m.norm()) << x;
    }
}

TEST(Semicircular, FallsBackOnTheAcceleratedFixedPoint) {
    std::mt19937 generator(9);
    const std::vector<MatrixXcd> kraus = {random_self_adjoint(3, generator),
                                          random_self_adjoint(3, generator)};
    SemicircularOptions options;
    options.max_rungs = 0;
    Semicircular solver(kraus, options), usual(kraus);
    const MatrixXcd b = Complex(0.3, 1e-4) * MatrixXcd::Identity(3, 3);
    const auto solution = solver.solve(b);
    expect_solves(solver, solution);
    EXPECT_GT(solution.summary.fixed_point_steps, 0);
    EXPECT_LT((solution.m - usual.solve(b).m).norm(), 1e-9 * solution.m.norm());
}

TEST(Semicircular, CountsWorkAndReportsFailure) {
    SemicircularOptions hopeless;
    hopeless.max_rungs = 0;
    hopeless.max_fixed_point_steps = 1;
    Semicircular solver({MatrixXcd::Ones(1, 1)}), cut({MatrixXcd::Ones(1, 1)}, hopeless);
    const MatrixXcd b = MatrixXcd::Constant(1, 1, Complex(1.0, 1e-6));
    const auto failed = cut.solve(b);
    EXPECT_FALSE(failed.ok());
    EXPECT_NE(failed.summary.message, "certified");
    EXPECT_TRUE(std::isnan(cut.density(MatrixXcd::Zero(1, 1), 1.0, 1e-6)));
    const auto cold = solver.solve(b);
    const auto warm = solver.solve(MatrixXcd::Constant(1, 1, Complex(1.01, 1e-6)), &cold);
    ASSERT_TRUE(cold.ok() && warm.ok());
    EXPECT_GT(warm.summary.map_evaluations, 0);
    EXPECT_LT(warm.summary.map_evaluations, cold.summary.map_evaluations);
    EXPECT_LT(std::abs(warm.m(0, 0) - semicircle({1.01, 1e-6})), 1e-11);
}

TEST(Semicircular, RefusesMistakes) {
    using testing::expect_refused;
    expect_refused([] { Semicircular({}); }, {"at least one"});
    expect_refused([] { Semicircular({MatrixXcd::Ones(2, 2), MatrixXcd::Ones(2, 3)}); }, {"matrix 2", "2×3"});
    expect_refused([] { Semicircular({MatrixXcd::Constant(1, 1, NAN)}); }, {"finite"});
    Semicircular solver({MatrixXcd::Ones(2, 2)});
    expect_refused([&] { solver.solve(MatrixXcd::Ones(3, 3)); }, {"3×3", "2×2"});
    expect_refused([&] { solver.solve(MatrixXcd::Identity(2, 2)); }, {"Im b"});
    expect_refused([&] { solver.solve(Complex(0, -1) * MatrixXcd::Identity(2, 2)); }, {"Im b"});
    expect_refused([&] { solver.density(unit(2, 0, 1), 0, 0.1); }, {"self-adjoint"});
}

}  // namespace
}  // namespace spectra::dyson
