#include "tasks/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
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

}  // namespace spectra::tasks
