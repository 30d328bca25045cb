#pragma once

#include <thread>
#include <vector>

namespace spectra::tests {

/// Calls work(rank) for every rank from 0 to ranks − 1, each in a thread of its own, and waits for all.
template <class Work>
void on_threads(int ranks, const Work& work) {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks; ++rank) threads.emplace_back([&work, rank] { work(rank); });
}

}  // namespace spectra::tests
