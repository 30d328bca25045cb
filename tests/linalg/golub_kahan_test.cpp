#include "linalg/golub_kahan.hpp"

#include "base/special_values.hpp"
#include "linalg/singular_values.hpp"
#include "random/stream.hpp"
#include "spectrum/laws.hpp"
#include "spectrum/spectrum.hpp"

#include <gtest/gtest.h>
#include <Eigen/Core>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace {

using namespace spectra;
using namespace spectra::tests;
using Eigen::MatrixXd;
using Eigen::VectorXd;

class Dense : public linalg::LinearOperator {
public:
    explicit Dense(MatrixXd matrix) : matrix_(std::move(matrix)) {}
    int size() const override { return static_cast<int>(matrix_.rows()); }
    void apply(const double* in, double* out, int columns) override {
        ++applied;
        Eigen::Map<MatrixXd>(out, size(), columns) =
            matrix_ * Eigen::Map<const MatrixXd>(in, size(), columns);
    }
    void apply_transpose(const double* in, double* out, int columns) override {
        Eigen::Map<MatrixXd>(out, size(), columns) =
            matrix_.transpose() * Eigen::Map<const MatrixXd>(in, size(), columns);
    }
    int applied = 0;

private:
    MatrixXd matrix_;
};

class Diagonal : public linalg::LinearOperator {
public:
    explicit Diagonal(VectorXd values) : values_(std::move(values)) {}
    int size() const override { return static_cast<int>(values_.size()); }
    void apply(const double* in, double* out, int columns) override {
        for (int c = 0; c < columns; ++c)
            for (int i = 0; i < size(); ++i) out[c * size() + i] = values_[i] * in[c * size() + i];
    }
    void apply_transpose(const double* in, double* out, int columns) override { apply(in, out, columns); }

private:
    VectorXd values_;
};

std::vector<double> normals(int size, int columns, std::uint32_t sample = 0) {
    std::vector<double> out(static_cast<std::size_t>(size * columns));
    random::Stream(1, random::Purpose::test, 0, sample).fill_normal(out);
    return out;
}

std::vector<double> signs(int size, int columns) {
    auto out = normals(size, columns);
    for (double& x : out) x = x < 0 ? -1 : 1;
    return out;
}

MatrixXd gaussian(int size, std::uint32_t sample) {
    const auto entries = normals(size, size, sample);
    return Eigen::Map<const MatrixXd>(entries.data(), size, size) / std::sqrt(static_cast<double>(size));
}

VectorXd singular_values(const MatrixXd& matrix) {
    return linalg::singular_value_decomposition(matrix).values.reverse();
}

double sum(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
}

std::vector<double> logarithms(const VectorXd& values) {
    std::vector<double> out;
    for (const double s : values) out.push_back(std::log(s));
    return out;
}

linalg::GolubKahanOptions steps(int count) {
    linalg::GolubKahanOptions out;
    out.steps = count;
    return out;
}

TEST(GolubKahan, IntegratesPolynomialsOfDegreeTwoKMinusOneExactly) {
    // A diagonal matrix and a probe of known components: every moment of s² is a sum.
    const int size = 40;
    const VectorXd s = VectorXd::LinSpaced(size, 0.1, 1.3);
    Dense matrix(s.asDiagonal().toDenseMatrix());
    const auto probe = normals(size, 1);
    VectorXd mass = Eigen::Map<const VectorXd>(probe.data(), size).array().square();
    mass /= mass.sum();
    for (const int k : {1, 2, 5, 9}) {
        const auto found = linalg::golub_kahan(matrix, probe, steps(k)).at(0);
        ASSERT_EQ(found.node.size(), static_cast<std::size_t>(k));
        const auto moment = [&](int degree) {
            double out = 0;
            for (std::size_t i = 0; i < found.node.size(); ++i)
                out += found.weight[i] * std::pow(found.node[i], 2 * degree);
            return out;
        };
        const auto exact = [&](int degree) { return (mass.array() * s.array().pow(2 * degree)).sum(); };
        for (int degree = 0; degree < 2 * k; ++degree)
            EXPECT_NEAR(moment(degree), exact(degree), 1e-13 * exact(degree)) << k << ", " << degree;
        EXPECT_GT(std::abs(moment(2 * k) / exact(2 * k) - 1), 1e-12) << k;
        EXPECT_NEAR(found.mean_square, exact(1), 1e-15);
    }
}

