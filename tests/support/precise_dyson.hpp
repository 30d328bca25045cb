#pragma once

#include "network/network.hpp"

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/cpp_complex.hpp>

#include <cmath>
#include <complex>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace spectra::tests {

/// The chain's equation in any precision, plainly: the whole 2Ln × 2Ln matrix, inverted by Gauss and Jordan, and Newton
/// in the order parameters q_w = tr C_w M(w,w) and q_v = tr C_v M(v,v) of every layer. Gaussian branches, isotropic
/// (C = I/n, Σ = σ² q I) and hyper-connections (C = pre preᵀ, Σ = σ² q post postᵀ, and the other way round).
template <class Real, class Complex>
class ChainInPrecision {
public:
    using Matrix = std::vector<std::vector<Complex>>;

    explicit ChainInPrecision(const Network& network)
        : network_(network), n_(network.streams), depth_(network.depth()), variance_(sigma2(network)) {
        const auto* const hyper = std::get_if<HyperConnectionBranch>(&network.branch);
        if ((hyper == nullptr && !isotropic_gaussian(network)) || (hyper != nullptr && !hyper->law.empty()))
            throw std::invalid_argument("Gaussian branches, isotropic or hyper-connections");
        for (int l = 0; l < depth_; ++l)
            for (const bool writes : {false, true}) {
                Eigen::MatrixXd shape = Eigen::MatrixXd::Identity(n_, n_);
                if (hyper != nullptr) {
                    const auto& x = (writes ? hyper->post : hyper->pre)[static_cast<std::size_t>(l)];
                    shape = x * x.transpose();
                }
                shapes_.push_back(shape);
            }
        weight_ = hyper != nullptr ? Real(1) : Real(1) / Real(n_);
    }

    int unknowns() const { return 2 * depth_; }

    /// The Green's function at a solution.
    Complex green(const Complex& omega, const std::vector<Complex>& q) const {
        const auto m = resolvent(omega, q);
        Complex sum(0);
        for (int i = 0; i < n_; ++i) sum += m[at(2 * depth_ - 1, i)][at(2 * depth_ - 1, i)];
        return sum / Complex(Real(n_));
    }

    /// q ← ½(q + F(q)), which converges far from the real axis.
    void average(const Complex& omega, std::vector<Complex>& q, int times) const {
        for (int k = 0; k < times; ++k) {
            const auto next = parameters(resolvent(omega, q));
            for (std::size_t a = 0; a < q.size(); ++a) q[a] = (q[a] + next[a]) / Complex(Real(2));
        }
    }

    /// Newton's method; the last step relative to the unknowns.
    Real newton(const Complex& omega, std::vector<Complex>& q, int most, const Real& enough) const {
        Real step(1);
        for (int k = 0; k < most && step > enough; ++k) {
            const auto m = resolvent(omega, q);
            const auto found = parameters(m);
            const auto size = static_cast<std::size_t>(unknowns());
            Matrix slope(size, std::vector<Complex>(size, Complex(0)));
            for (int a = 0; a < unknowns(); ++a)
                for (int b = 0; b < unknowns(); ++b)
                    slope[index(a)][index(b)] = Complex(a == b ? 1 : 0) - derivative(m, a, b);
            const auto back = inverse(std::move(slope));
            const auto before = q;
            step = Real(0);
            for (std::size_t a = 0; a < size; ++a) {
                Complex change(0);
                for (std::size_t b = 0; b < size; ++b) change += back[a][b] * (found[b] - before[b]);
                q[a] += change;
                const Real relative = abs(change) / abs(q[a]);
                if (!(relative <= step)) step = relative;
            }
        }
        return step;
    }

private:
    static std::size_t index(int k) { return static_cast<std::size_t>(k); }
    /// The place of stream i of block k: w_0, v_1, w_1, v_2, …
    std::size_t at(int block, int i) const { return index(block * n_ + i); }

