#include "montecarlo/run/simulate.hpp"

#include "base/special_values.hpp"
#include "montecarlo/run/histogram.hpp"
#include "montecarlo/run/statistics.hpp"
#include "montecarlo/same_simulation.hpp"
#include "montecarlo/sample/rounding.hpp"
#include "montecarlo/sample/sampler.hpp"
#include "support/branches.hpp"
#include "support/epsilon.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>

#include <Eigen/SVD>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <future>
#include <limits>
#include <numbers>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace spectra;
using namespace spectra::tests;
using montecarlo::Keep;
using montecarlo::Options;
using montecarlo::simulate;
using montecarlo::Simulation;

Options options(int samples, int threads = 2) {
    Options out;
    out.samples = samples;
    out.threads = threads;
    return out;
}

TEST(Simulate, NoiselessNetworksHaveTheMixersSingularValues) {
    for (const auto family : {mixers::Family::gaussian, mixers::Family::cayley_hybrid}) {
        const auto network = draw_network(family, 3, 4, 5, 0);
        Mixer product = Mixer::Identity(3, 3);
        for (const auto& mixer : network.mixers) product = (mixer * product).eval();
        const Eigen::VectorXd s = Eigen::JacobiSVD<Mixer>(product).singularValues().reverse();
        const auto out = simulate(network, options(2));
        ASSERT_EQ(out.log_values.size(), 30U);
        for (std::size_t sample = 0; sample < 2; ++sample) {
            for (int i = 0; i < 3; ++i) {
                for (int a = 0; a < 5; ++a) {
                    const auto k = sample * 15 + static_cast<std::size_t>(i * 5 + a);
                    EXPECT_NEAR(std::exp(out.log_values[k]), s[i], 100 * epsilon * s[2]);
                }
            }
        }
        EXPECT_EQ(out.mean_square_error, 0);
        EXPECT_NEAR(out.mean_square, product.squaredNorm() / 3, 100 * epsilon * out.mean_square);
    }
}

TEST(Simulate, AgreesWithThePlainReference) {
    for (const auto& [streams, width] : {std::pair{1, 1}, {1, 3}, {3, 1}, {3, 7}, {4, 6}}) {
        const auto network = draw_network(mixers::Family::bistochastic, streams, 3, width, 0.3);
        auto settings = options(3);
        settings.seed = 9;
        const auto out = simulate(network, settings);
        const auto size = static_cast<std::size_t>(network.size());
        ASSERT_EQ(out.log_values.size(), 3 * size);
        for (std::uint32_t sample = 0; sample < 3; ++sample) {
            Eigen::MatrixXd jacobian = layer_reference(network, 0, 9, sample);
            for (int l = 1; l < 3; ++l) jacobian = (layer_reference(network, l, 9, sample) * jacobian).eval();
            const Eigen::VectorXd s = Eigen::JacobiSVD<Eigen::MatrixXd>(jacobian).singularValues().reverse();
            for (std::size_t k = 0; k < size; ++k) {
                EXPECT_NEAR(std::exp(out.log_values[sample * size + k]), s[static_cast<Eigen::Index>(k)],
                            40 * epsilon * std::sqrt(static_cast<double>(size)) * s[s.size() - 1]);
            }
        }
        EXPECT_EQ(out.largest, std::exp(*std::max_element(out.log_values.begin(), out.log_values.end())));
        EXPECT_EQ(out.smallest, std::exp(*std::min_element(out.log_values.begin(), out.log_values.end())));
    }
}

TEST(Simulate, GaussianMatrixIsAQuarterCircle) {
    const double variance = 2.5;
    const auto network = make_network(Mixer::Zero(2, 2), 1, 30, variance);
    const auto out = simulate(network, options(40));
    EXPECT_NEAR(out.mean_square, variance, 4 * out.mean_square_error);
    // Variance of tr XᵀX / N: 2σ⁴/N².
    EXPECT_NEAR(out.mean_square_error, variance * std::sqrt(2.0 / 40) / 60,
                0.5 * variance * std::sqrt(2.0 / 40) / 60);
    double distance = 0;
    for (double s = 0.1; s < 2; s += 0.1) {
        const double exact = (0.5 * s * std::sqrt(4 - s * s) + 2 * std::asin(0.5 * s)) / std::numbers::pi;
        distance = std::max(distance, std::abs(out.law.cdf(std::log(s * std::sqrt(variance))) - exact));
    }
    EXPECT_LT(distance, 0.01);  // 1/N at finite width
}

TEST(Simulate, MeanSquareOfEveryFamily) {
    for (const auto family : mixers::all_families()) {
        for (const int depth : {1, 2, 10}) {
            const auto network = draw_network(family, 4, depth, 5, 0.3);
            const auto out = simulate(network, options(100));
            EXPECT_NEAR(out.mean_square, exact_mean_square(network), 4 * out.mean_square_error)
                << mixers::name(family) << ", L = " << depth;
            EXPECT_LT(out.mean_square_error, 0.1 * out.mean_square);
        }
    }
}

