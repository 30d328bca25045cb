#include "claims/jpmhc_sinkhorn.hpp"

#include "mixers/gaussian.hpp"
#include "mixers/sinkhorn.hpp"

#include <gtest/gtest.h>

namespace spectra::claims::jpmhc {
namespace {

using Eigen::MatrixXd;

TEST(ImplicitGradient, OfManySweepsIsThatOfTheDirectSolve) {
    random::Stream random(7, random::Purpose::test);
    for (const int n : {2, 3, 5}) {
        const MatrixXd p = mixers::sinkhorn(mixers::standard_normal(n, n, random));
        const MatrixXd upstream = mixers::standard_normal(n, n, random);
        const MatrixXd direct = direct_gradient(p, upstream);
        EXPECT_LT((gauss_seidel_gradient(p, upstream, 500) - direct).norm(), 1e-10 * direct.norm());
        // P stays bistochastic: its rows and columns cannot move as a whole.
        EXPECT_LT(direct.rowwise().sum().cwiseAbs().maxCoeff(), 1e-12);
        EXPECT_LT(direct.colwise().sum().cwiseAbs().maxCoeff(), 1e-12);
    }
}

}  // namespace
}  // namespace spectra::claims::jpmhc
