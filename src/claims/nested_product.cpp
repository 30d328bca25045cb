#include "claims/nested_product.hpp"

#include "base/special_values.hpp"
#include "linalg/eigen_instances.hpp"

#include <algorithm>
#include <cmath>

namespace spectra::claims::jpmhc {
namespace {

using Complex = std::complex<double>;
using Eigen::MatrixXcd;

/// Ψ⁻¹(w) of one layer with an isotropic branch, K = AᵀA or AAᵀ (two_layers.hpp): b = w(1 + w)⁻¹C⁻¹ with C = σ²μ + K/u,
/// u = 1 − σ²ν, ν = tr_n wC⁻¹, μu = 1 + tr_n(KwC⁻¹)/u. Two numbers are iterated; σ² is small.
MatrixXcd inverse_psi(const MatrixXcd& k, double sigma2, const MatrixXcd& w) {
    const auto n = static_cast<double>(k.rows());
    const MatrixXcd one = MatrixXcd::Identity(k.rows(), k.cols());
    Complex u = 1, mu = 1;
    MatrixXcd inverse = one;
    for (int step = 0; step < 400; ++step) {
        inverse = (sigma2 * mu * one + k / u).inverse();
        const Complex nu = (w * inverse).trace() / n, next_u = 1.0 - sigma2 * nu;
        const Complex next_mu = (1.0 + (k * w * inverse).trace() / n / next_u) / next_u;
        const double change = std::abs(next_u - u) + std::abs(next_mu - mu);
        u = next_u;
        mu = next_mu;
        if (change < 1e-15 * (std::abs(u) + std::abs(mu))) break;
    }
    inverse = (sigma2 * mu * one + k / u).inverse();
    return w * (one + w).inverse() * inverse;
}

/// One factor of a twisted product.
struct Factor {
    MatrixXcd k;
    double sigma2 = 0;

    /// S(w) = (1 + w)w⁻¹Ψ⁻¹(w).
    MatrixXcd s(const MatrixXcd& w) const {
        const MatrixXcd one = MatrixXcd::Identity(w.rows(), w.cols());
        return (one + w) * w.inverse() * inverse_psi(k, sigma2, w);
    }
};

/// S of the first `count` factors, nested.
MatrixXcd nested_s(const std::vector<Factor>& factors, std::size_t count, const MatrixXcd& w) {
    if (count == 1) return factors.front().s(w);
    const MatrixXcd inner = nested_s(factors, count - 1, w);
    return inner * factors[count - 1].s(inner.inverse() * w * inner);
}

/// w(1 + w)⁻¹ S(w) − 1/z, which vanishes at the solution.
MatrixXcd nested_defect(const std::vector<Factor>& factors, Complex z, const MatrixXcd& w) {
    const MatrixXcd one = MatrixXcd::Identity(w.rows(), w.cols());
    return w * (one + w).inverse() * nested_s(factors, factors.size(), w) * z - one;
}

/// Newton with a differenced Jacobian: n² unknowns. False where it does not converge.
bool solve_nested(const std::vector<Factor>& factors, Complex z, MatrixXcd& w) {
    const auto size = w.size();
    for (int step = 0; step < 30; ++step) {
        const MatrixXcd defect = nested_defect(factors, z, w);
        MatrixXcd jacobian(size, size);
        const double h = 1e-7 * std::max(1e-12, w.cwiseAbs().maxCoeff());
        for (Eigen::Index j = 0; j < size; ++j) {
            MatrixXcd moved = w;
            moved(j) += h;
            jacobian.col(j) = ((nested_defect(factors, z, moved) - defect) / h).reshaped();
        }
        const Eigen::VectorXcd change = jacobian.lu().solve(defect.reshaped());
        w -= change.reshaped(w.rows(), w.cols());
        if (!w.allFinite()) return false;
        if (change.cwiseAbs().maxCoeff() < 1e-11 * w.cwiseAbs().maxCoeff()) return true;
    }
    return false;
}

}  // namespace

std::complex<double> nested_green(const Network& network, std::complex<double> omega,
                                  const std::vector<bool>& transposed) {
    const auto sigma2 = spectra::sigma2(network);
    std::vector<Factor> factors;
    for (std::size_t l = 0; l < network.mixers.size(); ++l) {
        const Mixer& a = network.mixers[l];
        factors.push_back(
            {(transposed[l] ? Mixer(a * a.transpose()) : Mixer(a.transpose() * a)).cast<Complex>(),
             sigma2[l]});
    }
    // From far above, where Ψ(b) = b E[X] + …: w is the product of the mean squares over z.
    double height = 30;
    Complex at(omega.real(), height);
    MatrixXcd w = MatrixXcd::Identity(network.streams, network.streams);
    for (const auto& factor : factors)
        w = w * (factor.k + factor.sigma2 * MatrixXcd::Identity(network.streams, network.streams));
    w /= at * at;
    double ratio = 0.8;
    bool solved = solve_nested(factors, at * at, w);
    while (solved && height > omega.imag()) {
        const double next = std::max(omega.imag(), height * ratio);
        MatrixXcd guess = w * ((at * at) / (Complex(omega.real(), next) * Complex(omega.real(), next)));
        if (solve_nested(factors, Complex(omega.real(), next) * Complex(omega.real(), next), guess)) {
            w = guess;
            height = next;
            at = Complex(omega.real(), height);
        } else {
            ratio = std::sqrt(ratio);
            solved = ratio < 0.999;
        }
    }
    const Complex trace = w.trace() / static_cast<double>(network.streams);
    return solved ? (1.0 + trace) / omega : Complex(nan, nan);
}

}  // namespace spectra::claims::jpmhc