TEST(Simulate, MeanSquareOfEveryBranch) {
    for (const auto family : {mixers::Family::bistochastic, mixers::Family::orthogonal}) {
        for (const int depth : {1, 2, 6}) {
            auto network = draw_network(family, 3, depth, 5, 0);
            for (const auto& [name, branch] : every_branch(3, depth, 0.6)) {
                network.branch = branch;
                double exact = 0;
                if (const auto* tied = std::get_if<TiedBranch>(&branch)) {
                    if (depth != 2 || !tied->weights.empty()) continue;
                    exact = exact_tied_mean_square(network, tied->hyper_connection() ? 5 : 15);
                } else {
                    exact = exact_mean_square(network);
                }
                const auto out = simulate(network, options(150));
                EXPECT_NEAR(out.mean_square, exact, 5 * out.mean_square_error)
                    << name << ", " << mixers::name(family) << ", L = " << depth;
                EXPECT_LT(out.mean_square_error, 0.15 * out.mean_square) << name;
            }
        }
    }
}

TEST(Simulate, MeanSquareOfTiedLayersAtLargeWidth) {
    // The recursion is that of infinite width: 2 E(2p) − E(p) is, but for 1/p².
    for (const bool hyper : {false, true}) {
        for (const auto family :
             {mixers::Family::bistochastic, mixers::Family::orthogonal, mixers::Family::cayley}) {
            auto network = draw_network(family, 3, 4, 1, 0);
            network.branch = tied_branch(4, 0.2);
            if (hyper) network.branch = tied_branch(4, 0.2, reading(3, 0), writing(3, 0));
            if (family == mixers::Family::cayley) network.branch = taking_turns(3, 4, 0.2, hyper);
            const auto layers = montecarlo::scaled_layers(network);
            const auto sampled = [&](int width, int samples) {
                montecarlo::RunningMean mean;
                montecarlo::Sampler sampler(3, width);
                for (int k = 0; k < samples; ++k) {
                    sampler.draw(layers, 3, static_cast<std::uint32_t>(k));
                    mean.add(sampler.matrix().squaredNorm() / (3 * width), 2 * sampler.exponent());
                }
                return mean;
            };
            const auto narrow = sampled(10, 1500);
            const auto wide = sampled(20, 1500);
            const double error = std::hypot(2 * wide.standard_error(), narrow.standard_error());
            const double exact = std::exp(montecarlo::expectation(layers).log_mean_square);
            EXPECT_NEAR(2 * wide.mean() - narrow.mean(), exact, 5 * error) << mixers::name(family);
            EXPECT_LT(error, 0.02 * exact);
            // Independent layers of the same variance are another matter.
            if (family == mixers::Family::bistochastic) {
                auto independent = network;
                independent.branch = IsotropicBranch{std::vector<double>(4, 0.2)};
                if (hyper) {
                    independent.branch = HyperConnectionBranch{
                        std::vector<double>(4, 0.2), std::vector<Eigen::VectorXd>(4, reading(3, 0)),
                        std::vector<Eigen::VectorXd>(4, writing(3, 0))};
                }
                EXPECT_GT(std::abs(exact_mean_square(independent) - exact), 10 * error);
            }
        }
    }
}

TEST(Simulate, IdenticalForAnyNumberOfThreads) {
    for (const int width : {5, 16}) {
        auto network = draw_network(mixers::Family::bistochastic, 3, 4, width, 0);
        for (const auto& [name, branch] : every_branch(3, 4, 0.2)) {
            network.branch = branch;
            for (const Keep keep : {Keep::values, Keep::histogram}) {
                auto settings = options(11, 1);
                settings.keep = keep;
                const auto reference = simulate(network, settings);
                for (const int threads : {2, 3, 4}) {
                    settings.threads = threads;
                    EXPECT_EQ(difference(simulate(network, settings), reference), "")
                        << name << ", " << threads;
                }
            }
        }
    }
}

TEST(Simulate, SamplesDoNotDependOnHowManyThereAre) {
    const auto network = draw_network(mixers::Family::cayley, 2, 2, 4, 0.1);
    const auto few = simulate(network, options(3));
    const auto many = simulate(network, options(7));
    EXPECT_TRUE(std::equal(few.log_values.begin(), few.log_values.end(), many.log_values.begin()));
}

TEST(Simulate, HistogramIsTheValuesHistogram) {
    const auto network = draw_network(mixers::Family::bistochastic, 3, 10, 5, 0.1);
    auto settings = options(20);
    settings.keep = Keep::histogram;
    const auto counted = simulate(network, settings);
    settings.keep = Keep::values;
    const auto kept = simulate(network, settings);
    EXPECT_TRUE(counted.log_values.empty());
    EXPECT_TRUE(kept.counts.empty());
    montecarlo::LogHistogram histogram(std::log(exact_mean_square(network)));
    for (std::size_t k = 0; k < 20; ++k) histogram.add(std::span(kept.log_values).subspan(15 * k, 15));
    const auto counts = histogram.counts();
    EXPECT_EQ(counted.counts, counts.counts);
    EXPECT_EQ(counted.log_edges, counts.edges);
    EXPECT_EQ(counted.count_squares, counts.count_squares);
    EXPECT_EQ(counted.cumulative_squares, counts.cumulative_squares);
    EXPECT_EQ(counted.below, counts.below);
    EXPECT_EQ(counted.above, 0);
    EXPECT_EQ(counted.window, kept.window);
    EXPECT_EQ(counted.collapsed, kept.collapsed);
    EXPECT_EQ(counted.errors, kept.errors);
    EXPECT_EQ(counted.mean_square, kept.mean_square);
    EXPECT_EQ(counted.law.log_floor(), kept.law.log_floor());
    const double width = 1 / montecarlo::LogHistogram::bins_per_unit;
    EXPECT_LT(agreement(counted.law, kept.law).wasserstein1_log, width);
    EXPECT_NEAR(counted.law.metrics().mean_square, kept.law.metrics().mean_square, width * kept.mean_square);
}