    static Matrix inverse(Matrix a) {
        const auto size = a.size();
        Matrix out(size, std::vector<Complex>(size, Complex(0)));
        for (std::size_t i = 0; i < size; ++i) out[i][i] = Complex(1);
        for (std::size_t k = 0; k < size; ++k) {
            std::size_t pivot = k;
            for (std::size_t i = k + 1; i < size; ++i)
                if (norm(a[i][k]) > norm(a[pivot][k])) pivot = i;
            std::swap(a[k], a[pivot]);
            std::swap(out[k], out[pivot]);
            const Complex scale = Complex(1) / a[k][k];
            for (std::size_t j = 0; j < size; ++j) {
                a[k][j] *= scale;
                out[k][j] *= scale;
            }
            for (std::size_t i = 0; i < size; ++i) {
                if (i == k || a[i][k] == Complex(0)) continue;
                const Complex factor = a[i][k];
                for (std::size_t j = k; j < size; ++j) a[i][j] -= factor * a[k][j];
                for (std::size_t j = 0; j < size; ++j)
                    if (out[k][j] != Complex(0)) out[i][j] -= factor * out[k][j];
            }
        }
        return out;
    }

    /// (P(ω; A) − Σ)⁻¹, where Σ at v_l has q_w and Σ at w_l has q_v.
    Matrix resolvent(const Complex& omega, const std::vector<Complex>& q) const {
        const auto size = index(2 * depth_ * n_);
        Matrix p(size, std::vector<Complex>(size, Complex(0)));
        for (int i = 0; i < n_; ++i) {
            p[at(0, i)][at(0, i)] += omega;
            p[at(2 * depth_ - 1, i)][at(2 * depth_ - 1, i)] += omega;
        }
        for (int l = 0; l < depth_; ++l) {
            const auto& mixer = network_.mixers[index(l)];
            const int w = 2 * l, v = 2 * l + 1;
            for (int i = 0; i < n_; ++i) {
                for (int j = 0; j < n_; ++j) {
                    p[at(v, i)][at(w, j)] -= Complex(Real(mixer(i, j)));
                    p[at(w, j)][at(v, i)] -= Complex(Real(mixer(i, j)));
                    p[at(w, i)][at(w, j)] -=
                        Complex(Real(variance_[index(l)]) * Real(shapes_[index(w)](i, j))) * q[index(v)];
                    p[at(v, i)][at(v, j)] -=
                        Complex(Real(variance_[index(l)]) * Real(shapes_[index(v)](i, j))) * q[index(w)];
                }
                if (l + 1 == depth_) continue;
                p[at(w + 2, i)][at(v, i)] += Complex(1);
                p[at(v, i)][at(w + 2, i)] += Complex(1);
            }
        }
        return inverse(std::move(p));
    }

    /// tr C M(a,a) of every block.
    std::vector<Complex> parameters(const Matrix& m) const {
        std::vector<Complex> q(index(unknowns()), Complex(0));
        for (int a = 0; a < unknowns(); ++a)
            for (int i = 0; i < n_; ++i)
                for (int j = 0; j < n_; ++j)
                    q[index(a)] += Complex(weight_ * Real(shapes_[index(a)](i, j))) * m[at(a, j)][at(a, i)];
        return q;
    }

    /// ∂ tr C M(a,a)/∂q_b = σ² tr C M(a,b′) B M(b′,a), b′ the other block of b's layer.
    Complex derivative(const Matrix& m, int a, int b) const {
        const int other = b ^ 1;
        const auto &read = shapes_[index(a)], &write = shapes_[index(other)];
        Complex sum(0);
        for (int i = 0; i < n_; ++i)
            for (int j = 0; j < n_; ++j) {
                if (read(i, j) == 0) continue;
                Complex inner(0);
                for (int k = 0; k < n_; ++k)
                    for (int l = 0; l < n_; ++l)
                        if (write(k, l) != 0)
                            inner += m[at(a, j)][at(other, k)] * Complex(Real(write(k, l))) *
                                     m[at(other, l)][at(a, i)];
                sum += Complex(Real(read(i, j))) * inner;
            }
        return Complex(Real(variance_[index(b / 2)]) * weight_) * sum;
    }

    const Network& network_;
    int n_, depth_;
    std::vector<double> variance_;
    std::vector<Eigen::MatrixXd> shapes_;  ///< of w_0, v_1, w_1, …: pre preᵀ, post postᵀ; or identities
    Real weight_;                          ///< of C: 1, or 1/n
};

