#include "validation/conform.hpp"

#include "base/refuse.hpp"
#include "validation/record_precision.hpp"
#include "validation/scheme_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace spectra::validation {

using Eigen::MatrixXd;

namespace {

/// The ways to count passes and to apply the mixer that a reference may have, published ones first.
std::vector<std::pair<ConnectionScheme, const char*>> reference_schemes() {
    std::vector<std::pair<ConnectionScheme, const char*>> all{{deepseek_scheme(), "DeepSeek-V4"},
                                                              {mhc_scheme(), "mHC"}};
    for (const bool last_pass : {false, true})
        for (const bool applied : {true, false}) {
            auto scheme = last_pass ? mhc_scheme() : deepseek_scheme();
            scheme.applied_transposed = applied;
            all.emplace_back(scheme, "");
        }
    return all;
}

double largest_output(const ConnectionRecord& record) {
    double most = 0;
    for (std::size_t t = 0; t < record.outputs.size(); ++t)
        most = std::max(most, record.input.streams() * record.input.states[t].cwiseAbs().maxCoeff() +
                                  2 * record.input.branch[t].cwiseAbs().maxCoeff());
    return most;
}

/// How far the output is from that of the record's own mixer and post.
double output_residual(const ConnectionRecord& r, bool transposed) {
    double largest = 0;
    for (std::size_t t = 0; t < r.outputs.size(); ++t) {
        const auto& o = r.outputs[t];
        const double most =
            (output_of(o.mixer, transposed, o.post, r.input.states[t], r.input.branch[t]) - o.output)
                .cwiseAbs()
                .maxCoeff<Eigen::PropagateNaN>();
        if (!std::isfinite(most)) return INFINITY;
        largest = std::max(largest, most);
    }
    return largest;
}

double output_tolerance(const ConnectionRecord& r, double unit) {
    return (4 * output_unit(r.outputs) + 8 * unit) * largest_output(r);
}

/// How a record applies its mixer; nothing where its output is not that of its mixer and post.
std::optional<bool> applied_transposed(const ConnectionRecord& r, double unit, bool expected) {
    const double tolerance = output_tolerance(r, unit);
    for (const bool transposed : {expected, !expected})
        if (output_residual(r, transposed) <= tolerance) return transposed;
    return std::nullopt;
}

struct Known {
    ConnectionScheme scheme;
    const char* name = "";
};

/// What the reference does.
std::optional<Known> scheme_of(const ConnectionRecord& reference) {
    const double unit = unit_of(reference.outputs);
    const double tolerance = tolerance_of(reference.input, unit);
    const Fit fit(reference);
    for (const auto& [base, name] : reference_schemes()) {
        const auto applied = applied_transposed(reference, unit, base.applied_transposed);
        if (applied != base.applied_transposed) continue;
        const auto found = simplest(explanations(fit, base, {tolerance, tolerance, tolerance}), base,
                                    0.5 * unit / tolerance);
        if (!found) continue;
        if (changes(base, found->scheme) == 0) return Known{found->scheme, name};
        if (*name == '\0') return Known{found->scheme, ""};
    }
    return std::nullopt;
}

// --- comparing

void expect_equal(const ConnectionRecord& a, const ConnectionRecord& b, const char* what, const MatrixXd& x,
                  const MatrixXd& y) {
    if (x.rows() != y.rows() || x.cols() != y.cols())
        refuse(b.name, fmt::format("not comparable: '{}' has another shape than in {}", what, a.name));
    const double scale = std::max(x.cwiseAbs().maxCoeff(), 1e-300);
    if ((x - y).cwiseAbs().maxCoeff() > 4 * float_unit * scale)
        refuse(b.name, fmt::format("not comparable: '{}' has other values than in {}", what, a.name));
}

void expect_comparable(const ConnectionRecord& a, const ConnectionRecord& b) {
    if (a.input.states.size() != b.input.states.size() || a.input.streams() != b.input.streams() ||
        a.input.states.front().cols() != b.input.states.front().cols())
        refuse(b.name, fmt::format("not comparable: 'x' has another shape than in {}", a.name));
    expect_equal(a, b, "fn", a.input.projection, b.input.projection);
    expect_equal(a, b, "base", a.input.bias, b.input.bias);
    expect_equal(a, b, "scale", a.input.scale, b.input.scale);
    for (std::size_t t = 0; t < a.input.states.size(); ++t) {
        expect_equal(a, b, "x", a.input.states[t], b.input.states[t]);
        expect_equal(a, b, "branch", a.input.branch[t], b.input.branch[t]);
    }
    const auto same = [](double x, double y) { return std::abs(x - y) <= 4 * float_unit * std::abs(x); };
    if (a.input.sweeps != b.input.sweeps || !same(a.input.epsilon, b.input.epsilon) ||
        !same(a.input.norm_epsilon, b.input.norm_epsilon))
        refuse(
            b.name,
            fmt::format("not comparable: other settings (sweeps, epsilon, norm_epsilon) than in {}", a.name));
}

double largest_difference(const ConnectionRecord& a, const ConnectionRecord& b, const Get& get) {
    double largest = 0;
    for (std::size_t t = 0; t < a.outputs.size(); ++t) {
        const double most =
            (get(a.outputs[t]) - get(b.outputs[t])).cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
        if (!std::isfinite(most)) return INFINITY;
        largest = std::max(largest, most);
    }
    return largest;
}

std::vector<ResultDifference> result_differences(const ConnectionRecord& a, const ConnectionRecord& b) {
    const double unit = std::max(unit_of(a.outputs), unit_of(b.outputs));
    const double tolerance = tolerance_of(a.input, unit);
    const double output =
        std::max(output_tolerance(a, unit), output_tolerance(b, unit)) + tolerance * largest_output(a);
    return {{"pre", largest_difference(a, b, get_pre), tolerance},
            {"mixer", largest_difference(a, b, get_mixer), tolerance},
            {"post", largest_difference(a, b, get_post), tolerance},
            {"output", largest_difference(a, b, get_output), output}};
}

std::string unknown_words(const std::vector<ResultDifference>& all) {
    std::string words;
    for (const auto& d : all)
        if (!(d.largest <= d.tolerance))
            words +=
                fmt::format("{}{} differs by up to {:.3g}", words.empty() ? "" : ", ", d.name, d.largest);
    return "unknown: " + (words.empty() ? "the results differ by more than rounding" : words);
}

/// Which results are rounded to bfloat16 and are more than rounding off otherwise.
struct Coarse {
    bool pre = false, post = false, mixer = false;

