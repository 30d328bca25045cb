#include "study/grid.hpp"

#include "weightfile/model_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <stdexcept>

namespace spectra::study {

namespace {

/// Makes text usable in the name of a file or a group.
std::string plain(std::string text) {
    for (char& c : text)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-' && c != '_') c = '_';
    if (text.starts_with('.')) text.front() = '_';
    return text;
}

/// The family, or the file.
const std::string& source_of(const Request& r) {
    return r.model ? *r.model : *r.mixer;
}

/// Mixer, depth, noise and seed always; the rest if it is not the default.
std::string name_of(const Request& r) {
    const std::string& source = source_of(r);
    const bool family = mixers::find_family(source).has_value();
    std::string name = plain(family ? source : weightfile::model_name(source));
    if (r.branch_or_default() != default_branch) name += "-" + *r.branch;
    if (r.streams_or_default() != default_streams) name += fmt::format("-n{}", *r.streams);
    if (r.width.value_or(default_width) != default_width) name += fmt::format("-p{}", *r.width);
    if (family || r.depth) name += fmt::format("-L{}", r.depth_or_default());
    if (!r.sigma2 && !r.branch_law) name += fmt::format("-noise{}", r.noise_or_default());
    return name + fmt::format("-seed{}", r.seed);
}

/// The points combined with every value of a list; unchanged if the list is empty.
template <class T, class Set>
void cross(std::vector<GridPoint>& points, const std::vector<T>& values, const Set& set) {
    if (values.empty()) return;
    if (points.size() > max_networks / values.size())
        throw std::invalid_argument(
            fmt::format("the grid is too large; must be at most {} networks", max_networks));
    std::vector<GridPoint> crossed;
    crossed.reserve(points.size() * values.size());
    for (const auto& point : points)
        for (const auto& value : values) {
            crossed.push_back(point);
            set(crossed.back().request, value);
        }
    points = std::move(crossed);
}

/// The network of a weight file, with the options common to all. Options for drawn mixers and branches apply to
/// the other networks only.
GridPoint checkpoint_point(const SweepRequest& request, const std::string& file) {
    GridPoint point{"", request.each, {}};
    Request& r = point.request;
    r.model = file;
    point.unused = drop_unused_fields(r);
    const auto drop = [&](const char* field, auto& target) {
        if (target) point.unused.emplace_back(field);
        target = {};
    };
    drop("sigma2", r.sigma2);
    drop("draws", r.shared_draws);
    drop("redrawn", r.redrawn);
    drop("average", r.average);
    return point;
}

void check_all_read(const std::vector<GridPoint>& points, const std::string& command) {
    for (const auto& field : points.front().unused) {
        const auto unused = [&](const GridPoint& point) {
            return std::find(point.unused.begin(), point.unused.end(), field) != point.unused.end();
        };
        if (std::all_of(points.begin(), points.end(), unused))
            throw std::invalid_argument(fmt::format(
                "{}: `{}`: no network of the grid uses it; it only applies to other mixers or branches", command,
                field));
    }
}

}  // namespace

std::vector<GridPoint> grid_points(const SweepRequest& request) {
    if (request.mixers.empty() && request.checkpoints.empty())
        throw std::invalid_argument(
            fmt::format("{}: no networks: give `mixers` NAME,NAME…", request.command));
    const auto set_width = [](Request& r, int width) { r.width = width; };
    const auto set_noise = [](Request& r, double noise) { r.noise = noise; };
    const auto set_seed = [](Request& r, std::uint64_t seed) { r.seed = seed; };
    std::vector<GridPoint> points;
    if (!request.mixers.empty()) points.push_back({"", request.each, {}});
    cross(points, request.mixers, [](Request& r, const std::string& mixer) { r.mixer = mixer; });
    cross(points, request.branches, [](Request& r, const std::string& branch) { r.branch = branch; });
    cross(points, request.streams, [](Request& r, int streams) { r.streams = streams; });
    cross(points, request.widths, set_width);
    cross(points, request.depths, [](Request& r, int depth) { r.depth = depth; });
    cross(points, request.noises, set_noise);
    cross(points, request.seeds, set_seed);
    for (auto& point : points) point.unused = drop_unused_fields(point.request);

    std::vector<GridPoint> given;
    for (const auto& file : request.checkpoints) given.push_back(checkpoint_point(request, file));
    cross(given, request.widths, set_width);
    cross(given, request.noises, set_noise);
    cross(given, request.seeds, set_seed);
    points.insert(points.end(), given.begin(), given.end());

    std::map<std::string, std::string> source;
    for (auto& point : points) {
        point.name = name_of(point.request);
        const auto [known, fresh] = source.emplace(point.name, source_of(point.request));
        if (!fresh)
            throw std::invalid_argument(
                fmt::format("{}: {} and {} would both be called {}; use files with different names",
                            point.request.model ? "`checkpoints`" : "`mixers`", known->second,
                            source_of(point.request), point.name));
    }
    check_all_read(points, request.command);
    return points;
}

}  // namespace spectra::study
