#pragma once

#include "network/network.hpp"

#include <Eigen/Dense>

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

namespace spectra::tests {

/// The slow reference for every branch: the whole 2Ln × 2Ln matrix, inverted, in the averaged fixed point
/// M ← ½(M + (P − Σ[M])⁻¹), Σ written from its definition. Slopes of an activation are enumerated. Converges
/// away from the real axis and outside the support; branches of given singular values outside only.
class DenseDyson {
public:
    using Complex = std::complex<double>;
    using Matrix = Eigen::MatrixXcd;

    explicit DenseDyson(const Network& network)
        : network_(network), n_(network.streams), depth_(network.depth()) {}

    Complex green(Complex omega, int iterations = 20000, double tolerance = 1e-14) const {
        Matrix m = Matrix::Identity(size(), size()) / omega;
        weighted_ = Eigen::VectorXcd::Constant(depth_, 1.0 / omega);
        for (int k = 0; k < iterations; ++k) {
            const Matrix next = resolvent(omega, m);
            const double change = (next - m).norm();
            m = (0.5 * (m + next)).eval();
            if (change < tolerance * m.norm()) break;
        }
        return tr(m, v(depth_ - 1), v(depth_ - 1));
    }

    /// E ln s = ln Y + E s²/2Y² − E s⁴/4Y⁴ + … − ∫_0^Y (−Im g(iy)) dy, by Gauss–Legendre in y = Y u³.
    /// Good to 2e-3: close to zero the iteration is cut short.
    double log_mean(double top) const;

    /// E s^k = (1/2πi) ∮ ω^k g dω, k even, over |ω| = radius outside the support: a quadrant is enough.
    double moment(int k, double radius) const {
        constexpr int points = 10;
        double sum = 0;
        for (int j = 0; j < points; ++j) {
            const Complex omega = std::polar(radius, (j + 0.5) * std::numbers::pi / (2 * points));
            sum += (std::pow(omega, k + 1) * green(omega)).real();
        }
        return sum / points;
    }

private:
    Eigen::Index size() const { return 2 * depth_ * n_; }
    Eigen::Index w(Eigen::Index l) const { return 2 * l * n_; }
    Eigen::Index v(Eigen::Index l) const { return (2 * l + 1) * n_; }
    Complex tr(const Matrix& m, Eigen::Index i, Eigen::Index j) const {
        return m.block(i, j, n_, n_).trace() / static_cast<double>(n_);
    }
    static std::size_t at(Eigen::Index l) { return static_cast<std::size_t>(l); }

    Matrix pencil(Complex omega) const {
        Matrix p = Matrix::Zero(size(), size());
        const Matrix one = Matrix::Identity(n_, n_);
        p.block(w(0), w(0), n_, n_) = omega * one;
        p.block(v(depth_ - 1), v(depth_ - 1), n_, n_) += omega * one;
        for (Eigen::Index l = 0; l < depth_; ++l) {
            const Matrix a = network_.mixers[at(l)].cast<Complex>();
            p.block(v(l), w(l), n_, n_) = -a;
            p.block(w(l), v(l), n_, n_) = -a.transpose();
            if (l + 1 == depth_) continue;
            p.block(w(l + 1), v(l), n_, n_) = one;
            p.block(v(l), w(l + 1), n_, n_) = one;
        }
        return p;
    }

    /// The R-transform of the symmetrised law: y − 1/g with mean ½[1/(y − t) + 1/(y + t)] = g.
    static Complex r_transform(const std::vector<double>& t, Complex g) {
        Complex y = 1.0 / g;
        for (int k = 0; k < 100; ++k) {
            Complex value = -g, slope = 0;
            for (const double x : t) {
                const Complex d = 1.0 / (y * y - x * x);
                value += y * d / static_cast<double>(t.size());
                slope += (d - 2.0 * y * y * d * d) / static_cast<double>(t.size());
            }
            const Complex step = value / slope;
            y -= step;
            if (std::abs(step) < 1e-15 * std::abs(y)) break;
        }
        return y - 1.0 / g;
    }

    /// Σ's factor at v_l, and by exchange of the arguments at w_{l−1}.
    Complex factor(Eigen::Index l, Complex own, Complex other) const {
        const auto law = branch_law(network_, at(l));
        if (law.empty()) return sigma2(network_)[at(l)] * own;
        const Complex g = std::sqrt(own) * std::sqrt(other);
        return r_transform(law, g) * own / g;
    }

