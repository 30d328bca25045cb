#include "dyson/equations/two_layers.hpp"

#include "dyson/equations/free_scalar.hpp"
#include "dyson/exact/moments.hpp"
#include "dyson/solve/newton.hpp"
#include "linalg/eigen_instances.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace spectra::dyson {
namespace {

using Eigen::MatrixXcd;

Complex normalised_trace(const MatrixXcd& m) {
    return m.trace() / static_cast<double>(m.rows());
}

/// tr_n(ab).
Complex normalised_trace(const MatrixXcd& a, const MatrixXcd& b) {
    return a.cwiseProduct(b.transpose()).sum() / static_cast<double>(a.rows());
}

/// −Im m > slack·|m| as matrices.
bool is_below(const MatrixXcd& m, double slack) {
    const MatrixXcd above =
        Complex(0, 0.5) * (m - m.adjoint()) - slack * m.norm() * MatrixXcd::Identity(m.rows(), m.cols());
    return Eigen::LLT<MatrixXcd>(above).info() == Eigen::Success;
}

/// X or Y.
struct Factor {
    MatrixXcd k;
    double sigma2 = 0;

    MatrixXcd mean() const { return dressed(1, 0); }
    MatrixXcd dressed(Complex mu, Complex nu) const {
        MatrixXcd c = k / (1.0 - sigma2 * nu);
        c.diagonal().array() += sigma2 * mu;
        return c;
    }
};

/// One factor at b, μ and ν.
struct At {
    const Factor& factor;
    Complex mu, nu, u;
    MatrixXcd c;
    MatrixXcd resolvent;  ///< (1 − bC)⁻¹
    MatrixXcd n;          ///< N
    MatrixXcd mirrored;   ///< (1 − Cb)⁻¹

    At(const Factor& of, const MatrixXcd& b, Complex mu_here, Complex nu_here)
        : factor(of), mu(mu_here), nu(nu_here), u(1.0 - of.sigma2 * nu), c(of.dressed(mu, nu)) {
        const MatrixXcd one = MatrixXcd::Identity(b.rows(), b.cols());
        resolvent = (one - b * c).inverse();
        n = resolvent * b;
        mirrored = one + c * n;
    }

    /// What is left of the equations of ν and μ.
    Complex defect_nu() const { return nu - normalised_trace(n); }
    Complex defect_mu() const { return mu * u - 1.0 - normalised_trace(factor.k, n) / u; }

    /// Their derivatives along a change of N, and of μ and ν.
    Complex slope_nu(const MatrixXcd& dn, Complex dnu) const { return dnu - normalised_trace(dn); }
    Complex slope_mu(const MatrixXcd& dn, Complex dmu, Complex dnu) const {
        const double s = factor.sigma2;
        return dmu * u - mu * s * dnu - normalised_trace(factor.k, dn) / u -
               s * dnu * normalised_trace(factor.k, n) / (u * u);
    }
    MatrixXcd dc_dmu() const { return factor.sigma2 * MatrixXcd::Identity(c.rows(), c.cols()); }
    MatrixXcd dc_dnu() const { return factor.sigma2 / (u * u) * factor.k; }
};

class TwoLayers final : public Equation {
public:
    explicit TwoLayers(const Network& network) : n_(network.streams) {
        const auto& sigma2 = std::get<IsotropicBranch>(network.branch).sigma2;
        const Mixer &first = network.mixers[0], &second = network.mixers[1];
        x_ = {(second.transpose() * second).cast<Complex>(), sigma2[1]};
        y_ = {(first * first.transpose()).cast<Complex>(), sigma2[0]};
    }

    std::unique_ptr<Equation> clone() const override { return std::make_unique<TwoLayers>(*this); }
    Eigen::Index size() const override { return n_ * n_ + 4; }

    Unknowns far(const Frequency& omega) const override {
        const Complex z = square_of(omega);
        const MatrixXcd b = x_.mean() / z;
        Unknowns m(size());
        m.head(n_ * n_) = b.reshaped();
        m.tail(4) << 1.0, normalised_trace(y_.mean()) / z, 1.0, normalised_trace(b);
        return m;
    }

