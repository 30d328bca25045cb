#include "study/depth_limit.hpp"

#include "dyson/ask/depth_limit.hpp"
#include "report/result_file.hpp"
#include "study/analysis.hpp"
#include "study/growing_network.hpp"
#include "study/output_files.hpp"

#include <fmt/format.h>

#include <algorithm>
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
        {});
    check_writable(files, invocation.settings, request.network.force);

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
    std::string stage;
    options.proceed = [&](int depth) {
        observer.stage(fmt::format("{}depth {}", stage, depth));
        return !observer.stopped();
    };
    report.limit = dyson::depth_limit([&](int depth) { return network.at(depth); }, options);
    options.look_behind = false;
    for (int k = 1; k <= request.network.average && !observer.stopped(); ++k) {
        stage = fmt::format("draw {}/{}, ", k, request.network.average);
        auto limit = dyson::depth_limit(
            [&](int depth) { return network.at(depth, static_cast<std::uint32_t>(k)); }, options);
        if (!limit.stopped) report.draws.push_back(std::move(limit));
    }
    observer.stage("writing");
    report::write_result_file(report, files.result);
    report.files.push_back(files.result.string());
    return report;
}

}  // namespace spectra::study
