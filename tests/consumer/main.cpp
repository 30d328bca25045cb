#include <jacobian_spectra/dyson/law/theory.hpp>
#include <jacobian_spectra/mixers/mixer.hpp>
#include <jacobian_spectra/montecarlo/run/simulate.hpp>
#include <jacobian_spectra/report/report.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

// Solves and simulates a small network; theory and simulation must agree on the mean square.
int main() {
    spectra::mixers::Recipe recipe;
    recipe.family = spectra::mixers::Family::bistochastic;

    spectra::report::Report report;
    report.network.streams = 3;
    report.network.width = 10;
    report.network.mixers = spectra::mixers::draw_layers(recipe, 3, 2, false, 1);
    report.network.branch = spectra::IsotropicBranch{std::vector<double>(2, 0.1)};
    report.network.mixer_name = "bistochastic";
    spectra::check(report.network);

    spectra::montecarlo::Options options;
    options.samples = 20;
    report.theories.push_back(spectra::dyson::solve(report.network, spectra::dyson::Method::operator_valued));
    report.simulation = spectra::montecarlo::simulate(report.network, options);
    spectra::report::compare(report);

    const spectra::dyson::Summary& summary = report.theories[0].summary;
    const double difference = std::abs(summary.mean_square - report.simulation->mean_square);
    std::printf("theory %.6f, simulation %.6f +- %.6f\n", summary.mean_square, report.simulation->mean_square,
                report.simulation->mean_square_error);
    return summary.certified && difference < 6 * report.simulation->mean_square_error ? 0 : 1;
}
