// The theory on one core: time and elimination passes a certified point, as ratios in one run.
//
//     dyson_bench            prints the table; exit 1 where a limit of docs/performance.md is exceeded

#include "dyson/chain.hpp"
#include "dyson/theory.hpp"
#include "mixers/mixer.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

namespace {

using namespace spectra;

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Network draw(mixers::Family family, int streams, int depth) {
    mixers::Recipe recipe;
    recipe.family = family;
    Network network;
    network.streams = streams;
    network.mixers = mixers::draw_layers(recipe, streams, depth, false, 1);
    network.branch = IsotropicBranch{std::vector<double>(static_cast<std::size_t>(depth), 0.05 / depth)};
    return network;
}

/// Seconds of one elimination pass: a Newton step less its linear algebra has no entry of its own, so
/// the pass is timed through the equation's own count.
double seconds_per_pass(const Network& network) {
    const auto equation = dyson::make_chain(network);
    const dyson::Frequency omega{0.1, {1.0, 0.3}};
    const dyson::Unknowns m = equation->far(omega);
    dyson::Unknowns delta;
    const double before = equation->passes();
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < 200; ++k) equation->newton_step(omega, m, delta);
    return seconds_since(start) / (equation->passes() - before);
}

struct Row {
    double seconds = 0, microseconds_a_point = 0, passes_a_point = 0;
    int points = 0;
    bool certified = false;
};

Row measure(const Network& network) {
    dyson::Options options;
    options.threads = 1;
    Row best;
    for (int k = 0; k < 3; ++k) {
        const auto theory = dyson::solve(network, dyson::Method::operator_valued, options);
        const auto& summary = theory.summary;
        if (k > 0 && summary.seconds > best.seconds) continue;
        best = {summary.seconds, 1e6 * summary.seconds / summary.points,
                static_cast<double>(summary.passes) / summary.points, summary.points, summary.certified};
    }
    return best;
}

}  // namespace

int main() {
    bool ok = true;
    std::printf("%-16s %3s %4s  %6s %9s %12s %13s %12s\n", "mixer", "n", "L", "points", "seconds",
                "us a point", "passes/point", "us a pass");
    for (const auto family : mixers::all_families()) {
        for (const int depth : {1, 2, 10}) {
            const Network network = draw(family, 4, depth);
            const Row row = measure(network);
            std::printf("%-16s %3d %4d  %6d %9.4f %12.1f %13.1f %12.2f%s\n",
                        std::string(mixers::name(family)).c_str(), 4, depth, row.points, row.seconds,
                        row.microseconds_a_point, row.passes_a_point, 1e6 * seconds_per_pass(network),
                        row.certified ? "" : "  NOT CERTIFIED");
            ok = ok && row.certified;
        }
    }
    const Row target = measure(draw(mixers::Family::bistochastic, 4, 10));
    const double per_400 = 400 * target.microseconds_a_point * 1e-6;
    std::printf(
        "\nbistochastic, n = 4, L = 10: 400 points in %.3f s (limit 0.2), %.1f passes a point (limit 60)\n",
        per_400, target.passes_a_point);
    ok = ok && per_400 <= 0.2 && target.passes_a_point <= 60;
    return ok ? 0 : 1;
}
