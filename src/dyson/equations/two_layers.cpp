#include "dyson/equations/two_layers.hpp"

#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace spectra::dyson {
namespace {

using Matrix = Eigen::MatrixXcd;

constexpr double certified_step = 1e-10;

Complex tr_n(const Matrix& m) {
    return m.trace() / static_cast<double>(m.rows());
}

/// Ψ of one layer at matrices b.
class Layer {
public:
    Layer(const Eigen::MatrixXd& square, double sigma2)
        : square_(square.cast<Complex>()),
          sigma2_(sigma2),
          one_(Matrix::Identity(square.rows(), square.rows())) {}

    Matrix mean() const { return square_ + sigma2_ * one_; }

    /// Solves for μ and ν, starting from the last ones.
    bool solve(const Matrix& b) {
        for (int k = 0; k < 50; ++k) {
            dress();
            const Matrix n = (one_ - b * c_).partialPivLu().solve(b);
            const Matrix nn = n * n, nkn = n * square_ * n, kn = square_ * n;
            const Complex u = 1.0 - sigma2_ * nu_;
            const Complex f1 = nu_ - tr_n(n), f2 = mu_ * u - 1.0 - tr_n(kn) / u;
            // dC = σ²(dμ + K dν/u²), dN = N dC N.
            const Complex s = sigma2_ / (u * u);
            const Complex a11 = -sigma2_ * tr_n(nn), a12 = 1.0 - s * tr_n(nkn);
            const Complex a21 = u - sigma2_ * tr_n(square_ * nn) / u;
            const Complex a22 = -sigma2_ * mu_ - s * tr_n(square_ * nkn) / u - s * tr_n(kn);
            const Complex det = a11 * a22 - a12 * a21;
            const Complex dmu = (f1 * a22 - a12 * f2) / det, dnu = (a11 * f2 - a21 * f1) / det;
            mu_ -= dmu;
            nu_ -= dnu;
            const double step = std::abs(dmu) / std::abs(mu_) + std::abs(sigma2_ * dnu);
            if (!std::isfinite(step)) return false;
            if (step < 1e-14) break;
        }
        dress();
        resolvent_ = (one_ - b * c_).inverse();
        return resolvent_.allFinite();
    }

    /// E(1 − bX)⁻¹ = 1 + Ψ(b), and b⁻¹Ψ(b).
    const Matrix& resolvent() const { return resolvent_; }
    Matrix divided() const { return c_ * resolvent_; }

private:
    void dress() { c_ = sigma2_ * mu_ * one_ + square_ / (1.0 - sigma2_ * nu_); }

    Matrix square_;
    double sigma2_;
    Matrix one_;
    Complex mu_ = 1, nu_ = 0;
    Matrix c_, resolvent_;
};

struct State {
    Layer x, y;
    Matrix b;  ///< b_Y
    Complex g;
    double residual = 1;
};

/// Ψ_X(b_X) − b_Y⁻¹ w b_Y at b_Y = b, b_X from the last equation.
bool defect(State& s, const Matrix& b, Complex z, Matrix& out) {
    if (!s.y.solve(b)) return false;
    const Matrix divided = s.y.divided();
    const Matrix bx = divided * s.y.resolvent().inverse() / z;
    if (!s.x.solve(bx)) return false;
    out = s.x.resolvent() - Matrix::Identity(b.rows(), b.rows()) - divided * b;
    return out.allFinite();
}

/// Newton with a Jacobian by differences; by holomorphy real directions are enough.
bool newton(State& s, Complex omega) {
    const Complex z = omega * omega;
    const Eigen::Index size = s.b.size();
    for (int k = 0; k < 30; ++k) {
        Matrix value, moved;
        if (!defect(s, s.b, z, value)) return false;
        const State here = s;
        const double h = 1e-7 * s.b.norm();
        Matrix jacobian(size, size);
        for (Eigen::Index i = 0; i < size; ++i) {
            State trial = here;
            Matrix b = s.b;
            b(i) += h;
            if (!defect(trial, b, z, moved)) return false;
            jacobian.col(i) = (moved - value).reshaped() / h;
        }
        const Eigen::VectorXcd step = jacobian.partialPivLu().solve(Eigen::VectorXcd(value.reshaped()));
        s.residual = step.norm() / s.b.norm();
        if (!std::isfinite(s.residual) || s.residual > 10) return false;
        s.b -= step.reshaped(s.b.rows(), s.b.cols());
        if (s.residual < 1e-12) break;
    }
    s.g = tr_n(s.y.resolvent()) / omega;
    return s.residual <= certified_step && s.g.imag() < 0;
}

}  // namespace

GreenPoint two_layers_green(const Network& network, Complex omega) {
    if (network.depth() != 2 || !isotropic_gaussian(network))
        throw std::invalid_argument(
            "two_layers_green: the network must have two layers with isotropic Gaussian branches");
    const auto& sigma2 = std::get<IsotropicBranch>(network.branch).sigma2;
    const Mixer &a1 = network.mixers[0], &a2 = network.mixers[1];
    State here{Layer(a2.transpose() * a2, sigma2[1]), Layer(a1 * a1.transpose(), sigma2[0]), {}, {}};
    const double x = omega.real(), end = omega.imag();
    double y = 30 * std::max(std::abs(omega), std::sqrt(here.x.mean().norm() * here.y.mean().norm()));
    here.b = here.x.mean() / std::pow(Complex(x, y), 2);
    bool ok = newton(here, Complex(x, y));
    for (double factor = 2; ok && y > end && factor > 1.001;) {
        const double next = std::max(end, y / factor);
        State trial = here;
        trial.b *= std::pow(Complex(x, y) / Complex(x, next), 2);
        if (newton(trial, Complex(x, next))) {
            here = trial;
            y = next;
            factor = std::min(2.0, factor * factor);
        } else {
            factor = std::sqrt(factor);
        }
    }
    return {here.g, here.residual, ok && y == end};
}

}  // namespace spectra::dyson
