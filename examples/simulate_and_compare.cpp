// Simulates a network and compares it with theory: draws 100 Jacobians of width 16, finds their singular
// values, and measures the Wasserstein-1 distance W1 between their law and the certified law of theory.
//
// A right theory is not at distance 0, because width and samples are finite. So the expected distance is
// estimated as well, from simulations of smaller widths in which no theory enters.
//
// Prints the mean square by theory and by simulation, W1, and the expected W1. Theory and simulation agree
// where W1 is not far above the expected one.

#include <jacobian_spectra/dyson/law/theory.hpp>
#include <jacobian_spectra/mixers/mixer.hpp>
#include <jacobian_spectra/montecarlo/finite_size.hpp>
#include <jacobian_spectra/montecarlo/run/simulate.hpp>
#include <jacobian_spectra/network/network.hpp>
#include <jacobian_spectra/spectrum/spectrum.hpp>

#include <cstdio>
#include <vector>

int main() {
    const int streams = 4, depth = 5;
    spectra::mixers::Recipe recipe;
    recipe.family = spectra::mixers::Family::cayley;

    spectra::Network network;
    network.streams = streams;
    network.width = 16;
    network.mixers = spectra::mixers::draw_layers(recipe, streams, depth, /*shared=*/false, /*seed=*/1);
    network.branch = spectra::IsotropicBranch{std::vector<double>(depth, 0.05)};
    spectra::check(network);

    const auto theory = spectra::dyson::solve(network, spectra::dyson::Method::operator_valued);

    spectra::montecarlo::Options options;
    options.samples = 100;
    options.seed = 1;
    const auto simulation = spectra::montecarlo::simulate(network, options);
    const auto expected = spectra::montecarlo::expected_distance(network, options);
    if (!expected) return 1;

    const spectra::Agreement found = spectra::agreement(theory.law, simulation.law);
    std::printf("theory       mean square %.5f, %s\n", theory.summary.mean_square,
                theory.summary.message.c_str());
    std::printf("simulation   mean square %.5f +- %.5f, %d samples, N = %d\n", simulation.mean_square,
                simulation.mean_square_error, simulation.samples, network.size());
    std::printf("W1           %.5f\n", found.wasserstein1);
    std::printf("expected W1  %.5f +- %.5f\n", expected->wasserstein1.mean, expected->wasserstein1.deviation);

    const double limit = expected->wasserstein1.mean + 4 * expected->wasserstein1.deviation;
    std::printf("%s\n", found.wasserstein1 < limit ? "theory and simulation agree" : "they disagree");
    return theory.summary.certified && found.wasserstein1 < limit ? 0 : 1;
}
