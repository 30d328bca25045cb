#pragma once

#include "report/report.hpp"
#include "spectrum/laws.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

/// Reports made by hand, from laws in closed form.
namespace spectra::tests {

/// A semicircle in s of the given centre, radius and mass.
struct Semicircle {
    double centre, radius, mass;
};

inline Spectrum semicircles(const std::vector<Semicircle>& parts, std::vector<Density::Atom> atoms = {}) {
    Density density;
    for (const auto& part : parts) {
        add_band(density, std::log(part.centre - part.radius), std::log(part.centre + part.radius), 100,
                 [&](double x) {
                     const double s = std::exp(x), r2 = part.radius * part.radius;
                     const double under = r2 - (s - part.centre) * (s - part.centre);
                     return part.mass * s * 2 / (std::numbers::pi * r2) * std::sqrt(std::max(under, 0.0));
                 });
    }
    for (std::size_t k = 0; k < density.log_s.size(); ++k)  // F includes the atoms below
        for (const auto& atom : atoms)
            if (atom.log_place <= density.log_s[k]) density.cumulative[k] += atom.mass;
    density.atoms = std::move(atoms);
    return Spectrum::from_density(density);
}

inline dyson::Theory theory_of(dyson::Method method, Spectrum law) {
    dyson::Theory theory;
    theory.method = method;
    theory.law = std::move(law);
    const Density& density = theory.law.density();
    const std::size_t count = density.log_s.size();
    theory.curve.log_s = density.log_s;
    theory.curve.density_log = density.density_log;
    theory.curve.residual.assign(count, 1e-15);
    theory.curve.iterations.assign(count, 3);
    theory.curve.certified.assign(count, 1);
    for (std::size_t k = 0; k < count; ++k) {
        const double s = std::exp(density.log_s[k]);
        theory.curve.omega.emplace_back(s, 0.0);
        theory.curve.g.emplace_back(-0.5 * s, density.density_log[k] / s);
    }
    const Metrics metrics = theory.law.metrics();
    dyson::Summary& summary = theory.summary;
    summary.judge({{"mass", tolerance::mass, 0, ""}});
    summary.points = static_cast<int>(count);
    summary.newton_steps = 3 * static_cast<long>(count);
    summary.mass = theory.law.mass();
    summary.mean_square = summary.mean_square_exact = metrics.mean_square;
    summary.log_mean = metrics.log_mean;
    summary.log_mean_exact = metrics.log_mean;
    summary.seconds = 0.0625;
    return theory;
}

/// Independent draws from a law, as a simulation would bring them (which are less spread in truth).
inline montecarlo::Simulation simulation_of(const Spectrum& law, int samples, int size,
                                            double log_floor = -std::numeric_limits<double>::infinity()) {
    std::mt19937_64 generator(7);
    montecarlo::Simulation simulation;
    simulation.samples = simulation.samples_requested = samples;
    simulation.width = size;
    simulation.seconds = 0.5;
    for (int k = 0; k < samples; ++k) {
        std::vector<double> row;
        for (int i = 0; i < size; ++i) {
            const double jitter = static_cast<double>(generator() >> 11) * 0x1p-53;
            row.push_back(law.log_quantile((i + jitter) / size));  // stratified: rigid, as eigenvalues are
        }
        std::sort(row.begin(), row.end());
        simulation.log_values.insert(simulation.log_values.end(), row.begin(), row.end());
    }
    simulation.law = Spectrum::from_log_values(simulation.log_values, log_floor);
    const Metrics metrics = simulation.law.metrics();
    simulation.mean_square = metrics.mean_square;
    simulation.mean_square_error = 0.004;
    simulation.smallest = metrics.smallest;
    simulation.largest = metrics.largest;
    return simulation;
}

inline Network example_network(int depth) {
    Network network;
    network.streams = 4;
    network.width = 25;
    for (int l = 0; l < depth; ++l) {
        Mixer mixer = Mixer::Identity(4, 4);
        mixer(0, 3) = 0.25 * (l + 1);
        network.mixers.push_back(mixer);
    }
    network.branch = IsotropicBranch{std::vector<double>(static_cast<std::size_t>(depth), 0.05 / depth)};
    network.mixer_name = "bistochastic";
    network.title = "bistochastic, L = " + std::to_string(depth) + ", n = 4, p = 25, Lσ² = 0.05";
    return network;
}

inline report::Provenance example_provenance() {
    return {"0.1.0", "abc1234", "spectra --mixer bistochastic --depth 3", "2024-05-06T07:08:09Z",
            0xFFFF'FFFF'FFFF'FFFEull};
}

/// Nearly isometric: one semicircle around 1, theories and simulation in agreement.
inline report::Report isometric_report() {
    report::Report report;
    report.provenance = example_provenance();
    report.network = example_network(3);
    const Spectrum law = semicircles({{1.0, 0.3, 1.0}});
    report.theories = {theory_of(dyson::Method::operator_valued, law),
                       theory_of(dyson::Method::scalar, semicircles({{1.0, 0.303, 1.0}}))};
    report.simulation = simulation_of(law, 20, report.network.size());
    report::compare(report);
    report.files = {"example.h5", "example.png"};
    return report;
}

/// Three quarters of the mass far below one quarter around 1, and a scalar theory that is wrong.
inline report::Report collapsed_report() {
    report::Report report;
    report.provenance = example_provenance();
    report.network = example_network(10);
    const Spectrum law = semicircles({{3e-4, 2.9e-4, 0.5}, {0.02, 0.012, 0.25}, {1.0, 0.3, 0.25}});
    report.theories = {theory_of(dyson::Method::operator_valued, law),
                       theory_of(dyson::Method::scalar, shifted_quarter_circle(200, -0.5))};
    report.simulation = simulation_of(law, 100, report.network.size());
    report::compare(report);
    return report;
}

/// A quarter of the mass at zero, a quarter at 1.1, the rest around 0.6.
inline report::Report atomic_report() {
    report::Report report;
    report.provenance = example_provenance();
    report.network = example_network(2);
    const double zero = -std::numeric_limits<double>::infinity();
    const Spectrum law = semicircles({{0.6, 0.3, 0.5}}, {{zero, 0.25}, {std::log(1.1), 0.25}});
    report.theories = {theory_of(dyson::Method::operator_valued, law)};
    report.simulation = simulation_of(law, 20, report.network.size(), -36.0);
    report::compare(report);
    return report;
}

}  // namespace spectra::tests
