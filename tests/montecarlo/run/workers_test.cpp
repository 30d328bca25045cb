#include "montecarlo/run/workers.hpp"
#include "linalg/graded.hpp"

#include "linalg/singular_values.hpp"
#include "montecarlo/rank_threads.hpp"
#include "montecarlo/run/totals.hpp"
#include "montecarlo/same_simulation.hpp"
#include "montecarlo/sample/sampler.hpp"
#include "support/branches.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace {

using namespace spectra;
using namespace spectra::tests;
using namespace spectra::montecarlo;

/// What a GPU does, on the processor: as many samples at a time as it is told it can.
class FakeBackend final : public cuda::Backend {
public:
    FakeBackend(const Network& network, int batch)
        : batch_(batch), sampler_(network.streams, network.width), singular_values_(network.size()) {}

    std::string device() const override { return "fake"; }
    int batch() const override { return batch_; }
    void draw(std::span<const std::vector<Layer>> layers, std::uint64_t seed, std::uint32_t first,
              std::span<cuda::Drawn> drawn, std::span<double> log_values) override {
        EXPECT_LE(drawn.size(), static_cast<std::size_t>(batch_));
        const std::size_t size = log_values.size() / drawn.size();
        for (std::size_t s = 0; s < drawn.size(); ++s) {
            sampler_.draw(layers[layers.size() > 1 ? s : 0], seed, first + static_cast<std::uint32_t>(s));
            const auto matrix = sampler_.matrix();
            drawn[s] = {matrix.squaredNorm(), sampler_.exponent(), 0};
            if (first + s == broken) drawn[s].info = 1;
            EXPECT_TRUE(
                singular_values_.compute(matrix, sampler_.exponent(), log_values.subspan(s * size, size)));
        }
    }
    void draw_graded(std::span<const std::vector<Layer>> layers, std::uint64_t seed,
                     std::span<const std::uint32_t> samples, std::span<cuda::Drawn> drawn,
                     std::span<double> log_values) override {
        const std::size_t size = log_values.size() / drawn.size();
        linalg::GradedProduct product(static_cast<int>(size));
        std::vector<double> layer(size * size);
        for (std::size_t s = 0; s < drawn.size(); ++s) {
            const auto& stack = layers[layers.size() > 1 ? s : 0];
            product.start();
            for (std::uint32_t l = 0; l < stack.size(); ++l) {
                sampler_.draw_layer(stack[l], l, seed, samples[s], layer.data());
                EXPECT_TRUE(product.multiply(layer.data(), stack[l].exponent));
            }
            EXPECT_TRUE(product.log_values(log_values.subspan(s * size, size)));
            drawn[s].info = 0;
        }
    }
    void draw_matrices(std::span<const std::vector<Layer>>, std::uint64_t, std::uint32_t,
                       std::span<cuda::Drawn>, std::span<double>) override {}

    std::size_t broken = static_cast<std::size_t>(-1);

private:
    int batch_;
    Sampler sampler_;
    linalg::SingularValues singular_values_;
};

Options options_of(int samples, Keep keep) {
    Options options;
    options.samples = samples;
    options.keep = keep;
    options.threads = 2;
    return options;
}

Totals totals_of(const montecarlo::Run& run, int window) {
    Simulation head;
    head.samples_requested = run.options.samples;
    head.width = run.network.width;
    return {
        run.options, head, run.expected.log_mean_square, run.network.size(), run.options.keep == Keep::values,
        window};
}

TEST(Share, EverySampleOnce) {
    for (const int ranks : {1, 2, 3}) {
        for (const int block : {1, 4, 100}) {
            std::multiset<std::int64_t> seen;
            for (int rank = 0; rank < ranks; ++rank) {
                const Share share{5, 42, rank, ranks, block};
                std::int64_t last = -1;
                for (std::int64_t k = 0; share.sample(k) < share.end; ++k) {
                    EXPECT_GT(share.sample(k), last);
                    seen.insert(last = share.sample(k));
                }
            }
            EXPECT_EQ(seen.size(), 37U);
            EXPECT_EQ(std::set<std::int64_t>(seen.begin(), seen.end()).size(), 37U);
            EXPECT_EQ(*seen.begin(), 5);
        }
    }
}

TEST(Draw, InBatchesOfAnySize) {
    mixers::Recipe recipe;
    recipe.family = mixers::Family::bistochastic;
    // The second is so deep that plain products lose values.
    const Network networks[] = {draw_network(recipe.family, 2, 3, 4, 0.2),
                                draw_network(recipe.family, 4, 40, 2, 1e-3)};
    for (const Keep keep : {Keep::values, Keep::histogram}) {
        for (const bool redrawn : {false, true}) {
            const Network& network = networks[keep == Keep::values ? 1 : 0];
            auto options = options_of(23, keep);
            if (redrawn) options.redrawn = recipe;
            const montecarlo::Run run(network, options);
            auto reference = simulate(network, options);
            reference.fingerprint.clear();
            for (const int batch : {1, 2, 7, 23, 100}) {
                for (const int ranks : {1, 2, 3}) {
                    for (const int block : {1, 5, 23}) {
                        auto totals = totals_of(run, 2 * block * ranks);
                        on_threads(ranks, [&](int rank) {
                            FakeBackend backend(network, batch);
                            draw(run, &backend, {0, 23, rank, ranks, block}, totals);
                        });
                        EXPECT_EQ(difference(totals.result(), reference), "")
                            << "batch " << batch << ", ranks " << ranks << ", block " << block;
                    }
                }
            }
        }
    }
}

TEST(Draw, ABatchEndsWithTheFirstBrokenSample) {
    const auto network = draw_network(mixers::Family::cayley, 2, 3, 4, 0.2);
    const auto options = options_of(23, Keep::values);
    const montecarlo::Run run(network, options);
    FakeBackend backend(network, 7);
    backend.broken = 9;
    auto totals = totals_of(run, 8);
    draw(run, &backend, {0, 23, 0, 1, 23}, totals);
    EXPECT_EQ(totals.next(), 14);
    try {
        totals.result();
        FAIL();
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "the matrix of sample 9 is not finite");
    }
}

TEST(Draw, ABatchThatIsStopped) {
    const auto network = draw_network(mixers::Family::cayley, 2, 3, 4, 0.2);
    auto options = options_of(23, Keep::histogram);
    std::atomic<bool> stop = false;
    options.stop = &stop;
    options.progress = [&stop](int done, int) { stop = done >= 8; };
    const montecarlo::Run run(network, options);
    FakeBackend backend(network, 7);
    auto totals = totals_of(run, 8);
    draw(run, &backend, {0, 23, 0, 1, 23}, totals);
    const auto out = totals.result();
    EXPECT_EQ(out.samples, 14);  // the batch that was under way
    EXPECT_TRUE(out.interrupted());
}

}  // namespace
