// Elimination and patterns against the whole matrix: blocks, currents and responses.

#include "dyson/equations/elimination.hpp"

#include "random/stream.hpp"

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <string>

namespace spectra::dyson {
namespace {

using Complex = std::complex<double>;
using Matrix = Eigen::MatrixXcd;
using Vector = Eigen::VectorXcd;
using Index = Eigen::Index;

struct Chain {
    Index n, layers;
    std::vector<Eigen::MatrixXd> mixers;
    Pattern v, w, end_v, end_w;
    Complex omega{0.7, 0.4};
    Vector cv, cw;

    Index w_at(Index l) const { return 2 * l * n; }
    Index v_at(Index l) const { return (2 * l + 1) * n; }

    Matrix inverse(const Vector& a, const Vector& b) const {
        const auto size = static_cast<std::size_t>(n);
        Matrix pencil = Matrix::Zero(2 * layers * n, 2 * layers * n);
        pencil.block(w_at(0), w_at(0), n, n) += omega * end_w.matrix(size, 0);
        pencil.block(v_at(layers - 1), v_at(layers - 1), n, n) += omega * end_v.matrix(size, 0);
        for (Index l = 0; l < layers; ++l) {
            const auto k = static_cast<std::size_t>(l);
            pencil.block(v_at(l), w_at(l), n, n) = -mixers[k].cast<Complex>();
            pencil.block(w_at(l), v_at(l), n, n) = -mixers[k].transpose().cast<Complex>();
            pencil.block(w_at(l), w_at(l), n, n) -= b(l) * w.matrix(size, k);
            pencil.block(v_at(l), v_at(l), n, n) -= a(l) * v.matrix(size, k);
            if (l + 1 == layers) break;
            pencil.block(w_at(l + 1), v_at(l), n, n).setIdentity();
            pencil.block(v_at(l), w_at(l + 1), n, n).setIdentity();
        }
        return pencil.inverse();
    }

