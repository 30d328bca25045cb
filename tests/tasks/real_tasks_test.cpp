#include "tasks/real_tasks.hpp"

#include "tasks/legacy_random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace spectra::tasks {
namespace {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

tasks::TaskOptions with_samples(std::int64_t samples) {
    tasks::TaskOptions options;
    options.samples = samples;
    return options;
}

Vector state(const tasks::Dataset& data, const std::vector<float>& values, std::int64_t sequence,
             std::int64_t step) {
    const auto begin = values.begin() + (sequence * data.steps + step) * data.dimension;
    return {begin, begin + data.dimension};
}

double dot(const Vector& a, const Vector& b) {
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
    return sum;
}

Matrix identity(std::size_t n) {
    Matrix result(n, Vector(n));
    for (std::size_t k = 0; k < n; ++k) result[k][k] = 1;
    return result;
}

void turn(Matrix& matrix, std::size_t i, std::size_t j, double angle) {
    matrix[i][i] = matrix[j][j] = std::cos(angle);
    matrix[i][j] = -std::sin(angle);
    matrix[j][i] = std::sin(angle);
}

Vector product(const Matrix& matrix, const Vector& v) {
    Vector result(v.size());
    for (std::size_t k = 0; k < v.size(); ++k) result[k] = dot(matrix[k], v);
    return result;
}

Vector unit(tasks::LegacyRandom& random, std::size_t n) {
    Vector v(n);
    random.randn(v);
    const double norm = std::sqrt(dot(v, v));
    for (double& x : v) x /= norm;
    return v;
}

void expect_trajectory(const tasks::Dataset& data, std::int64_t sequence, const Matrix& matrix, Vector v) {
    const double half_ulp = 0x1p-25;  // of floats below 1
    for (std::int64_t t = 0; t < data.steps; ++t) {
        const Vector x = state(data, data.train.x, sequence, t);
        const Vector y = state(data, data.train.y, sequence, t);
        const Vector next = product(matrix, v);
        for (std::size_t k = 0; k < v.size(); ++k) {
            ASSERT_NEAR(x[k], v[k], half_ulp + 1e-12) << "sequence " << sequence << ", step " << t;
            ASSERT_NEAR(y[k], next[k], half_ulp + 1e-12);
        }
        v = next;
    }
}

TEST(Gyroscope, EqualsDenseProducts) {
    const tasks::Dataset data = make_gyroscope(with_samples(20));
    tasks::LegacyRandom random(42);
    for (std::int64_t k = 0; k < 20; ++k) {
        const Vector v = unit(random, 16);
        const double angle = random.uniform(0.1, 2.5);
        const auto i = random.randint(0, 15);
        const auto j = random.randint(i + 1, 16);
        Matrix matrix = identity(16);
        turn(matrix, static_cast<std::size_t>(i), static_cast<std::size_t>(j), angle);
        expect_trajectory(data, k, matrix, v);
    }
}

TEST(NearPi, EqualsDenseProducts) {
    for (const std::size_t planes : {1U, 32U}) {
        const tasks::Dataset data =
            planes == 1 ? make_near_pi_single(with_samples(3)) : make_near_pi_multi(with_samples(3));
        Matrix matrix = identity(64);
        for (std::size_t p = 0; p < planes; ++p) turn(matrix, 2 * p, 2 * p + 1, planes == 1 ? 3.10 : 3.14);
        tasks::LegacyRandom random(42);
        for (std::int64_t k = 0; k < 3; ++k) expect_trajectory(data, k, matrix, unit(random, 64));
    }
}

/// Steps of an orthogonal map keep lengths, and the angle between neighbours.
TEST(Rotations, AreIsometric) {
    for (const auto make : {make_gyroscope, make_near_pi_single, make_near_pi_multi}) {
        const tasks::Dataset data = make(with_samples(1));
        for (std::int64_t k = 0; k < data.validation.count; k += 50) {
            const double first =
                dot(state(data, data.validation.x, k, 0), state(data, data.validation.y, k, 0));
            for (std::int64_t t = 0; t < data.steps; ++t) {
                const Vector x = state(data, data.validation.x, k, t);
                const Vector y = state(data, data.validation.y, k, t);
                ASSERT_NEAR(dot(x, x), 1, 3e-7);
                ASSERT_NEAR(dot(y, y), 1, 3e-7);
                ASSERT_NEAR(dot(x, y), first, 3e-7);
            }
        }
    }
}

TEST(Rotations, TargetsAreTheNextInputs) {
    for (const auto make : {make_gyroscope, make_stability, make_near_pi_multi}) {
        const tasks::Dataset data = make(with_samples(2));
        for (std::int64_t t = 0; t + 1 < data.steps; ++t)
            ASSERT_EQ(state(data, data.train.y, 1, t), state(data, data.train.x, 1, t + 1));
    }
}

TEST(Stability, IsAUnitKeyAndNoise) {
    const tasks::Dataset data = make_stability(with_samples(1));
    double square = 0;
    for (std::int64_t k = 0; k < data.validation.count; ++k) {
        Vector mean(64);
        for (std::int64_t t = 0; t < data.steps; ++t) {
            const Vector x = state(data, data.validation.x, k, t);
            for (std::size_t i = 0; i < 64; ++i) mean[i] += x[i] / static_cast<double>(data.steps);
        }
        EXPECT_NEAR(std::sqrt(dot(mean, mean)), 1, 5e-4);
        for (std::int64_t t = 0; t < data.steps; ++t) {
            Vector x = state(data, data.validation.x, k, t);
            for (std::size_t i = 0; i < 64; ++i) x[i] -= mean[i];
            square += dot(x, x);
        }
    }
    // Around the sample mean: one degree of freedom of `steps` is gone.
    const double freedom = 64.0 * 100 * 126;
    EXPECT_NEAR(square / freedom, 1e-6, 5e-6 * std::sqrt(2 / freedom));
}

/// Sequences 900 … 999 are the validation; those after them are further training sequences.
TEST(Stability, MoreSamplesFollowTheValidation) {
    const tasks::Dataset data = make_stability(with_samples(901));
    tasks::LegacyRandom random(42);
    Vector skipped(64 + 128 * 64);
    for (int k = 0; k < 1000; ++k) random.randn(skipped);
    const Vector key = unit(random, 64);
    const Vector x = state(data, data.train.x, 900, 0);
    for (std::size_t k = 0; k < 64; ++k) EXPECT_NEAR(x[k], key[k] + 0.001 * random.randn(), 1e-7);
    EXPECT_EQ(data.validation.x, make_stability(with_samples(1)).validation.x);
}

/// The bound of the header, from the data: the first step predicted by M v₀ with M = E R, all later ones
/// exactly.
TEST(Gyroscope, FloorIsTheLossOfTheBestFirstGuess) {
    const tasks::Dataset data = make_gyroscope(with_samples(9000));
    const double mean_cos = (std::sin(2.5) - std::sin(0.1)) / 2.4;
    const double mean_sin = (std::cos(0.1) - std::cos(2.5)) / 2.4;
    Matrix mean(16, Vector(16));
    for (std::size_t i = 0; i < 15; ++i)
        for (std::size_t j = i + 1; j < 16; ++j) {
            Matrix one = identity(16);
            one[i][i] = one[j][j] = mean_cos;
            one[i][j] = -mean_sin;
            one[j][i] = mean_sin;
            for (std::size_t r = 0; r < 16; ++r)
                for (std::size_t c = 0; c < 16; ++c)
                    mean[r][c] += one[r][c] / (15.0 * static_cast<double>(15 - i));
        }
    double square = 0;
    double fourth = 0;
    for (std::int64_t k = 0; k < data.train.count; ++k) {
        Vector error = product(mean, state(data, data.train.x, k, 0));
        const Vector y = state(data, data.train.y, k, 0);
        for (std::size_t i = 0; i < 16; ++i) error[i] -= y[i];
        const double loss = dot(error, error) / (16.0 * 255.0);
        square += loss / 9000;
        fourth += loss * loss / 9000;
    }
    EXPECT_NEAR(data.noise_floor, square, 4 * std::sqrt((fourth - square * square) / 9000));
    EXPECT_NEAR(data.noise_floor, square, 0.06 * square);
}

TEST(Reflection, TargetsAreTheNegatives) {
    const tasks::Dataset data = make_reflection(with_samples(10));
    ASSERT_EQ(data.validation.x.size(), 500U * 64U);
    double square = 0;
    for (std::size_t k = 0; k < data.validation.x.size(); ++k) {
        ASSERT_EQ(data.validation.y[k], -data.validation.x[k]);
        square += data.validation.x[k] * data.validation.x[k];
    }
    EXPECT_NEAR(square / 32000, 1, 5 * std::sqrt(2 / 32000.0));
}

// Every state is the first one or its negative, to the last bit; the first is that of near-pi-multi.
TEST(ExactPi, NegatesEveryState) {
    const auto data = make_exact_pi(with_samples(3)), near = make_near_pi_multi(with_samples(3));
    ASSERT_EQ(data.train.x.size(), near.train.x.size());
    const auto d = static_cast<std::size_t>(data.dimension), steps = static_cast<std::size_t>(data.steps);
    for (std::size_t k = 0; k < data.train.x.size(); ++k) {
        const std::size_t sequence = k / (d * steps), step = k / d % steps, coordinate = k % d;
        const float first = near.train.x[sequence * d * steps + coordinate];
        EXPECT_EQ(data.train.x[k], step % 2 == 0 ? first : -first);
        EXPECT_EQ(data.train.y[k], -data.train.x[k]);
    }
}

}  // namespace
}  // namespace spectra::tasks
