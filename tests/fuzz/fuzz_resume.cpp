#include "montecarlo/run/simulate.hpp"
#include "report/simulation_group.hpp"
#include "written_file.hpp"

#include <cmath>

using namespace spectra;

namespace {

/// The one that the files of data/fuzz/resume are of.
Network small_network() {
    Network network;
    network.streams = 2;
    network.width = 1;
    network.mixers.assign(2, Mixer::Identity(2, 2));
    network.branch = IsotropicBranch{{0.05, 0.05}};
    return network;
}

void check_result(const montecarlo::Simulation& out, const montecarlo::Options& options) {
    const auto& e = out.errors;
    for (const double error : {e.mean_square, e.window, e.collapsed, e.wasserstein1, out.mean_square_error})
        if (!(error >= 0)) std::abort();
    if (out.samples != options.resume->samples || out.samples > options.samples) std::abort();
    if (!(out.mean_square >= 0) || !(out.smallest <= out.largest) || !(out.seconds >= 0)) std::abort();
    const auto metrics = out.law.metrics();
    if (std::isnan(metrics.window) || std::isnan(metrics.collapsed)) std::abort();
    for (const double x : out.log_values)
        if (!(x < std::numeric_limits<double>::infinity())) std::abort();
    for (const auto& estimate : {log_density_estimate(out), linear_density_estimate(out)})
        for (const double error : estimate.standard_error)
            if (!(error >= 0)) std::abort();
}

/// What was stored is taken or refused; no sample is drawn.
void resume(const montecarlo::Simulation& from) {
    static const Network network = small_network();
    static const std::atomic<bool> stop = true;
    montecarlo::Options options;
    options.samples = 64;
    options.threads = 1;
    options.stop = &stop;
    options.resume = &from;
    try {
        check_result(simulate(network, options), options);
    } catch (const std::invalid_argument& error) {
        if (std::string_view(error.what()).find('\n') != std::string_view::npos) std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::must_read_or_refuse([&] {
        if (const auto stored = report::read_simulation(fuzz::open_hdf5(data, size), "input")) resume(*stored);
    });
    return 0;
}

std::string fuzz_input(const std::string& file) {
    return file;
}
