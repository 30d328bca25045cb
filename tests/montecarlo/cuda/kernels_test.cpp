// Draws and products of matrices, against the stream of numbers and plain products. Needs a GPU.

#include "montecarlo/cuda/product.cuh"
#include "montecarlo/cuda/runtime.cuh"
#include "montecarlo/cuda/sampling.cuh"
#include "random/stream.hpp"

#include <gtest/gtest.h>
#include <Eigen/Core>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using namespace spectra;
using namespace spectra::montecarlo::cuda;
using Eigen::MatrixXd;

template <class T>
Buffer<T> uploaded(const std::vector<T>& from) {
    Buffer<T> to(from.size());
    check(cudaMemcpy(to.data(), from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");  // other streams do not wait for it
    return to;
}
template <class T>
std::vector<T> download(const Buffer<T>& from) {
    std::vector<T> out(from.size());
    check(cudaMemcpy(out.data(), from.data(), out.size() * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return out;
}

std::vector<double> numbers(std::size_t count, std::uint32_t layer) {
    std::vector<double> out(count);
    random::Stream(11, random::Purpose::test, layer).fill_normal(out);
    return out;
}

struct Drawing {
    int streams, width;
    std::uint32_t skipped;
    bool skip, sloped;
};

/// Radii reach 8.6 and are within 2 units of the last digit, as are sines; 2π u is rounded where it is not reduced first.
constexpr double of_a_normal = 2e-14;

template <class Real>
void expect_the_streams(const Drawing& of) {
    constexpr int count = 3;
    constexpr std::uint32_t first = 5, layer = 2;
    constexpr std::uint64_t seed = 0x123456789ULL;
    const int size = of.streams * of.width, leading = leading_dimension(size);
    const auto n = static_cast<std::size_t>(size), streams = static_cast<std::size_t>(of.streams);
    const std::size_t stride = n * static_cast<std::size_t>(leading);
    const auto mixers = numbers(count * streams * streams, 0), scales = numbers(count, 1),
               slopes = numbers(count * n, 2);
    const auto mixers_there = uploaded(mixers), scales_there = uploaded(scales),
               slopes_there = uploaded(slopes);
    const Real untouched = -77;
    const auto out = uploaded(std::vector<Real>(count * stride, untouched));
    const Stream stream;
    const Skip skip{{mixers_there.data(), streams * streams}, of.skip ? of.streams : 0, of.width};
    draw_normals(Matrices<Real>{out.data(), size, leading, stride, count}, Draws{seed, first, layer},
                 of.skipped, {scales_there.data(), 1}, of.sloped ? slopes_there.data() : nullptr, skip,
                 stream);
    stream.wait();
    const auto found = download(out);
    for (std::size_t s = 0; s < count; ++s) {
        std::vector<double> normals(n * n + of.skipped);
        random::Stream(seed, random::Purpose::branch, layer, first + static_cast<std::uint32_t>(s))
            .fill_normal(normals);
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t i = 0; i < static_cast<std::size_t>(leading); ++i) {
                const double it = found[s * stride + j * static_cast<std::size_t>(leading) + i];
                if (i >= n) {
                    ASSERT_EQ(it, untouched) << size << ", row " << i;
                    continue;
                }
                const auto p = static_cast<std::size_t>(of.width);
                const double factor = scales[s] * (of.sloped ? slopes[s * n + i] : 1.0);
                const double entry =
                    of.skip && i % p == j % p ? mixers[(s * streams + j / p) * streams + i / p] : 0;
                const double expected = factor * normals[of.skipped + j * n + i] + entry;
                const double rounding = std::is_same_v<Real, float> ? std::abs(expected) * 0x1p-24 : 0;
                ASSERT_NEAR(it, expected,
                            of_a_normal * std::abs(factor) + 4e-16 * (std::abs(entry) + 1) + rounding)
                    << size << " skipped " << of.skipped << ", entry " << i << ", " << j << " of sample "
                    << s;
            }
    }
}

TEST(CudaKernels, NormalsAreTheStreams) {
    const int sizes[][2] = {{1, 1}, {2, 1},  {1, 2},  {4, 1},  {1, 3},  {3, 2},  {2, 3},  {4, 5},   {5, 7},
                            {1, 8}, {4, 25}, {1, 97}, {16, 7}, {7, 16}, {2, 65}, {64, 4}, {1, 254}, {3, 111}};
    for (const auto& [streams, width] : sizes) {
        const auto size = static_cast<std::uint32_t>(streams * width);
        for (const std::uint32_t skipped : {0U, 1U, 2U, size * size})
            for (const bool skip : {false, true})
                for (const bool sloped : {false, true}) {
                    expect_the_streams<double>({streams, width, skipped, skip, sloped});
                    expect_the_streams<float>({streams, width, skipped, skip, sloped});
                }
    }
}

/// Numbers whose logarithm, sine and cosine are the hardest are rare: this takes many.
TEST(CudaKernels, ManyNormalsAreTheStreams) {
    expect_the_streams<double>({1, 1500, 0, false, false});
}

template <class Real>
void expect_the_products(int rows, int inner, int columns) {
    constexpr int count = 5;
    const int lda = leading_dimension(rows), ldb = leading_dimension(inner);
    const auto entries = [](int leading, int across) {
        return static_cast<std::size_t>(leading) * static_cast<std::size_t>(across);
    };
    // What lies beyond the matrices must not matter.
    const double beyond = std::numeric_limits<double>::quiet_NaN();
    const auto filled = [&](int high, int leading, int across, std::uint32_t layer) {
        const auto from = numbers(count * entries(leading, across), layer);
        std::vector<Real> to(from.size());
        for (std::size_t k = 0; k < to.size(); ++k) {
            const bool inside = k % static_cast<std::size_t>(leading) < static_cast<std::size_t>(high);
            to[k] = static_cast<Real>(inside ? from[k] : beyond);
        }
        return to;
    };
    const auto a = filled(rows, lda, inner, 3), b = filled(inner, ldb, columns, 4);
    const auto a_there = uploaded(a), b_there = uploaded(b);
    const Real untouched = -77;
    const std::size_t stride = entries(lda, columns);
    const auto out = uploaded(std::vector<Real>(count * stride, untouched)),
               alone = uploaded(std::vector<Real>(stride, untouched));
    const Buffer<unsigned long long> largest(count);
    const Stream stream;
    multiply<Real>(rows, inner, columns, count, {a_there.data(), lda, entries(lda, inner)},
                   {b_there.data(), ldb, entries(ldb, columns)}, {out.data(), lda, stride}, largest.data(),
                   stream);
    multiply<Real>(rows, inner, columns, 1, {a_there.data() + 3 * entries(lda, inner), lda, 0},
                   {b_there.data() + 3 * entries(ldb, columns), ldb, 0}, {alone.data(), lda, 0}, nullptr,
                   stream);
    stream.wait();
    const auto found = download(out), found_alone = download(alone);
    const auto tops = download(largest);
    using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
    const auto matrix = [](const std::vector<Real>& from, std::size_t place, int high, int leading,
                           int across) {
        return Eigen::Map<const Matrix, 0, Eigen::OuterStride<>>(from.data() + place, high, across,
                                                                 Eigen::OuterStride<>(leading))
            .template cast<double>()
            .eval();
    };
    for (std::size_t s = 0; s < count; ++s) {
        const MatrixXd left = matrix(a, s * entries(lda, inner), rows, lda, inner),
                       right = matrix(b, s * entries(ldb, columns), inner, ldb, columns),
                       product = matrix(found, s * stride, rows, lda, columns);
        const double epsilon = std::numeric_limits<Real>::epsilon();
        const MatrixXd bound = (inner + 2) * epsilon * (left.cwiseAbs() * right.cwiseAbs());
        ASSERT_TRUE(((product - left * right).cwiseAbs().array() <= bound.array()).all())
            << rows << " x " << inner << " x " << columns << ", number " << s;
        ASSERT_EQ(std::bit_cast<double>(tops[s]), product.cwiseAbs().maxCoeff());
        if (s == 3) {
            ASSERT_EQ(product, matrix(found_alone, 0, rows, lda, columns));
        }
        for (std::size_t k = 0; k < stride; ++k)
            if (k % static_cast<std::size_t>(lda) >= static_cast<std::size_t>(rows)) {
                ASSERT_EQ(found[s * stride + k], untouched);
            }
    }
}

TEST(CudaKernels, ProductsAreEigens) {
    const int sizes[][3] = {{1, 1, 1},     {2, 1, 3},     {1, 9, 1},     {8, 8, 8},       {7, 17, 33},
                            {16, 15, 24},  {17, 16, 25},  {32, 32, 32},  {49, 33, 41},    {64, 64, 64},
                            {65, 7, 1},    {1, 65, 65},   {80, 48, 88},  {97, 97, 97},    {100, 100, 100},
                            {25, 25, 100}, {113, 49, 97}, {128, 16, 64}, {160, 160, 160}, {255, 257, 131}};
    for (const auto& [rows, inner, columns] : sizes) {
        expect_the_products<double>(rows, inner, columns);
        expect_the_products<float>(rows, inner, columns);
    }
}

}  // namespace
