#pragma once

#include "montecarlo/run/simulate.hpp"
#include "montecarlo/same_simulation.hpp"
#include "parallel/ranks.hpp"
#include "support/branches.hpp"
#include "support/networks.hpp"

#include <atomic>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace spectra::tests {

/// What ranks find together is what one process finds alone, to the last bit; run on all of them.
class RankCases {
public:
    explicit RankCases(parallel::Ranks* ranks)
        : ranks_(ranks), first_(ranks == nullptr || ranks->rank() == 0) {}

    /// One line for everything that went wrong on this rank.
    std::vector<std::string> failures() {
        results();
        continuation();
        endings();
        // The first leaves without a run: the others do not wait for it.
        if (!first_) {
            Options options;
            options.ranks = ranks_;
            expect(simulate(make_network(Mixer::Identity(1, 1), 1, 2, 0.1), options).elsewhere, "left");
        }
        return failures_;
    }

private:
    using Keep = montecarlo::Keep;
    using Options = montecarlo::Options;
    using Simulation = montecarlo::Simulation;

    void expect(bool good, const std::string& what) {
        if (!good) failures_.push_back(what);
    }

    /// On all ranks; the first compares with a run of its own.
    void expect_same(const Network& network, Options options, const std::string& what) {
        options.ranks = ranks_;
        const Simulation together = simulate(network, options);
        expect(together.elsewhere == !first_, what + ": elsewhere");
        if (!first_) {
            expect(together.samples == 0 && together.log_values.empty() && !together.interrupted(),
                   what + ": something is on another rank");
            return;
        }
        options.ranks = nullptr;
        const auto different = difference(together, simulate(network, options));
        expect(different.empty(), what + ": " + different);
    }

    static std::string message_of(const std::function<void()>& call) {
        try {
            call();
        } catch (const std::exception& error) {
            return error.what();
        }
        return "";
    }

    void results() {
        mixers::Recipe recipe;
        recipe.family = mixers::Family::bistochastic;
        auto network = draw_network(recipe.family, 2, 3, 4, 0);
        for (const auto& [name, branch] : every_branch(2, 3, 0.3)) {
            network.branch = branch;
            for (const Keep keep : {Keep::values, Keep::histogram}) {
                for (const int samples : {0, 1, 2, 37}) {
                    Options options;
                    options.samples = samples;
                    options.keep = keep;
                    options.threads = 1 + samples % 3;
                    expect_same(network, options, name + ", " + std::to_string(samples));
                    options.redrawn = recipe;
                    expect_same(network, options, name + ", redrawn, " + std::to_string(samples));
                }
            }
        }
        Options options;
        options.samples = 6'000;  // more than may be under way
        options.keep = Keep::histogram;
        options.threads = 2;
        expect_same(make_network(Mixer::Identity(1, 1), 1, 2, 0.1), options, "many");
        options.until_error = 0.01;
        expect_same(network, options, "until an error");
        options.keep = Keep::values;
        expect_same(network, options, "until an error, values");
        options.threads = 0;
        options.until_error.reset();
        options.samples = 60;
        expect_same(draw_network(mixers::Family::cayley, 4, 5, 30, 0.1), options, "larger");
    }

    void continuation() {
        const auto network = draw_network(mixers::Family::gaussian, 2, 3, 4, 0.2);
        for (const Keep keep : {Keep::values, Keep::histogram}) {
            Options options;
            options.keep = keep;
            options.threads = 2;
            options.samples = 50;
            options.ranks = ranks_;
            std::vector<Simulation> seen;
            options.checkpoint_seconds = 0;
            options.checkpoint = [&seen](const Simulation& so_far) { seen.push_back(stored(so_far)); };
            const auto whole = simulate(network, options);
            options.checkpoint = nullptr;
            expect(!first_ || !seen.empty(), "there are checkpoints");
            // The first rank alone knows where to go on.
            const Simulation from = seen.empty() ? Simulation() : seen.back();
            if (first_) options.resume = &from;
            const auto continued = simulate(network, options);
            expect(difference(continued, whole).empty(), "continued: " + difference(continued, whole));
        }
    }

    void endings() {
        const auto network = draw_network(mixers::Family::gaussian, 2, 3, 4, 0.2);
        // Stopped on the first rank.
        std::atomic<bool> stop = false;
        Options options;
        options.ranks = ranks_;
        options.samples = 1'000'000;
        options.threads = 1;
        options.keep = Keep::histogram;
        options.stop = &stop;
        options.progress = [&stop](int done, int) {
            if (done == 100) stop = true;
        };
        auto out = simulate(network, options);
        expect(!first_ || (out.samples >= 100 && out.interrupted()), "stopped on the first rank");
        if (first_) {
            Options alone;
            alone.samples = out.samples;
            alone.keep = Keep::histogram;
            auto same = simulate(network, alone);
            same.samples_requested = out.samples_requested;
            expect(difference(out, same).empty(), "stopped: " + difference(out, same));
        }
        // Stopped on the last rank.
        const int last = ranks_ == nullptr ? 0 : ranks_->size() - 1;
        const bool here = ranks_ == nullptr || ranks_->rank() == last;
        stop = here;
        options.progress = nullptr;
        out = simulate(network, options);
        expect(!first_ || (out.interrupted() && out.samples <= last), "stopped on the last rank");
        // Failing samples: the first one's message, on the first rank.
        stop = false;
        options.samples = 30;
        const auto broken = make_network(Mixer::Constant(2, 2, std::nan("")), 2, 3, 0.1);
        auto message = message_of([&] { simulate(broken, options); });
        expect(message == (first_ ? "singular values of sample 0 did not converge" : ""),
               "failing: " + message);
        // A rank that has another network.
        if (last > 0) {
            auto other = network;
            if (here) other.mixers[0](0, 0) += 1;
            message = message_of([&] { simulate(other, options); });
            expect(message == (first_ ? "rank " + std::to_string(last) +
                                            ": the network's mixers differ from those on the first rank"
                                      : ""),
                   "another network: " + message);
        }
        // An error of the first rank's own.
        options.progress = [](int, int) { throw std::runtime_error("enough"); };
        message = message_of([&] { simulate(network, options); });
        expect(message == (first_ ? "enough" : ""), "progress: " + message);
    }

    parallel::Ranks* ranks_;
    bool first_;
    std::vector<std::string> failures_;
};

}  // namespace spectra::tests
