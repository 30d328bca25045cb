#include "claims/registry.hpp"

#include "claims/edelta.hpp"
#include "claims/edelta_trained.hpp"
#include "claims/jpmhc_counts.hpp"
#include "claims/jpmhc_mixers.hpp"
#include "claims/jpmhc_sinkhorn.hpp"
#include "claims/jpmhc_spectra.hpp"
#include "claims/jpmhc_stalling.hpp"
#include "claims/jpmhc_trained.hpp"
#include "claims/mgt.hpp"
#include "claims/mgt_trained.hpp"
#include "claims/shc.hpp"
#include "claims/shc_trained.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spectra::claims {

namespace {

std::vector<QuickClaim> untrained_claims() {
    return {
        {"C1", jpmhc::unconstrained_gain},
        {"C2", jpmhc::doubly_stochastic_norm},
        {"C3", jpmhc::eigenvalue_contraction},
        {"C4", jpmhc::eigenspace_misalignment, 1},
        {"C5", jpmhc::birkhoff_without_collapse},
        {"C6", jpmhc::orthogonal_closure},
        {"C7", jpmhc::span_dimensions},
        {"C8", jpmhc::printed_span_dimension},
        {"C9", jpmhc::scalar_dyson_equation},
        {"C10", jpmhc::activation_universality, 20},
        {"C11", jpmhc::scalar_theory_is_inaccurate, 2},
        {"C12", jpmhc::kronecker_collapse, 2},
        {"C13", jpmhc::matrix_fixed_point, 1},
        {"C14", jpmhc::reduction_to_scalar_equation},
        {"C15", jpmhc::twisted_s_transform},
        {"C16", jpmhc::nested_s_transform, 2},
        {"C17", jpmhc::reduction_factor},
        {"C18", jpmhc::cost_of_a_step, 2},
        {"C19", jpmhc::seconds_per_point, 1},
        {"C20", jpmhc::newton_step},
        {"C21", jpmhc::iterations_per_point},
        {"C22", jpmhc::z1_map},
        {"C23", jpmhc::s_transform_condition},
        {"C24", jpmhc::scalar_theory_of_one_layer, 2},
        {"C25", jpmhc::theories_from_two_layers, 6},
        {"C26", jpmhc::orthogonal_isometry},
        {"C27", jpmhc::smoothing, 1},
        {"C28", jpmhc::normalisation_of_a_smoothed_density},
        {"C29", jpmhc::constant_total_variance, 2},
        {"C30", jpmhc::orthogonal_against_identity, 2},
        {"C31", jpmhc::share_near_zero, 2},
        {"C32", jpmhc::spectral_stalling},
        {"C33", jpmhc::cayley_iteration_limit},
        {"C34", jpmhc::two_steps_are_orthonormal},
        {"C35", jpmhc::mapping_constraints},
        {"C37", jpmhc::operations_per_module},
        {"C39", jpmhc::ratios_of_results},
        {"C41", jpmhc::pass_at_k},
        {"C42", jpmhc::tied_recursion, 2},
        {"C43", jpmhc::numbers_of_subsets},
        {"C44", jpmhc::spectral_gap_times, 10},
        {"C45", jpmhc::largest_spectral_gap, 10},
        {"C46", jpmhc::module_parameters},
        {"C47", jpmhc::parameter_overhead},
        {"C48", jpmhc::gauss_seidel_table},
        {"C49", jpmhc::gauss_seidel_rate},
        {"C50", jpmhc::gauss_seidel_sweeps},
        {"C51", jpmhc::implicit_gradient},
        {"C52", jpmhc::unrolled_gradient},
        {"C53", jpmhc::implicit_gradient_accuracy},
        {"C55", jpmhc::backward_nodes},
        {"C57", jpmhc::clamped_gradient},
        {"C61", jpmhc::norm_and_determinant},
        {"C62", jpmhc::doubly_stochastic_determinant},
        {"C63", jpmhc::residual_parameters},
        {"C64", jpmhc::generators_of_s4},
        {"C65", jpmhc::grassmann_projector},
        {"C66", jpmhc::cayley_adam_step},
        {"C67", jpmhc::horizontal_path},
        {"C68", jpmhc::recursive_model_parameters},
        {"C69", jpmhc::adam_atan2_scale},
        {"C70", jpmhc::self_energy},
        {"C71", jpmhc::scalar_skip},
        {"C72", edelta::skew_generator},
        {"C73", edelta::unconditional_orthogonality},
        {"C74", edelta::proper_rotation},
        {"C75", edelta::excluded_eigenvalue},
        {"C76", edelta::householder_orthogonality},
        {"C77", edelta::householder_norm},
        {"C78", edelta::householder_eigenvalues},
        {"C79", edelta::gate_ends},
        {"C80", edelta::gate_interior},
        {"C81", edelta::approximate_isometry},
        {"C82", edelta::gate_regulariser},
        {"C83", edelta::symmetric_regularisers},
        {"C84", edelta::boundary_slopes},
        {"C85", edelta::midpoint_trap},
        {"C86", edelta::matched_parameters},
        {"C87", edelta::fewer_layers},
        {"C101", edelta::cayley_on_negation},
        {"C102", edelta::near_pi_angles},
        {"C108", edelta::same_setting_twice},
        {"C111", edelta::doubly_stochastic_is_not_orthogonal},
        {"C112", edelta::sinkhorn_errors_accumulate, 1},
        {"C114", shc::closure_under_products},
        {"C115", shc::birkhoff_is_contained},
        {"C116", shc::affine_translation},
        {"C117", shc::spectral_decoupling},
        {"C118", shc::completeness},
        {"C119", shc::identity_start},
        {"C120", shc::raw_numbers},
        {"C121", shc::sums_after_twenty_sweeps},
        {"C122", shc::composite_norms},
        {"C125", shc::convex_mixing_raises_similarity},
        {"C131", shc::parameter_growth},
        {"C133", mgt::delta_operator_spectrum},
        {"C134", mgt::geometric_regimes},
        {"C135", mgt::householder_properties},
        {"C136", mgt::erase_and_write},
        {"C137", mgt::gate_range},
        {"C138", mgt::unit_eigenvalues},
        {"C139", mgt::soft_projection},
        {"C147", mgt::parameter_overhead},
        {"C148", mgt::attention_loses_rank},
        {"C149", edelta::identity_shortcut_drifts, 1},
    };
}

/// The series `task` + each of `models`.
std::vector<std::string> with(const std::vector<std::string>& tasks, const std::vector<std::string>& models) {
    std::vector<std::string> out;
    for (const auto& task : tasks)
        for (const auto& model : models) out.push_back(task + model);
    return out;
}

}  // namespace

