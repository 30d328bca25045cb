// Embeds the solver: describes a network, solves its theory, and prints what is known of the singular
// values of its Jacobian. In your own project:
//
//     find_package(JacobianSpectra REQUIRED)
//     target_link_libraries(program PRIVATE JacobianSpectra::dyson)
//
// Prints "certified" (or the reason why not), the mass of the law, which must be 1, and its mean square,
// which must equal the exact one.

#include <jacobian_spectra/dyson/law/theory.hpp>
#include <jacobian_spectra/mixers/mixer.hpp>
#include <jacobian_spectra/network/network.hpp>

#include <cstdio>
#include <vector>

int main() {
    const int streams = 4;
    const int depth = 10;
    const double noise = 0.05;  // total variance of the branches, L σ²

    // One bistochastic mixer per layer, drawn from seed 1.
    spectra::mixers::Recipe recipe;
    recipe.family = spectra::mixers::Family::bistochastic;

    spectra::Network network;
    network.streams = streams;
    network.mixers = spectra::mixers::draw_layers(recipe, streams, depth, /*shared=*/false, /*seed=*/1);
    network.branch = spectra::IsotropicBranch{std::vector<double>(depth, noise / depth)};
    spectra::check(network);  // throws std::invalid_argument, in one line, where sizes or signs are wrong

    const auto theory = spectra::dyson::solve(network, spectra::dyson::Method::operator_valued);
    const spectra::Metrics metrics = theory.law.metrics();

    std::printf("%s\n", theory.summary.message.c_str());
    std::printf("mass         %.6f\n", theory.summary.mass);
    std::printf("mean square  %.6f (exact %.6f)\n", metrics.mean_square, theory.summary.mean_square_exact);
    std::printf("largest      %.6f\n", metrics.largest);
    return theory.summary.certified ? 0 : 1;
}