TEST(Simulate, StopKeepsTheFirstSamples) {
    const auto network = draw_network(mixers::Family::cayley, 2, 2, 6, 0.1);
    const auto all = simulate(network, options(40));
    for (const int threads : {1, 3}) {
        for (const Keep keep : {Keep::values, Keep::histogram}) {
            std::atomic<bool> stop = false;
            auto settings = options(40, threads);
            settings.keep = keep;
            settings.stop = &stop;
            settings.progress = [&stop](int done, int requested) {
                EXPECT_EQ(requested, 40);
                if (done == 5) stop = true;
            };
            const auto out = simulate(network, settings);
            EXPECT_GE(out.samples, 5);
            EXPECT_LE(out.samples, 5 + 4 * threads);  // those that were running, or waiting for one
            EXPECT_TRUE(out.interrupted());
            EXPECT_EQ(out.samples_requested, 40);
            if (keep == Keep::values) {
                ASSERT_EQ(out.log_values.size(), static_cast<std::size_t>(12 * out.samples));
                EXPECT_TRUE(std::equal(out.log_values.begin(), out.log_values.end(), all.log_values.begin()));
            } else {
                double total = out.below + out.above;
                for (const double count : out.counts) total += count;
                EXPECT_EQ(total, 12 * out.samples);
            }
        }
    }
    std::atomic<bool> stop = true;
    auto settings = options(40);
    settings.stop = &stop;
    for (const Keep keep : {Keep::values, Keep::histogram}) {
        settings.keep = keep;
        const auto none = simulate(network, settings);
        EXPECT_EQ(none.samples, 0);
        EXPECT_TRUE(none.law.empty());
        EXPECT_TRUE(none.log_values.empty());
    }
}

