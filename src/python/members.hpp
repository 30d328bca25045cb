#pragma once

/// \file
/// The members of the libraries' results by name: what Python reads of them, and what it pickles. Nothing here depends
/// on the binder.

#include "report/report.hpp"
#include "study/build_network.hpp"
#include "validation/validation.hpp"

#include <tuple>

namespace spectra::python {

/// A member and its name.
template <class S, class T>
struct Member {
    const char* name;
    T S::*pointer;
};
template <class S, class T>
Member(const char*, T S::*) -> Member<S, T>;

/// The members of a struct, as a tuple of Member; specialised for every struct that Python sees.
template <class S>
struct Members;

/// Whether there is such a list.
template <class S>
concept HasMembers = requires { Members<S>::list; };

// The one table: SPECTRA_MEMBERS(struct, member…), names as in the headers.
#define SPECTRA_MEMBER(S, name) Member{#name, &S::name}
#define SPECTRA_MEMBERS(S, ...)                              \
    template <>                                              \
    struct Members<S> {                                      \
        using T = S;                                         \
        static constexpr auto list = std::tuple{__VA_ARGS__}; \
    }
#define M(name) SPECTRA_MEMBER(T, name)

SPECTRA_MEMBERS(Metrics, M(mean_square), M(log_mean), M(window), M(collapsed), M(smallest), M(largest),
                M(effective_rank));
SPECTRA_MEMBERS(Agreement, M(wasserstein1), M(wasserstein1_log), M(kolmogorov_smirnov), M(log_floor), M(left_out));
SPECTRA_MEMBERS(Check, M(what), M(limit), M(found), M(failure));
SPECTRA_MEMBERS(Certificate, M(certified), M(message), M(checks));
SPECTRA_MEMBERS(Density::Band, M(log_lower), M(log_upper));
SPECTRA_MEMBERS(Density::Atom, M(log_place), M(mass));
SPECTRA_MEMBERS(Density, M(log_s), M(density_log), M(weight), M(cumulative), M(mass_below), M(tail_exponent),
                M(support), M(atoms));

SPECTRA_MEMBERS(mixers::Recipe, M(family), M(logit_scale), M(sinkhorn_iterations), M(cayley_iterations),
                M(cayley_step), M(gate), M(beta), M(rank), M(permutations));
SPECTRA_MEMBERS(Activation, M(kind), M(probability));
SPECTRA_MEMBERS(IsotropicBranch, M(sigma2), M(law));
SPECTRA_MEMBERS(ActivationBranch, M(sigma_w2), M(activation), M(preactivation_variance));
SPECTRA_MEMBERS(HyperConnectionBranch, M(sigma2), M(pre), M(post), M(law));
SPECTRA_MEMBERS(TiedBranch, M(sigma2), M(pre), M(post), M(weights));
SPECTRA_MEMBERS(Triplets, M(values), M(left), M(right));
SPECTRA_MEMBERS(AlignedBranch, M(pre), M(post), M(kept), M(rest), M(derivative), M(weights));
SPECTRA_MEMBERS(Network, M(streams), M(width), M(mixers), M(branch), M(mixer_name), M(title));
SPECTRA_MEMBERS(study::DescribedNetwork, M(network), M(recipe), M(short_name));

SPECTRA_MEMBERS(dyson::Unresolved, M(mass), M(log_below));
SPECTRA_MEMBERS(dyson::Curve, M(log_s), M(density_log), M(omega), M(g), M(residual), M(floor), M(iterations),
                M(certified));
SPECTRA_MEMBERS(dyson::Summary, M(certified), M(message), M(checks), M(points), M(uncertified), M(newton_steps),
                M(passes), M(descents), M(mass), M(mean_square), M(mean_square_exact), M(log_mean),
                M(log_mean_exact), M(mean_fourth_exact), M(mean_fourth), M(tail_exponent_exact), M(tail_exponent),
                M(unresolved), M(average_error), M(largest_residual), M(seconds));
SPECTRA_MEMBERS(dyson::Outlier, M(position), M(spread), M(values));
SPECTRA_MEMBERS(dyson::Theory, M(method), M(law), M(curve), M(outliers), M(eta), M(summary));

SPECTRA_MEMBERS(montecarlo::SamplingErrors, M(mean_square), M(window), M(collapsed), M(wasserstein1));
SPECTRA_MEMBERS(montecarlo::RunningMean::State, M(count), M(unit), M(mean), M(squares));
SPECTRA_MEMBERS(montecarlo::CountSum, M(sum), M(squares));
SPECTRA_MEMBERS(montecarlo::Counts, M(edges), M(counts), M(count_squares), M(cumulative_squares), M(below), M(above));
SPECTRA_MEMBERS(montecarlo::Simulation, M(law), M(samples_requested), M(samples), M(width), M(device), M(precision),
                M(probes), M(note), M(seconds), M(mean_square), M(mean_square_error), M(largest), M(smallest),
                M(log_values), M(log_edges), M(counts), M(below), M(above), M(errors), M(converged), M(elsewhere),
                M(fingerprint), M(mean_square_state), M(log_floor), M(log_smallest), M(log_largest),
                M(log_mean_square_expected), M(window), M(collapsed), M(count_squares), M(cumulative_squares),
                M(linear));
SPECTRA_MEMBERS(montecarlo::Expected, M(mean), M(deviation));
SPECTRA_MEMBERS(montecarlo::ExpectedDistance, M(wasserstein1), M(wasserstein1_log), M(kolmogorov_smirnov), M(widths),
                M(samples));

SPECTRA_MEMBERS(layouts::Connection, M(name), M(mixer), M(pre), M(post), M(separate_outputs));
SPECTRA_MEMBERS(layouts::Stack, M(layout), M(input), M(streams), M(width), M(connections));
SPECTRA_MEMBERS(layouts::MixerRow, M(name), M(row_sums), M(column_sums), M(spectral_norm), M(orthogonality_defect),
                M(identity_distance), M(diagonal_dominant_share), M(smallest_entry));
SPECTRA_MEMBERS(layouts::CompositeRow, M(column_sum_min), M(column_sum_max), M(spectral_norm), M(forward_gain),
                M(backward_gain));
SPECTRA_MEMBERS(layouts::MixerTable, M(layers), M(row_sum_defect), M(column_sum_defect), M(orthogonality_defect),
                M(spectral_norm_max), M(identity_distance), M(diagonal_dominant_share), M(smallest_entry),
                M(forward_gain), M(backward_gain), M(composites));
SPECTRA_MEMBERS(layouts::MeasuredBranch, M(variance), M(mixer_variance), M(by_stream), M(core_variance),
                M(core_values), M(values), M(core), M(derivative), M(weights));
SPECTRA_MEMBERS(layouts::Measurement, M(stack), M(branches), M(singular_values), M(product_defect));
SPECTRA_MEMBERS(validation::ProbedLaw, M(log_values), M(metrics), M(error));
SPECTRA_MEMBERS(validation::Requirement, M(name), M(relation), M(threshold), M(reason));
SPECTRA_MEMBERS(validation::Verdict, M(pass), M(reasons));
SPECTRA_MEMBERS(validation::Measured, M(values), M(law), M(metrics), M(error), M(words), M(note));
SPECTRA_MEMBERS(validation::LayerDistance, M(wasserstein1), M(variance), M(mixer_share), M(largest), M(smallest));
SPECTRA_MEMBERS(validation::Prediction, M(part), M(networks), M(theories), M(law), M(metrics), M(counted_error),
                M(certificate));
SPECTRA_MEMBERS(validation::AlignedPrediction, M(rank), M(law), M(metrics), M(distance), M(error), M(draws),
                M(certificate), M(outliers));
SPECTRA_MEMBERS(validation::LeadingTriplet, M(connection), M(triplet), M(value), M(elasticity));
SPECTRA_MEMBERS(validation::Alignment, M(explain), M(by_rank), M(rank), M(theory), M(width), M(overlaps),
                M(common), M(leading));
SPECTRA_MEMBERS(validation::Validation, M(file), M(layout), M(model), M(step), M(stack), M(mixers), M(measurements),
                M(measured), M(predictions), M(agreement), M(layers), M(alignment), M(identity), M(requirements), M(verdict));

#undef M
#undef SPECTRA_MEMBERS
#undef SPECTRA_MEMBER

}  // namespace spectra::python
