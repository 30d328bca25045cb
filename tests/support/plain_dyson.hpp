#pragma once

#include "network/network.hpp"

#include <Eigen/Dense>

#include <complex>
#include <vector>

namespace spectra::tests {

/// The slow reference: the whole 2Ln × 2Ln matrix, inverted, in the averaged fixed point
/// M ← ½(M + (P − Σ[M])⁻¹). Converges for Im ω well above zero.
inline std::complex<double> plain_green(const Network& network, std::complex<double> omega,
                                        int iterations = 20000) {
    using Complex = std::complex<double>;
    const Eigen::Index n = network.streams, depth = network.depth(), size = 2 * depth * n;
    const auto w = [&](Eigen::Index l) { return 2 * l * n; };
    const auto v = [&](Eigen::Index l) { return (2 * l + 1) * n; };
    Eigen::MatrixXcd pencil = Eigen::MatrixXcd::Zero(size, size);
    const Eigen::MatrixXcd one = Eigen::MatrixXcd::Identity(n, n);
    pencil.block(w(0), w(0), n, n) = omega * one;
    pencil.block(v(depth - 1), v(depth - 1), n, n) += omega * one;
    for (Eigen::Index l = 0; l < depth; ++l) {
        const Eigen::MatrixXcd a = network.mixers[static_cast<std::size_t>(l)].cast<Complex>();
        pencil.block(v(l), w(l), n, n) = -a;
        pencil.block(w(l), v(l), n, n) = -a.transpose();
        if (l + 1 < depth) {
            pencil.block(w(l + 1), v(l), n, n) = one;
            pencil.block(v(l), w(l + 1), n, n) = one;
        }
    }
    Eigen::VectorXcd m = Eigen::VectorXcd::Constant(2 * depth, Complex(0, -1));
    for (int k = 0; k < iterations; ++k) {
        Eigen::MatrixXcd matrix = pencil;
        for (Eigen::Index l = 0; l < depth; ++l) {
            const double s2 = sigma2(network)[static_cast<std::size_t>(l)];
            matrix.block(w(l), w(l), n, n) -= s2 * m(2 * l + 1) * one;
            matrix.block(v(l), v(l), n, n) -= s2 * m(2 * l) * one;
        }
        const Eigen::MatrixXcd inverse = matrix.inverse();
        Eigen::VectorXcd next(2 * depth);
        for (Eigen::Index i = 0; i < 2 * depth; ++i)
            next(i) = inverse.block(i * n, i * n, n, n).trace() / static_cast<double>(n);
        const double change = (next - m).norm();
        m = 0.5 * (m + next);
        if (change < 1e-14 * m.norm()) break;
    }
    return m(2 * depth - 1);
}

}  // namespace spectra::tests
