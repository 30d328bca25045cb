#include "train/batches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <stdexcept>

#include "random/stream.hpp"

namespace spectra::train {

using torch::Tensor;

Batches::Batches(const tasks::Dataset& data, int64_t batch, std::uint64_t seed, torch::Device device,
                 const ModelConfig* halting, const DataParallel* processes)
    : data_(data),
      count_(std::min(batch, data.train.count)),
      begin_(0),
      end_(count_),
      seed_(seed),
      device_(device),
      halting_(halting),
      all_(tensors_of(data, data.train, device)) {
    if (processes == nullptr) return;
    const int64_t rank = processes->rank(), size = processes->size();
    if (halting != nullptr)
        throw std::invalid_argument(
            "`architecture` trm: its states are carried from step to step, so one process has to train it");
    if (count_ < size)
        throw std::invalid_argument(fmt::format(
            "`batch`: {}, but {} processes were started; each needs at least one sequence", count_, size));
    begin_ = rank * count_ / size;
    end_ = (rank + 1) * count_ / size;
}

Batch Batches::draw(std::uint32_t index) const {
    random::Stream stream(seed_, random::Purpose::batch, 0, index);
    std::vector<int64_t> rows(static_cast<std::size_t>(count_));
    for (auto& row : rows)
        row = static_cast<int64_t>(stream.uniform() * static_cast<double>(data_.train.count));
    rows = {rows.begin() + begin_, rows.begin() + end_};
    if (!all_.x.defined()) return windows(rows);
    const auto chosen = torch::tensor(rows).to(device_);
    return {all_.x.index_select(0, chosen), all_.y.index_select(0, chosen), least_steps(count_, index)};
}

Tensor Batches::least_steps(int64_t count, std::uint32_t index) const {
    if (halting_ == nullptr) return {};
    constexpr std::uint32_t layer = 1;  // 0 draws the sequences
    random::Stream stream(seed_, random::Purpose::batch, layer, index);
    const auto most = halting_->supervision_steps;
    std::vector<int64_t> least(static_cast<std::size_t>(count), 1);
    for (auto& steps : least) {
        const bool explores = stream.uniform() < halting_->halt_exploration;
        const auto drawn = 2 + static_cast<int64_t>(stream.uniform() * static_cast<double>(most - 1));
        if (explores) steps = std::min(drawn, most);
    }
    return torch::tensor(least).to(device_);
}

Batch Batches::windows(const std::vector<int64_t>& offsets) const {
    const auto count = static_cast<int64_t>(offsets.size()), steps = data_.steps;
    auto x = torch::empty({count, steps}, torch::kLong), y = torch::empty_like(x);
    for (int64_t i = 0; i < count; ++i) {
        const auto at = [&](const Tensor& t) {
            return std::span(t.data_ptr<int64_t>() + i * steps, static_cast<std::size_t>(steps));
        };
        tasks::read_window(data_, offsets[static_cast<std::size_t>(i)], at(x), at(y));
    }
    return {x.to(device_), y.to(device_)};
}

Batch tensors_of(const tasks::Dataset& data, const tasks::Split& split, torch::Device device) {
    const auto shaped = [&](const auto& values, torch::ScalarType type, const std::vector<int64_t>& shape) {
        return torch::from_blob(const_cast<void*>(static_cast<const void*>(values.data())), shape,
                                torch::dtype(type))
            .clone()
            .to(device);
    };
    if (!data.tokens)
        return {shaped(split.x, torch::kFloat, {split.count, data.steps, data.dimension}),
                shaped(split.y, torch::kFloat, {split.count, data.steps, data.dimension})};
    if (split.tokens_x.empty()) return {};
    return {shaped(split.tokens_x, torch::kLong, {split.count, data.steps}),
            shaped(split.tokens_y, torch::kLong, {split.count, data.steps})};
}

}  // namespace spectra::train
