#include "tasks/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>
#include <numeric>
#include <stdexcept>

namespace spectra::tasks {

void read_window(const Dataset& data, std::int64_t offset, std::span<std::int64_t> x,
                 std::span<std::int64_t> y) {
    const auto steps = static_cast<std::size_t>(data.steps);
    if (offset < 0 || offset >= data.train.count || x.size() != steps || y.size() != steps ||
        data.stream.empty())
        throw std::out_of_range(fmt::format("read_window: offset {} of {} windows, {} and {} of {} steps",
                                            offset, data.stream.empty() ? 0 : data.train.count, x.size(),
                                            y.size(), steps));
    const auto* const first = data.stream.data() + offset;
    std::copy_n(first, steps, x.begin());
    std::copy_n(first + 1, steps, y.begin());
}

std::vector<std::int64_t> window_bytes(const Dataset& data) {
    const auto bytes = token_bytes(data.tokeniser);
    const auto& targets = data.validation.tokens_y;
    const auto steps = static_cast<std::size_t>(data.steps);
    std::vector<std::int64_t> sums(static_cast<std::size_t>(data.validation.count));
    for (std::size_t k = 0; k < sums.size() * steps; ++k)
        sums[k / steps] += static_cast<std::int64_t>(bytes[static_cast<std::size_t>(targets[k])].size());
    return sums;
}

double bits_per_byte(const Dataset& data, double loss) {
    const auto bytes = window_bytes(data);
    const auto sum = static_cast<double>(std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0}));
    return loss * static_cast<double>(data.validation.count * data.steps) / (sum * std::numbers::ln2);
}

}  // namespace spectra::tasks
