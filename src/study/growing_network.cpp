#include "study/growing_network.hpp"

#include "network/branch_law_file.hpp"
#include "network/mixer_file.hpp"
#include "network/slice.hpp"
#include "study/build_branch.hpp"
#include "study/build_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace spectra::study {

GrowingNetwork::GrowingNetwork(const Request& request) : request_(request), max_depth_(spectra::max_depth) {
    if (request.branch_law && read_branch_law(*request.branch_law).size() > 1)
        throw std::invalid_argument(
            fmt::format("depth-limit: `branch_law` {}: several sets; must be one, for every layer",
                        *request.branch_law));
    DescribedNetwork described = describe_network(request);
    recipe_ = described.recipe;
    short_name_ = described.short_name;
    if (request.model) {
        max_depth_ = described.network.depth();
    } else if (!recipe_) {
        pool_ = read_mixers(*request.mixer);
        repeated_ = pool_.size() == 1;
        if (!repeated_) max_depth_ = static_cast<int>(pool_.size());
    }
    if (std::holds_alternative<TiedBranch>(described.network.branch))
        max_depth_ = std::min(max_depth_, max_tied_size / described.network.streams);
    base_ = std::move(described.network);
}

Network GrowingNetwork::at(int depth, std::uint32_t draw) {
    const auto layers = static_cast<std::size_t>(depth);
    Network network;
    if (request_.model) {
        network = part_of(base_, 0, layers);
    } else {
        network.streams = base_.streams;
        network.width = base_.width;
        if (recipe_ && (pool_.size() < layers || pool_draw_ != draw)) {
            // Every layer has its own random stream, so earlier layers are drawn unchanged.
            pool_ = mixers::draw_layers(*recipe_, base_.streams, std::max(64, 2 * depth),
                                        request_.shared_draws.value_or(false), request_.seed, draw);
            pool_draw_ = draw;
        }
        if (repeated_)
            network.mixers.assign(layers, pool_.front());
        else
            network.mixers.assign(pool_.begin(), pool_.begin() + depth);
        network.branch = describe_branch(request_, network);
    }
    check(network);
    return network;
}

std::string GrowingNetwork::title() const {
    const std::string branch = request_.model ? branch_name(base_.branch) : branch_words(base_.branch);
    std::string noise = "its own noise";
    if (!request_.model && !request_.branch_law) {
        const bool weighted = std::holds_alternative<ActivationBranch>(base_.branch);
        noise = request_.sigma2
                    ? fmt::format("{} = {:.6g}", weighted ? "σ_w²" : "σ²", request_.sigma2->front())
                    : fmt::format("L{} = {:.6g}", weighted ? "σ_w²Eφ'²" : "σ²",
                                  request_.noise_or_default());
    }
    const std::string name = base_.mixer_name.empty() ? short_name_ : base_.mixer_name;
    return fmt::format("{}{}, n = {}, {}{}{}, seed {}", name,
                       recipe_ && request_.shared_draws.value_or(false) ? " (one for all layers)" : "",
                       base_.streams, branch, branch.empty() ? "" : ", ", noise, request_.seed);
}

}  // namespace spectra::study