TEST(GolubKahan, MassUpToANodeIsBoundedAsChebyshevMarkovAndStieltjesSay) {
    const int size = 300;
    const MatrixXd j = gaussian(size, 3) + MatrixXd::Identity(size, size);
    const auto svd = linalg::singular_value_decomposition(j);
    Dense matrix(j);
    const auto probe = signs(size, 1);
    const VectorXd along = svd.right.transpose() * Eigen::Map<const VectorXd>(probe.data(), size);
    const auto found = linalg::golub_kahan(matrix, probe, steps(30)).at(0);
    double below = 0;
    for (std::size_t i = 0; i < found.node.size(); ++i) {
        double exact = 0;
        for (int k = 0; k < size; ++k)
            if (svd.values[k] < found.node[i] * (1 - 1e-12)) exact += along[k] * along[k] / size;
        EXPECT_GE(exact, below - 1e-10);
        below += found.weight[i];
        EXPECT_LE(exact, below + 1e-10);
        // And the spread law lies between them too.
        EXPECT_LE(mass_below(found, found.node[i] * (1 - 1e-12)), below);
    }
}

TEST(GolubKahan, EndsWhereTheKrylovSpaceDoes) {
    for (const int size : {1, 2, 7}) {
        Dense identity(3 * MatrixXd::Identity(size, size));
        for (const auto& found : linalg::golub_kahan(identity, signs(size, 3))) {
            ASSERT_EQ(found.node.size(), 1U);
            EXPECT_NEAR(found.node[0], 3, 1e-14);
            EXPECT_NEAR(found.weight[0], 1, 1e-15);
            EXPECT_EQ(found.residual[0], 0);
            EXPECT_TRUE(found.converged(0));
            EXPECT_EQ(found.resolved_from(), 0);
        }
        EXPECT_EQ(identity.applied, 1);
        Dense zero(MatrixXd::Zero(size, size));
        const auto found = linalg::golub_kahan(zero, signs(size, 2));
        EXPECT_EQ(found[1].node, std::vector<double>{0});
        EXPECT_EQ(found[1].weight, std::vector<double>{1});
        EXPECT_EQ(linalg::log_quantiles(found, 2), (std::vector<double>{-infinity, -infinity}));
    }
    // Two places: two nodes, whatever the steps; their masses are those of the probe.
    const int size = 12;
    VectorXd s = VectorXd::Constant(size, 2.0);
    s.head(3).setConstant(0.5);
    Dense two(s.asDiagonal().toDenseMatrix());
    const auto found = linalg::golub_kahan(two, signs(size, 2));
    for (const auto& probe : found) {
        ASSERT_EQ(probe.node.size(), 2U);
        EXPECT_NEAR(probe.node[0], 0.5, 1e-14);
        EXPECT_NEAR(probe.weight[0], 0.25, 1e-14);
    }
    const auto values = linalg::log_quantiles(found, size);
    for (int k = 0; k < size; ++k)
        EXPECT_NEAR(values[static_cast<std::size_t>(k)], std::log(k < 3 ? 0.5 : 2), 1e-13);
}

TEST(GolubKahan, FindsEverySingularValueOfASmallMatrix) {
    for (const int size : {1, 2, 3, 10, 40}) {
        const MatrixXd j = gaussian(size, 1);
        Dense matrix(j);
        const auto found = linalg::golub_kahan(matrix, normals(size, 2, 9));
        const VectorXd s = singular_values(j);
        for (const auto& probe : found) {
            ASSERT_EQ(probe.node.size(), static_cast<std::size_t>(size));
            for (int i = 0; i < size; ++i)
                EXPECT_NEAR(probe.node[static_cast<std::size_t>(i)], s[i], 1e-13 * s[size - 1]);
            EXPECT_NEAR(sum(probe.weight), 1, 1e-13);
        }
    }
}

TEST(GolubKahan, SeesTheRankOfASingularMatrix) {
    const int size = 60;
    MatrixXd j = gaussian(size, 2);
    j.rightCols(20) = j.leftCols(20);  // nullity 20
    Dense matrix(j);
    const auto found = linalg::golub_kahan(matrix, signs(size, 200));
    double at_zero = 0;
    for (const auto& probe : found) {
        EXPECT_LE(probe.node[0], 1e-13);
        EXPECT_GT(probe.node[1], 1e-4);
        EXPECT_NEAR(sum(probe.weight), 1, 1e-13);
        at_zero += mass_below(probe, 1e-10) / 200;
    }
    EXPECT_NEAR(at_zero, 1.0 / 3, 0.02);  // √(2/60/200 · (1/3)(2/3)) = 0.006
}