TEST(Simulate, ProgressCountsEverySampleInOrder) {
    std::vector<int> seen;
    auto settings = options(9, 3);
    settings.progress = [&seen](int done, int) { seen.push_back(done); };
    simulate(make_network(Mixer::Identity(2, 2), 2, 3, 0.1), settings);
    EXPECT_EQ(seen, (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(Simulate, ErrorsComeOutOfTheThreads) {
    auto settings = options(9, 3);
    settings.progress = [](int done, int) {
        if (done == 4) throw std::runtime_error("enough");
    };
    EXPECT_THROW(simulate(make_network(Mixer::Identity(2, 2), 2, 3, 0.1), settings), std::runtime_error);
    // A mixer that is not finite (check() refuses it) names the first sample.
    const auto broken = make_network(Mixer::Constant(2, 2, std::nan("")), 2, 3, 0.1);
    try {
        simulate(broken, options(5, 2));
        FAIL();
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "singular values of sample 0 did not converge");
    }
    EXPECT_THROW(simulate(broken, options(-1)), std::invalid_argument);
}

TEST(Simulate, DeepNetworksNeitherOverflowNorVanish) {
    for (const double factor : {100.0, 0.01}) {
        const double depth = 1000;
        const auto network =
            make_network(factor * Mixer::Identity(2, 2), 1000, 3, factor * factor * 0.05 / depth);
        for (const Keep keep : {Keep::values, Keep::histogram}) {
            auto settings = options(4);
            settings.keep = keep;
            const auto out = simulate(network, settings);
            EXPECT_FALSE(std::isnan(out.mean_square));
            EXPECT_FALSE(std::isnan(out.mean_square_error));
            EXPECT_EQ(out.law.count_below(depth * std::log(factor) - 3), 0U);
            EXPECT_EQ(out.law.count_below(depth * std::log(factor) + 3), 24U);
            EXPECT_EQ(out.below + out.above, 0);
            EXPECT_NEAR(out.law.metrics().log_mean, depth * std::log(factor), 0.5);
            EXPECT_NEAR(out.law.metrics().effective_rank, 1, 0.1);
        }
    }
}

TEST(Simulate, AllZero) {
    const auto out = simulate(make_network(Mixer::Zero(2, 2), 3, 2, 0), options(2));
    EXPECT_EQ(out.log_values, std::vector<double>(8, -infinity));
    EXPECT_EQ(out.mean_square, 0);
    EXPECT_EQ(out.largest, 0);
    EXPECT_EQ(out.law.metrics().effective_rank, 0);
}

TEST(Simulate, ZerosOfRankDeficientMixersAreExact) {
    // Half of the singular values are zero but for rounding, which the graded product leaves out.
    mixers::Recipe recipe;
    recipe.family = mixers::Family::grassmann;
    const auto network =
        make_network(mixers::draw_layers(recipe, 4, 3, true, 1), 5, std::vector<double>{0, 0, 0});
    const auto out = simulate(network, options(3));
    EXPECT_EQ(out.law.log_floor(), -infinity);
    EXPECT_EQ(std::count(out.log_values.begin(), out.log_values.end(), -infinity), 30);
    Density density;
    density.atoms = {{-infinity, 0.5}, {0, 0.5}};
    const auto compared = agreement(out.law, Spectrum::from_density(density));
    EXPECT_LT(compared.wasserstein1_log, 100 * epsilon);
    EXPECT_LT(compared.wasserstein1, 100 * epsilon);
}

TEST(Simulate, RedrawnMixersAreDrawnPerSample) {
    mixers::Recipe recipe;
    recipe.family = mixers::Family::gaussian;
    const auto network = draw_network(mixers::Family::gaussian, 3, 2, 2, 0);
    auto settings = options(3);
    settings.seed = 4;
    settings.redrawn = recipe;
    for (const bool shared : {false, true}) {
        settings.shared_mixers = shared;
        const auto out = simulate(network, settings);
        for (std::uint32_t sample = 0; sample < 3; ++sample) {
            const auto mixers = mixers::draw_layers(recipe, 3, 2, shared, 4, sample + 1);
            const Mixer product = mixers[1] * mixers[0];
            const Eigen::VectorXd s = Eigen::JacobiSVD<Mixer>(product).singularValues();
            EXPECT_NEAR(std::exp(out.log_values[sample * 6 + 5]), s[0], 100 * epsilon * s[0]);
        }
    }
}

TEST(Simulate, RedrawnMixersKeepTheBranch) {
    mixers::Recipe recipe;
    recipe.family = mixers::Family::bistochastic;
    auto network = draw_network(recipe.family, 3, 3, 4, 0);
    auto settings = options(3);
    settings.seed = 4;
    for (const auto& [name, branch] : every_branch(3, 3, 0.3)) {
        network.branch = branch;
        settings.redrawn = recipe;
        const auto redrawn = simulate(network, settings);
        settings.redrawn.reset();
        for (std::uint32_t sample = 0; sample < 3; ++sample) {
            auto fixed = network;
            fixed.mixers = mixers::draw_layers(recipe, 3, 3, false, 4, sample + 1);
            const auto out = simulate(fixed, settings);
            const auto at = static_cast<std::ptrdiff_t>(sample * 12);
            EXPECT_TRUE(std::equal(out.log_values.begin() + at, out.log_values.begin() + at + 12,
                                   redrawn.log_values.begin() + at))
                << name << ", sample " << sample;
        }
    }
}

TEST(Simulate, MemoryNeeded) {
    const auto network = make_network(Mixer::Identity(4, 4), 10, 25, 0.005);
    auto settings = options(100, 2);
    const auto small = montecarlo::memory_needed(network, settings);
    EXPECT_GT(small, 2 * 100 * 100 * sizeof(double) + 2 * 4 * 100 * 100 * sizeof(double));
    EXPECT_LT(small, 10'000'000U);
    // Values grow with the samples, a histogram does not.
    settings.keep = Keep::values;
    settings.samples = 1'000'000;
    EXPECT_GT(montecarlo::memory_needed(network, settings), 1'600'000'000U);
    settings.keep = Keep::automatic;
    const auto histogram = montecarlo::memory_needed(network, settings);
    EXPECT_LT(histogram, 10'000'000U);
    settings.samples = std::numeric_limits<int>::max();
    EXPECT_EQ(montecarlo::memory_needed(network, settings), histogram);
    // What X takes: N×N as Y alone; twice, where it is kept or rotated; p×p and two p×N as a
    // hyper-connection.
    settings = options(100, 2);
    const auto with = [&](const Branch& branch) {
        auto other = network;
        other.branch = branch;
        return montecarlo::memory_needed(other, settings);
    };
    constexpr std::size_t matrix = 2 * 100 * 100 * sizeof(double);  // in two threads
    EXPECT_EQ(with(ActivationBranch{std::vector<double>(10, 1)}), small);
    EXPECT_EQ(with(tied_branch(10, 1)), small + matrix);
    EXPECT_GT(with(IsotropicBranch{{}, {{1, 2}}}), small + matrix);
    EXPECT_LT(with(IsotropicBranch{{}, {{1, 2}}}), small + 3 * matrix);
    EXPECT_EQ(with(hyper_connection(4, 10, 1)), small - matrix + matrix / 16 + matrix / 2);
    EXPECT_EQ(with(tied_branch(10, 1, reading(4, 0), writing(4, 0))),
              small - matrix + matrix / 8 + matrix / 2);
    // A checkpoint copies values. A GPU is given samples, and gives them back, a block at a time; the
    // processor takes over where there is none.
    settings.checkpoint = [](const Simulation&) {};
    EXPECT_EQ(montecarlo::memory_needed(network, settings), small + 2 * 100 * 100 * sizeof(double));
    settings.checkpoint = nullptr;
    settings.device = montecarlo::Device::cuda;
    EXPECT_EQ(montecarlo::memory_needed(network, settings), small);
    settings.samples = 100'000;
    settings.redrawn = mixers::Recipe();
    settings.keep = Keep::histogram;
    const auto narrow = make_network(Mixer::Identity(4, 4), 10, 1, 0.005);
    EXPECT_GT(montecarlo::memory_needed(narrow, settings), 1024 * 2 * 10 * 16 * sizeof(double));
    // Too large for any machine, and for size_t.
    settings.samples = std::numeric_limits<int>::max();
    auto vast = network;
    vast.width = std::numeric_limits<int>::max();
    settings.keep = Keep::values;
    EXPECT_EQ(montecarlo::memory_needed(vast, settings), std::numeric_limits<std::size_t>::max());
}

std::string refusal(const Network& other, const Options& with) {
    try {
        simulate(other, with);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "accepted";
}

Simulation after(const Network& network, Options settings, int samples) {
    settings.samples = samples;
    return stored(simulate(network, settings));
}

TEST(Simulate, ContinuedFromAnySampleOn) {
    mixers::Recipe recipe;
    recipe.family = mixers::Family::cayley_hybrid;
    auto network = draw_network(recipe.family, 2, 3, 3, 0);
    for (const auto& [name, branch] : every_branch(2, 3, 0.4)) {
        network.branch = branch;
        for (const Keep keep : {Keep::values, Keep::histogram}) {
            for (const bool redrawn : {false, true}) {
                auto settings = options(7);
                settings.keep = keep;
                if (redrawn) settings.redrawn = recipe;
                const auto whole = simulate(network, settings);
                for (int k = 0; k <= 7; ++k) {
                    const auto first = after(network, settings, k);
                    settings.resume = &first;
                    EXPECT_EQ(difference(simulate(network, settings), whole), "") << name << ", from " << k;
                    settings.resume = nullptr;
                }
            }
        }
    }
}

TEST(Simulate, ContinuedAgainAndAgain) {
    const auto network = draw_network(mixers::Family::gaussian, 2, 40, 3, 0.1);
    for (const Keep keep : {Keep::values, Keep::histogram}) {
        auto settings = options(30);
        settings.keep = keep;
        const auto whole = simulate(network, settings);
        Simulation last = after(network, settings, 0);
        for (int k = 1; k <= 30; ++k) {
            settings.samples = k;
            settings.resume = &last;
            const auto next = simulate(network, settings);
            if (k == 30) {
                EXPECT_EQ(difference(next, whole), "");
            }
            last = stored(next);
        }
    }
}

TEST(Simulate, StoppedAndContinued) {
    const auto network = draw_network(mixers::Family::cayley, 2, 2, 6, 0.1);
    const auto whole = simulate(network, options(40));
    std::atomic<bool> stop = false;
    auto settings = options(40, 3);
    settings.stop = &stop;
    settings.progress = [&stop](int done, int) {
        if (done == 11) stop = true;
    };
    const auto first = stored(simulate(network, settings));
    EXPECT_LT(first.samples, 40);
    stop = false;
    std::vector<int> seen;
    settings.progress = [&seen](int done, int) { seen.push_back(done); };
    settings.resume = &first;
    EXPECT_EQ(difference(simulate(network, settings), whole), "");
    EXPECT_EQ(seen.front(), first.samples + 1);
    EXPECT_EQ(seen.back(), 40);
}

TEST(Simulate, ValuesAreContinuedAsAHistogram) {
    // Automatically so where more samples are asked for than fit: the whole run would have counted them.
    const auto network = draw_network(mixers::Family::cayley, 2, 2, 3, 0.1);
    auto settings = options(9);
    settings.keep = Keep::histogram;
    const auto whole = simulate(network, settings);
    settings.keep = Keep::values;
    const auto first = after(network, settings, 4);
    settings.resume = &first;
    settings.keep = Keep::histogram;
    EXPECT_EQ(difference(simulate(network, settings), whole), "");
    // A histogram stays one, and cannot become values.
    const auto counted = after(network, settings, 4 + 1);
    settings.resume = &counted;
    settings.keep = Keep::automatic;
    EXPECT_EQ(difference(simulate(network, settings), whole), "");
    settings.keep = Keep::values;
    EXPECT_THROW(simulate(network, settings), std::invalid_argument);
}

TEST(Simulate, OtherSamplesAreNotContinued) {
    auto network = draw_network(mixers::Family::cayley, 2, 2, 3, 0.1);
    auto settings = options(9);
    const auto first = after(network, settings, 4);
    settings.resume = &first;
    EXPECT_EQ(refusal(network, settings), "accepted");
    auto other = settings;
    other.seed = 2;
    EXPECT_EQ(refusal(network, other), "seed is 2; in the saved samples it is 1");
    other = settings;
    other.samples = 3;
    EXPECT_EQ(refusal(network, other), "samples is 3; must be ≥ the 4 saved samples");
    other = settings;
    mixers::Recipe recipe;
    other.redrawn = recipe;
    EXPECT_EQ(refusal(network, other), "mixers are redrawn; in the saved samples they are fixed");
    auto wider = network;
    wider.width = 4;
    EXPECT_EQ(refusal(wider, settings), "width is 4; in the saved samples it is 3");
    auto deeper = draw_network(mixers::Family::cayley, 2, 3, 3, 0.1);
    EXPECT_EQ(refusal(deeper, settings), "depth is 3; in the saved samples it is 2");
    auto mixed = network;
    mixed.mixers[1](0, 1) = std::nextafter(mixed.mixers[1](0, 1), 1.0);
    EXPECT_EQ(refusal(mixed, settings), "the network's mixers differ from those in the saved samples");
    for (const auto& [name, branch] : every_branch(2, 2, 0.3)) {
        auto branched = network;
        branched.branch = branch;
        EXPECT_EQ(refusal(branched, settings), "the network's branch differs from that in the saved samples")
            << name;
    }
    auto on_gpu = first;
    on_gpu.device = "cuda: some";
    on_gpu.fingerprint.replace(on_gpu.fingerprint.find("device cpu"), std::string::npos, "device cuda: some");
    other = settings;
    other.resume = &on_gpu;
    EXPECT_EQ(refusal(network, other), "device is cpu; in the saved samples it is cuda: some");
    // Damaged ones neither.
    auto damaged = first;
    damaged.log_values.pop_back();
    other.resume = &damaged;
    EXPECT_EQ(refusal(network, other), "the saved samples are damaged: 23 values, not 24");
    damaged = first;
    damaged.fingerprint.clear();
    EXPECT_EQ(refusal(network, other), "unknown description of the draws in the saved samples: \"\"");
    damaged = first;
    damaged.mean_square_state.count = 3;
    EXPECT_NE(refusal(network, other), "accepted");
    settings.keep = Keep::histogram;
    settings.resume = nullptr;
    damaged = after(network, settings, 4);
    damaged.below += 1;
    other.keep = Keep::histogram;
    EXPECT_EQ(refusal(network, other), "the saved samples are damaged: the counts do not add up to 24");
}

TEST(Simulate, CheckpointsAreWhatARunOfSoManySamplesGives) {
    const auto network = draw_network(mixers::Family::bistochastic, 2, 4, 4, 0.1);
    for (const Keep keep : {Keep::values, Keep::histogram}) {
        for (const int threads : {1, 3}) {
            auto settings = options(60, threads);
            settings.keep = keep;
            const auto whole = simulate(network, settings);
            std::vector<Simulation> seen;
            std::atomic<int> inside = 0;
            settings.checkpoint_seconds = 0;
            settings.checkpoint = [&](const Simulation& so_far) {
                EXPECT_EQ(++inside, 1);
                seen.push_back(so_far);
                --inside;
            };
            EXPECT_EQ(difference(simulate(network, settings), whole), "");
            ASSERT_FALSE(seen.empty());
            settings.checkpoint = nullptr;
            for (const auto& so_far : seen) {
                EXPECT_GT(so_far.samples, 0);
                settings.samples = so_far.samples;
                auto alone = simulate(network, settings);
                alone.samples_requested = 60;
                EXPECT_EQ(difference(so_far, alone), "") << so_far.samples;
                settings.samples = 60;
                const auto kept = stored(so_far);
                settings.resume = &kept;
                EXPECT_EQ(difference(simulate(network, settings), whole), "") << so_far.samples;
                settings.resume = nullptr;
            }
        }
    }
}

TEST(Simulate, CheckpointsTakeLittleOfTheTime) {
    const auto network = draw_network(mixers::Family::bistochastic, 2, 4, 4, 0.1);
    auto settings = options(3000, 1);
    settings.checkpoint_seconds = 0;
    double spent = 0;
    settings.checkpoint = [&spent](const Simulation&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        spent += 2e-3;
    };
    const auto out = simulate(network, settings);
    EXPECT_GT(spent, 0);
    EXPECT_LT(spent, 0.05 * out.seconds + 2 * 2e-3);
    settings.checkpoint = [](const Simulation&) { throw std::runtime_error("disk full"); };
    EXPECT_THROW(simulate(network, settings), std::runtime_error);
}

TEST(Simulate, StopsWhereTheErrorIsSmallEnough) {
    const auto network = draw_network(mixers::Family::cayley, 2, 3, 5, 0.2);
    auto settings = options(5000, 1);
    settings.until_error = 0.01;
    const auto reference = simulate(network, settings);
    EXPECT_TRUE(reference.converged);
    EXPECT_FALSE(reference.interrupted());
    EXPECT_LE(reference.errors.largest(), 0.01);
    EXPECT_GE(reference.samples, 64);
    EXPECT_LT(reference.samples, 5000);
    EXPECT_EQ(reference.samples % 16, 0);
    // It is the first such number of samples.
    for (int k = 32; k < reference.samples; k += 16)
        EXPECT_GT(simulate(network, options(k)).errors.largest(), 0.01) << k;
    for (const Keep keep : {Keep::values, Keep::histogram}) {
        settings.keep = keep;
        settings.threads = 1;
        const auto expected = simulate(network, settings);
        EXPECT_EQ(expected.samples, reference.samples);
        for (const int threads : {2, 4}) {
            settings.threads = threads;
            EXPECT_EQ(difference(simulate(network, settings), expected), "") << threads;
        }
        // From any sample before, and from the last; with a smaller error asked for, as if from the start.
        for (const int k : {1, 31, 32, 40, reference.samples}) {
            auto part = settings;
            part.until_error.reset();
            part.resume = nullptr;
            const auto first = after(network, part, k);
            settings.resume = &first;
            EXPECT_EQ(difference(simulate(network, settings), expected), "") << k;
        }
        settings.resume = nullptr;
        settings.until_error = 0.005;
        const auto finer = simulate(network, settings);
        EXPECT_GT(finer.samples, reference.samples);
        const auto first = stored(expected);
        settings.resume = &first;
        EXPECT_EQ(difference(simulate(network, settings), finer), "");
        settings.resume = nullptr;
        settings.until_error = 0.01;
    }
    settings.samples = 40;
    settings.until_error = 1e-9;
    EXPECT_FALSE(simulate(network, settings).converged);
    settings.until_error = 0;
    EXPECT_THROW(simulate(network, settings), std::invalid_argument);
    // Noiseless: nothing varies.
    settings.until_error = 1e-3;
    settings.samples = 100;
    EXPECT_EQ(simulate(make_network(Mixer::Identity(2, 2), 2, 3, 0), settings).samples, 32);
}

TEST(Simulate, ErrorsAreThoseOfRepeatedRuns) {
    // Many runs with seeds of their own: their spread is what one run says its errors are.
    const auto network = draw_network(mixers::Family::bistochastic, 2, 3, 4, 0.5);
    constexpr int runs = 200, samples = 40;
    montecarlo::RunningMean distance;
    montecarlo::SamplingErrors mean;
    auto settings = options(4000);
    settings.seed = 1000;
    const auto long_run = simulate(network, settings);
    const double rms = std::sqrt(long_run.mean_square);
    double spread_window = 0, spread_collapsed = 0, spread_square = 0;
    for (int k = 0; k < runs; ++k) {
        settings = options(samples);
        settings.seed = static_cast<std::uint64_t>(k) + 1;
        const auto out = simulate(network, settings);
        const auto expected = long_run.law.metrics();
        const auto metrics = out.law.metrics();
        spread_window += std::pow(metrics.window - expected.window, 2) / runs;
        spread_collapsed += std::pow(metrics.collapsed - expected.collapsed, 2) / runs;
        spread_square += std::pow(out.mean_square / long_run.mean_square - 1, 2) / runs;
        distance.add(agreement(out.law, long_run.law).wasserstein1 / rms, 0);
        mean.window += out.errors.window / runs;
        mean.collapsed += out.errors.collapsed / runs;
        mean.mean_square += out.errors.mean_square / runs;
        mean.wasserstein1 += out.errors.wasserstein1 / runs;
    }
    EXPECT_NEAR(mean.window, std::sqrt(spread_window), 0.2 * mean.window);
    EXPECT_NEAR(mean.collapsed, std::sqrt(spread_collapsed), 0.2 * mean.collapsed);
    EXPECT_NEAR(mean.mean_square, std::sqrt(spread_square), 0.2 * mean.mean_square);
    EXPECT_NEAR(mean.wasserstein1, distance.mean(), 0.15 * mean.wasserstein1);
}

TEST(Simulate, DensityEstimates) {
    const auto network = draw_network(mixers::Family::bistochastic, 2, 3, 4, 0.5);
    auto settings = options(25);
    settings.keep = Keep::values;
    const auto kept = simulate(network, settings);
    settings.keep = Keep::histogram;
    const auto counted = simulate(network, settings);
    for (const bool log : {true, false}) {
        const auto density = log ? log_density_estimate(counted) : linear_density_estimate(counted);
        const auto same = log ? log_density_estimate(kept) : linear_density_estimate(kept);
        EXPECT_EQ(density.edges, same.edges);
        EXPECT_EQ(density.density, same.density);
        EXPECT_EQ(density.standard_error, same.standard_error);
        double mass = 0;
        for (std::size_t b = 0; b < density.density.size(); ++b) {
            const double lower = density.edges[b], upper = density.edges[b + 1];
            montecarlo::RunningMean plain;
            for (std::size_t k = 0; k < 25; ++k) {
                const auto values = std::span(kept.log_values).subspan(8 * k, 8);
                const auto count = std::count_if(values.begin(), values.end(), [&](double x) {
                    const double place = log ? x : std::exp(x);
                    return place >= lower && place < upper;
                });
                plain.add(static_cast<double>(count) / 8 / (upper - lower), 0);
            }
            EXPECT_NEAR(density.density[b], plain.mean(), 1e-12 * plain.mean());
            EXPECT_NEAR(density.standard_error[b], plain.standard_error(), 1e-12 * plain.mean());
            mass += density.density[b] * (upper - lower);
        }
        EXPECT_NEAR(mass, 1, 1e-12);
    }
    EXPECT_TRUE(log_density_estimate(Simulation()).density.empty());
}

#ifndef __SANITIZE_ADDRESS__  // which keeps what was freed

/// Most memory this process has held, in bytes, since it was last reset.
std::size_t peak_memory() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmHWM:")) return std::stoul(line.substr(6)) * 1024;
    return 0;
}

TEST(Simulate, AHistogramsMemoryDoesNotGrowWithTheSamples) {
    const auto network = draw_network(mixers::Family::cayley, 2, 1, 8, 0.1);
    auto settings = options(2'000, 2);
    settings.keep = Keep::histogram;
    simulate(network, settings);
    const std::size_t few = peak_memory();
    ASSERT_GT(few, 0U) << "no /proc";
    settings.samples = 20'000;
    simulate(network, settings);
    EXPECT_LT(peak_memory(), few + 500'000U);  // 18000 samples more: 2.3 MB of values
}

#endif

TEST(Simulate, SamplesThatSomeoneChangedAreNotContinued) {
    const auto network = draw_network(mixers::Family::bistochastic, 2, 3, 4, 0.1);
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), huge = 1e300;
    for (const Keep keep : {Keep::values, Keep::histogram}) {
        auto settings = options(8, 1);
        settings.keep = keep;
        const auto good = after(network, settings, 4);
        settings.resume = &good;
        EXPECT_EQ(refusal(network, settings), "accepted");
        const auto refuses = [&](const char* what, auto change) {
            auto changed = good;
            change(changed);
            settings.resume = &changed;
            EXPECT_NE(refusal(network, settings), "accepted") << what;
        };
        for (const double bad : {nan, -1.0}) {
            refuses("mean", [&](Simulation& s) { s.mean_square_state.mean = bad; });
            refuses("squares", [&](Simulation& s) { s.mean_square_state.squares = bad; });
            refuses("seconds", [&](Simulation& s) { s.seconds = bad; });
        }
        refuses("floor", [&](Simulation& s) { s.log_floor = nan; });
        refuses("unit", [](Simulation& s) { s.mean_square_state.unit = std::int64_t{1} << 40; });
        if (keep == Keep::values) {
            refuses("another mean", [](Simulation& s) { s.mean_square_state.mean *= 1.001; });
            refuses("no spread", [](Simulation& s) { s.mean_square_state.squares = 0; });
            refuses("another value", [](Simulation& s) { s.log_values.back() += 0.1; });
            refuses("no number", [&](Simulation& s) { s.log_values.front() = nan; });
            refuses("infinite", [](Simulation& s) { s.log_values.back() = infinity; });
            refuses("order", [](Simulation& s) { std::swap(s.log_values.front(), s.log_values.back()); });
        } else {
            refuses("squares of counts", [](Simulation& s) { s.count_squares.back() = 0; });
            refuses("large squares", [&](Simulation& s) { s.count_squares.back() = huge; });
            refuses("window", [](Simulation& s) { s.window.sum = 1000; });
            refuses("window's squares", [](Simulation& s) { s.window.squares = 1000; });
            refuses("collapsed", [](Simulation& s) { s.collapsed.squares = ~std::uint64_t{0}; });
            refuses("extremes", [&](Simulation& s) { s.log_largest = nan; });
            refuses("order of extremes", [](Simulation& s) { std::swap(s.log_smallest, s.log_largest); });
            refuses("an edge", [](Simulation& s) { s.log_edges.back() += 1e-9; });
            refuses("a linear count", [](Simulation& s) { s.linear.counts.back() += 1; });
        }
    }
}

TEST(Simulate, WhatIsNoNumberHasNotConverged) {
    using montecarlo::RunningMean;
    using montecarlo::SamplingErrors;
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ((SamplingErrors{0.1, 0.2, 0.3, 0.05}.largest()), 0.3);
    for (const auto& errors :
         {SamplingErrors{nan, 0, 0, 0}, SamplingErrors{0, nan, 0, 0}, SamplingErrors{0, 0, nan, 0},
          SamplingErrors{0, 0, 0, nan}})
        EXPECT_EQ(errors.largest(), infinity);
    EXPECT_EQ(RunningMean({4, 0, nan, 0}).relative_error(), infinity);
    EXPECT_EQ(RunningMean({4, 0, 1, nan}).relative_error(), infinity);
}

TEST(Simulate, WhatIsFinishedIsSavedAtOnceWhereTheRunIsStopped) {
    // A sample takes a second or more; a run looks ten times a second whether it is to stop.
    const auto network = draw_network(mixers::Family::cayley, 2, 2, 700, 0.1);
    std::atomic<bool> stop = false;
    std::atomic<int> saved = 0, finished = 0;
    auto settings = options(1000, 1);
    settings.stop = &stop;
    settings.checkpoint_seconds = 1e6;
    settings.checkpoint = [&](const Simulation& so_far) { saved = so_far.samples; };
    settings.progress = [&](int done, int) { finished = done; };
    auto running = std::async(std::launch::async, [&] { return simulate(network, settings); });
    while (finished == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the second sample has begun
    stop = true;
    while (running.wait_for(std::chrono::milliseconds(5)) == std::future_status::timeout && saved == 0) continue;
    EXPECT_EQ(saved, 1) << "before the second sample is finished";
    EXPECT_EQ(running.get().samples, 2);
}

}  // namespace
