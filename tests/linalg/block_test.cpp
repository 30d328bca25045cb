#include "linalg/block.hpp"

#include "random/stream.hpp"

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <cmath>
#include <limits>
#include <vector>

namespace spectra::dyson {
namespace {

Eigen::MatrixXcd draw(Eigen::Index n, std::uint32_t index) {
    random::Stream stream(3, random::Purpose::test, index);
    Eigen::MatrixXcd m(n, n);
    for (auto& value : m.reshaped()) value = {stream.normal(), stream.normal()};
    return m;
}

std::vector<double> pack(const Eigen::MatrixXcd& m) {
    std::vector<double> out;
    for (const bool imaginary : {false, true})
        for (Eigen::Index i = 0; i < m.rows(); ++i)
            for (Eigen::Index j = 0; j < m.cols(); ++j)
                out.push_back(imaginary ? m(i, j).imag() : m(i, j).real());
    return out;
}

double distance(const std::vector<double>& a, const Eigen::MatrixXcd& b) {
    const auto packed = pack(b);
    double largest = 0;
    for (std::size_t k = 0; k < packed.size(); ++k) largest = std::max(largest, std::abs(packed[k] - a[k]));
    return largest;
}

template <int N>
void compare_with_eigen(Eigen::Index n) {
    const linalg::block::Size<N> size{static_cast<std::size_t>(n)};
    const Eigen::MatrixXcd a = draw(n, 1), b = draw(n, 2);
    const auto pa = pack(a), pb = pack(b),
               real = pack(Eigen::MatrixXcd(a.real().cast<std::complex<double>>()));
    std::vector<double> c(size.stride());
    const double tolerance = 1e-13 * static_cast<double>(n);
    linalg::block::multiply(size, pa.data(), pb.data(), c.data());
    EXPECT_LT(distance(c, a * b), tolerance);
    linalg::block::multiply_real(size, real.data(), pb.data(), c.data());
    EXPECT_LT(distance(c, a.real() * b), tolerance);
    linalg::block::multiply_by_real(size, pb.data(), real.data(), c.data());
    EXPECT_LT(distance(c, b * a.real()), tolerance);
    linalg::block::transpose(size, pa.data(), c.data());
    EXPECT_EQ(distance(c, a.transpose()), 0);
    linalg::block::scale(size, 0.5, -2, pa.data(), c.data());
    EXPECT_LT(distance(c, std::complex<double>(0.5, -2) * a), tolerance);
    const auto [re, im] = linalg::block::inner(size, pa.data(), pb.data());
    EXPECT_LT(std::abs(std::complex<double>(re, im) - a.cwiseProduct(b).sum()),
              tolerance * static_cast<double>(n));
    c = pa;
    std::vector<std::size_t> pivots(static_cast<std::size_t>(n));
    ASSERT_TRUE(linalg::block::invert(size, c.data(), pivots.data()));
    const Eigen::MatrixXcd inverse = a.inverse();
    EXPECT_LT(distance(c, inverse),
              1e-12 * static_cast<double>(n) * inverse.cwiseAbs().maxCoeff() * inverse.norm());
}

TEST(Block, EqualsEigen) {
    compare_with_eigen<1>(1);
    compare_with_eigen<2>(2);
    compare_with_eigen<3>(3);
    compare_with_eigen<4>(4);
    compare_with_eigen<8>(8);
    compare_with_eigen<10>(10);
    for (const Eigen::Index n : {1, 4, 5, 7, 16, 33}) compare_with_eigen<0>(n);
}

/// Inverses and sums of a size known at compile time are plain.
template <int N>
void compare_large_with_plain() {
    const linalg::block::Size<N> plain{N};
    const std::size_t n = N;
    const auto a = pack(draw(N, 1)), b = pack(draw(N, 2));
    std::vector<double> c(plain.stride()), expected(plain.stride());
    std::vector<std::size_t> pivots(n), expected_pivots(n);
    for (const auto& kernels : linalg::large_block::supported_kernels()) {
        linalg::block::plain::multiply(plain, a.data(), b.data(), expected.data());
        kernels.multiply(n, a.data(), b.data(), c.data());
        EXPECT_EQ(c, expected) << N;
        linalg::block::plain::multiply_real(plain, a.data(), b.data(), expected.data());
        kernels.multiply_real(n, a.data(), b.data(), c.data());
        EXPECT_EQ(c, expected) << N;
        linalg::block::plain::multiply_by_real(plain, a.data(), b.data(), expected.data());
        kernels.multiply_by_real(n, a.data(), b.data(), c.data());
        EXPECT_EQ(c, expected) << N;
        c = expected = a;
        ASSERT_TRUE(linalg::block::invert(plain, expected.data(), expected_pivots.data()));
        ASSERT_TRUE(kernels.invert(n, c.data(), pivots.data()));
        EXPECT_EQ(c, expected) << N;
        EXPECT_EQ(pivots, expected_pivots) << N;
        const auto [re, im] = linalg::block::inner(plain, a.data(), b.data());
        std::pair<double, double> inner, widest;
        kernels.inner(n, a.data(), b.data(), inner);
        EXPECT_LT(std::hypot(inner.first - re, inner.second - im), 1e-13 * N * N) << N;
        widest = linalg::large_block::inner(n, a.data(), b.data());
        EXPECT_EQ(inner, widest) << N;
    }
}

TEST(Block, LargeKernelsGiveTheBitsOfThePlainOnes) {
    compare_large_with_plain<1>();
    compare_large_with_plain<7>();
    compare_large_with_plain<8>();
    compare_large_with_plain<10>();
    compare_large_with_plain<12>();
    compare_large_with_plain<13>();
    compare_large_with_plain<19>();
    compare_large_with_plain<32>();
    compare_large_with_plain<64>();
    compare_large_with_plain<131>();  // longer than what is copied into a contiguous place
}

TEST(Block, LargeInverseRefusesSingular) {
    for (const std::size_t n : {12U, 21U}) {
        const linalg::block::Size<0> size{n};
        std::vector<std::size_t> pivots(n);
        std::vector<double> zero(size.stride()), ones(size.stride(), 1.0), infinite(size.stride());
        linalg::block::add_identity(size, 1, 0, infinite.data());
        infinite[n] = std::numeric_limits<double>::infinity();
        for (const auto& kernels : linalg::large_block::supported_kernels())
            for (std::vector<double> matrix : {zero, ones, infinite})
                EXPECT_FALSE(kernels.invert(n, matrix.data(), pivots.data())) << n;
    }
}

TEST(Block, InvertNeedsItsPivotsAndRefusesSingular) {
    const linalg::block::Size<2> size{2};
    std::vector<double> swap{0, 1, 1, 0, 0, 0, 0, 0};
    std::size_t pivots[2];
    ASSERT_TRUE(linalg::block::invert(size, swap.data(), pivots));
    EXPECT_EQ(swap, (std::vector<double>{0, 1, 1, 0, 0, 0, 0, 0}));
    std::vector<double> singular{1, 2, 2, 4, 0, 0, 0, 0};
    EXPECT_FALSE(linalg::block::invert(size, singular.data(), pivots));
}

}  // namespace
}  // namespace spectra::dyson
