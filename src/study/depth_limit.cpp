#include "study/depth_limit.hpp"

#include "base/parallel.hpp"
#include "dyson/ask/depth_limit.hpp"
#include "report/depth_figure.hpp"
#include "report/result_file.hpp"
#include "study/analysis.hpp"
#include "study/draw.hpp"
#include "study/growing_network.hpp"
#include "study/memory.hpp"
#include "study/output_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <stdexcept>

namespace spectra::study {

namespace {

/// `max_depth`, limited to what the network supports.
int depth_to_search(const DepthLimitRequest& request, const GrowingNetwork& network) {
    const int most = network.max_depth();
    if (request.max_depth && *request.max_depth > most)
        throw std::invalid_argument(fmt::format(
            "`max_depth` {}: must be at most {}, where the file, or the theory of tied branches, ends",
            *request.max_depth, most));
    return request.max_depth.value_or(std::min(default_max_depth, most));
}

/// The limits for other draws of the mixers, in the order of the draws; without those that were stopped.
std::vector<dyson::DepthLimit> limits_of_draws(const Request& request, const GrowingNetwork& network,
                                               dyson::DepthLimitOptions options, Observer& observer) {
    const auto count = static_cast<std::size_t>(request.average);
    if (count == 0) return {};
    observer.stage("other draws");
    options.look_behind = false;
    options.proceed = [&](int) { return !observer.stopped(); };
    std::vector<dyson::DepthLimit> limits(count);
    std::mutex lock;
    int finished = 0;
    parallel_for(count, request.threads, [&](std::size_t k) {
        GrowingNetwork own = network;
        limits[k] = dyson::depth_limit(
            [&](int depth) { return own.at(depth, static_cast<std::uint32_t>(k + 1)); }, options);
        const std::lock_guard guard(lock);
        observer.update(++finished, request.average);
    });
    std::erase_if(limits, [](const auto& limit) { return limit.stopped; });
    return limits;
}

}  // namespace

report::DepthReport depth_limit(const DepthLimitRequest& request, const Invocation& invocation, Observer& observer) {
    check_conflicts(request);
    GrowingNetwork network(request.network);
    const int deepest = depth_to_search(request, network);
    if (request.network.average > 0 && !network.drawn())
        throw std::invalid_argument(
            "`average`: mixers of a file are not drawn; use a family of mixers");
    check_memory("the mixers", 16.0 * deepest * network.streams() * network.streams(),
                 "a smaller `max_depth`");
    const auto files = output_files(
        request.network.out.value_or(
            fmt::format("spectra-depth-limit-{}{}", network.short_name(),
                        file_name_suffix(invocation.settings, {"command", "mixer", "model"}))),
        request.network.plots);
    check_writable(files, invocation.settings, request.network.force);
    const auto stale = stale_figures(files, invocation.settings);

    throw_if_stopped(observer);  // nothing was computed: earlier files stay
    report::DepthReport report;
    report.provenance = provenance(invocation, request.network.seed);
    report.title = network.title();
    report.mixer_name = network.mixer_name();
    report.streams = network.streams();
    report.keep = request.keep;
    report.above = request.above;
    report.max_depth = deepest;
    dyson::DepthLimitOptions options;
    options.keep = request.keep;
    options.above = request.above;
    options.max_depth = deepest;
    options.proceed = [&](int depth) {
        observer.stage(fmt::format("depth {}", depth));
        return !observer.stopped();
    };
    report.limit = dyson::depth_limit([&](int depth) { return network.at(depth); }, options);
    report.draws = limits_of_draws(request.network, network, options, observer);
    observer.stage("writing");
    report::write_result_file(report, files.result);
    report.files.push_back(files.result.string());
    for (const auto& figure : stale) std::filesystem::remove(figure);
    observer.stage("drawing");
    draw_or_warn(observer, [&] {
        if (files.figures.empty()) return;
        auto figure = report::depth_figure(report);
        if (request.network.column) plot::fit_column(figure);
        render_all(figure, files.figures, report.files);
    });
    return report;
}

}  // namespace spectra::study
