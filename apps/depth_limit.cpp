#include "depth_limit.hpp"

#include "analyse.hpp"
#include "console.hpp"
#include "described_branch.hpp"
#include "described_network.hpp"
#include "dyson/ask/depth_limit.hpp"
#include "exit_status.hpp"
#include "interrupt.hpp"
#include "network/branch_law_file.hpp"
#include "network/mixer_file.hpp"
#include "network/slice.hpp"
#include "output_files.hpp"
#include "report/json.hpp"
#include "report/result_file.hpp"
#include "report/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace spectra::cli {

GrowingNetwork::GrowingNetwork(const Request& request) : request_(request), max_depth_(spectra::max_depth) {
    if (request.branch_law && read_branch_law(*request.branch_law).size() > 1)
        throw std::invalid_argument(
            fmt::format("depth-limit: --branch-law {}: several sets; accepted: one, for every layer",
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
            // Every layer has a stream of its own, so what was drawn before is drawn again.
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
                                  request_.noise.value_or(default_noise));
    }
    const std::string name = base_.mixer_name.empty() ? short_name_ : base_.mixer_name;
    return fmt::format("{}{}, n = {}, {}{}{}, seed {}", name,
                       recipe_ && request_.shared_draws.value_or(false) ? " (one for all layers)" : "",
                       base_.streams, branch, branch.empty() ? "" : ", ", noise, request_.seed);
}

namespace {

/// --max-depth, within what the network can have.
int depth_to_search(const DepthLimitRequest& request, const GrowingNetwork& network) {
    const int most = network.max_depth();
    if (request.max_depth && *request.max_depth > most)
        throw std::invalid_argument(fmt::format(
            "--max-depth {}: accepted: up to {}, where the file, or the theory of tied branches, ends",
            *request.max_depth, most));
    return request.max_depth.value_or(std::min(default_max_depth, most));
}

}  // namespace

int depth_limit(const DepthLimitRequest& request, const std::string& command) {
    check_conflicts(request);
    GrowingNetwork network(request.network);
    const int deepest = depth_to_search(request, network);
    if (request.network.average > 0 && !network.drawn())
        throw std::invalid_argument(
            "--average: mixers of a file are not drawn; accepted: a family of mixers");
    check_memory("the mixers", 16.0 * deepest * network.streams() * network.streams(),
                 "a smaller --max-depth");
    const auto files = output_files(
        request.network.out.value_or(fmt::format("spectra-depth-limit-{}", network.short_name())), {});
    check_writable(files, request.network.force);

    catch_interrupts();
    report::DepthReport report;
    report.provenance = provenance(command, request.network.seed);
    report.title = network.title();
    report.mixer_name = network.mixer_name();
    report.streams = network.streams();
    report.keep = request.keep;
    report.above = request.above;
    report.max_depth = deepest;
    {
        Progress progress(!request.network.quiet);
        dyson::DepthLimitOptions options;
        options.keep = request.keep;
        options.above = request.above;
        options.max_depth = deepest;
        std::string stage;
        options.proceed = [&](int depth) {
            progress.stage(fmt::format("{}depth {}", stage, depth));
            return !interrupted();
        };
        report.limit = dyson::depth_limit([&](int depth) { return network.at(depth); }, options);
        options.look_behind = false;
        for (int k = 1; k <= request.network.average && !interrupted(); ++k) {
            stage = fmt::format("draw {}/{}, ", k, request.network.average);
            auto limit = dyson::depth_limit(
                [&](int depth) { return network.at(depth, static_cast<std::uint32_t>(k)); }, options);
            if (!limit.stopped) report.draws.push_back(std::move(limit));
        }
        progress.stage("writing");
        report::write_result_file(report, files.result);
        report.files.push_back(files.result.string());
    }
    if (request.network.json)
        print(report::to_json(report) + "\n");
    else if (!request.network.quiet)
        print(report::terminal_page(report, page_columns(), use_colour()), Colours::kept);
    if (interrupted()) {
        print_error("interrupted: the depths evaluated are kept");
        return was_interrupted;
    }
    const auto uncertified = std::count_if(report.draws.begin(), report.draws.end(),
                                           [](const auto& draw) { return !draw.certified; });
    if (!report.limit.certified)
        print_error("depth-limit: not every depth is certified; the result file marks them");
    if (uncertified > 0)
        print_error(
            fmt::format("depth-limit: {} of {} draws are not certified", uncertified, report.draws.size()));
    return report.limit.certified && uncertified == 0 ? done : not_finished;
}

}  // namespace spectra::cli
