#include "mixers/registry.hpp"

#include "mixers/cayley.hpp"
#include "mixers/cayley_hybrid.hpp"
#include "mixers/gaussian.hpp"
#include "mixers/grassmann.hpp"
#include "mixers/householder.hpp"
#include "mixers/orthogonal.hpp"
#include "mixers/permutation.hpp"
#include "mixers/sinkhorn.hpp"
#include "mixers/spectral_sphere.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace spectra::mixers {

namespace {

using random::Stream;

/// Every draw lists its permutations; far more of them than any mixture needs.
constexpr int max_permutations = 100000;

/// The shortest text that reads back as the same number.
template <typename Number>
std::string text(Number value) {
    std::array<char, 32> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
    return {buffer.data(), end};
}

template <typename Number>
void require(bool accepted, const std::string& field, Number value, const std::string& accepted_values) {
    if (!accepted) throw std::invalid_argument("`" + field + "` " + text(value) + ": must be " + accepted_values);
}

void check_logit_scale(const Recipe& r) {
    require(std::isfinite(r.logit_scale) && r.logit_scale >= 0, "logit_scale", r.logit_scale,
            "a finite number, 0 or more");
}

void check_beta(const Recipe& r) {
    require(std::isfinite(r.beta), "beta", r.beta, "a finite number");
}

void check_bistochastic(const Recipe& r, int /*n*/) {
    check_logit_scale(r);
    if (r.sinkhorn_iterations)
        require(*r.sinkhorn_iterations >= 1, "sinkhorn_iterations", *r.sinkhorn_iterations, "1 or more");
}

void check_cayley(const Recipe& r, int /*n*/) {
    check_logit_scale(r);
    require(std::isfinite(r.cayley_step) && r.cayley_step > 0, "cayley_step", r.cayley_step,
            "a finite number above 0");
    if (r.cayley_iterations)
        require(*r.cayley_iterations >= 1, "cayley_iterations", *r.cayley_iterations, "1 or more, or exact");
}

void check_cayley_hybrid(const Recipe& r, int /*n*/) {
    require(r.gate >= 0 && r.gate <= 1, "gate", r.gate, "0 to 1");
    check_beta(r);
}

void check_grassmann(const Recipe& r, int n) {
    if (r.rank)
        require(*r.rank >= 0 && *r.rank <= n, "rank", *r.rank, "0 to " + text(n) + " with " + text(n) + " streams");
}

void check_permutation(const Recipe& r, int /*n*/) {
    require(r.permutations >= 1 && r.permutations <= max_permutations, "permutations", r.permutations,
            "1 to " + text(max_permutations));
}

/// More streams than any model has.
constexpr std::uint64_t most_streams = 4096;

std::string beta_field(const Recipe& r) {
    return "`beta` " + text(r.beta);
}

std::uint64_t squared(std::uint64_t n) {
    return n * n;
}

/// Streams up to which all n! permutations are listed (5040).
constexpr std::uint64_t most_permuted_streams = 7;

std::uint64_t factorial(std::uint64_t n) {
    if (n > most_permuted_streams) return 0;
    std::uint64_t product = 1;
    for (std::uint64_t k = 2; k <= n; ++k) product *= k;
    return product;
}

std::vector<FamilyEntry> make_registry() {
    std::vector<FamilyEntry> all;
    all.push_back({.name = "identity",
                   .family = Family::identity,
                   .draw = [](const Recipe&, int n, Stream&) -> Mixer { return Mixer::Identity(n, n); },
                   .raw_count = [](std::uint64_t) { return std::uint64_t{0}; },
                   .from_raw = raw_identity,
                   .trained = true});
    all.push_back({.name = "bistochastic",
                   .family = Family::bistochastic,
                   .fields = {"logit_scale", "sinkhorn_iterations"},
                   .draw = [](const Recipe& r, int n, Stream& s) {
                       return draw_bistochastic(n, r.logit_scale, r.sinkhorn_iterations, s);
                   },
                   .check = check_bistochastic,
                   .size_fields = [](const Recipe& r) { return "`logit_scale` " + text(r.logit_scale); },
                   .raw_count = squared,
                   .from_raw = raw_bistochastic,
                   .trained = true});
    all.push_back({.name = "orthogonal",
                   .family = Family::orthogonal,
                   .draw = [](const Recipe&, int n, Stream& s) { return draw_orthogonal(n, s); },
                   .raw_count = [](std::uint64_t n) { return n * (n - 1) / 2; },
                   .from_raw = raw_orthogonal,
                   .trained = true});
    all.push_back({.name = "cayley",
                   .family = Family::cayley,
                   .fields = {"logit_scale", "cayley_iterations", "cayley_step"},
                   .draw = [](const Recipe& r, int n, Stream& s) {
                       return draw_cayley(n, r.logit_scale, r.cayley_step, r.cayley_iterations, s);
                   },
                   .check = check_cayley,
                   .size_fields = [](const Recipe& r) {
                       return "`logit_scale` " + text(r.logit_scale) + " with a Cayley step of " +
                              text(r.cayley_step);
                   },
                   .raw_count = squared,
                   .from_raw = raw_cayley,
                   .trained = true});
    all.push_back({.name = "cayley-hybrid",
                   .family = Family::cayley_hybrid,
                   .fields = {"gate", "beta"},
                   .draw = [](const Recipe& r, int n, Stream& s) { return draw_cayley_hybrid(n, r.beta, r.gate, s); },
                   .check = check_cayley_hybrid,
                   .size_fields = beta_field,
                   .raw_count = [](std::uint64_t n) { return 3 * n + 2; },
                   .from_raw = raw_cayley_hybrid,
                   .trained = true});
    all.push_back({.name = "spectral-sphere",
                   .family = Family::spectral_sphere,
                   .draw = [](const Recipe&, int n, Stream& s) { return draw_spectral_sphere(n, s); },
                   .raw_count = [](std::uint64_t n) { return (n - 1) * (n - 1); },
                   .from_raw = raw_spectral_sphere,
                   .trained = true});
    all.push_back({.name = "grassmann",
                   .family = Family::grassmann,
                   .fields = {"rank"},
                   .draw = [](const Recipe& r, int n, Stream& s) {
                       return draw_grassmann(n, r.rank.value_or(n / 2 + n % 2), s);
                   },
                   .check = check_grassmann,
                   .from_raw = raw_grassmann,
                   .trained = true});
    all.push_back({.name = "permutation",
                   .family = Family::permutation,
                   .fields = {"permutations"},
                   .draw = [](const Recipe& r, int n, Stream& s) { return draw_permutation(n, r.permutations, s); },
                   .check = check_permutation,
                   .raw_count = factorial,
                   .from_raw = raw_permutation,
                   .trained = true});
    all.push_back({.name = "householder",
                   .family = Family::householder,
                   .fields = {"beta"},
                   .draw = [](const Recipe& r, int n, Stream& s) { return draw_householder(n, r.beta, s); },
                   .check = [](const Recipe& r, int) { check_beta(r); },
                   .size_fields = beta_field,
                   .raw_count = [](std::uint64_t n) { return n + 1; },
                   .from_raw = raw_householder,
                   .trained = true});
    all.push_back({.name = "gaussian",
                   .family = Family::gaussian,
                   .draw = [](const Recipe&, int n, Stream& s) { return draw_gaussian(n, s); }});
    all.push_back({.name = "rotation",
                   .raw_count = [](std::uint64_t n) { return 2 * n + 1; },
                   .from_raw = raw_rotation,
                   .trained = true});
    all.push_back({.name = "matrix", .alias = "hyper", .raw_count = squared, .from_raw = raw_matrix, .trained = true});
    return all;
}

}  // namespace

