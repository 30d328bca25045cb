#pragma once

#include "linalg/double_double.hpp"
#include "linalg/plain_matrix.hpp"

#include <Eigen/Core>
#include <boost/multiprecision/complex_adaptor.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>

#include <complex>
#include <concepts>

/// Numbers of 120 digits, and of 32, which take a twentieth of the time, for equations that rounding hides from double precision.
namespace spectra::dyson {

// Cancellation costs up to four digits per digit of s over the noise.
using WideDigits = boost::multiprecision::cpp_bin_float<120>;
using WideReal = boost::multiprecision::number<WideDigits, boost::multiprecision::et_off>;
using Wide = boost::multiprecision::number<boost::multiprecision::complex_adaptor<WideDigits>,
                                           boost::multiprecision::et_off>;
using TwoDoubles = linalg::ComplexDoubleDouble;

template <class Number>
using MatrixOf = linalg::PlainMatrix<Number>;

/// The same number, or matrix.
template <class Number>
Number widened(std::complex<double> z) {
    using Real = typename Number::value_type;
    return Number(Real(z.real()), Real(z.imag()));
}
template <class Number>
MatrixOf<Number> widened(const Eigen::MatrixXd& a) {
    using Real = typename Number::value_type;
    MatrixOf<Number> wide(a.rows(), a.cols());
    for (Eigen::Index i = 0; i < a.rows(); ++i)
        for (Eigen::Index j = 0; j < a.cols(); ++j) wide(i, j) = Number(Real(a(i, j)));
    return wide;
}

/// To double precision.
template <class Number>
std::complex<double> rounded(const Number& z) {
    return {static_cast<double>(z.real()), static_cast<double>(z.imag())};
}

/// e^x, in the range of the type.
template <class Real>
Real exponential(double x) {
    if constexpr (std::same_as<Real, linalg::DoubleDouble>)
        return linalg::exp(x);
    else
        return exp(Real(x));
}

}  // namespace spectra::dyson
