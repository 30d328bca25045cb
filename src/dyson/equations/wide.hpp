#pragma once

#include <Eigen/Core>
#include <boost/multiprecision/complex_adaptor.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/eigen.hpp>

#include <complex>

/// Numbers of 120 digits, for equations that rounding hides from double precision.
namespace spectra::dyson {

// Cancellation costs up to four digits per digit of s over the noise.
using WideDigits = boost::multiprecision::cpp_bin_float<120>;
using WideReal = boost::multiprecision::number<WideDigits, boost::multiprecision::et_off>;
using Wide = boost::multiprecision::number<boost::multiprecision::complex_adaptor<WideDigits>,
                                           boost::multiprecision::et_off>;
using WideMatrix = Eigen::Matrix<Wide, Eigen::Dynamic, Eigen::Dynamic>;
using WideVector = Eigen::Matrix<Wide, Eigen::Dynamic, 1>;

/// The same number, or matrix.
inline Wide wide(std::complex<double> z) {
    return Wide(WideReal(z.real()), WideReal(z.imag()));
}
inline WideMatrix wide(const Eigen::MatrixXd& a) {
    return a.unaryExpr([](double x) { return Wide(WideReal(x)); });
}

/// To double precision.
inline std::complex<double> rounded(const Wide& z) {
    return {static_cast<double>(z.real()), static_cast<double>(z.imag())};
}

}  // namespace spectra::dyson