const std::vector<FamilyEntry>& registry() {
    static const std::vector<FamilyEntry> all = make_registry();
    return all;
}

const FamilyEntry* find_entry(std::string_view name) {
    for (const auto& entry : registry())
        if (!name.empty() && (entry.name == name || entry.alias == name)) return &entry;
    return nullptr;
}

std::vector<std::string> drawn_names() {
    std::vector<std::string> names;
    for (const auto& entry : registry())
        if (entry.draw != nullptr) names.emplace_back(entry.name);
    return names;
}

std::vector<std::string> raw_names() {
    std::vector<std::string> names;
    for (const auto& entry : registry())
        if (entry.from_raw != nullptr && (entry.raw_count == nullptr || entry.raw_count(2) > 0))
            names.emplace_back(entry.name);
    return names;
}

std::optional<int> streams_of(std::string_view family, std::uint64_t count) {
    const auto* const entry = find_entry(family);
    if (entry == nullptr || entry->raw_count == nullptr) return {};
    for (std::uint64_t n = 1; n <= most_streams && count > 0; ++n)
        if (entry->raw_count(n) == count) return static_cast<int>(n);
    return {};
}

Mixer mixer_of(std::string_view family, const Eigen::VectorXd& raw, int streams, const RawOptions& options) {
    const auto* const entry = find_entry(family);
    if (entry == nullptr || entry->from_raw == nullptr)
        throw std::invalid_argument("mixer family '" + std::string(family) + "' is not known");
    return entry->from_raw(raw, streams, options);
}

}  // namespace spectra::mixers
