#include "study/green_over_ranks.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace spectra::study {

namespace {

/// The message sent per point.
struct Solved {
    std::complex<double> g;
    double residual;
    int iterations;
    std::uint8_t certified;
};

std::vector<Solved> solve_part(int rank, int size, const Network& network,
                               const std::vector<std::complex<double>>& omega,
                               const dyson::Options& options) {
    std::vector<std::complex<double>> own;
    for (auto k = static_cast<std::size_t>(rank); k < omega.size(); k += static_cast<std::size_t>(size))
        own.push_back(omega[k]);
    std::vector<Solved> part;
    if (own.empty()) return part;
    const auto green = dyson::green(network, own, options);
    for (std::size_t k = 0; k < own.size(); ++k)
        part.push_back({green.g[k], green.residual[k], green.iterations[k], green.certified[k]});
    return part;
}

}  // namespace

dyson::Green gather_green(parallel::Ranks& ranks, const Network& network,
                          const std::vector<std::complex<double>>& omega, const dyson::Options& options) {
    const int size = ranks.size();
    std::vector<std::vector<Solved>> parts(static_cast<std::size_t>(size));
    parts[0] = solve_part(0, size, network, omega, options);
    std::vector<bool> heard(static_cast<std::size_t>(size), false);
    for (int missing = size - 1; missing > 0;) {
        const auto message = ranks.receive();
        if (!message) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            continue;
        }
        const auto from = static_cast<std::size_t>(message->from);
        if (heard[from]) continue;  // it has finished
        if (message->bytes.empty())
            throw std::runtime_error(
                fmt::format("process {} ended before it computed its points", message->from));
        heard[from] = true;
        --missing;
        // One byte more than the points, so that a rank without points sends a message too.
        auto& part = parts[from];
        part.resize(message->bytes.size() / sizeof(Solved));
        if (!part.empty())
            std::memcpy(static_cast<void*>(part.data()), message->bytes.data(), part.size() * sizeof(Solved));
    }
    dyson::Green green;
    green.omega = omega;
    for (std::size_t k = 0; k < omega.size(); ++k) {
        const auto& solved = parts[k % parts.size()][k / parts.size()];
        green.g.push_back(solved.g);
        green.residual.push_back(solved.residual);
        green.iterations.push_back(solved.iterations);
        green.certified.push_back(solved.certified);
    }
    return green;
}

void send_green(parallel::Ranks& ranks, const Network& network,
                const std::vector<std::complex<double>>& omega, const dyson::Options& options) {
    const auto part = solve_part(ranks.rank(), ranks.size(), network, omega, options);
    std::vector<std::byte> bytes(part.size() * sizeof(Solved) + 1);
    if (!part.empty()) std::memcpy(bytes.data(), part.data(), part.size() * sizeof(Solved));
    ranks.send(0, std::move(bytes));
}

}  // namespace spectra::study
