// Aligned branches (docs/validation.md), each against the plain way in one run: one evaluation of the low-rank equation
// against LU, inverse and all eigenvalues; the law of 8 triplets per connection with circles round narrow bands against
// halving alone; then a whole law.
//
//     aligned_bench [RANK] [DEPTH]     16 connections, n = 4, p = 128 (N = 512), 8 triplets kept per connection

#include "dyson/equations/aligned.hpp"
#include "dyson/equations/eliminated_pairs.hpp"
#include "dyson/exact/support_bounds.hpp"
#include "dyson/law/aligned_law.hpp"
#include "dyson/law/theory.hpp"
#include "linalg/blas.hpp"
#include "linalg/complex_matrix.hpp"
#include "support/aligned_networks.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace {

using namespace spectra;
using Eigen::Index;

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class Work>
double best_of_three(const Work& work) {
    double best = 1e300;
    for (int k = 0; k < 3; ++k) {
        const auto start = std::chrono::steady_clock::now();
        work();
        best = std::min(best, seconds_since(start));
    }
    return best;
}

/// Branches as training leaves them: a few large singular values, vectors that layers partly share.
Network trained_like(int depth, int rank) {
    constexpr int n = 4, p = 128;
    std::mt19937 random(1);
    std::uniform_real_distribution<double> uniform;
    Network network;
    network.streams = n;
    network.width = p;
    AlignedBranch branch;
    const Eigen::MatrixXd common = tests::random_orthonormal(p, p, random);
    const auto near = [&] {
        const Eigen::HouseholderQR<Eigen::MatrixXd> qr(0.6 * common +
                                                       0.4 * tests::random_orthonormal(p, p, random));
        return Eigen::MatrixXd(qr.householderQ() * Eigen::MatrixXd::Identity(p, rank));
    };
    for (int l = 0; l < depth; ++l) {
        network.mixers.emplace_back(Eigen::MatrixXd::Identity(n, n) +
                                    0.02 * tests::random_matrix(n, n, random));
        branch.pre.emplace_back(Eigen::VectorXd::NullaryExpr(n, [&] { return 0.2 + 0.1 * uniform(random); }));
        branch.post.emplace_back(
            Eigen::VectorXd::NullaryExpr(n, [&] { return 0.7 + 0.6 * uniform(random); }));
        Eigen::VectorXd values(p);
        for (int k = 0; k < p; ++k)
            values(k) = 0.45 * std::exp(-k / 6.0) + 0.075 * (1 - static_cast<double>(k) / p);
        branch.kept.push_back({values.head(rank), near(), near()});
        branch.rest.emplace_back(values.data() + rank, values.data() + p);
    }
    network.branch = std::move(branch);
    return network;
}

/// Returns the time of the way before over that of the present one.
double compare_evaluations(Index columns) {
    std::mt19937 random(2);
    std::normal_distribution<double> normal;
    const Eigen::MatrixXcd x = Eigen::MatrixXcd::NullaryExpr(
        columns, columns, [&] { return std::complex<double>(normal(random), normal(random)); });
    const Eigen::MatrixXcd k = (x + x.transpose()) / std::sqrt(16.0 * static_cast<double>(columns));
    const std::vector<Eigen::Matrix2cd> c(static_cast<std::size_t>(columns / 2),
                                          Eigen::Matrix2cd{{{0.3, -0.2}, -0.5}, {-0.5, {0.2, -0.3}}});
    const double plain = best_of_three([&] {
        Eigen::MatrixXcd ck(columns, columns);
        for (std::size_t i = 0; i < c.size(); ++i)
            ck.middleRows(2 * static_cast<Index>(i), 2) = c[i] * k.middleRows(2 * static_cast<Index>(i), 2);
        Eigen::MatrixXcd w = ck;
        w.diagonal().array() += 1.0;
        if (!linalg::invert(w) || linalg::eigenvalues(ck).size() == 0) std::abort();
    });
    dyson::EliminatedPairs pairs;
    const double swept = best_of_three([&] {
        if (!pairs.run(k, c) || !std::isfinite(pairs.argument())) std::abort();
    });
    std::printf("%5ld columns: traces and count %.3f s, by LU and all eigenvalues %.3f s, ratio %.1f\n",
                static_cast<long>(columns), swept, plain, plain / swept);
    return plain / swept;
}

/// Returns the time of halving alone over that of the present way.
double compare_laws(int depth) {
    const Network network = trained_like(depth, 8);
    const double log_upper = dyson::support_bounds(network).log_upper;
    double seconds[2];
    for (const bool circles : {false, true}) {
        const auto start = std::chrono::steady_clock::now();
        const auto law =
            dyson::solve_aligned(network, dyson::make_aligned(network), log_upper, {.circles = circles});
        seconds[circles ? 1 : 0] = seconds_since(start);
        std::printf("8 triplets, %s: %.1f s, %ld Newton steps, %zu places; %s\n",
                    circles ? "circles" : "halving alone", seconds[circles ? 1 : 0], law.newton_steps,
                    law.points.size(), law.message.c_str());
    }
    std::printf("ratio %.1f\n", seconds[0] / seconds[1]);
    return seconds[0] / seconds[1];
}

}  // namespace

int main(int argc, char** argv) {
    const int rank = argc > 1 ? std::atoi(argv[1]) : 8, depth = argc > 2 ? std::atoi(argv[2]) : 16;
    double ratio = 0;
    {
        const linalg::SingleThreadedBlas one_thread;
        for (const Index columns : {64, 256, 1024}) ratio = compare_evaluations(columns);
    }
    const double by_circles = compare_laws(depth);
    const Network network = trained_like(depth, rank);
    const dyson::Theory theory = dyson::solve(network, dyson::Method::operator_valued, {});
    std::printf("%d connections, N = %ld, %d triplets each: %.1f s, %ld Newton steps, %d places; %s\n", depth,
                static_cast<long>(network.size()), rank, theory.summary.seconds, theory.summary.newton_steps,
                theory.summary.points, theory.summary.message.c_str());
    for (const dyson::Outlier& outlier : theory.outliers)
        std::printf("  outlier at %.4f ± %.2g\n", outlier.position, outlier.spread);
    return ratio > 3 && by_circles > 1 && theory.summary.certified ? 0 : 1;
}