    bool newton_step(const Frequency& omega, const Unknowns& m, Unknowns& delta) override {
        passes_ += 1;
        const Complex z = square_of(omega);
        const At y(y_, b(m), m(mu_y()), m(nu_y())), x(x_, y.c / z, m(mu_x()), m(nu_x()));
        const Eigen::Index whole = n_ * n_;
        const MatrixXcd left = x.n * x.c;  // Ψ_X(b_X)
        // Rows of one size: they are of the order of 1/z far away.
        const double unit = 1 / left.norm(), unit_x = 1 / std::abs(x.nu), unit_y = 1 / std::abs(y.nu);
        Unknowns defect(size());
        defect.head(whole) = (unit * (left - y.c * y.n)).reshaped();
        defect.tail(4) << x.defect_mu(), unit_x * x.defect_nu(), y.defect_mu(), unit_y * y.defect_nu();

        MatrixXcd slopes = MatrixXcd::Zero(size(), size());
        const double n = static_cast<double>(n_);
        const MatrixXcd moved = y.c * y.resolvent, of_nu = y.mirrored * y.resolvent,
                        of_mu = y.mirrored * y.factor.k * y.resolvent;
        for (Eigen::Index j = 0, column = 0; j < n_; ++j) {
            for (Eigen::Index i = 0; i < n_;
                 ++i, ++column) {  // db_Y = e_i e_jᵀ, dN_Y = (1 − bC)⁻¹ db (1 − Cb)⁻¹
                slopes.col(column).head(whole) = (-unit * moved.col(i) * y.mirrored.row(j)).reshaped();
                slopes(mu_y(), column) = -of_mu(j, i) / (n * y.u);
                slopes(nu_y(), column) = -unit_y * of_nu(j, i) / n;
            }
        }
        for (const bool by_mu : {true, false}) {
            const Complex dmu = by_mu ? 1 : 0, dnu = by_mu ? 0 : 1;
            {
                const Eigen::Index column = by_mu ? mu_y() : nu_y();
                const MatrixXcd dc = by_mu ? y.dc_dmu() : y.dc_dnu(), dn = y.n * dc * y.n,
                                dn_x = x.resolvent * dc * x.mirrored / z;
                slopes.col(column).head(whole) = (unit * (dn_x * x.c - dc * y.n - y.c * dn)).reshaped();
                slopes(mu_y(), column) = y.slope_mu(dn, dmu, dnu);
                slopes(nu_y(), column) = unit_y * y.slope_nu(dn, dnu);
                slopes(mu_x(), column) = x.slope_mu(dn_x, 0, 0);
                slopes(nu_x(), column) = unit_x * x.slope_nu(dn_x, 0);
            }
            const Eigen::Index column = by_mu ? mu_x() : nu_x();
            const MatrixXcd dc = by_mu ? x.dc_dmu() : x.dc_dnu(), dn = x.n * dc * x.n;
            slopes.col(column).head(whole) = (unit * (dn * x.c + x.n * dc)).reshaped();
            slopes(mu_x(), column) = x.slope_mu(dn, dmu, dnu);
            slopes(nu_x(), column) = unit_x * x.slope_nu(dn, dnu);
        }
        const Unknowns units = scale(m);
        slopes = slopes * units.asDiagonal();
        delta = -slopes.partialPivLu().solve(defect);
        return delta.allFinite();
    }

    Unknowns scale(const Unknowns& m) const override {
        Unknowns units = m;
        units.head(n_ * n_).setConstant(m.head(n_ * n_).norm() / static_cast<double>(n_));
        return units;
    }

    /// b_Y by its trace and its shape: the trace follows a power of s.
    Unknowns mix(const std::vector<const Unknowns*>& values, const double* weights) const override {
        const Eigen::Index whole = n_ * n_;
        Unknowns out = Unknowns::Zero(size());
        Complex log_trace = 0, log_nu_x = 0, log_nu_y = 0;
        for (std::size_t k = 0; k < values.size(); ++k) {
            const Unknowns& m = *values[k];
            const Complex trace = b(m).trace();
            log_trace += weights[k] * log_lower(trace);
            log_nu_x += weights[k] * log_lower(m(nu_x()));
            log_nu_y += weights[k] * log_lower(m(nu_y()));
            out.head(whole) += weights[k] / trace * m.head(whole);
            out(mu_x()) += weights[k] * m(mu_x());
            out(mu_y()) += weights[k] * m(mu_y());
        }
        out.head(whole) *= std::exp(log_trace);
        out(nu_x()) = std::exp(log_nu_x);
        out(nu_y()) = std::exp(log_nu_y);
        return out;
    }

    bool admissible(const Frequency& omega, const Unknowns& m, double slack) const override {
        const Complex g = scaled_green(omega, m);
        return g.imag() < -slack * std::abs(g) && is_below(omega.direction * b(m), slack) &&
               is_below(y_.dressed(m(mu_y()), m(nu_y())) / omega.direction, slack);
    }

    bool stable_in_gap(const Frequency& omega, const Unknowns& m) override {
        return continues_above(*this, omega, m);
    }

    Complex scaled_green(const Frequency& omega, const Unknowns& m) const override {
        return normalised_trace(At(y_, b(m), m(mu_y()), m(nu_y())).resolvent) / omega.direction;
    }

    double passes() const override { return passes_; }

private:
    static Complex square_of(const Frequency& omega) {
        return std::exp(2.0 * (omega.log_scale + std::log(omega.direction)));
    }
    Eigen::Index mu_x() const { return n_ * n_; }
    Eigen::Index nu_x() const { return n_ * n_ + 1; }
    Eigen::Index mu_y() const { return n_ * n_ + 2; }
    Eigen::Index nu_y() const { return n_ * n_ + 3; }
    MatrixXcd b(const Unknowns& m) const { return m.head(n_ * n_).reshaped(n_, n_); }

    Eigen::Index n_;
    Factor x_, y_;
    double passes_ = 0;
};

}  // namespace

std::unique_ptr<Equation> make_two_layers(const Network& network) {
    if (network.depth() != 2 || !isotropic_gaussian(network))
        throw std::invalid_argument(
            "two layers: the network must have two layers with isotropic Gaussian branches");
    return std::make_unique<TwoLayers>(network);
}

GreenPoint two_layers_green(const Network& network, Complex omega) {
    const auto equation = make_two_layers(network);
    const double log_size = std::max(std::log(std::abs(omega)), 0.5 * log_mean_square(network));
    return green_by_descent(*equation, omega, log_size + 4);
}

}  // namespace spectra::dyson