    Matrix resolvent(Complex omega, const Matrix& m) const {
        Matrix p = pencil(omega);
        const Matrix one = Matrix::Identity(n_, n_);
        if (const auto* b = std::get_if<ActivationBranch>(&network_.branch)) return averaged(p, m, *b);
        const auto* tied = std::get_if<TiedBranch>(&network_.branch);
        const auto* hyper = std::get_if<HyperConnectionBranch>(&network_.branch);
        const auto first = first_with_weights(network_);
        const auto variance = sigma2(network_);
        for (Eigen::Index l = 0; l < depth_; ++l) {
            for (Eigen::Index k = 0; k < depth_; ++k) {
                if (first[at(k)] != first[at(l)]) continue;
                Matrix write = one, read = one;
                Complex gw = tr(m, w(l), w(k)), gv = tr(m, v(l), v(k));
                if (hyper != nullptr || (tied != nullptr && tied->hyper_connection())) {
                    const auto& pre = hyper ? hyper->pre : tied->pre;
                    const auto& post = hyper ? hyper->post : tied->post;
                    write = (post[at(l)] * post[at(k)].transpose()).cast<Complex>();
                    read = (pre[at(l)] * pre[at(k)].transpose()).cast<Complex>();
                    gw = (read.transpose() * m.block(w(l), w(k), n_, n_)).trace();
                    gv = (write.transpose() * m.block(v(l), v(k), n_, n_)).trace();
                }
                if (tied != nullptr) {
                    const double size = std::sqrt(variance[at(l)] * variance[at(k)]);
                    p.block(v(l), v(k), n_, n_) -= size * gw * write;
                    p.block(w(l), w(k), n_, n_) -= size * gv * read;
                    continue;
                }
                p.block(v(l), v(k), n_, n_) -= factor(l, gw, gv) * write;
                p.block(w(l), w(k), n_, n_) -= factor(l, gv, gw) * read;
            }
        }
        return p.inverse();
    }

    /// Over every combination of slopes; d² M_v enters by its average, kept beside M.
    Matrix averaged(const Matrix& p, const Matrix& m, const ActivationBranch& b) const {
        const auto sites = static_cast<std::size_t>(depth_ * n_);
        Matrix sum = Matrix::Zero(size(), size());
        Eigen::VectorXcd weighted = Eigen::VectorXcd::Zero(depth_);
        for (std::size_t code = 0; code < (std::size_t{1} << sites); ++code) {
            Matrix q = p;
            double probability = 1;
            Eigen::VectorXd d2(depth_ * n_);
            for (Eigen::Index l = 0; l < depth_; ++l) {
                const double variance =
                    b.preactivation_variance.empty() ? 0 : b.preactivation_variance[at(l)];
                const SlopeLaw law = slope_law(b.activation, variance);
                for (Eigen::Index i = 0; i < n_; ++i) {
                    const std::size_t k = (code >> at(l * n_ + i)) & 1U;
                    d2(l * n_ + i) = law.value[k];
                    probability *= law.probability[k];
                    q(v(l) + i, v(l) + i) -= b.sigma_w2[at(l)] * law.value[k] * tr(m, w(l), w(l));
                    q(w(l) + i, w(l) + i) -= b.sigma_w2[at(l)] * weighted_(l);
                }
            }
            const Matrix inverse = q.inverse();
            sum += probability * inverse;
            for (Eigen::Index l = 0; l < depth_; ++l)
                for (Eigen::Index i = 0; i < n_; ++i)
                    weighted(l) +=
                        probability * d2(l * n_ + i) * inverse(v(l) + i, v(l) + i) / static_cast<double>(n_);
        }
        weighted_ = (0.5 * (weighted_ + weighted)).eval();
        return sum;
    }

    Network network_;
    Eigen::Index n_, depth_;
    mutable Eigen::VectorXcd weighted_;
};

inline double DenseDyson::log_mean(double top) const {
    // Gauss–Legendre on [0, 1] by Newton on the Legendre polynomial.
    constexpr int points = 24;
    double integral = 0;
    for (int k = 0; k < points; ++k) {
        double x = std::cos(std::numbers::pi * (k + 0.75) / (points + 0.5)), slope = 1;
        for (int step = 0; step < 8; ++step) {
            double p0 = 1, p1 = x;
            for (int j = 2; j <= points; ++j) {
                const double p2 = ((2 * j - 1) * x * p1 - (j - 1) * p0) / j;
                p0 = p1;
                p1 = p2;
            }
            slope = points * (x * p1 - p0) / (x * x - 1);
            x -= p1 / slope;
        }
        const double u = (1 + x) / 2, weight = 1 / ((1 - x * x) * slope * slope);
        integral += weight * 3 * top * u * u * -green(Complex(0, top * u * u * u), 1000, 1e-8).imag();
    }
    double series = 0, power = 1;
    for (int k = 1; k <= 6; ++k) {
        power *= -1 / (top * top);
        series -= power * moment(2 * k, top) / (2 * k);
    }
    return std::log(top) + series - integral;
}

}  // namespace spectra::tests
