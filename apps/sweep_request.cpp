#include "sweep_request.hpp"

#include "adder.hpp"
#include "weightfile/tensor_file.hpp"
#include "base/text.hpp"
#include "network/network.hpp"
#include "values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>

namespace spectra::cli {

namespace {

template <class T>
void add_new(std::vector<T>& list, const T& value) {
    if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

/// FIRST, FIRST:LAST or FIRST:LAST:STEP with commas between.
template <class T>
std::vector<T> to_ranges(const std::string& option, const std::string& text, T least, T largest) {
    const auto refuse = [&](const std::string& part) {
        throw std::invalid_argument(
            fmt::format("{} {}: accepted: integers from {} to {} with commas between, or FIRST:LAST[:STEP]",
                        option, in_quotes(part), least, largest));
    };
    const auto integer = [&](const std::string& part, const std::string& word, T low) {
        T value{};
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (end != word.data() + word.size() || error != std::errc{} || value < low || value > largest)
            refuse(part);
        return value;
    };
    std::vector<T> values;
    std::set<T> seen;
    const auto add = [&](T value) {
        if (seen.insert(value).second) values.push_back(value);
    };
    for (const auto& part : split(text, ',')) {
        const auto words = split(part, ':');
        if (words.size() > 3) refuse(part);
        const T first = integer(part, words[0], least);
        const T last = words.size() > 1 ? integer(part, words[1], least) : first;
        const T step = words.size() > 2 ? integer(part, words[2], T{1}) : T{1};
        if (last < first) refuse(part);
        if ((last - first) / step >= static_cast<T>(max_networks))
            throw std::invalid_argument(
                fmt::format("{} {}: accepted: up to {} values", option, in_quotes(part), max_networks));
        for (T value = first;; value += step) {
            add(value);
            if (last - value < step) break;
        }
    }
    return values;
}

std::vector<int> to_ints(const std::string& option, const std::string& text, int least, int largest) {
    return to_ranges<int>(option, text, least, largest);
}

std::vector<double> to_noises(const std::string& option, const std::string& text) {
    std::vector<double> values;
    for (const double value : to_variances(option, text)) add_new(values, value);
    return values;
}

std::vector<std::string> to_mixers(const std::string& option, const std::string& text) {
    std::vector<std::string> names;
    for (const auto& name : split(text, ',')) {
        if (name == "fixed" || name == "redrawn")
            throw std::invalid_argument(
                fmt::format("{} '{}': the mixers of the grid are named here; accepted for that: --redrawn",
                            option, name));
        if (name.empty())
            throw std::invalid_argument(fmt::format("{} {}: accepted: families or files with commas between",
                                                    option, in_quotes(text)));
        add_new(names, name);
    }
    return names;
}

/// Weight files, opened once to see that they are.
std::vector<std::string> to_checkpoints(const std::string& option, const std::string& text) {
    std::vector<std::string> files;
    for (const auto& name : split(text, ',')) {
        if (name.empty())
            throw std::invalid_argument(
                fmt::format("{} {}: accepted: weight files with commas between", option, in_quotes(text)));
        weightfile::TensorFile::open(name);
        add_new(files, name);
    }
    return files;
}

/// Options of the analysis that a grid has a list for, or that are not for many networks at once.
constexpr const char* replaced[] = {"--mixer", "--depth", "--streams", "--width", "--seed",   "--branch",
                                    "--noise", "--model", "--mixers",  "--plot",  "--resume", "--out"};

/// Numbers do not depend on these.
constexpr const char* without_effect[] = {"--out",  "--force", "--json",  "--quiet",  "--threads",
                                          "--help", "--plot",  "--table", "--palette"};

void add_grid_options(CLI::App& app, SweepRequest& r) {
    const Adder add(app, "Grid");
    add("--mixers,--mixer", fmt::format("{},FILE", fmt::join(family_names(), ",")), "",
        fmt::format("families ({}) or files of matrices, with commas between",
                    fmt::join(family_names(), ", ")),
        [&r](const auto& name, const auto& text) { r.mixers = to_mixers(name, text); });
    add("--checkpoints", "FILE,FILE…", "",
        "weight files (docs/layouts.md) beside the mixers, or alone where no --mixers are given: their "
        "mixers at zero input, in the depth, streams and branch that they have",
        [&app, &r](const auto& name, const auto& text) {
            r.checkpoints = to_checkpoints(name, text);
            if (app.count("--mixers") == 0) r.mixers.clear();
        });
    add("--branches,--branch", fmt::format("{}", fmt::join(branch_names(), ",")), default_branch,
        fmt::format("branches: {}", fmt::join(branch_names(), ", ")),
        [&r](const auto& name, const auto& text) {
            r.branches.clear();
            for (const auto& word : split(text, ','))
                add_new(r.branches, to_choice(name, word, branch_names()));
        });
    add("--streams", "n,n…", std::to_string(default_streams), "residual streams, 1 to 512",
        [&r](const auto& name, const auto& text) { r.streams = to_ints(name, text, 1, max_streams); });
    add("--widths,--width", "p,p…", std::to_string(default_width),
        "widths of a stream in the simulation, 1 to 100000",
        [&r](const auto& name, const auto& text) { r.widths = to_ints(name, text, 1, max_width); });
    add("--depths,--depth", "L,L…", std::to_string(default_depth), "layers, 1 to 1000000",
        [&r](const auto& name, const auto& text) { r.depths = to_ints(name, text, 1, max_depth); });
    add("--noises,--noise", "C,C…", fmt::format("{}", default_noise), "total variances of the branch, L·σ²",
        [&r](const auto& name, const auto& text) { r.noises = to_noises(name, text); });
    add("--seeds,--seed", "N,N…", "1",
        "seeds; like all lists of integers also FIRST:LAST[:STEP], both ends included",
        [&r](const auto& name, const auto& text) {
            r.seeds = to_ranges<std::uint64_t>(name, text, 0, std::numeric_limits<std::uint64_t>::max());
        });
    app.add_flag("--redrawn", r.each.redrawn, "draw the mixers anew for every sample")->group("Simulation");
    auto* const out = app.add_option_function<std::string>(
        "--out", [&r](const std::string& text) { r.each.out = text; },
        "writes STEM.h5 and STEM.csv; until all is done, STEM.parts holds what is finished");
    out->type_name("STEM")->default_str("spectra-sweep")->group("Output");
}

bool is_list(const CLI::Option& option) {
    return option.get_group() == "Grid";
}

/// What is typed of the options that results depend on.
void collect_typed(const CLI::App& app, SweepRequest& r) {
    r.typed.clear();
    for (const auto* option : app.get_options([](const CLI::Option* o) { return o->count() > 0; })) {
        const std::string name = "--" + option->get_lnames().front();
        if (is_list(*option) ||
            std::find(std::begin(without_effect), std::end(without_effect), name) != std::end(without_effect))
            continue;
        r.typed.emplace_back(name, fmt::format("{}", fmt::join(option->results(), ",")));
    }
}

/// Fit for the name of a file and of a group.
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

/// Mixer, depth, noise and seed always; the rest where it is not the default.
std::string name_of(const Request& r) {
    const std::string& source = source_of(r);
    const bool family = mixers::find_family(source).has_value();
    std::string name = plain(family ? source : std::filesystem::path(source).stem().string());
    if (r.branch.value_or(default_branch) != default_branch) name += "-" + *r.branch;
    if (r.streams.value_or(default_streams) != default_streams) name += fmt::format("-n{}", *r.streams);
    if (r.width.value_or(default_width) != default_width) name += fmt::format("-p{}", *r.width);
    if (family || r.depth) name += fmt::format("-L{}", r.depth.value_or(default_depth));
    if (!r.sigma2 && !r.branch_law) name += fmt::format("-noise{}", r.noise.value_or(default_noise));
    return name + fmt::format("-seed{}", r.seed);
}

/// The points with every value of a list in turn; as they are where none was given.
template <class T, class Set>
void cross(std::vector<GridPoint>& points, const std::vector<T>& values, const Set& set) {
    if (values.empty()) return;
    if (points.size() > max_networks / values.size())
        throw std::invalid_argument(
            fmt::format("the grid has more than {} networks; accepted: up to so many", max_networks));
    std::vector<GridPoint> crossed;
    crossed.reserve(points.size() * values.size());
    for (const auto& point : points)
        for (const auto& value : values) {
            crossed.push_back(point);
            set(crossed.back().request, value);
        }
    points = std::move(crossed);
}

/// The network of a weight file, and what is asked of all. Options of drawn mixers and of branches are for
/// the others.
GridPoint checkpoint_point(const SweepRequest& request, const std::string& file) {
    GridPoint point{"", request.each, {}};
    Request& r = point.request;
    r.model = file;
    point.unread = drop_unread_options(r);
    const auto drop = [&](const char* option, auto& target) {
        if (target) point.unread.emplace_back(option);
        target = {};
    };
    drop("--sigma2", r.sigma2);
    drop("--draws", r.shared_draws);
    drop("--redrawn", r.redrawn);
    drop("--average", r.average);
    return point;
}

void check_all_read(const std::vector<GridPoint>& points, const std::string& command) {
    for (const auto& option : points.front().unread) {
        const auto unread = [&](const GridPoint& point) {
            return std::find(point.unread.begin(), point.unread.end(), option) != point.unread.end();
        };
        if (std::all_of(points.begin(), points.end(), unread))
            throw std::invalid_argument(fmt::format(
                "{}: {}: no network of the grid reads this option; accepted with the mixers and branches "
                "that do (spectra --help)",
                command, option));
    }
}

}  // namespace

void add_options(CLI::App& app, SweepRequest& request) {
    add_options(app, request.each);
    for (const char* name : replaced)
        if (auto* const option = app.get_option_no_throw(name)) app.remove_option(option);
    add_grid_options(app, request);
    app.parse_complete_callback([&app, &request] { collect_typed(app, request); });
}

std::vector<GridPoint> grid_points(const SweepRequest& request) {
    if (request.mixers.empty() && request.checkpoints.empty())
        throw std::invalid_argument(
            fmt::format("{0}: no networks: give --mixers NAME,NAME… (spectra {0} --help)", request.command));
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
    for (auto& point : points) point.unread = drop_unread_options(point.request);

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
                fmt::format("{}: {} and {} would both be called {}; accepted: files of different names",
                            point.request.model ? "--checkpoints" : "--mixers", known->second,
                            source_of(point.request), point.name));
    }
    check_all_read(points, request.command);
    return points;
}

}  // namespace spectra::cli
