#include "tasks/tasks.hpp"

#include "base/text.hpp"
#include "tasks/arc_file.hpp"
#include "tasks/grid_rules.hpp"
#include "tasks/real_tasks.hpp"
#include "tasks/token_tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace spectra::tasks {

namespace {

constexpr std::uint64_t largest_seed = std::numeric_limits<std::uint32_t>::max() - 1000;
constexpr std::int64_t largest_samples = 10'000'000;

using Maker = Dataset (*)(const TaskOptions&);
constexpr std::array<std::pair<const char*, Maker>, 10> makers{{{"gyroscope", make_gyroscope},
                                                                {"stability", make_stability},
                                                                {"near-pi-single", make_near_pi_single},
                                                                {"near-pi-multi", make_near_pi_multi},
                                                                {"exact-pi", make_exact_pi},
                                                                {"reflection", make_reflection},
                                                                {"copy", make_copy},
                                                                {"text", make_text},
                                                                {"grid", make_grid},
                                                                {"arc", make_arc}}};

void require(bool accepted, const char* option, auto value, auto low, auto high) {
    if (!accepted)
        throw std::invalid_argument(fmt::format("{} {}; must be {} to {}", option, value, low, high));
}

void keep_first(Dataset& data, std::int64_t count) {
    auto& split = data.validation;
    require(count >= 1 && count <= split.count, "`validation_samples`", count, 1, split.count);
    const auto tokens = static_cast<std::size_t>(count * data.steps);
    const auto cut = [](auto& values, std::size_t size) { values.resize(std::min(values.size(), size)); };
    cut(split.tokens_x, tokens);
    cut(split.tokens_y, tokens);
    cut(split.x, tokens * static_cast<std::size_t>(data.dimension));
    cut(split.y, tokens * static_cast<std::size_t>(data.dimension));
    split.count = count;
}

}  // namespace

const std::vector<std::string>& task_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> result;
        result.reserve(makers.size());
        for (const auto& [name, maker] : makers) result.emplace_back(name);
        return result;
    }();
    return names;
}

Dataset make_dataset(const std::string& task, const TaskOptions& options) {
    const auto* const found =
        std::find_if(makers.begin(), makers.end(), [&](const auto& maker) { return maker.first == task; });
    if (found == makers.end())
        throw std::invalid_argument(
            fmt::format("task {}; must be one of {}", in_quotes(task), fmt::join(task_names(), ", ")));
    require(options.seed <= largest_seed, "seed", options.seed, 0, largest_seed);
    if (options.samples)
        require(*options.samples >= 1 && *options.samples <= largest_samples, "samples", *options.samples, 1,
                largest_samples);
    Dataset data = found->second(options);
    data.task = task;
    if (options.validation_samples) keep_first(data, *options.validation_samples);
    return data;
}

}  // namespace spectra::tasks
