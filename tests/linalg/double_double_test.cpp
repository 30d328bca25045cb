#include "linalg/double_double.hpp"

#include "linalg/plain_matrix.hpp"

#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <cstdint>
#include <random>

namespace spectra::linalg {
namespace {

using Exact = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<100>>;

Exact exact(const DoubleDouble& x) {
    return Exact(x.high) + Exact(x.low);
}

/// The relative error, in units of 2⁻¹⁰⁴.
double error(const DoubleDouble& found, const Exact& right) {
    return static_cast<double>(abs(Exact(exact(found) / right - 1))) * 0x1p104;
}

/// Of both signs, over many powers of two, with all digits.
DoubleDouble draw(std::mt19937_64& random) {
    const auto mantissa = [&] { return std::ldexp(static_cast<double>(random() >> 11), -53) + 0.5; };
    const double high = std::ldexp(mantissa(), static_cast<int>(random() % 120) - 60);
    return DoubleDouble::short_sum(random() & 1 ? -high : high, high * 0x1p-54 * (mantissa() - 1));
}

TEST(DoubleDouble, HasThirtyTwoDigits) {
    std::mt19937_64 random(3);
    for (int k = 0; k < 20000; ++k) {
        const DoubleDouble x = draw(random), y = draw(random);
        const Exact a = exact(x), b = exact(y);
        EXPECT_LT(error(x * y, a * b), 4);
        EXPECT_LT(error(x / y, a / b), 8);
        EXPECT_LT(error(abs(x), abs(a)), 1e-9);
        EXPECT_LT(error(sqrt(abs(x)), sqrt(Exact(abs(a)))), 4);
        // Sums and differences keep their digits where most of them cancel, too.
        const DoubleDouble near = x * (1 + std::ldexp(1, -static_cast<int>(random() % 90)));
        EXPECT_LT(error(x + y, a + b), 4);
        if (exact(near) != a) {
            EXPECT_LT(error(near - x, exact(near) - a), 4);
        }
        EXPECT_EQ(x < y, a < b);
        EXPECT_EQ(x > y, a > b);
    }
}

TEST(DoubleDouble, RoundsToTheNearestDouble) {
    std::mt19937_64 random(5);
    for (int k = 0; k < 1000; ++k) {
        const DoubleDouble x = draw(random);
        EXPECT_EQ(static_cast<double>(x), static_cast<double>(exact(x)));
    }
    EXPECT_EQ(static_cast<double>(sqrt(DoubleDouble(0))), 0);
    EXPECT_EQ(static_cast<double>(-DoubleDouble(1, 0x1p-60)), -1);
    EXPECT_FALSE(std::isfinite(static_cast<double>(DoubleDouble(1e200) * DoubleDouble(1e200))));
}

TEST(DoubleDouble, ExponentialsHaveAllDigits) {
    std::mt19937_64 random(7);
    for (int k = 0; k < 2000; ++k) {
        const double x = (static_cast<double>(random() >> 11) * 0x1p-53 - 0.5) *
                         std::ldexp(1, static_cast<int>(random() % 90) - 80);
        EXPECT_LT(error(exp(x), exp(Exact(x))), 64 * (1 + std::abs(x))) << x;
    }
    EXPECT_EQ(exp(0.0), DoubleDouble(1));
    EXPECT_EQ(static_cast<double>(exp(-800.0)), 0);
    EXPECT_FALSE(std::isfinite(static_cast<double>(exp(800.0))));
}

/// Hilbert's matrix of size 12: its condition number is 1e16, its inverse consists of integers.
TEST(DoubleDouble, InvertsWhatDoublesCannot) {
    using Number = ComplexDoubleDouble;
    using Matrix = PlainMatrix<Number>;
    constexpr Matrix::Index size = 12;
    Matrix hilbert(size, size);
    for (Matrix::Index i = 0; i < size; ++i)
        for (Matrix::Index j = 0; j < size; ++j)
            hilbert(i, j) = Number(DoubleDouble(1) / DoubleDouble(static_cast<double>(i + j + 1)));
    const Matrix inverse = hilbert.inverse();
    EXPECT_NEAR(static_cast<double>(inverse(0, 0).real()), 144, 1e-11);
    EXPECT_NEAR(static_cast<double>(inverse(0, 1).real()), -10296, 1e-9);
    EXPECT_NEAR(static_cast<double>(inverse(11, 11).real()) / 11445589052352.0, 1, 1e-14);
    const Matrix one = hilbert * inverse - Matrix::identity(size);
    for (const Number& value : one.values()) {
        EXPECT_LT(std::abs(static_cast<double>(value.real())), 1e-12);
        EXPECT_EQ(static_cast<double>(value.imag()), 0);
    }
}

}  // namespace
}  // namespace spectra::linalg