    std::string words() const {
        std::string list = mixer ? "mixers" : "";
        if (pre) list += list.empty() ? "pre" : ", pre";
        if (post) list += list.empty() ? "post" : ", post";
        return list + (mixer || (pre && post) ? " are" : " is") + " in bfloat16";
    }
};

Coarse coarse_results(const ConnectionRecord& r) {
    return {all_of(r.outputs, get_pre, is_bfloat), all_of(r.outputs, get_post, is_bfloat),
            all_of(r.outputs, get_mixer, is_bfloat)};
}

/// The rounding of n sums and 2T divisions in bfloat16 does not add up: every pass corrects those before it.
constexpr double bfloat_tolerance = 8 * bfloat_unit;

void add_differences(const ConnectionScheme& reference, const ConnectionScheme& candidate,
                     Conformity& result) {
    auto words = differences(reference, candidate);
    result.findings.insert(result.findings.end(), words.begin(), words.end());
    if (words.empty() && reference.kept_transposed != candidate.kept_transposed)
        result.notes.emplace_back("the mixer is kept transposed, and applied so: its effect is the same");
}

/// What the candidate does, and which of its results are in bfloat16.
std::optional<std::pair<ConnectionScheme, Coarse>> candidate_scheme(const ConnectionRecord& candidate,
                                                                    ConnectionScheme base) {
    const double unit = unit_of(candidate.outputs), fine = tolerance_of(candidate.input, unit);
    const auto coarse = coarse_results(candidate);
    const bool any = coarse.mixer || coarse.pre || coarse.post;
    auto applied = applied_transposed(candidate, unit, base.applied_transposed);
    if (!applied && any) applied = applied_transposed(candidate, bfloat_unit, base.applied_transposed);
    if (!applied) return std::nullopt;
    base.applied_transposed = *applied;
    const Fit fit(candidate);
    if (const auto found = simplest(explanations(fit, base, {fine, fine, fine}), base, 0.5 * unit / fine))
        return std::pair(found->scheme, Coarse{});
    if (!any) return std::nullopt;
    const auto tolerance = [&](bool is_coarse) { return is_coarse ? bfloat_tolerance : fine; };
    const Tolerances wide{tolerance(coarse.pre), tolerance(coarse.post), tolerance(coarse.mixer)};
    // To bfloat16's rounding many fit: another than the reference's is taken only where that does not.
    const auto found = simplest(explanations(fit, base, wide), base, 1);
    if (!found) return std::nullopt;
    const auto& scheme = found->scheme;
    return std::pair(scheme, Coarse{coarse.pre && fit.of_pre(scheme).largest > fine,
                                    coarse.post && fit.of_post(scheme).largest > fine,
                                    coarse.mixer && fit.of_mixer(scheme).largest > fine});
}

}  // namespace

Conformity conform(const ConnectionRecord& reference, const ConnectionRecord& candidate) {
    expect_comparable(reference, candidate);
    Conformity result;
    result.differences = result_differences(reference, candidate);
    const bool equal = std::all_of(result.differences.begin(), result.differences.end(),
                                   [](const auto& d) { return d.largest <= d.tolerance; });
    const auto known = scheme_of(reference);
    if (!known) {
        result.conforms = equal;
        if (!equal) result.findings.push_back(unknown_words(result.differences));
        return result;
    }
    result.scheme = known->name;
    const auto found = candidate_scheme(candidate, known->scheme);
    if (found) {
        add_differences(known->scheme, found->first, result);
        if (found->second.pre || found->second.post || found->second.mixer)
            result.findings.push_back(found->second.words());
    } else {
        result.findings.push_back(unknown_words(result.differences));
    }
    result.conforms = result.findings.empty();
    return result;
}

}  // namespace spectra::validation