    /// tr P^w M(w), tr P^v M(v) of every layer, then nβ_{−1} … nβ_{L−1}.
    Vector outputs(const Vector& a, const Vector& b) const {
        const auto size = static_cast<std::size_t>(n);
        const Matrix m = inverse(a, b);
        Vector out(3 * layers + 1);
        for (Index l = 0; l < layers; ++l) {
            const auto k = static_cast<std::size_t>(l);
            out(2 * l) = (w.matrix(size, k) * m.block(w_at(l), w_at(l), n, n)).trace();
            out(2 * l + 1) = (v.matrix(size, k) * m.block(v_at(l), v_at(l), n, n)).trace();
            if (l + 1 < layers) out(2 * layers + 1 + l) = m.block(w_at(l + 1), v_at(l), n, n).trace();
        }
        out(2 * layers) = omega * (end_w.matrix(size, 0) * m.block(0, 0, n, n)).trace();
        out(3 * layers) =
            omega * (end_v.matrix(size, 0) * m.block(v_at(layers - 1), v_at(layers - 1), n, n)).trace();
        return out;
    }
};

Pattern draw_pattern(Pattern::Kind kind, Index n, Index count, random::Stream& stream) {
    std::vector<double> values;
    for (Index l = 0; l < count; ++l) {
        if (kind == Pattern::Kind::full) {
            Eigen::MatrixXd t(n, n);
            for (auto& value : t.reshaped()) value = stream.normal();
            const Eigen::MatrixXd p = t * t.transpose() / static_cast<double>(n);
            values.insert(values.end(), p.data(), p.data() + p.size());
        } else if (kind != Pattern::Kind::identity) {
            for (Index i = 0; i < n; ++i) values.push_back(std::abs(stream.normal()));
        }
    }
    return {kind, values};
}

template <int N>
void compare(Index n, Index layers, Pattern::Kind v, Pattern::Kind w, bool ends) {
    SCOPED_TRACE("n " + std::to_string(n) + ", L " + std::to_string(layers) + ", patterns " +
                 std::to_string(static_cast<int>(v)) + " and " + std::to_string(static_cast<int>(w)));
    random::Stream stream(11, random::Purpose::test, static_cast<std::uint32_t>(n * 100 + layers));
    Chain chain;
    chain.n = n;
    chain.layers = layers;
    ChainMixers mixers;
    for (Index l = 0; l < layers; ++l) {
        Eigen::MatrixXd a(n, n);
        for (auto& value : a.reshaped()) value = stream.normal() / std::sqrt(static_cast<double>(n));
        for (Index i = 0; i < n; ++i)
            for (Index j = 0; j < n; ++j) mixers.forward.push_back(a(i, j));
        mixers.transposed.insert(mixers.transposed.end(), a.data(), a.data() + a.size());
        chain.mixers.push_back(a);
    }
    chain.v = draw_pattern(v, n, layers, stream);
    chain.w = draw_pattern(w, n, layers, stream);
    const auto end = ends ? Pattern::Kind::full : Pattern::Kind::identity;
    chain.end_v = draw_pattern(end, n, 1, stream);
    chain.end_w = draw_pattern(end, n, 1, stream);
    chain.cv.resize(layers);
    chain.cw.resize(layers);
    for (Vector* c : {&chain.cv, &chain.cw})
        for (auto& value : *c) value = Complex(0.3 * stream.normal(), -0.2 - 0.1 * std::abs(stream.normal()));

    Elimination<N> fast(static_cast<std::size_t>(n), static_cast<std::size_t>(layers), chain.v, chain.w,
                        chain.end_v, chain.end_w);
    ASSERT_TRUE(fast.run(mixers, chain.omega, chain.cv, chain.cw));
    const Vector exact = chain.outputs(chain.cv, chain.cw);
    for (Index l = 0; l < layers; ++l) {
        const auto k = static_cast<std::size_t>(l);
        EXPECT_LT(std::abs(fast.trace_w(k) - exact(2 * l)), 1e-11 * (1 + std::abs(exact(2 * l))));
        EXPECT_LT(std::abs(fast.trace_v(k) - exact(2 * l + 1)), 1e-11 * (1 + std::abs(exact(2 * l + 1))));
    }
    for (Index l = 0; l <= layers; ++l)
        EXPECT_LT(std::abs(fast.beta(static_cast<std::size_t>(l)) - exact(2 * layers + l)), 1e-11);
    // The law of currents, for any c: c_w tr P^w M(w) − c_v tr P^v M(v) = n(β_{l−1} − β_l).
    for (Index l = 0; l < layers; ++l)
        EXPECT_LT(std::abs(chain.cw(l) * exact(2 * l) - chain.cv(l) * exact(2 * l + 1) -
                           exact(2 * layers + l) + exact(2 * layers + l + 1)),
                  1e-11);

    Matrix response = Matrix::Zero(2 * layers, 2 * layers), currents = Matrix::Zero(layers + 1, 2 * layers);
    fast.add_response(1, response, currents);
    fast.prepare();
    const double h = 1e-5;
    for (Index site = 0; site < 2 * layers; ++site) {
        Vector dv = Vector::Zero(layers), dw = dv;
        (site % 2 == 0 ? dw : dv)(site / 2) = 1;
        const Vector slope = (chain.outputs(chain.cv + h * dv, chain.cw + h * dw) -
                              chain.outputs(chain.cv - h * dv, chain.cw - h * dw)) /
                             (2 * h);
        EXPECT_LT((response.col(site) - slope.head(2 * layers)).norm(), 1e-6 * (1 + slope.norm()));
        EXPECT_LT((currents.col(site) - slope.tail(layers + 1)).norm(), 1e-6 * (1 + slope.norm()));
        Vector ow = Vector::Zero(layers), ov = ow, ob = Vector::Zero(layers + 1);
        fast.add_applied(1, dv, dw, ow, ov, ob);
        for (Index l = 0; l < layers; ++l) {
            EXPECT_LT(std::abs(ow(l) - response(2 * l, site)), 1e-11 * (1 + slope.norm()));
            EXPECT_LT(std::abs(ov(l) - response(2 * l + 1, site)), 1e-11 * (1 + slope.norm()));
        }
        EXPECT_LT((ob - currents.col(site)).norm(), 1e-11 * (1 + slope.norm()));
    }
}

TEST(Elimination, EqualsTheWholeMatrixForEveryPattern) {
    using Kind = Pattern::Kind;
    for (const Index layers : {1, 2, 5}) {
        compare<1>(1, layers, Kind::identity, Kind::identity, false);
        compare<4>(4, layers, Kind::identity, Kind::identity, false);
        compare<4>(4, layers, Kind::rank_one, Kind::rank_one, false);
        compare<4>(4, layers, Kind::rank_one, Kind::rank_one, true);
        compare<4>(4, layers, Kind::diagonal, Kind::identity, false);
        compare<4>(4, layers, Kind::full, Kind::full, true);
        compare<0>(3, layers, Kind::full, Kind::rank_one, true);
        compare<0>(5, layers, Kind::diagonal, Kind::full, false);
    }
}

TEST(Pattern, IsSeenInAnotherFrameAsACongruence) {
    random::Stream stream(12, random::Purpose::test, 1);
    std::vector<Eigen::MatrixXd> frames;
    for (int k = 0; k < 3; ++k) {
        Eigen::MatrixXd t(4, 4);
        for (auto& value : t.reshaped()) value = stream.normal();
        frames.push_back(t);
    }
    for (const auto kind :
         {Pattern::Kind::identity, Pattern::Kind::rank_one, Pattern::Kind::diagonal, Pattern::Kind::full}) {
        const Pattern pattern = draw_pattern(kind, 4, 2, stream);
        for (const std::size_t offset : {0u, 1u}) {
            const Pattern seen = pattern.seen_by(frames, offset);
            for (const std::size_t l : {0u, 1u}) {
                const Eigen::MatrixXd& t = frames[l + offset];
                EXPECT_LT((seen.matrix(4, l) - t * pattern.matrix(4, l) * t.transpose()).norm(), 1e-12);
            }
        }
    }
}

}  // namespace
}  // namespace spectra::dyson