const std::vector<TrainedClaim>& trained_claims() {
    const std::vector<std::string> five{"-gpt", "-ddl-published", "-mhc", "-jpmhc", "-edelta-published"},
        causal{"-gpt", "-ddl-published", "-mhc", "-jpmhc", "-edelta-published", "-ddl", "-edelta"};
    const std::vector<std::string> ranks = with({"text-post-ln", "text-mgt"}, {"-12", "-24", "-48", "-100"}),
                                   connections = with(
                                       {"text"}, {"-shc", "-bistochastic-stack", "-mhc-lite", "-gpt", "-hc"});
    auto gates = with({"near-pi-single", "near-pi-multi"},
                      {"-edelta-published-bias--1.5", "-edelta-published", "-edelta-published-bias-1.5"});
    for (const auto& name :
         with({"stability", "gyroscope"}, {"-edelta-bias--1.5", "-edelta", "-edelta-bias-1.5"}))
        gates.push_back(name);
    static const std::vector<TrainedClaim> all{
        {"C36", jpmhc::cost_of_mixing, with({"speed"}, {"-gpt", "-jpmhc", "-identity-stack"})},
        {"C40", jpmhc::recursive_convergence, with({"text-recursive"}, {"-cayley", "-bistochastic"})},
        {"C88", edelta::gyroscope_losses, with({"gyroscope"}, causal)},
        {"C89", edelta::stability_losses, with({"stability"}, causal)},
        {"C90", edelta::hybrid_on_gyroscope,
         with({"gyroscope"}, {"-gpt", "-ddl", "-ddl-published", "-edelta", "-edelta-published"})},
        {"C91", edelta::best_on_gyroscope, with({"gyroscope"}, five)},
        {"C92", edelta::hybrid_on_stability,
         with({"stability"}, {"-gpt", "-jpmhc", "-edelta", "-edelta-published"})},
        {"C93", edelta::mhc_on_stability, with({"stability"}, {"-mhc", "-bistochastic-stack", "-gpt"})},
        {"C94", edelta::exact_orthogonality,
         with({"stability"}, {"-jpmhc", "-jpmhc-exact", "-edelta-published"})},
        {"C95", edelta::norm_deviations, with({"stability"}, five)},
        {"C96", edelta::norm_preservation,
         with({"stability"}, {"-edelta-published", "-jpmhc", "-jpmhc-exact", "-gpt"})},
        {"C97", edelta::smoothness,
         with({"gyroscope", "stability"}, {"-edelta-published", "-ddl-published", "-gpt"})},
        {"C98",
         edelta::reflection_parameters,
         {"reflection-ddl-500", "reflection-edelta-500", "reflection-jpmhc-500"}},
        {"C99", edelta::reflection_by_samples,
         with({"reflection-ddl", "reflection-jpmhc"}, {"-10", "-25", "-50", "-100", "-200", "-500"})},
        {"C100", edelta::parameters_before_alignment, {"reflection-ddl-500", "reflection-edelta-500"}},
        {"C103", edelta::near_pi_losses, with({"near-pi-single", "near-pi-multi"}, causal)},
        {"C104", edelta::bistochastic_near_pi,
         with({"near-pi-single", "near-pi-multi"}, {"-bistochastic-stack", "-identity-stack"})},
        {"C105", edelta::gate_starts, gates},
        {"C106", edelta::gate_poles, gates},
        {"C107", edelta::regulariser_weight,
         with({"gyroscope-edelta", "gyroscope-edelta-published"},
              {"", "-weight-0", "-weight-0.05", "-weight-0.2"})},
        {"C110", edelta::wider_and_shallower,
         with({"gyroscope-edelta", "gyroscope-edelta-published"}, {"", "-3x184", "-2x224"})},
        {"C124", shc::bistochastic_similarity,
         with({"text"}, {"-identity-stack", "-bistochastic-stack", "-mhc-lite"})},
        {"C126", shc::sphere_similarity, with({"text"}, {"-identity-stack", "-shc"})},
        {"C127", shc::trained_entries, with({"text"}, {"-shc", "-bistochastic-stack", "-mhc-lite"})},
        {"C128", shc::losses, connections},
        {"C130", shc::gradient_norms, connections},
        {"C132", shc::throughput_by_streams, with({"speed-mhc-lite"}, {"-2", "-4", "-6", "-7"})},
        {"C140", mgt::post_ln_rank, with({"text-post-ln"}, {"-12", "-24", "-48", "-100"})},
        {"C141", mgt::mgt_rank, with({"text-mgt"}, {"-12", "-24", "-48", "-100"})},
        {"C142", mgt::rank_decay, ranks},
        {"C143", mgt::synergy, with({"text"}, {"-post-ln-48", "-mgt-mhc-48", "-mgt-ddl-48", "-mgt-48"})},
        {"C144", mgt::gates_by_depth, {"text-mgt-100"}},
        {"C145", mgt::depth_scaling, with({"text-post-ln-20m", "text-mgt-20m"}, {"-24", "-48", "-100"})},
        {"C150", edelta::charted_losses,
         with({"gyroscope", "stability", "near-pi-single", "near-pi-multi"}, causal)},
    };
    return all;
}

