// The theory on one core: the parts of a Newton step in elimination passes, time and passes a certified
// point, and how both grow with depth and streams; ratios in one run.
//
//     dyson_bench            prints the tables; exit 1 where a limit of docs/performance.md is exceeded

#include "dyson/equations/elimination.hpp"
#include "dyson/equations/embedding.hpp"
#include "dyson/law/theory.hpp"
#include "linalg/block.hpp"
#include "mixers/mixer.hpp"
#include "random/stream.hpp"

#include <algorithm>
#include <chrono>
#include <complex>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using namespace spectra;
using Complex = std::complex<double>;

Network draw(mixers::Family family, int streams, int depth) {
    mixers::Recipe recipe;
    recipe.family = family;
    Network network;
    network.streams = streams;
    network.mixers = mixers::draw_layers(recipe, streams, depth, false, 1);
    network.branch = IsotropicBranch{std::vector<double>(static_cast<std::size_t>(depth), 0.05 / depth)};
    return network;
}

/// Of the fastest of five rounds of a tenth of a second.
template <class Work>
double seconds_of(const Work& work) {
    double best = 1e300;
    for (int round = 0; round < 5; ++round) {
        const auto start = std::chrono::steady_clock::now();
        int count = 0;
        double spent = 0;
        do {
            work();
            ++count;
            spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        } while (spent < 0.1);
        best = std::min(best, spent / count);
    }
    return best;
}

/// The time of one elimination pass, and of what else a Newton step does, in passes.
struct Parts {
    double pass = 0;                                                     ///< seconds
    double prepare = 0, apply = 0, direct = 0, chord = 0, response = 0;  ///< passes
};

template <int N>
Parts parts(int streams, int depth) {
    const Network network = draw(mixers::Family::bistochastic, streams, depth);
    dyson::ChainMixers mixers;
    for (const Mixer& mixer : network.mixers) {
        for (Eigen::Index i = 0; i < streams; ++i) {
            for (Eigen::Index j = 0; j < streams; ++j) {
                mixers.forward.push_back(mixer(i, j));
                mixers.transposed.push_back(mixer(j, i));
            }
        }
    }
    dyson::Elimination<N> chain(static_cast<std::size_t>(streams), static_cast<std::size_t>(depth), {}, {});
    const Eigen::VectorXcd c = Eigen::VectorXcd::Constant(depth, Complex(0.02, -0.04) / double(depth));
    Parts out;
    out.pass = seconds_of([&] { chain.run(mixers, {1.0, 0.1}, c, c); });
    out.prepare = seconds_of([&] { chain.prepare(); }) / out.pass;
    Eigen::VectorXcd w = Eigen::VectorXcd::Zero(depth), v = w, beta = Eigen::VectorXcd::Zero(depth + 1);
    out.apply = seconds_of([&] { chain.add_applied(1, c, c, w, v, beta); }) / out.pass;
    dyson::Embedding<N> embedding;
    dyson::LinearLayer layer;
    layer.change = {{{0.01, 0.01}, {0.01, -0.01}}};
    layer.own = {{{1.0, 0.0}, {0.0, 1.0}}};
    layer.w = {-0.5, -0.5};
    layer.v = {-0.5, 0.5};
    const std::vector<dyson::LinearLayer> layers(static_cast<std::size_t>(depth), layer);
    const Eigen::VectorXcd rhs = Eigen::VectorXcd::Ones(2 * depth);
    Eigen::VectorXcd x;
    out.direct = seconds_of([&] {
                     embedding.factorise(chain, layers);
                     embedding.solve(rhs, x);
                 }) /
                 out.pass;
    out.chord = seconds_of([&] { embedding.solve(rhs, x); }) / out.pass;
    if (depth > 100) return out;
    Eigen::MatrixXcd response = Eigen::MatrixXcd::Zero(2 * depth, 2 * depth),
                     currents = Eigen::MatrixXcd::Zero(depth + 1, 2 * depth);
    out.response = seconds_of([&] { chain.add_response(1, response, currents); }) / out.pass;
    return out;
}

/// Speed of products and inverses of complex blocks, in GFlop/s: the plain kernels of a known size, and those that large
/// blocks of other sizes take.
template <int N>
void print_blocks() {
    const linalg::block::Size<N> plain{N};
    const linalg::block::Size<0> large{N};
    std::vector<double> a(plain.stride()), b(plain.stride()), c(plain.stride());
    std::vector<std::size_t> pivots(N);
    random::Stream stream(1, random::Purpose::test, 0);
    for (double& value : a) value = stream.normal();
    for (double& value : b) value = stream.normal();
    const auto speed = [](const auto& work) { return 8e-9 * N * N * N / seconds_of(work); };
    const double product[2] = {
        speed([&] { linalg::block::plain::multiply(plain, a.data(), b.data(), c.data()); }),
        speed([&] { linalg::block::multiply(large, a.data(), b.data(), c.data()); })};
    const auto invert = [&](auto size) {
        c = a;
        linalg::block::invert(size, c.data(), pivots.data());
    };
    const double inverse[2] = {speed([&] { invert(plain); }), speed([&] { invert(large); })};
    std::printf("n = %-4d %10.1f %7.1f %7.1f %13.1f %7.1f %7.1f\n", N, product[0], product[1],
                product[1] / product[0], inverse[0], inverse[1], inverse[1] / inverse[0]);
}