TEST(GolubKahan, KeepsItsDigitsAtSmallSingularValues) {
    // Graded: s from 1 to 1e-9. Lanczos on JᵀJ would lose what is below 1e-8.
    const int size = 30;
    VectorXd s(size);
    for (int k = 0; k < size; ++k) s[k] = std::pow(10.0, -9.0 * k / (size - 1));
    const auto turned = linalg::singular_value_decomposition(gaussian(size, 4));
    Dense matrix(turned.left * s.asDiagonal() * turned.right.transpose());
    const auto found = linalg::golub_kahan(matrix, signs(size, 1)).at(0);
    ASSERT_EQ(found.node.size(), static_cast<std::size_t>(size));
    for (int k = 0; k < size; ++k)
        EXPECT_NEAR(found.node[static_cast<std::size_t>(size - 1 - k)], s[k], 1e-14) << k;
}

TEST(GolubKahan, ResidualsBoundTheErrorOfTheExtremes) {
    const int size = 400;
    const MatrixXd j = gaussian(size, 5) * 0.2 + MatrixXd::Identity(size, size);
    const VectorXd s = singular_values(j);
    Dense matrix(j);
    for (const int k : {10, 20, 40, 80}) {
        const auto found = linalg::golub_kahan(matrix, signs(size, 3), steps(k));
        const auto top = largest(found);
        const auto bottom = smallest(found);
        EXPECT_LE(top.value, s[size - 1] + 1e-13);
        EXPECT_GE(bottom.value, s[0] - 1e-13);
        for (const auto& probe : found) {
            for (std::size_t i = 0; i < probe.node.size(); ++i)
                EXPECT_LE((s.array() - probe.node[i]).abs().minCoeff(), probe.residual[i] + 1e-13);
        }
    }
    linalg::GolubKahanOptions until;
    until.steps = 20;
    until.extremes = 1e-6;
    const auto found = linalg::golub_kahan(matrix, signs(size, 2), until);
    EXPECT_GT(found[0].node.size(), 20U);
    EXPECT_LT(found[0].node.size(), 200U);
    EXPECT_NEAR(largest(found).value, s[size - 1], 1e-6 * s[size - 1]);
    EXPECT_NEAR(smallest(found).value, s[0], 1e-6 * s[size - 1]);
    EXPECT_LE(largest(found).error, 1e-6 * s[size - 1]);
    EXPECT_LE(smallest(found).error, 1e-6 * s[size - 1]);
}

TEST(GolubKahan, QuantilesAreNearTheSingularValues) {
    const int size = 512;
    const MatrixXd j = gaussian(size, 6);
    const auto exact = Spectrum::from_log_values(logarithms(singular_values(j)));
    Dense matrix(j);
    const auto found = linalg::golub_kahan(matrix, signs(size, 40));
    double floor = 0;
    for (const auto& probe : found) {
        EXPECT_NEAR(sum(probe.weight), 1, 1e-13);
        floor = std::max(floor, probe.resolved_from());
    }
    // A hard edge at 0: places are known down to some nodes above it.
    EXPECT_GT(floor, 0.01);
    EXPECT_LT(floor, 0.15);
    const auto law = Spectrum::from_log_values(linalg::log_quantiles(found, size), std::log(floor));
    const auto distance = agreement(law, exact);
    EXPECT_LT(distance.wasserstein1, 0.006);
    EXPECT_LT(distance.wasserstein1_log, 0.02);
}

