#include "validation/leading_triplets.hpp"

#include "linalg/singular_values.hpp"
#include "mixers/mixer.hpp"
#include "support/measured_stack.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace spectra::validation {
namespace {

using spectra::testing::measured_stack;

std::vector<Mixer> turned(int depth) {
    std::vector<Mixer> out;
    for (int l = 0; l < depth; ++l)
        out.push_back((Mixer(2, 2) << std::cos(0.3 + l), -std::sin(0.3 + l), std::sin(0.3 + l), std::cos(0.3 + l)).finished());
    return out;
}

/// The largest singular value of the product, formed whole.
double largest(const layouts::Measurement& m) {
    const auto n = m.stack.connections.front().mixer.rows();
    const Eigen::Index p = static_cast<Eigen::Index>(m.singular_values.size()) / n;
    Eigen::MatrixXd product = Eigen::MatrixXd::Identity(n * p, n * p);
    for (std::size_t l = 0; l < m.branches.size(); ++l) {
        const auto& c = m.stack.connections[l];
        const Eigen::MatrixXd core = m.branches[l].core.matrix();
        Eigen::MatrixXd y = c.pre.size() > 0 ? Eigen::MatrixXd::Zero(n * p, n * p) : core;
        for (Eigen::Index i = 0; i < n; ++i)
            for (Eigen::Index j = 0; j < n; ++j) {
                if (c.pre.size() > 0) y.block(i * p, j * p, p, p) = c.post(i) * c.pre(j) * core;
                y.block(i * p, j * p, p, p).diagonal().array() += c.mixer(i, j);
            }
        if (m.branches[l].derivative.count() > 0) y += m.branches[l].derivative.matrix();
        product = (y * product).eval();
    }
    return linalg::singular_value_decomposition(product).values(0);
}

/// An input-dependent mixer's derivative, of rank one, for connection l.
void add_derivative(layouts::Measurement& m, std::size_t l) {
    const auto size = static_cast<Eigen::Index>(m.singular_values.size());
    const auto direction = [&](double step) {
        return Eigen::MatrixXd::NullaryExpr(size, 1, [&](Eigen::Index i, Eigen::Index) { return std::cos(step * static_cast<double>(i)); })
            .normalized()
            .eval();
    };
    m.branches[l].derivative = {Eigen::VectorXd::Constant(1, 0.7), direction(0.8), direction(1.9)};
    m.singular_values.front() = largest(m);
}

TEST(LeadingTriplets, AreDerivativesOfTheLargestValue) {
    for (const bool mix : {true, false}) {
        auto m = measured_stack(turned(4), mix ? 12 : 6, 0.5, mix, 5, 0, 1.5);
        if (mix) add_derivative(m, 1);
        const auto leading = leading_triplets(m, 6);
        ASSERT_EQ(leading.size(), 6U);
        for (const auto& one : leading) {
            const auto at = [&](double factor) {
                auto changed = m;
                changed.branches[static_cast<std::size_t>(one.connection)].core.values(one.triplet) *= factor;
                return std::log(largest(changed));
            };
            constexpr double step = 1e-4;
            EXPECT_NEAR(one.elasticity, (at(1 + step) - at(1 - step)) / (2 * step), 1e-5);
            EXPECT_EQ(one.value, m.branches[static_cast<std::size_t>(one.connection)].core.values(one.triplet));
        }
        for (std::size_t k = 1; k < leading.size(); ++k)
            EXPECT_LE(std::abs(leading[k].elasticity), std::abs(leading[k - 1].elasticity));
    }
}

TEST(LeadingTriplets, OfPureBranchesSumToOnePerConnection) {
    auto m = measured_stack(std::vector<Mixer>(3, Mixer::Zero(2, 2)), 8, 1, false, 2);
    std::map<int, double> sums;
    for (const auto& one : leading_triplets(m, 1000)) sums[one.connection] += one.elasticity;
    ASSERT_EQ(sums.size(), 3U);
    for (const auto& [connection, sum] : sums) EXPECT_NEAR(sum, 1, 1e-9);
}

TEST(LeadingTriplets, NoneWhereTheConnectionsAreNotTheJacobian) {
    auto m = measured_stack(turned(2), 6, 0.5, true, 5);
    EXPECT_FALSE(leading_triplets(m, 1).empty());
    m.singular_values.front() *= 1.5;
    EXPECT_TRUE(leading_triplets(m, 1).empty());
    // An isometry: every value is the largest.
    auto same = measured_stack(turned(2), 6, 0, true, 5);
    for (const auto& one : leading_triplets(same, 3)) EXPECT_EQ(one.elasticity, 0);
}

}  // namespace
}  // namespace spectra::validation