struct Row {
    double seconds = 0, passes = 0;  ///< a point
    double total = 0;                ///< seconds
    int points = 0;
    bool certified = false;
};

/// The best of `rounds`.
Row measure(const Network& network, int rounds) {
    dyson::Options options;
    options.threads = 1;
    Row best;
    for (int k = 0; k < rounds; ++k) {
        const auto summary = dyson::solve(network, dyson::Method::operator_valued, options).summary;
        if (k > 0 && summary.seconds > best.total) continue;
        best = {summary.seconds / summary.points, static_cast<double>(summary.passes) / summary.points,
                summary.seconds, summary.points, summary.certified};
    }
    return best;
}

bool print(const char* name, int streams, int depth, const Row& row) {
    std::printf("%-16s %3d %5d  %6d %9.3f %12.1f %13.1f%s\n", name, streams, depth, row.points, row.total,
                1e6 * row.seconds, row.passes, row.certified ? "" : "  NOT CERTIFIED");
    return row.certified;
}

bool within(const char* what, double value, double limit) {
    std::printf("%-58s %8.2f  (limit %g)%s\n", what, value, limit, value <= limit ? "" : "  EXCEEDED");
    return value <= limit;
}

}  // namespace

int main() {
    bool ok = true;
    std::printf("a Newton step in passes     us a pass  prepare   apply  direct   chord  response\n");
    const auto print_parts = [](const char* name, const Parts& p) {
        std::printf("%-26s %10.2f %8.2f %7.2f %7.2f %7.2f %9.2f\n", name, 1e6 * p.pass, p.prepare, p.apply,
                    p.direct, p.chord, p.response);
        return p;
    };
    print_parts("n = 1, L = 100", parts<1>(1, 100));
    print_parts("n = 2, L = 100", parts<2>(2, 100));
    print_parts("n = 4, L = 10", parts<4>(4, 10));
    print_parts("n = 4, L = 100", parts<4>(4, 100));
    print_parts("n = 4, L = 1000", parts<4>(4, 1000));
    print_parts("n = 8, L = 100", parts<8>(8, 100));
    print_parts("n = 16, L = 10", parts<0>(16, 10));

    std::printf("\nGFlop/s   product: plain   large   ratio   inverse: plain   large   ratio\n");
    print_blocks<8>();
    print_blocks<10>();
    print_blocks<16>();
    print_blocks<32>();
    print_blocks<64>();

    std::printf("\n%-16s %3s %5s  %6s %9s %12s %13s\n", "mixer", "n", "L", "points", "seconds", "us a point",
                "passes/point");
    for (const auto family : mixers::all_families())
        for (const int depth : {1, 2, 10})
            ok = print(std::string(mixers::name(family)).c_str(), 4, depth,
                       measure(draw(family, 4, depth), 3)) &&
                 ok;

    std::printf("\n");
    Row deep[3];
    const int depths[3] = {10, 100, 1000};
    for (int k = 0; k < 3; ++k) {
        deep[k] = measure(draw(mixers::Family::bistochastic, 4, depths[k]), k == 2 ? 1 : 3);
        ok = print("bistochastic", 4, depths[k], deep[k]) && ok;
    }
    Row wide[2];
    for (int k = 0; k < 2; ++k) {
        wide[k] = measure(draw(mixers::Family::bistochastic, k == 0 ? 4 : 16, 10), k == 0 ? 3 : 1);
        ok = print("bistochastic", k == 0 ? 4 : 16, 10, wide[k]) && ok;
    }
    std::printf("\n");
    ok = within("bistochastic, n = 4, L = 10: seconds for 400 points", 400 * deep[0].seconds, 0.2) && ok;
    ok = within("passes a point, L = 10", deep[0].passes, 60) && ok;
    ok = within("passes a point, L = 100", deep[1].passes, 60) && ok;
    ok = within("passes a point, L = 1000", deep[2].passes, 60) && ok;
    ok = within("time a point, L = 1000 over L = 100", deep[2].seconds / deep[1].seconds, 12) && ok;
    ok = within("time a point, n = 16 over n = 4, L = 10", wide[1].seconds / wide[0].seconds, 80) && ok;
    return ok ? 0 : 1;
}