const std::vector<QuickClaim>& quick_claims() {
    static const std::vector<QuickClaim> all = [] {
        auto out = untrained_claims();
        for (const auto& claim : trained_claims())
            if (stored_trainings().have(claim.series))
                out.push_back({claim.id, [&claim] { return claim.compute(stored_trainings()); }});
        return out;
    }();
    return all;
}

const QuickClaim* find_quick(std::string_view id) {
    const auto& all = quick_claims();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const QuickClaim& claim) { return claim.id == id; });
    return found == all.end() ? nullptr : &*found;
}

std::vector<std::string> differences(const Claim& stored, const Outcome& outcome) {
    std::vector<std::string> out;
    if (outcome.verdict != stored.verdict)
        out.push_back(
            fmt::format("verdict: stored {}, found {}", name(stored.verdict), name(outcome.verdict)));
    if (outcome.numbers.size() != stored.numbers.size())
        out.push_back(
            fmt::format("numbers: stored {}, found {}", stored.numbers.size(), outcome.numbers.size()));
    for (std::size_t k = 0; k < std::min(stored.numbers.size(), outcome.numbers.size()); ++k) {
        const Number &was = stored.numbers[k], &is = outcome.numbers[k];
        if (was.name != is.name) {
            out.push_back(fmt::format("number {}: stored '{}', found '{}'", k + 1, was.name, is.name));
            continue;
        }
        // Not "difference > tolerance": NaN agrees with nothing.
        if (std::isinf(was.tolerance) ? !std::isfinite(is.value)
                                      : !(std::abs(is.value - was.value) <= was.tolerance))
            out.push_back(fmt::format("{}: stored {:.6g} ± {:.2g}, found {:.6g}", was.name, was.value,
                                      was.tolerance, is.value));
    }
    return out;
}

}  // namespace spectra::claims
