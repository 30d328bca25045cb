#pragma once

#include <cmath>

namespace spectra::linalg {

/// A number of 32 digits as the sum of two, the second below half a unit in the last place of the first (Dekker 1971; Hida,
/// Li, Bailey 2001). Of the range of double: what leaves it becomes NaN. The same bits with and without fused multiply-add.
struct DoubleDouble {
    double high = 0, low = 0;

    constexpr DoubleDouble() = default;
    // Numbers are of this type, where others of the same use are of more digits.
    constexpr DoubleDouble(double x) : high(x) {}  // NOLINT(google-explicit-constructor)
    constexpr DoubleDouble(double a, double b) : high(a), low(b) {}
    explicit operator double() const { return high + low; }

    DoubleDouble operator-() const { return {-high, -low}; }
    DoubleDouble& operator+=(const DoubleDouble& y) { return *this = *this + y; }
    DoubleDouble& operator-=(const DoubleDouble& y) { return *this = *this - y; }
    DoubleDouble& operator*=(const DoubleDouble& y) { return *this = *this * y; }
    DoubleDouble& operator/=(const DoubleDouble& y) { return *this = *this / y; }

    /// The sum of two doubles, without error where |a| ≥ |b|.
    static DoubleDouble short_sum(double a, double b) {
        const double s = a + b;
        return {s, b - (s - a)};
    }
    /// The sum and the product of two doubles, without error.
    static DoubleDouble sum(double a, double b) {
        const double s = a + b, t = s - a;
        return {s, (a - (s - t)) + (b - t)};
    }
    static DoubleDouble product(double a, double b) {
        const double p = a * b;
#ifdef __FP_FAST_FMA
        return {p, std::fma(a, b, -p)};
#else
        constexpr double split = 0x1p27 + 1;
        const double ta = split * a, tb = split * b;
        const double a1 = ta - (ta - a), a2 = a - a1, b1 = tb - (tb - b), b2 = b - b1;
        return {p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2};
#endif
    }

    friend DoubleDouble operator+(const DoubleDouble& x, const DoubleDouble& y) {
        DoubleDouble s = sum(x.high, y.high);
        const DoubleDouble t = sum(x.low, y.low);
        s = short_sum(s.high, s.low + t.high);
        return short_sum(s.high, s.low + t.low);
    }
    friend DoubleDouble operator-(const DoubleDouble& x, const DoubleDouble& y) {
        return x + -y;
    }
    friend DoubleDouble operator*(const DoubleDouble& x, const DoubleDouble& y) {
        const DoubleDouble p = product(x.high, y.high);
        return short_sum(p.high, p.low + (x.high * y.low + x.low * y.high));
    }
    friend DoubleDouble operator/(const DoubleDouble& x, const DoubleDouble& y) {
        const double first = x.high / y.high;
        DoubleDouble rest = x - y * first;
        const double second = rest.high / y.high;
        rest -= y * second;
        return short_sum(first, second) + rest.high / y.high;
    }
    friend bool operator==(const DoubleDouble& x, const DoubleDouble& y) = default;
    friend bool operator<(const DoubleDouble& x, const DoubleDouble& y) {
        return x.high < y.high || (x.high == y.high && x.low < y.low);
    }
    friend bool operator>(const DoubleDouble& x, const DoubleDouble& y) {
        return y < x;
    }
};

inline DoubleDouble abs(const DoubleDouble& x) {
    return x < 0 ? -x : x;
}
inline DoubleDouble sqrt(const DoubleDouble& x) {
    if (x.high == 0) return x;
    const double first = std::sqrt(x.high);
    const DoubleDouble rest = x - DoubleDouble::product(first, first);
    return DoubleDouble::short_sum(first, rest.high / (2 * first));
}

/// e^x, in the range of double.
inline DoubleDouble exp(double x) {
    constexpr DoubleDouble ln2(0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56);
    constexpr int halvings = 6, terms = 14;
    const double k = std::nearbyint(x / ln2.high);
    if (!(std::abs(k) < 1000)) return std::exp(x);
    const DoubleDouble r = (DoubleDouble(x) - ln2 * k) * std::ldexp(1, -halvings);
    DoubleDouble beyond = r;  // e^r − 1, by Horner's scheme
    for (int n = terms; n > 1; --n) beyond = r + r * beyond / n;
    for (int h = 0; h < halvings; ++h) beyond = beyond * (beyond + 2);
    const DoubleDouble y = beyond + 1;
    return {std::ldexp(y.high, static_cast<int>(k)), std::ldexp(y.low, static_cast<int>(k))};
}

/// A complex number of two of them: std::complex is for the language's own types.
class ComplexDoubleDouble {
public:
    using value_type = DoubleDouble;

    constexpr ComplexDoubleDouble() = default;
    constexpr explicit ComplexDoubleDouble(const DoubleDouble& x, const DoubleDouble& y = {})
        : real_(x), imag_(y) {}
    constexpr explicit ComplexDoubleDouble(int x) : real_(x) {}

    const DoubleDouble& real() const { return real_; }
    const DoubleDouble& imag() const { return imag_; }

    ComplexDoubleDouble operator-() const { return ComplexDoubleDouble(-real_, -imag_); }
    ComplexDoubleDouble& operator+=(const ComplexDoubleDouble& y) { return *this = *this + y; }
    ComplexDoubleDouble& operator-=(const ComplexDoubleDouble& y) { return *this = *this - y; }
    ComplexDoubleDouble& operator*=(const ComplexDoubleDouble& y) { return *this = *this * y; }
    ComplexDoubleDouble& operator/=(const ComplexDoubleDouble& y) { return *this = *this / y; }

    friend ComplexDoubleDouble operator+(const ComplexDoubleDouble& x, const ComplexDoubleDouble& y) {
        return ComplexDoubleDouble(x.real_ + y.real_, x.imag_ + y.imag_);
    }
    friend ComplexDoubleDouble operator-(const ComplexDoubleDouble& x, const ComplexDoubleDouble& y) {
        return ComplexDoubleDouble(x.real_ - y.real_, x.imag_ - y.imag_);
    }
    friend ComplexDoubleDouble operator*(const ComplexDoubleDouble& x, const ComplexDoubleDouble& y) {
        return ComplexDoubleDouble(x.real_ * y.real_ - x.imag_ * y.imag_,
                                   x.real_ * y.imag_ + x.imag_ * y.real_);
    }
    friend ComplexDoubleDouble operator/(const ComplexDoubleDouble& x, const ComplexDoubleDouble& y) {
        const ComplexDoubleDouble product = x * conj(y);
        const DoubleDouble square = y.real_ * y.real_ + y.imag_ * y.imag_;
        return ComplexDoubleDouble(product.real_ / square, product.imag_ / square);
    }
    friend bool operator==(const ComplexDoubleDouble& x, const ComplexDoubleDouble& y) = default;

    // What Eigen asks of a complex number.
    friend DoubleDouble real(const ComplexDoubleDouble& z) { return z.real_; }
    friend DoubleDouble imag(const ComplexDoubleDouble& z) { return z.imag_; }
    friend ComplexDoubleDouble conj(const ComplexDoubleDouble& z) {
        return ComplexDoubleDouble(z.real_, -z.imag_);
    }
    friend DoubleDouble abs(const ComplexDoubleDouble& z) {
        return sqrt(z.real_ * z.real_ + z.imag_ * z.imag_);
    }

private:
    DoubleDouble real_, imag_;
};

}  // namespace spectra::linalg