TEST(GolubKahan, MassBelowAllNodesIsBounded) {
    // A fiftieth lies far below a wide rest, where few nodes do not come.
    const int size = 2000, low = size / 50;
    VectorXd s = VectorXd::LinSpaced(size, 0.5, 30);
    s.head(low).setConstant(0.02);
    Diagonal matrix(s);
    const std::vector<double> probe(size, 1.0);
    const auto few = linalg::golub_kahan(matrix, probe, steps(20)).at(0);
    ASSERT_GT(few.node[0], 0.1);
    EXPECT_EQ(mass_below(few, 0.1), 0);
    EXPECT_GE(linalg::hidden_below(few, 0.1), 0.02);
    EXPECT_LT(linalg::hidden_below(few, 0.1), 0.1);
    EXPECT_EQ(linalg::hidden_below(few, 1.01 * few.node[0]), 0);
    const auto many = linalg::golub_kahan(matrix, probe, steps(200)).at(0);
    EXPECT_EQ(linalg::hidden_below(many, 0.1), 0);
    EXPECT_NEAR(mass_below(many, 0.1), 0.02, 1e-6);
    // Nothing is hidden below a singular value that was found.
    Diagonal one(VectorXd::Ones(10));
    EXPECT_EQ(linalg::hidden_below(linalg::golub_kahan(one, std::vector<double>(10, 1.0)).at(0), 0.1), 0);
}

TEST(GolubKahan, SpreadNodesAreOfSecondOrder) {
    // The quarter circle by a diagonal matrix and a probe that sees all of it alike: no noise, only the error
    // of k nodes.
    const int size = 4000;
    const auto exact = quarter_circle(2000);
    VectorXd s(size);
    for (int k = 0; k < size; ++k) s[k] = std::exp(exact.log_quantile((k + 0.5) / size));
    Diagonal matrix(s);
    double before = infinity;
    for (const int k : {10, 20, 40}) {
        const auto found = linalg::golub_kahan(matrix, std::vector<double>(size, 1.0), steps(k));
        const auto law = Spectrum::from_log_values(linalg::log_quantiles(found, size));
        const double distance = agreement(law, exact).wasserstein1;
        EXPECT_LT(distance, 1.5 / (k * k)) << k;
        EXPECT_LT(distance, 0.35 * before) << k;
        before = distance;
    }
}

/// Column by column, all of the basis twice: the plain way. Nodes ascending.
VectorXd plain_nodes(const MatrixXd& j, const VectorXd& probe, int k) {
    MatrixXd u = MatrixXd::Zero(j.rows(), k), v = MatrixXd::Zero(j.rows(), k + 1), b = MatrixXd::Zero(k, k);
    const auto without = [](VectorXd w, const MatrixXd& basis, Eigen::Index count) {
        for (int pass = 0; pass < 2; ++pass)
            for (Eigen::Index i = 0; i < count; ++i) w -= basis.col(i).dot(w) * basis.col(i);
        return w;
    };
    v.col(0) = probe.normalized();
    for (int i = 0; i < k; ++i) {
        const VectorXd left = without(j * v.col(i), u, i);
        u.col(i) = left.normalized();
        b(i, i) = left.norm();
        const VectorXd right = without(j.transpose() * u.col(i), v, i + 1);
        v.col(i + 1) = right.normalized();
        if (i + 1 < k) b(i, i + 1) = right.norm();
    }
    return singular_values(b);
}

TEST(GolubKahan, NodesAreThoseOfThePlainWay) {
    // Of several pieces of rows; near the identity one pass of Gram-Schmidt takes nearly all of Jᵀu.
    const int size = 1100, k = 70;
    for (const double scale : {0.02, 0.3, 1.0}) {
        const MatrixXd j = MatrixXd::Identity(size, size) + scale * gaussian(size, 8);
        Dense matrix(j);
        const auto probes = normals(size, 2, 3);
        const auto found = linalg::golub_kahan(matrix, probes, steps(k)).at(1);
        const auto expected = plain_nodes(j, Eigen::Map<const VectorXd>(probes.data() + size, size), k);
        ASSERT_EQ(found.node.size(), static_cast<std::size_t>(k));
        for (int i = 0; i < k; ++i)
            EXPECT_NEAR(found.node[static_cast<std::size_t>(i)], expected[i], 1e-13 * expected[k - 1])
                << scale;
    }
}

