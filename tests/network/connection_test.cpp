#include "network/connection.hpp"

#include "random/stream.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace spectra {
namespace {

TEST(Connections, AreSoftmaxAndTwiceTheLogistic) {
    const auto drawn = draw_connections(3, 2, false, 7);
    ASSERT_EQ(drawn.pre.size(), 2U);
    ASSERT_EQ(drawn.post.size(), 2U);
    for (std::uint32_t l = 0; l < 2; ++l) {
        random::Stream stream(7, random::Purpose::connection, l);
        double pre[3], post[3], sum = 0;
        for (double& x : pre) sum += x = std::exp(stream.normal());
        for (double& x : post) x = 2 / (1 + std::exp(-stream.normal()));
        for (int i = 0; i < 3; ++i) {
            EXPECT_NEAR(drawn.pre[l](i), pre[i] / sum, 1e-15);
            EXPECT_NEAR(drawn.post[l](i), post[i], 1e-15);
        }
    }
    EXPECT_NE(drawn.pre[0], drawn.pre[1]);
}

TEST(Connections, HaveTheMomentsOfTheirLaw) {
    constexpr int n = 4, depth = 20000;
    const auto drawn = draw_connections(n, depth, false, 1);
    double pre = 0, pre2 = 0, post = 0, post2 = 0;
    for (int l = 0; l < depth; ++l) {
        const auto& a = drawn.pre[static_cast<std::size_t>(l)];
        const auto& b = drawn.post[static_cast<std::size_t>(l)];
        EXPECT_NEAR(a.sum(), 1, 1e-14);
        EXPECT_GT(a.minCoeff(), 0);
        EXPECT_GT(b.minCoeff(), 0);
        EXPECT_LT(b.maxCoeff(), 2);
        pre += a(0) / depth;
        pre2 += a(3) / depth;
        post += b.mean() / depth;
        post2 += b.squaredNorm() / n / depth;
    }
    EXPECT_NEAR(pre, 0.25, 0.005) << "streams are exchangeable";
    EXPECT_NEAR(pre2, 0.25, 0.005);
    EXPECT_NEAR(post, 1, 0.008);
    EXPECT_NEAR(post2, 4 * 0.293379, 0.015) << "E σ(x)², x ~ N(0, 1)";
}

TEST(Connections, SharedOnesAreThoseOfTheFirstLayer) {
    const auto shared = draw_connections(3, 4, true, 5), own = draw_connections(3, 1, false, 5);
    for (std::size_t l = 0; l < 4; ++l) {
        EXPECT_EQ(shared.pre[l], own.pre[0]);
        EXPECT_EQ(shared.post[l], own.post[0]);
    }
    EXPECT_NE(draw_connections(3, 1, false, 6).pre[0], own.pre[0]);
    EXPECT_EQ(draw_connections(1, 1, false, 6).pre[0](0), 1);
}

}  // namespace
}  // namespace spectra
