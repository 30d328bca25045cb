#include "tasks/token_tasks.hpp"

#include "base/text.hpp"
#include "tasks/legacy_random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

namespace spectra::tasks {

namespace {

constexpr std::int64_t copied = 32;     // symbols per sequence
constexpr std::int64_t separator = 32;  // the token after symbols 0 … 31

/// s₁ … s₃₂, separator, s₁ … s₃₂: without the last token as input, without the first as target.
Split copy_split(std::int64_t count, std::uint32_t seed) {
    Split split;
    split.count = count;
    split.tokens_x.reserve(static_cast<std::size_t>(count * 2 * copied));
    split.tokens_y.reserve(split.tokens_x.capacity());
    LegacyRandom random(seed);
    std::array<std::int64_t, copied> symbols{};
    for (std::int64_t k = 0; k < count; ++k) {
        for (auto& symbol : symbols) symbol = random.randint(0, separator);
        split.tokens_x.insert(split.tokens_x.end(), symbols.begin(), symbols.end());
        split.tokens_x.push_back(separator);
        split.tokens_x.insert(split.tokens_x.end(), symbols.begin(), symbols.end() - 1);
        split.tokens_y.insert(split.tokens_y.end(), symbols.size(), not_scored);
        split.tokens_y.insert(split.tokens_y.end(), symbols.begin(), symbols.end());
    }
    return split;
}

/// Adjacent windows; the remainder at the end is not used.
Split windows(const std::vector<std::uint16_t>& stream, std::size_t steps) {
    const std::size_t count = (stream.size() - 1) / steps;
    const auto end = stream.begin() + static_cast<std::ptrdiff_t>(count * steps);
    Split split;
    split.count = static_cast<std::int64_t>(count);
    split.tokens_x.assign(stream.begin(), end);
    split.tokens_y.assign(stream.begin() + 1, end + 1);
    return split;
}

}  // namespace

Dataset make_copy(const TaskOptions& options) {
    Dataset data;
    data.tokens = true;
    data.steps = 2 * copied;
    data.dimension = separator + 1;
    data.noise_floor = 0;
    data.train = copy_split(options.samples.value_or(5000), static_cast<std::uint32_t>(options.seed));
    data.validation = copy_split(500, static_cast<std::uint32_t>(options.seed + 1000));
    return data;
}

Dataset make_text(const TaskOptions& options) {
    constexpr std::int64_t longest_context = 1 << 20;
    if (options.context < 1 || options.context > longest_context)
        throw std::invalid_argument(
            fmt::format("context {}; must be 1 to {}", options.context, longest_context));
    if (options.text_file.empty())
        throw std::invalid_argument("task 'text' requires a text file to learn from");
    const std::string text = read_text(options.text_file);
    const auto steps = static_cast<std::size_t>(options.context);
    const std::string_view all = text;
    const std::size_t training = options.all_for_validation ? 0 : all.size() - all.size() / 10;

    Dataset data;
    data.tokens = true;
    data.steps = options.context;
    data.tokeniser = options.tokeniser        ? *options.tokeniser
                     : options.vocabulary > 0 ? learn_tokeniser(all.substr(0, training), options.vocabulary)
                                              : byte_tokeniser(all);
    data.dimension = data.tokeniser.size();
    const auto tokens = [&](std::string_view part) {
        try {
            return encode(data.tokeniser, part);
        } catch (const std::invalid_argument& error) {
            throw std::invalid_argument(fmt::format("{}: {}", options.text_file, error.what()));
        }
    };
    data.stream = tokens(all.substr(0, training));
    const auto held_out = tokens(all.substr(training));
    // A window needs a target for its last position; the validation tenth is the shorter split.
    if (held_out.size() < steps + 1) {
        const bool bytes = data.tokeniser.merges.empty();
        throw std::invalid_argument(fmt::format(
            "{}: {} {}; must be at least {} for windows of {}", options.text_file,
            bytes ? text.size() : data.stream.size() + held_out.size(), bytes ? "bytes" : "tokens",
            (options.all_for_validation ? 1 : 10) * (steps + 1), steps));
    }
    data.validation = windows(held_out, steps);
    if (options.all_for_validation) return data;
    if (options.samples) {
        const auto held = (data.stream.size() - 1) / steps;
        if (static_cast<std::size_t>(*options.samples) > held)
            throw std::invalid_argument(
                fmt::format("samples {}; must be 1 to {}, the windows of {} in the "
                            "training data of {}",
                            *options.samples, held, steps, options.text_file));
        data.stream.resize(static_cast<std::size_t>(*options.samples) * steps + 1);
    }
    data.train.count = static_cast<std::int64_t>(data.stream.size() - steps);
    return data;
}

}  // namespace spectra::tasks