TEST(GolubKahan, GoesOnWithTheFirstProbeAndGivesUpWhatIsOutOfReach) {
    const int size = 600;
    linalg::GolubKahanOptions options;
    options.steps = 60;
    options.extremes = 1e-6;
    options.most_steps = 300;
    for (const bool hard_edge : {false, true}) {
        const MatrixXd j = hard_edge ? gaussian(size, 9)
                                     : MatrixXd(0.3 * gaussian(size, 9) + MatrixXd::Identity(size, size));
        const VectorXd s = singular_values(j);
        Dense matrix(j);
        int all = 0, alone = 0;
        options.progress = [&](int probes) { ++(probes == 3 ? all : alone); };
        const auto found = linalg::golub_kahan(matrix, normals(size, 3), options);
        EXPECT_EQ(all, 60);
        EXPECT_EQ(found[0].node.size(), static_cast<std::size_t>(all + alone));
        EXPECT_EQ(found[1].node.size(), 60U);
        EXPECT_LE(largest(found).error, 1e-6 * s[size - 1]);
        EXPECT_NEAR(largest(found).value, s[size - 1], 1e-6 * s[size - 1]);
        EXPECT_GE(smallest(found).value, s[0] - 1e-13);
        if (hard_edge) {  // as many steps as the largest value needs, far from three hundred
            EXPECT_LT(alone, 120);
            EXPECT_GT(smallest(found).error, 1e-6 * s[size - 1]);
        } else {
            EXPECT_LE(smallest(found).error, 1e-6 * s[size - 1]);
            EXPECT_NEAR(smallest(found).value, s[0], 1e-6 * s[size - 1]);
        }
    }
    // Where the steps allowed are all there are, nothing is out of reach.
    options.progress = nullptr;
    Dense matrix(gaussian(120, 9));
    options.most_steps = 120;
    EXPECT_LE(smallest(linalg::golub_kahan(matrix, normals(120, 1), options)).error, 1e-6);
}

TEST(GolubKahan, EndsWhereItIsToldTo) {
    Dense matrix(gaussian(100, 7));
    linalg::GolubKahanOptions options = steps(50);
    std::vector<std::size_t> asked;
    options.enough = [&](const std::vector<linalg::GaussQuadrature>& probes) {
        asked.push_back(probes.at(1).node.size());
        return asked.size() == 3;
    };
    EXPECT_EQ(linalg::golub_kahan(matrix, signs(100, 2), options).at(1).node.size(), 30U);
    EXPECT_EQ(asked, (std::vector<std::size_t>{10, 20, 30}));
}

TEST(GolubKahan, AnotherProbeMaySayHowFarAnExtremeIs) {
    linalg::GaussQuadrature coarse, fine;
    coarse.node = {0.5, 2.0};
    coarse.weight = {0.5, 0.5};
    coarse.residual = {0.1, 0.1};
    fine = coarse;
    fine.node.back() = 2 - 1e-9;
    fine.residual.back() = 1e-10;
    const auto top = spectra::linalg::largest({fine, coarse});
    EXPECT_EQ(top.value, 2.0);
    EXPECT_LT(top.error, 2e-9);
    EXPECT_GE(top.error, 1e-9);
}

TEST(GolubKahan, ThreadsChangeNothing) {
    const int size = 30000;  // many pieces of rows, the last one short, and enough numbers for threads
    Diagonal matrix(VectorXd::LinSpaced(size, 0.1, 1.3));
    linalg::GolubKahanOptions options = steps(25);
    const auto one = linalg::golub_kahan(matrix, signs(size, 3), options);
    for (const int threads : {2, 7}) {
        options.threads = threads;
        const auto several = linalg::golub_kahan(matrix, signs(size, 3), options);
        for (std::size_t c = 0; c < one.size(); ++c) {
            EXPECT_EQ(one[c].node, several[c].node);
            EXPECT_EQ(one[c].weight, several[c].weight);
            EXPECT_EQ(one[c].residual, several[c].residual);
        }
    }
}

TEST(GolubKahan, RefusesWhatHasNoAnswer) {
    Dense matrix(MatrixXd::Identity(3, 3));
    EXPECT_THROW(linalg::golub_kahan(matrix, {}), std::invalid_argument);
    EXPECT_THROW(linalg::golub_kahan(matrix, {1, 2}), std::invalid_argument);
    EXPECT_THROW(linalg::golub_kahan(matrix, {0, 0, 0}), std::invalid_argument);
    EXPECT_THROW(linalg::golub_kahan(matrix, {1, 0, 0}, steps(0)), std::invalid_argument);
    Dense broken(MatrixXd::Constant(3, 3, std::numeric_limits<double>::quiet_NaN()));
    EXPECT_THROW(linalg::golub_kahan(broken, {1, 0, 0}), std::runtime_error);
}

}  // namespace
