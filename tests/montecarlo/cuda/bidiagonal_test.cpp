// The reductions to bidiagonal matrices, against LAPACK. Needs a GPU.

#include "linalg/singular_values.hpp"
#include "montecarlo/cuda/bisection.cuh"
#include "montecarlo/cuda/householder.cuh"
#include "montecarlo/cuda/runtime.cuh"
#include "montecarlo/cuda/two_stage.cuh"

#include <gtest/gtest.h>
#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace spectra;
using namespace spectra::montecarlo::cuda;
using Eigen::MatrixXd;
using Eigen::VectorXd;

template <class T>
void upload(const std::vector<T>& from, const Buffer<T>& to) {
    check(cudaMemcpy(to.data(), from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");  // other streams do not wait for it
}
template <class T>
std::vector<T> download(const Buffer<T>& from) {
    std::vector<T> out(from.size());
    check(cudaMemcpy(out.data(), from.data(), out.size() * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return out;
}

template <class Real>
struct Reduced {
    std::vector<Real> diagonal, beside;
    std::vector<double> log_values;
    std::vector<int> info;
};

enum class Stages { one, two };

/// Of matrices of one size.
template <class Real>
Reduced<Real> reduced(std::span<const MatrixXd> matrices, Stages stages) {
    const auto size = static_cast<int>(matrices.front().rows()), count = static_cast<int>(matrices.size());
    const int leading = leading_dimension(size);
    const auto n = static_cast<std::size_t>(size), stride = n * static_cast<std::size_t>(leading);
    std::vector<Real> host(stride * matrices.size(), Real(0));
    for (std::size_t s = 0; s < matrices.size(); ++s)
        for (int j = 0; j < size; ++j)
            for (int i = 0; i < size; ++i)
                host[s * stride + static_cast<std::size_t>(j * leading + i)] =
                    static_cast<Real>(matrices[s](i, j));
    const Buffer<Real> data(host.size()), diagonal(n * matrices.size()), beside(diagonal.size());
    const Buffer<double> log_values(diagonal.size());
    const Buffer<SampleState> states(matrices.size());
    upload(host, data);
    const Stream stream;
    const Matrices<Real> all{data.data(), size, leading, stride, count};
    Exchange<Real> exchange;
    TwoStages<Real> work;
    if (stages == Stages::one)
        bidiagonalise(all, exchange, diagonal.data(), beside.data(), stream);
    else
        bidiagonalise_in_two_stages(all, work, diagonal.data(), beside.data(), stream);
    log_singular_values(size, count, diagonal.data(), beside.data(), states.data(), log_values.data(),
                        stream);
    work.confirm(stream);
    Reduced<Real> out{download(diagonal), download(beside), download(log_values), {}};
    for (const auto& state : download(states)) out.info.push_back(state.info);
    return out;
}

class Random {
public:
    explicit Random(int seed) : bits_(static_cast<unsigned>(seed)) {}
    MatrixXd gaussian(int size) {
        return MatrixXd::NullaryExpr(size, size, [&] { return normal_(bits_); }) / std::sqrt(size);
    }
    /// With the given singular values.
    MatrixXd of_values(const VectorXd& values) {
        MatrixXd out = values.asDiagonal();
        for (int k = 0; k < 3; ++k) {
            const VectorXd u = direction(values.size()), v = direction(values.size());
            out -= 2 * u * (u.transpose() * out).eval();
            out -= 2 * (out * v).eval() * v.transpose();
        }
        return out;
    }

private:
    VectorXd direction(Eigen::Index size) {
        return VectorXd::NullaryExpr(size, [&] { return normal_(bits_); }).normalized();
    }
    std::mt19937_64 bits_;
    std::normal_distribution<double> normal_;
};

struct Kind {
    std::string name;
    MatrixXd matrix;
};

std::vector<Kind> kinds(int size) {
    Random random(size);
    const auto powers = [&](double lowest) {
        return VectorXd(VectorXd::LinSpaced(size, 0, lowest * std::log(10.0)).array().exp());
    };
    MatrixXd deficient = random.gaussian(size);
    deficient.rightCols(size / 3) = deficient.leftCols(size / 3);
    VectorXd clusters = VectorXd::Ones(size);
    clusters.tail(size / 2).array() = 0.25;
    MatrixXd graded = random.gaussian(size);
    graded = powers(-6).asDiagonal() * graded * powers(-4).asDiagonal();
    MatrixXd permuted = MatrixXd::Zero(size, size);
    for (int j = 0; j < size; ++j) permuted((j + 1) % size, j) = 1 + j % 2;
    MatrixXd one_entry = MatrixXd::Zero(size, size);
    one_entry(size - 1, 0) = 3;
    return {{"Gaussian", random.gaussian(size)},
            {"rank-deficient", deficient},
            {"graded rows and columns", graded},
            {"graded values", random.of_values(powers(-12))},
            {"identical values", random.of_values(VectorXd::Ones(size))},
            {"two values", random.of_values(clusters)},
            {"identity", MatrixXd::Identity(size, size)},
            {"permuted", permuted},
            {"one entry", one_entry},
            {"zero", MatrixXd::Zero(size, size)},
            {"large", 1e6 * random.gaussian(size)},
            {"small", 1e-6 * random.gaussian(size)}};
}

/// Tiles and groups of tiles with nothing left over or nearly, and sizes around those where a band comes to lie in a
/// cluster of blocks or in device memory.
constexpr int sizes[] = {1,   2,   3,   31,  32,  33,  64,  97,  128, 255, 256, 257, 300, 340,
                         360, 384, 385, 415, 416, 417, 511, 512, 544, 601, 790, 900, 1056};

template <class Real>
void expect_lapacks(Stages stages) {
    for (const int size : sizes) {
        const auto all = kinds(size);
        std::vector<MatrixXd> matrices;
        for (const auto& kind : all)
            matrices.emplace_back(kind.matrix.template cast<Real>().template cast<double>());
        const auto got = reduced<Real>(matrices, stages);
        linalg::SingularValues lapack(size);
        std::vector<double> values(static_cast<std::size_t>(size));
        const double tolerance = (100 + size) * static_cast<double>(std::numeric_limits<Real>::epsilon());
        for (std::size_t s = 0; s < all.size(); ++s) {
            ASSERT_TRUE(lapack.compute(matrices[s], 0, values));
            EXPECT_EQ(got.info[s], 0);
            const double largest = std::exp(values.back());
            double off = 0;
            for (std::size_t k = 0; k < values.size(); ++k)
                off = std::max(
                    off, std::abs(std::exp(got.log_values[s * values.size() + k]) - std::exp(values[k])));
            EXPECT_LE(off, tolerance * largest) << all[s].name << ", N = " << size;
        }
    }
}

TEST(CudaBidiagonal, OneStageHasLapacksValues) {
    expect_lapacks<double>(Stages::one);
    expect_lapacks<float>(Stages::one);
}

TEST(CudaBidiagonal, TwoStagesHaveLapacksValues) {
    expect_lapacks<double>(Stages::two);
    expect_lapacks<float>(Stages::two);
}

template <class Real>
void expect_same_bits(Stages stages, int size, int count) {
    Random random(size);
    std::vector<MatrixXd> matrices;
    for (int s = 0; s < count; ++s) matrices.push_back(random.gaussian(size));
    const auto together = reduced<Real>(matrices, stages);
    const auto again = reduced<Real>(matrices, stages);
    EXPECT_EQ(together.diagonal, again.diagonal) << size;
    EXPECT_EQ(together.beside, again.beside) << size;
    const auto n = static_cast<std::ptrdiff_t>(size);
    for (const int s : {0, count / 2, count - 1}) {
        const auto alone = reduced<Real>(std::span(matrices).subspan(static_cast<std::size_t>(s), 1), stages);
        EXPECT_TRUE(
            std::equal(alone.diagonal.begin(), alone.diagonal.end(), together.diagonal.begin() + s * n))
            << size;
        EXPECT_TRUE(std::equal(alone.beside.begin(), alone.beside.end(), together.beside.begin() + s * n))
            << size;
    }
}

/// However many matrices there are, and however their thread blocks happen to follow each other. One band of 400
/// lies in a cluster of blocks, 90 of them in device memory.
TEST(CudaBidiagonal, BatchesDoNotShow) {
    for (const auto stages : {Stages::one, Stages::two}) {
        for (const auto& [size, count] :
             {std::pair{3, 5}, {97, 200}, {256, 300}, {257, 70}, {400, 90}, {512, 60}, {700, 20}}) {
            expect_same_bits<double>(stages, size, count);
            expect_same_bits<float>(stages, size, count);
        }
    }
}

TEST(CudaBidiagonal, NotANumberIsTold) {
    for (const auto stages : {Stages::one, Stages::two}) {
        for (const int size : {2, 70, 300}) {
            Random random(size);
            std::vector<MatrixXd> matrices(3, random.gaussian(size));
            matrices[0](size / 2, size - 1) = std::numeric_limits<double>::quiet_NaN();
            matrices[2](size - 1, 0) = std::numeric_limits<double>::infinity();
            EXPECT_EQ(reduced<double>(matrices, stages).info, (std::vector<int>{1, 0, 1})) << size;
        }
    }
}

TEST(CudaBidiagonal, WaitingInVainIsAnError) {
    const Stream stream;
    TwoStages<double> work;
    work.confirm(stream);
    work.reserve({nullptr, 40, 40, 1600, 1});
    work.confirm(stream);
    upload<unsigned>({2}, work.failures);
    EXPECT_THROW(work.confirm(stream), std::runtime_error);
}

}  // namespace
