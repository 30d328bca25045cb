#pragma once

#include <cstdint>
#include <numbers>

/// Elementary functions of additions, multiplications and divisions alone, in a fixed order: the same bits on every
/// processor, with every vector width and every C library. Without branches, so that compilers take several at a time.
namespace spectra::random {

// std::bit_cast, which the C++ library of emscripten does not have yet.
inline double double_of(std::uint64_t bits) {
    return __builtin_bit_cast(double, bits);
}
inline std::uint64_t bits_of(double x) {
    return __builtin_bit_cast(std::uint64_t, x);
}

/// By Horner's rule, the highest coefficient first.
template <class... Coefficients>
double polynomial(double x, double highest, Coefficients... rest) {
    double value = highest;
    ((value = value * x + rest), ...);
    return value;
}

/// ln u for u in [2^-1022, 2), to one unit in the last place.
///
/// u = 2^k f with √½ ≤ f < √2, so that f − 1 is exact. With s = (f − 1)/(f + 1), ln f = 2 atanh s, whose series is
/// arranged as (f − 1) − ((f − 1)²/2 − s((f − 1)²/2 + R)), R = 2s²/3 + 2s⁴/5 + …: the rounding errors of all but the
/// first term are small beside it. |s| < 0.172; the first term left out is 3e-18 of the whole.
inline double natural_log(double u) {
    constexpr std::uint64_t root_half = 0x3FE6A09E00000000, one = 0x3FF0000000000000;
    constexpr std::uint64_t fraction = 0x000FFFFFFFFFFFFF;
    const std::uint64_t shifted = bits_of(u) + (one - root_half);
    const double f = double_of((shifted & fraction) + root_half) - 1;
    // k + 1023 as a double: in the last bits of 2^52.
    const double k = double_of(0x4330000000000000 | (shifted >> 52U)) - (0x1p52 + 1023);
    const double s = f / (f + 2), z = s * s, half_square = 0.5 * f * f;
    const double r = z * polynomial(z, 2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9,
                                    2.0 / 7, 2.0 / 5, 2.0 / 3);
    // ln 2 in two parts: k times the first, of 32 bits, is exact.
    constexpr double ln2_first = 0x1.62e42feep-1, ln2_rest = 0x1.a39ef35793c76p-33;
    return k * ln2_first - ((half_square - (s * (half_square + r) + k * ln2_rest)) - f);
}

/// cos 2πv and sin 2πv for v in [0, 1], to one unit in the last place of 1.
///
/// v = q/4 + t with |t| ≤ 1/8, exactly; the series of sine and cosine at x = 2πt, |x| ≤ π/4, are cut where the next term
/// is below 1e-17; then a quarter turn for every q.
inline void turn(double v, double& cosine, double& sine) {
    constexpr double round = 0x1.8p52;  // adding it leaves an integer in the last bits
    const double shifted = 4 * v + round;
    const std::uint64_t q = bits_of(shifted);
    const double x = 2 * std::numbers::pi * (v - 0.25 * (shifted - round)), z = x * x;
    // Coefficients of cos x and sin x: ±1/18! … 1/4!, and 1/17! … −1/3!.
    double c = polynomial(z, -1.0 / 6402373705728000, 1.0 / 20922789888000, -1.0 / 87178291200,
                          1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24);
    c = c * z * z + (1 - 0.5 * z);
    double s = polynomial(z, 1.0 / 355687428096000, -1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800,
                          1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6);
    s = s * z * x + x;
    const std::uint64_t odd = 0 - (q & 1U);  // all bits, or none
    const std::uint64_t cosine_bits = bits_of(c), sine_bits = bits_of(s);
    // q = 1: (−s, c); 2: (−c, −s); 3: (s, −c).
    const std::uint64_t sine_sign = (q & 2U) << 62U, cosine_sign = ((q + 1) & 2U) << 62U;
    cosine = double_of(((cosine_bits & ~odd) | (sine_bits & odd)) ^ cosine_sign);
    sine = double_of(((sine_bits & ~odd) | (cosine_bits & odd)) ^ sine_sign);
}

}  // namespace spectra::random
