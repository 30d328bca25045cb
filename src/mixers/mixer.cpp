#include "mixers/mixer.hpp"

#include "base/text.hpp"
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
#include <cassert>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace spectra::mixers {
namespace {

constexpr std::array<std::pair<Family, std::string_view>, 10> names{{
    {Family::identity, "identity"},
    {Family::bistochastic, "bistochastic"},
    {Family::orthogonal, "orthogonal"},
    {Family::cayley, "cayley"},
    {Family::cayley_hybrid, "cayley-hybrid"},
    {Family::spectral_sphere, "spectral-sphere"},
    {Family::grassmann, "grassmann"},
    {Family::permutation, "permutation"},
    {Family::householder, "householder"},
    {Family::gaussian, "gaussian"},
}};

/// Every draw lists its permutations; this is far more than any mixture needs.
constexpr int max_permutations = 100000;

/// The shortest text that reads back as the same number.
template <typename Number>
std::string text(Number value) {
    std::array<char, 32> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
    return {buffer.data(), end};
}

template <typename Number>
void require(bool accepted, const char* field, Number value, std::string_view accepted_values) {
    if (!accepted) throw FieldError(field, " " + text(value) + ": must be " + std::string(accepted_values));
}

int grassmann_rank(const Recipe& recipe, int n) {
    return recipe.rank.value_or(n / 2 + n % 2);
}

Mixer draw_checked(const Recipe& recipe, int n, random::Stream& stream) {
    switch (recipe.family) {
        case Family::identity:
            return Mixer::Identity(n, n);
        case Family::bistochastic:
            return draw_bistochastic(n, recipe.logit_scale, recipe.sinkhorn_iterations, stream);
        case Family::orthogonal:
            return draw_orthogonal(n, stream);
        case Family::cayley:
            return draw_cayley(n, recipe.logit_scale, recipe.cayley_step, recipe.cayley_iterations, stream);
        case Family::cayley_hybrid:
            return draw_cayley_hybrid(n, recipe.beta, recipe.gate, stream);
        case Family::spectral_sphere:
            return draw_spectral_sphere(n, stream);
        case Family::grassmann:
            return draw_grassmann(n, grassmann_rank(recipe, n), stream);
        case Family::permutation:
            return draw_permutation(n, recipe.permutations, stream);
        case Family::householder:
            return draw_householder(n, recipe.beta, stream);
        case Family::gaussian:
            return draw_gaussian(n, stream);
    }
    assert(false && "unknown family");
    return {};
}

/// These fields set the size of the numbers that make a mixer.
[[noreturn]] void refuse_size(const Recipe& recipe, std::string_view reason) {
    const std::string rest = ": " + std::string(reason) + "; try a smaller value";
    if (recipe.family == Family::bistochastic) throw FieldError("logit_scale", " " + text(recipe.logit_scale) + rest);
    if (recipe.family == Family::cayley)
        throw FieldError("logit_scale", " " + text(recipe.logit_scale) + " with a Cayley step of " +
                                            text(recipe.cayley_step) + rest);
    throw FieldError("beta", " " + text(recipe.beta) + rest);
}

}  // namespace

const std::vector<Family>& all_families() {
    static const std::vector<Family> families = [] {
        std::vector<Family> list;
        for (const auto& entry : names) list.push_back(entry.first);
        return list;
    }();
    return families;
}

std::string_view name(Family family) {
    for (const auto& [candidate, text_of_it] : names)
        if (candidate == family) return text_of_it;
    assert(false && "unknown family");
    return {};
}

std::optional<Family> find_family(std::string_view wanted) {
    for (const auto& [family, text_of_it] : names)
        if (text_of_it == wanted) return family;
    return std::nullopt;
}

void check(const Recipe& recipe, int n) {
    require(n >= 1, "streams", n, "≥ 1");
    const auto require_logit_scale = [&] {
        require(std::isfinite(recipe.logit_scale) && recipe.logit_scale >= 0, "logit_scale",
                recipe.logit_scale, "a finite number ≥ 0");
    };
    const auto require_beta = [&] {
        require(std::isfinite(recipe.beta), "beta", recipe.beta, "a finite number");
    };
    switch (recipe.family) {
        case Family::bistochastic:
            require_logit_scale();
            if (recipe.sinkhorn_iterations)
                require(*recipe.sinkhorn_iterations >= 1, "sinkhorn_iterations", *recipe.sinkhorn_iterations,
                        "≥ 1");
            break;
        case Family::cayley:
            require_logit_scale();
            require(std::isfinite(recipe.cayley_step) && recipe.cayley_step > 0, "cayley_step",
                    recipe.cayley_step, "a finite number > 0");
            if (recipe.cayley_iterations)
                require(*recipe.cayley_iterations >= 1, "cayley_iterations", *recipe.cayley_iterations,
                        "≥ 1, or exact");
            break;
        case Family::cayley_hybrid:
            require(recipe.gate >= 0 && recipe.gate <= 1, "gate", recipe.gate, "from 0 to 1");
            require_beta();
            break;
        case Family::grassmann:
            if (recipe.rank)
                require(*recipe.rank >= 0 && *recipe.rank <= n, "rank", *recipe.rank,
                        "0.." + text(n) + " with " + text(n) + " streams");
            break;
        case Family::permutation:
            require(recipe.permutations >= 1 && recipe.permutations <= max_permutations, "permutations",
                    recipe.permutations, "1.." + text(max_permutations));
            break;
        case Family::householder:
            require_beta();
            break;
        case Family::identity:
        case Family::orthogonal:
        case Family::spectral_sphere:
        case Family::gaussian:
            break;
    }
}

Mixer draw(const Recipe& recipe, int n, random::Stream& stream) {
    check(recipe, n);
    Mixer mixer;
    try {
        mixer = draw_checked(recipe, n, stream);
    } catch (const std::invalid_argument& error) {  // numbers too large for a map
        refuse_size(recipe, error.what());
    } catch (const std::runtime_error& error) {  // Sinkhorn did not converge
        refuse_size(recipe, error.what());
    }
    if (!mixer.allFinite()) refuse_size(recipe, "the mixer overflows");
    return mixer;
}

std::vector<Mixer> draw_layers(const Recipe& recipe, int n, int depth, bool shared, std::uint64_t seed,
                               std::uint32_t sample) {
    assert(depth >= 0);
    check(recipe, n);
    const auto layer = [&](std::uint32_t l) {
        random::Stream stream(seed, random::Purpose::mixer, l, sample);
        return draw(recipe, n, stream);
    };
    const auto count = static_cast<std::size_t>(depth);
    if (shared && depth > 0) return std::vector<Mixer>(count, layer(0));
    std::vector<Mixer> mixers;
    mixers.reserve(count);
    for (std::uint32_t l = 0; l < static_cast<std::uint32_t>(depth); ++l) mixers.push_back(layer(l));
    return mixers;
}

}  // namespace spectra::mixers