/// Fifty decimal digits.
using Precise = boost::multiprecision::cpp_bin_float_50;
using PreciseComplex = boost::multiprecision::cpp_complex_50;

/// The law of a network at single points, to fifty digits.
class PreciseDyson {
public:
    explicit PreciseDyson(const Network& network) : in_double_(network), precise_(network) {}

    /// The solution at s + iη, from far above the axis down in double precision, and then with fifty digits. Throws
    /// std::runtime_error where that does not succeed.
    std::vector<PreciseComplex> solution(const Precise& s, const Precise& eta = 0) const {
        const auto real = static_cast<double>(s);
        const double low = std::max(static_cast<double>(eta), 1e-5 * real);
        double height = std::max(2 * real, low);
        std::vector<std::complex<double>> q(static_cast<std::size_t>(in_double_.unknowns()),
                                            1.0 / std::complex<double>(real, height));
        in_double_.average({real, height}, q, 300);
        in_double_.newton({real, height}, q, 50, 1e-12);
        double factor = 0.5;
        while (height > low) {
            auto next = q;
            const double lower = std::max(low, height * factor);
            const double step = in_double_.newton({real, lower}, next, 12, 1e-11);
            if (step < 1e-8 && below_axis(next)) {
                q = next;
                height = lower;
                factor = std::max(0.3, factor * factor);
            } else if ((factor = std::sqrt(factor)) > 0.999) {
                throw std::runtime_error("the descent stops");
            }
        }
        std::vector<PreciseComplex> out;
        for (const auto& x : q) out.emplace_back(Precise(x.real()), Precise(x.imag()));
        polish(s, eta, out);
        return out;
    }

    /// Newton with fifty digits.
    void polish(const Precise& s, const Precise& eta, std::vector<PreciseComplex>& q) const {
        const Precise step = precise_.newton(PreciseComplex(s, eta), q, 60, Precise("1e-40"));
        bool right = step <= Precise("1e-40");
        for (const auto& x : q) right = right && x.imag() < 0;
        if (!right) throw std::runtime_error("Newton does not converge to the right solution");
    }

    PreciseComplex green(const Precise& s, const Precise& eta, const std::vector<PreciseComplex>& q) const {
        return precise_.green(PreciseComplex(s, eta), q);
    }

    /// ρ(s), with respect to s, inside the support.
    Precise density(const Precise& s) const { return density(s, solution(s)); }
    Precise density(const Precise& s, const std::vector<PreciseComplex>& q) const {
        return -2 * green(s, 0, q).imag() / boost::math::constants::pi<Precise>();
    }

    /// The edge near a guess, to twenty digits or more: the root of ρ², which is analytic there, from ever nearer points
    /// inside. `side`: 1 for an upper edge, −1 for a lower one.
    Precise edge(double guess, int side) const {
        Precise delta = Precise("1e-2");
        const auto place = [&](const Precise& d) { return Precise(guess) * (1 - side * d); };
        auto q = solution(place(delta));
        while (delta > Precise("1e-7")) polish(place(delta /= 10), 0, q);
        // Through three points: a parabola in δ.
        std::vector<Precise> d, value;
        for (int k = 3; k >= 1; --k) {
            d.push_back(delta * k);
            polish(place(d.back()), 0, q);
            const Precise rho = density(place(d.back()), q);
            value.push_back(rho * rho);
        }
        const Precise first = (value[1] - value[2]) / (d[1] - d[2]),
                      second = (value[0] - value[1]) / (d[0] - d[1]);
        const Precise bend = (second - first) / (d[0] - d[2]);
        Precise root = d[2] - value[2] / first;
        for (int k = 0; k < 20; ++k) {
            const Precise at = value[2] + first * (root - d[2]) + bend * (root - d[2]) * (root - d[1]);
            root -= at / (first + bend * (2 * root - d[1] - d[2]));
        }
        return place(root);
    }

private:
    static bool below_axis(const std::vector<std::complex<double>>& q) {
        for (const auto& x : q)
            if (!(x.imag() < 0)) return false;
        return true;
    }

    ChainInPrecision<double, std::complex<double>> in_double_;
    ChainInPrecision<Precise, PreciseComplex> precise_;
};

}  // namespace spectra::tests
