#include "parallel/rank_team.hpp"

#include "base/stop.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>

namespace spectra::parallel {

namespace {

constexpr std::size_t largest_message = std::size_t{16} << 20U;
constexpr auto pause = std::chrono::microseconds(200);  // between checks for messages
// A signal that stops all ranks reaches some of them first.
constexpr auto before_blame = std::chrono::seconds(1);

std::uint64_t announced_size(const std::vector<std::byte>& bytes) {
    std::uint64_t size = 0;
    std::memcpy(&size, bytes.data(), sizeof size);
    return size;
}

}  // namespace

RankTeam::RankTeam(Ranks& ranks, const std::atomic<bool>& stop)
    : ranks_(ranks), stop_(stop), boxes_(static_cast<std::size_t>(ranks.size())) {}

bool RankTeam::Box::has_part() const {
    return bytes.size() >= sizeof(std::uint64_t) &&
           bytes.size() - sizeof(std::uint64_t) >= announced_size(bytes);
}

std::vector<std::byte> RankTeam::Box::take_part() {
    const auto begin = bytes.begin() + sizeof(std::uint64_t);
    const auto end = begin + static_cast<std::ptrdiff_t>(announced_size(bytes));
    std::vector<std::byte> part(begin, end);
    bytes.erase(bytes.begin(), end);
    return part;
}

void RankTeam::send(int to, const std::vector<std::byte>& part) {
    const std::uint64_t size = part.size();
    std::vector<std::byte> message(sizeof size);
    std::memcpy(message.data(), &size, sizeof size);
    std::size_t sent = 0;
    do {
        const std::size_t more = std::min(part.size() - sent, largest_message);
        const auto from = part.begin() + static_cast<std::ptrdiff_t>(sent);
        message.insert(message.end(), from, from + static_cast<std::ptrdiff_t>(more));
        ranks_.send(to, std::move(message));
        message.clear();
        sent += more;
    } while (sent < part.size());
}

void RankTeam::wait_for(int from) {
    Box& box = boxes_[static_cast<std::size_t>(from)];
    std::chrono::steady_clock::time_point left_at{};
    while (!box.has_part()) {
        if (stop_) throw Stopped{};
        if (const auto message = ranks_.receive()) {
            Box& of = boxes_[static_cast<std::size_t>(message->from)];
            if (message->bytes.empty())
                of.left = true;
            else
                of.bytes.insert(of.bytes.end(), message->bytes.begin(), message->bytes.end());
            continue;
        }
        if (box.left && from == 0) throw Stopped{};
        if (box.left && left_at == std::chrono::steady_clock::time_point{})
            left_at = std::chrono::steady_clock::now();
        if (box.left && std::chrono::steady_clock::now() - left_at > before_blame)
            throw std::runtime_error("process " + std::to_string(from) +
                                     " ended before it computed its points");
        std::this_thread::sleep_for(pause);
    }
}

std::vector<std::vector<std::byte>> RankTeam::gather(std::vector<std::byte> own) {
    if (!is_first()) {
        send(0, own);
        return {};
    }
    std::vector<std::vector<std::byte>> parts{std::move(own)};
    for (int from = 1; from < size(); ++from) {
        wait_for(from);
        parts.push_back(boxes_[static_cast<std::size_t>(from)].take_part());
    }
    return parts;
}

std::vector<std::byte> RankTeam::spread(std::vector<std::byte> of_first) {
    if (!is_first()) {
        wait_for(0);
        return boxes_.front().take_part();
    }
    for (int to = 1; to < size(); ++to) send(to, of_first);
    return of_first;
}

}  // namespace spectra::parallel
