#pragma once

#include <Eigen/Core>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/eigen.hpp>

#include <algorithm>
#include <vector>

namespace spectra::tests {

/// Floating-point numbers of so many decimal digits.
template <unsigned digits>
using Wide = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<digits>,
                                           boost::multiprecision::et_off>;
template <unsigned digits>
using WideMatrix = Eigen::Matrix<Wide<digits>, Eigen::Dynamic, Eigen::Dynamic>;

/// ln of the singular values, ascending, by one-sided Jacobi. Right where they are above 10^{20−digits} of
/// the largest; nothing can be said of those below.
template <unsigned digits>
std::vector<double> wide_log_values(WideMatrix<digits> matrix) {
    using Real = Wide<digits>;
    const Real zero = pow(Real(10), 40 - 2 * static_cast<int>(digits)) * matrix.squaredNorm();
    bool turned = true;
    while (turned) {
        turned = false;
        for (Eigen::Index i = 0; i < matrix.cols(); ++i) {
            for (Eigen::Index j = i + 1; j < matrix.cols(); ++j) {
                const Real a = matrix.col(i).squaredNorm();
                const Real b = matrix.col(j).squaredNorm();
                const Real c = matrix.col(i).dot(matrix.col(j));
                if (a <= zero || b <= zero || c * c <= Real(1e-36) * a * b) continue;
                turned = true;
                const Real zeta = (b - a) / (2 * c);
                const Real root = sqrt(1 + zeta * zeta);
                const Real t = (zeta < 0 ? Real(-1) : Real(1)) / (abs(zeta) + root);
                const Real cosine = 1 / sqrt(1 + t * t);
                const Real sine = cosine * t;
                const WideMatrix<digits> left = matrix.col(i);
                matrix.col(i) = cosine * left - sine * matrix.col(j);
                matrix.col(j) = sine * left + cosine * matrix.col(j);
            }
        }
    }
    std::vector<double> out;
    for (Eigen::Index i = 0; i < matrix.cols(); ++i)
        out.push_back(static_cast<double>(Real(log(matrix.col(i).squaredNorm()) / 2)));
    std::sort(out.begin(), out.end());
    return out;
}

}  // namespace spectra::tests
