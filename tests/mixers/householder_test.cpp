#include "mixers/householder.hpp"

#include "mixers/defects.hpp"
#include "mixers/draws.hpp"

#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace spectra::mixers {
namespace {

using testing::for_each_draw;
using testing::recipe_of;
using testing::rounding;

TEST(Householder, DrawsHaveOneSingularValueOffOne) {
    for (const double beta : {-0.5, 0.0, 0.3, 1.0, 2.0, 3.0}) {
        Recipe recipe = recipe_of(Family::householder);
        recipe.beta = beta;
        for_each_draw(recipe, 5, [beta](const Mixer& a, int n) {
            EXPECT_EQ((a - a.transpose()).cwiseAbs().maxCoeff(), 0.0);
            std::vector<double> expected(static_cast<std::size_t>(n), 1.0);
            expected.back() = std::abs(1 - beta);
            std::sort(expected.rbegin(), expected.rend());
            const Eigen::VectorXd found = singular_values(a);
            for (int i = 0; i < n; ++i)
                EXPECT_NEAR(found(i), expected[static_cast<std::size_t>(i)], rounding(n));
            EXPECT_NEAR(a.determinant(), 1 - beta, rounding(n, 64));
        });
    }
}

TEST(Householder, ReflectsItsDirection) {
    const Eigen::Vector3d k(1, -2, 2);
    EXPECT_LE((householder(k, 2.0) * k + k).cwiseAbs().maxCoeff(), rounding(3));
    EXPECT_LE((householder(1e-200 * k, 1.0) * k).cwiseAbs().maxCoeff(), rounding(3));
    EXPECT_LE((householder(1e200 * k, 1.0) * k).cwiseAbs().maxCoeff(), rounding(3));
}

TEST(Householder, RefusesADirectionThatIsNone) {
    EXPECT_THROW(householder(Eigen::Vector3d::Zero(), 1.0), std::invalid_argument);
    EXPECT_THROW(householder(Eigen::Vector3d(0, std::nan(""), 1), 1.0), std::invalid_argument);
}

}  // namespace
}  // namespace spectra::mixers
