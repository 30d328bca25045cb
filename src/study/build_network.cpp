#include "study/build_network.hpp"

#include "study/build_branch.hpp"
#include "base/nearest.hpp"
#include "base/text.hpp"
#include "dyson/exact/moments.hpp"
#include "network/mixer_file.hpp"
#include "network/model_file.hpp"
#include "layouts/layouts.hpp"
#include "study/memory.hpp"
#include "validation/prediction.hpp"
#include "weightfile/model_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <numeric>
#include <stdexcept>

namespace spectra::study {

namespace {

void draw_mixers(const Request& request, mixers::Family family, DescribedNetwork& described) {
    Network& network = described.network;
    mixers::Recipe recipe = request.recipe;
    recipe.family = family;
    network.streams = request.streams_or_default();
    const int depth = request.depth_or_default();
    check_family_fields(request, family);
    mixers::check(recipe, network.streams);
    check_memory("the mixers", 8.0 * depth * network.streams * network.streams,
                 "a smaller `depth` or `streams`");
    network.mixers = mixers::draw_layers(recipe, network.streams, depth, request.shared_draws.value_or(false),
                                         request.seed);
    network.mixer_name = mixers::name(family);
    described.short_name = network.mixer_name;
    described.recipe = recipe;
}

void read_mixer_file(const Request& request, const std::string& file, DescribedNetwork& described) {
    Network& network = described.network;
    const auto only_drawn = [&](const std::string& field) {
        throw std::invalid_argument(fmt::format(
            "`mixer` {} cannot be combined with {}: mixers of a file are not drawn", file, field));
    };
    if (!request.family_fields.empty()) only_drawn("`" + request.family_fields.front() + "`");
    if (request.shared_draws && !draws_stream_weights(request)) only_drawn("`draws`");
    if (request.redrawn) only_drawn("`mixers` redrawn");

    network.mixers = read_mixers(file);
    network.streams = static_cast<int>(network.mixers.front().rows());
    if (network.streams > max_streams || network.mixers.size() > static_cast<std::size_t>(max_depth))
        throw std::invalid_argument(fmt::format(
            "`mixer` {}: {} matrices of {}×{}; must be at most {} of at most {}×{}", file,
            network.mixers.size(), network.streams, network.streams, max_depth, max_streams, max_streams));
    if (request.streams && *request.streams != network.streams)
        throw std::invalid_argument(
            fmt::format("`streams` {} contradicts `mixer` {}: its matrices are {}×{}", *request.streams,
                        file, network.streams, network.streams));
    if (network.depth() == 1) {
        const int depth = request.depth_or_default();
        check_memory("the mixers", 8.0 * depth * network.streams * network.streams, "a smaller `depth`");
        network.mixers.assign(static_cast<std::size_t>(depth), Mixer(network.mixers.front()));
    } else if (request.depth && *request.depth != network.depth()) {
        throw std::invalid_argument(fmt::format("`depth` {} contradicts `mixer` {}: it has {} layers",
                                                *request.depth, file, network.depth()));
    }
    network.mixer_name = std::filesystem::path(file).filename().string();
    described.short_name = std::filesystem::path(file).stem().string();
}

/// The mixers of a trained model at zero input, with branches of an assumed variance. Theory has no
/// width, and the model's width would be too large to simulate.
Network read_checkpoint(const std::string& file, double noise) {
    auto network = validation::network_of(layouts::read_stack(weightfile::TensorFile::open(file)), noise);
    network.mixer_name = weightfile::is_model_folder(file) ? weightfile::model_name(file)
                                                           : std::filesystem::path(file).filename().string();
    network.width = default_width;
    return network;
}

std::string title_of(const Network& network, const Request& request, bool drawn) {
    const auto variances = sigma2(network);
    // Up to rounding: those of activations are products.
    const bool equal = std::all_of(variances.begin(), variances.end(), [&](double v) {
        return std::abs(v - variances.front()) <= 1e-12 * variances.front();
    });
    const double total = equal ? variances.front() * network.depth()
                               : std::accumulate(variances.begin(), variances.end(), 0.0);
    const std::string branch = branch_words(network.branch);
    const bool weighted = std::holds_alternative<ActivationBranch>(network.branch);
    return fmt::format("{}{}, L = {}, n = {}, p = {}, {}{}{}{} = {:.6g}, seed {}", network.mixer_name,
                       drawn && request.shared_draws.value_or(false) ? " (one for all layers)"
                       : request.redrawn                             ? " (redrawn)"
                                                                     : "",
                       network.depth(), network.streams, network.width, branch, branch.empty() ? "" : ", ",
                       equal ? "L" : "Σ", weighted ? "σ_w²Eφ'²" : "σ²", total, request.seed);
}

/// Refuses variances with which singular values leave the range of numbers, unless the mixers alone do that: what is
/// computed would differ by NaN.
void check_noise(const Request& request, const Network& network) {
    if (!request.noise && !request.sigma2) return;
    constexpr double decades = 150;  // so that squares of squares can be averaged
    const auto fits = [](const Network& other) {
        return dyson::log_mean_square(other) <= 2 * decades * std::numbers::ln10;
    };
    if (fits(network)) return;
    const std::string what = fmt::format("singular values would exceed 1e{}", decades);
    if (request.model)
        throw std::invalid_argument(fmt::format("`noise` {}: {}; try a smaller one", *request.noise, what));
    const auto fits_with = [&](int exponent) {
        Request quieter = request;
        quieter.sigma2.reset();
        quieter.noise = std::pow(10.0, exponent);
        Network other = network;
        other.branch = describe_branch(quieter, other);
        return fits(other);
    };
    int good = -20, bad = 308;
    if (!fits_with(good)) return;
    while (bad - good > 1) {
        const int middle = good + (bad - good) / 2;
        (fits_with(middle) ? good : bad) = middle;
    }
    if (request.noise)
        throw std::invalid_argument(fmt::format("`noise` {}: {}; must be from 0 to 1e{} for this network",
                                                *request.noise, what, good));
    throw std::invalid_argument(
        fmt::format("`sigma2`: {}; the sum over all layers must be from 0 to about 1e{} for this network", what, good));
}

}  // namespace

void check_mixer(const std::string& field, const std::string& mixer) {
    std::error_code ignored;
    if (mixers::find_family(mixer) || (!mixer.empty() && std::filesystem::exists(mixer, ignored))) return;
    const bool path_like = mixer.find_first_of("/.") != std::string::npos;
    if (path_like && !nearest(mixer, family_names()))
        throw std::invalid_argument(fmt::format("`{}` {}: no such file", field, in_quotes(mixer)));
    throw std::invalid_argument(fmt::format("`{}` {}: no such mixer or file{}", field, in_quotes(mixer),
                                            suggestion(mixer, family_names())));
}

DescribedNetwork describe_network(const Request& request) {
    DescribedNetwork described;
    Network& network = described.network;
    if (request.model) {
        network = weightfile::is_weight_file(*request.model)
                      ? read_checkpoint(*request.model, request.noise_or_default())
                      : read_model(*request.model);
        described.short_name = weightfile::model_name(*request.model);
    } else {
        const std::string& mixer = request.mixer.value();
        check_mixer("mixer", mixer);
        if (const auto family = mixers::find_family(mixer))
            draw_mixers(request, *family, described);
        else
            read_mixer_file(request, mixer, described);
        network.branch = describe_branch(request, network);
        network.width = default_width;
    }
    if (request.width) network.width = *request.width;
    check(network);
    check_noise(request, network);
    network.title = title_of(network, request, described.recipe.has_value());
    return described;
}

}  // namespace spectra::study
