#pragma once

#include "montecarlo/run/simulate.hpp"

#include <gtest/gtest.h>

#include <string>

namespace spectra::tests {

/// What differs between two results that should be the same to the last bit; empty: nothing.
inline std::string difference(const montecarlo::Simulation& a, const montecarlo::Simulation& b) {
    std::string out;
    const auto compare = [&out](const char* name, const auto& left, const auto& right) {
        if (!(left == right)) out += std::string(out.empty() ? "" : ", ") + name;
    };
    compare("samples", a.samples, b.samples);
    compare("samples_requested", a.samples_requested, b.samples_requested);
    compare("width", a.width, b.width);
    compare("device", a.device, b.device);
    compare("precision", a.precision, b.precision);
    compare("mean_square", a.mean_square, b.mean_square);
    compare("mean_square_error", a.mean_square_error, b.mean_square_error);
    compare("largest", a.largest, b.largest);
    compare("smallest", a.smallest, b.smallest);
    compare("log_values", a.log_values, b.log_values);
    compare("log_edges", a.log_edges, b.log_edges);
    compare("counts", a.counts, b.counts);
    compare("below", a.below, b.below);
    compare("above", a.above, b.above);
    compare("errors", a.errors, b.errors);
    compare("converged", a.converged, b.converged);
    compare("elsewhere", a.elsewhere, b.elsewhere);
    compare("fingerprint", a.fingerprint, b.fingerprint);
    compare("mean_square_state", a.mean_square_state, b.mean_square_state);
    compare("log_floor", a.log_floor, b.log_floor);
    compare("log_smallest", a.log_smallest, b.log_smallest);
    compare("log_largest", a.log_largest, b.log_largest);
    compare("window", a.window, b.window);
    compare("collapsed", a.collapsed, b.collapsed);
    compare("count_squares", a.count_squares, b.count_squares);
    compare("cumulative_squares", a.cumulative_squares, b.cumulative_squares);
    compare("linear", a.linear, b.linear);
    compare("law's floor", a.law.log_floor(), b.law.log_floor());
    compare("law's values", a.law.log_values(), b.law.log_values());
    compare("law's cumulative", a.law.density().cumulative, b.law.density().cumulative);
    return out;
}

/// What of a simulation has to be stored to go on from it, and nothing else.
inline montecarlo::Simulation stored(const montecarlo::Simulation& simulation) {
    montecarlo::Simulation out;
    out.samples = simulation.samples;
    out.device = simulation.device;
    out.fingerprint = simulation.fingerprint;
    out.mean_square_state = simulation.mean_square_state;
    out.log_floor = simulation.log_floor;
    out.log_values = simulation.log_values;
    if (!out.log_values.empty()) return out;
    out.log_edges = simulation.log_edges;
    out.counts = simulation.counts;
    out.count_squares = simulation.count_squares;
    out.cumulative_squares = simulation.cumulative_squares;
    out.below = simulation.below;
    out.above = simulation.above;
    out.linear = simulation.linear;
    out.window = simulation.window;
    out.collapsed = simulation.collapsed;
    out.log_smallest = simulation.log_smallest;
    out.log_largest = simulation.log_largest;
    return out;
}

}  // namespace spectra::tests
