#pragma once

#include "base/bytes.hpp"
#include "base/parallel.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace spectra {

/// Processes that run the same computation, each with a part of its independent pieces. All of them make the same calls in the
/// same order.
class Team {
public:
    Team() = default;
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;
    virtual ~Team() = default;

    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// On the first process what each one gave, in order; nothing on the others.
    virtual std::vector<std::vector<std::byte>> gather(std::vector<std::byte> own) = 0;
    /// On every process what the first one gave.
    virtual std::vector<std::byte> spread(std::vector<std::byte> of_first) = 0;

    bool is_first() const { return rank() == 0; }
    /// Pieces are dealt in turn.
    bool owns(std::size_t piece) const {
        return piece % static_cast<std::size_t>(size()) == static_cast<std::size_t>(rank());
    }
};

/// parallel_for over pieces that are dealt to the team, if there is one. What a process has solved it writes with
/// put(writer, k), and every other one reads with get(reader, k): afterwards all of them have all pieces.
template <class State, class Solve, class Put, class Get>
void parallel_for(Team* team, std::size_t count, std::vector<State>& states, const Solve& solve,
                  const Put& put, const Get& get) {
    if (team == nullptr) return parallel_for(count, states, solve);
    std::vector<std::size_t> own;
    for (std::size_t k = 0; k < count; ++k)
        if (team->owns(k)) own.push_back(k);
    parallel_for(own.size(), states, [&](State& state, std::size_t i) { solve(state, own[i]); });
    ByteWriter solved;
    for (const std::size_t k : own) put(solved, k);
    ByteWriter all;
    for (const auto& part : team->gather(solved.take())) all.put_values(std::span<const std::byte>(part));
    const auto bytes = team->spread(all.take());
    ByteReader parts(bytes);
    const auto processes = static_cast<std::size_t>(team->size());
    for (std::size_t from = 0; from < processes; ++from) {
        const auto part = parts.values<std::byte>();
        if (from == static_cast<std::size_t>(team->rank())) continue;
        ByteReader reader(part);
        for (std::size_t k = from; k < count; k += processes) get(reader, k);
    }
}

}  // namespace spectra
