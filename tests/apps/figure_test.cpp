#include "study/figure.hpp"

#include "study/build_network.hpp"
#include "dyson/law/potential.hpp"
#include "dyson/law/theory.hpp"
#include "h5/file.hpp"
#include "montecarlo/run/simulate.hpp"
#include "plot/layout.hpp"
#include "study/request.hpp"
#include "support/needs_program.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <Eigen/SVD>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>

/// The command figure: what its pictures show, against values found in other ways.
namespace spectra {
namespace {

using study::Drawing;
using study::FigureRequest;
using testing::TemporaryFolder;

constexpr double shares[] = {0.001, 0.12, 0.38, 0.62, 0.88, 0.999};

Drawing draw(const std::string& name, FigureRequest request) {
    request.name = name;
    study::Observer silent;
    for (const auto& kind : study::figure_kinds())
        if (kind.name == name) return kind.draw(request, silent);
    throw std::logic_error(name);
}

Network network(const std::string& mixer, int depth, double noise = study::default_noise) {
    study::Request request;
    request.mixer = mixer;
    request.depth = depth;
    request.noise = noise;
    return study::describe_network(request).network;
}

Spectrum law(const Network& network) {
    const auto theory = dyson::solve(network, dyson::Method::operator_valued);
    EXPECT_TRUE(theory.summary.certified);
    return theory.law;
}

/// The bands of a panel at place k have the shares of the law that they say, by the whole solve.
void expect_shares(const plot::Panel& panel, std::size_t k, const Spectrum& law) {
    constexpr std::size_t bands = std::size(shares) / 2;
    ASSERT_EQ(panel.series.size(), bands);
    for (std::size_t b = 0; b < bands; ++b) {
        const auto& band = panel.series[b];
        const double u = shares[b], slack = 4e-3 * u + 1e-6;
        EXPECT_NEAR(law.cdf(band.lower[k] * std::numbers::ln10), u, slack) << "lower end of band " << b;
        EXPECT_NEAR(law.cdf(band.y[k] * std::numbers::ln10), 1 - u, slack) << "upper end of band " << b;
    }
}

void write_training(const std::filesystem::path& path, double gate,
                    const std::vector<std::pair<std::string, double>>& baselines = {}) {
    auto file = h5::File::create(path);
    file.write_attribute("", "format", "jacobian-spectra");
    file.write_attribute("", "format_version", 1);
    file.write_attribute("", "seed", std::uint64_t{3});
    file.write("training/step", {0, 10, 20});
    file.write("training/val_loss", {1, 0.1, 0.01});
    file.write("training/diagnostics/gate", std::vector<double>{gate, 0.2, gate, 0.4, gate, 0.6}, {3, 2});
    file.write("training/diagnostics/effective_rank", std::vector<double>{0.1, 0.2, 0.3, 0.4, 0.5, 0.7},
               {3, 2});
    file.write_attribute("training", "task", "gyroscope");
    file.write_attribute("training", "architecture", "edelta");
    for (const auto& [name, loss] : baselines) file.write_attribute("training", "baseline_" + name, loss);
    file.close();
}

void write_run(const std::filesystem::path& path, const std::string& architecture, double loss,
               double steps = 20) {
    auto file = h5::File::create(path);
    file.write_attribute("", "format", "jacobian-spectra");
    file.write_attribute("", "format_version", 1);
    file.write("training/step", {0, 10, steps});
    file.write("training/val_loss", {3, 2, loss});
    file.write("training/gradient_norm", {NAN, 0.5, 0.1});
    file.write("training/diagnostics/cosine", std::vector<double>{-0.1, 0.2, 0.9}, {3, 1});
    file.write_attribute("training", "task", "copy");
    file.write_attribute("training", "architecture", architecture);
    file.close();
}

// S = (L_base − L_both) − (L_base − L_mHC) − (L_base − L_DDL), of means over seeds, and its standard error.
TEST(Figure, SynergyIsWhatBothGainBeyondTheirSum) {
    const TemporaryFolder folder;
    FigureRequest request;
    const auto add = [&](const std::string& architecture, double loss, double steps = 20) {
        const auto path = folder.path() / (architecture + std::to_string(request.files.size()) + ".h5");
        write_run(path, architecture, loss, steps);
        request.files.push_back(path.string());
    };
    const auto number = [](const Drawing& drawing, const std::string& name) {
        for (const auto& [key, value] : drawing.numbers)
            if (key == name) return value;
        ADD_FAILURE() << name;
        return 0.0;
    };
    add("post-ln", 1.0);
    add("mgt-mhc", 0.9);
    EXPECT_THROW(draw("synergy", request), std::invalid_argument);  // two are missing
    add("mgt-ddl", 0.8);
    add("mgt", 0.4);
    auto drawing = draw("synergy", request);
    EXPECT_NEAR(number(drawing, "synergy S"), 0.6 - 0.1 - 0.2, 1e-15);
    EXPECT_NEAR(number(drawing, "gain, both"), 0.6, 1e-15);
    EXPECT_EQ(drawing.numbers.back().first, "synergy S");  // one seed each: no standard error
    ASSERT_EQ(drawing.figure.panels.size(), 2u);
    EXPECT_EQ(drawing.figure.panels[1].series[3].y, std::vector<double>{0.4});

    for (const auto& [name, loss] :
         {std::pair{"post-ln", 1.2}, {"mgt-mhc", 1.3}, {"mgt-ddl", 0.8}, {"mgt", 0.6}})
        add(name, loss);
    drawing = draw("synergy", request);
    EXPECT_NEAR(number(drawing, "synergy S"), 1.1 + 0.8 - 1.1 - 0.5, 1e-15);
    // Half the squared difference is the variance of two, and half of that the variance of their mean.
    EXPECT_NEAR(number(drawing, "standard error of S"), std::sqrt((0.04 + 0.16 + 0 + 0.04) / 4), 1e-15);
    EXPECT_NE(drawing.remarks.front().find("not distinguishable"), std::string::npos);

    const auto complete = request.files;
    add("gpt", 1.0);  // two bases
    EXPECT_THROW(draw("synergy", request), std::invalid_argument);
    request.files = complete;
    add("mgt", 0.4, 30);  // other steps
    EXPECT_THROW(draw("synergy", request), std::invalid_argument);
    request.files = complete;
    add("jpmhc", 0.4);
    EXPECT_THROW(draw("synergy", request), std::invalid_argument);
}

TEST(Figure, TrainingShowsCosineAndGradientNorm) {
    const TemporaryFolder folder;
    write_run(folder.path() / "a.h5", "ddl", 0.1);
    FigureRequest request;
    request.files = {(folder.path() / "a.h5").string()};
    const auto panels = draw("training", request).figure.panels;
    ASSERT_EQ(panels.size(), 3u);
    EXPECT_EQ(panels[1].series[0].y, (std::vector<double>{-0.1, 0.2, 0.9}));
    EXPECT_NEAR(panels[2].series[0].y[2], -1, 1e-12);  // log10
}

// 1 − √3/4, also found by all 10,626 walks (claim C45).
TEST(Figure, GeneratorsHaveTheLargestGaps) {
    FigureRequest request;
    request.streams = 4;
    const auto drawing = draw("generators", request);
    double gap = 0, sets = 0;
    for (const auto& [key, value] : drawing.numbers) {
        if (key == "n = 4, K = 4: largest gap") gap = value;
        if (key == "n = 4, K = 4: sets") sets = value;
    }
    EXPECT_NEAR(gap, 1 - std::sqrt(3.0) / 4, 1e-9);
    EXPECT_EQ(sets, 10'626);
    EXPECT_EQ(drawing.remarks.size(), 6u);  // K = 1 to 6
    EXPECT_EQ(drawing.remarks.front().substr(0, 13), "n = 4, K = 1:");
    request.streams = 7;
    EXPECT_THROW(draw("generators", request), std::invalid_argument);
}

TEST(Figure, BandsAreTheQuantilesOfTheLaw) {
    FigureRequest request;
    request.mixers = {"cayley-hybrid", "bistochastic"};
    request.depths = {1, 3, 8};
    const auto drawing = draw("bands", request);
    EXPECT_EQ(drawing.uncertified, 0);
    ASSERT_EQ(drawing.figure.panels.size(), 2u);
    for (std::size_t m = 0; m < 2; ++m)
        for (std::size_t k = 0; k < 3; ++k) {
            SCOPED_TRACE(request.mixers[m] + ", L = " + std::to_string(request.depths[k]));
            expect_shares(drawing.figure.panels[m], k, law(network(request.mixers[m], request.depths[k])));
            EXPECT_NEAR(drawing.figure.panels[m].series[0].x[k], std::log10(request.depths[k]), 1e-12);
        }
}

/// Every point from far away, as no search does it.
TEST(Figure, BandsOfDeepNetworksHaveTheirShares) {
    FigureRequest request;
    request.mixers = {"bistochastic"};
    request.depths = {300};
    const auto drawing = draw("bands", request);
    EXPECT_EQ(drawing.uncertified, 0);
    const auto deep = network("bistochastic", 300);
    std::vector<double> places, masses;
    for (std::size_t b = 0; b < 3; ++b) {
        const auto& band = drawing.figure.panels[0].series[b];
        places.insert(places.end(), {band.lower[0] * std::numbers::ln10, band.y[0] * std::numbers::ln10});
        masses.insert(masses.end(), {shares[b], 1 - shares[b]});
    }
    const auto found = dyson::mass_below(deep, places);
    for (std::size_t k = 0; k < places.size(); ++k) {
        EXPECT_TRUE(found[k].certified);
        EXPECT_NEAR(found[k].mass, masses[k], 4e-3 * std::min(masses[k], 1 - masses[k])) << places[k];
    }
    EXPECT_LT(places[0], -500);  // far below what a double holds
}

TEST(Figure, BandsOfANetworkWithoutNoiseAreItsSingularValues) {
    FigureRequest request;
    request.mixers = {"bistochastic"};
    request.depths = {2};
    request.noise = 0;
    const auto drawing = draw("bands", request);
    const auto mixers = network("bistochastic", 2).mixers;
    const Mixer product = mixers[1] * mixers[0];
    const Eigen::VectorXd values = Eigen::JacobiSVD<Mixer>(product).singularValues();
    const auto& band = drawing.figure.panels[0].series[1];  // 12 % and 88 %: the smallest and the largest
    EXPECT_NEAR(band.lower[0], std::log10(values(3)), 1e-6);
    EXPECT_NEAR(band.y[0], std::log10(values(0)), 1e-6);
}

TEST(Figure, RankIsTheEffectiveRankOfTheLawAndOfTrainedStates) {
    const TemporaryFolder folder;
    write_training(folder.path() / "a.h5", 0.5);
    FigureRequest request;
    request.mixers = {"bistochastic", "identity"};
    request.depths = {1, 4};
    request.files = {(folder.path() / "a.h5").string()};
    const auto drawing = draw("rank", request);
    EXPECT_EQ(drawing.points, 4);
    EXPECT_EQ(drawing.uncertified, 0);
    ASSERT_EQ(drawing.figure.panels.size(), 2u);
    for (std::size_t m = 0; m < 2; ++m)
        for (std::size_t k = 0; k < 2; ++k) {
            // By definition, from quantiles of the whole solve.
            const auto whole = law(network(request.mixers[m], request.depths[k]));
            constexpr int steps = 20000;
            double mean = 0, entropy = 0;
            std::vector<double> s;
            for (int i = 0; i < steps; ++i) s.push_back(std::exp(whole.log_quantile((i + 0.5) / steps)));
            for (const double value : s) mean += value / steps;
            for (const double value : s) entropy -= value / mean * std::log(value / mean) / steps;
            EXPECT_NEAR(drawing.figure.panels[0].series[m].y[k], std::exp(entropy), 1e-4);
        }
    const auto& states = drawing.figure.panels[1].series;
    ASSERT_EQ(states.size(), 2u);
    EXPECT_EQ(states[0].y, (std::vector<double>{0.1, 0.2}));
    EXPECT_EQ(states[1].y, (std::vector<double>{0.5, 0.7}));
    EXPECT_EQ(states[1].x, (std::vector<double>{1, 2}));
    EXPECT_NE(states[1].label.find("step 20"), std::string::npos);
}

TEST(Figure, CollapseIsTheMassBelowATenth) {
    FigureRequest request;
    request.mixers = {"bistochastic", "spectral-sphere"};
    request.depths = {1, 4, 9};
    const auto drawing = draw("collapse", request);
    EXPECT_EQ(drawing.points, 6);
    for (std::size_t m = 0; m < 2; ++m)
        for (std::size_t k = 0; k < 3; ++k)
            EXPECT_NEAR(drawing.figure.panels[0].series[m].y[k],
                        law(network(request.mixers[m], request.depths[k])).cdf(std::log(0.1)), 2e-6)
                << request.mixers[m] << ", L = " << request.depths[k];
}

TEST(Figure, DepthsAreSpacedEvenlyInTheirLogarithmAndEndAtTheLast) {
    FigureRequest request;
    request.mixers = {"identity"};
    request.max_depth = 20;
    const auto x = draw("collapse", request).figure.panels[0].series[0].x;
    EXPECT_NEAR(x.front(), 0, 1e-12);
    EXPECT_NEAR(x.back(), std::log10(20), 1e-12);
    for (std::size_t k = 1; k < x.size(); ++k) EXPECT_GT(x[k], x[k - 1]);
}

TEST(Figure, PrintedEquationMissesTheNoiseOfTheMeanSquare) {
    FigureRequest request;
    request.mixers = {"identity"};
    request.depths = {1};
    request.width = 20;
    request.samples = 40;
    request.noise = 0.25;
    const auto drawing = draw("printed", request);
    const auto number = [&](const std::string& name) {
        for (const auto& [key, value] : drawing.numbers)
            if (key == name) return value;
        ADD_FAILURE() << name;
        return 0.0;
    };
    EXPECT_NEAR(number("identity_L1_mean_square_ov"), 1.25, 1e-6);
    EXPECT_NEAR(number("identity_L1_mean_square_simulation"), 1.25, 0.02);
    EXPECT_LT(number("identity_L1_mean_square_printed"), 1.1);  // as printed: 1
    EXPECT_LT(number("mean_wasserstein1_ov"), 0.02);
    EXPECT_GT(number("mean_wasserstein1_printed"), 5 * number("mean_wasserstein1_ov"));
    EXPECT_EQ(drawing.uncertified, 0);
}

TEST(Figure, CompositeIsTheProductOfTheMixers) {
    FigureRequest request;
    request.mixers = {"bistochastic", "cayley-hybrid"};
    request.depths = {1, 2, 5};
    const auto panels = draw("composite", request).figure.panels;
    ASSERT_EQ(panels.size(), 3u);
    for (std::size_t m = 0; m < 2; ++m) {
        const auto mixers = network(request.mixers[m], 5).mixers;
        Mixer product = Mixer::Identity(4, 4);
        std::size_t k = 0;
        for (int l = 1; l <= 5; ++l) {
            product = mixers[static_cast<std::size_t>(l - 1)] * product;
            if (l != request.depths[k]) continue;
            const Eigen::JacobiSVD<Mixer> svd(product);
            const double deviation = std::max((product.colwise().sum().array() - 1).abs().maxCoeff(),
                                              (product.rowwise().sum().array() - 1).abs().maxCoeff());
            if (deviation > 1e-9) {
                EXPECT_NEAR(panels[0].series[m].y[k], std::log10(deviation), 1e-9);
            } else {
                EXPECT_LT(panels[0].series[m].y[k], -9);
            }
            EXPECT_NEAR(panels[1].series[m].y[k], std::log10(svd.singularValues()(0)), 1e-10);
            EXPECT_NEAR(panels[2].series[m].y[k], std::log10(svd.singularValues()(3)), 1e-6);
            ++k;
        }
    }
}

TEST(Figure, CompositeOfAFewSweepsLosesItsRowSums) {
    FigureRequest request;
    request.mixers = {"bistochastic"};
    request.depths = {1, 4};
    request.logit_scale = 3;
    const auto sums = [&] { return draw("composite", request).figure.panels[0].series[0].y; };
    for (const double y : sums()) EXPECT_LT(y, -9);
    request.sinkhorn_iterations = 3;
    study::Request same;
    same.mixer = "bistochastic";
    same.depth = 4;
    same.recipe.logit_scale = 3;
    same.recipe.sinkhorn_iterations = 3;
    const auto mixers = study::describe_network(same).network.mixers;
    const Mixer product = mixers[3] * mixers[2] * mixers[1] * mixers[0];
    const auto off = [](const Mixer& a) {
        return std::log10((a.rowwise().sum().array() - 1).abs().maxCoeff());
    };
    const auto y = sums();
    EXPECT_NEAR(y[0], off(mixers[0]), 1e-9);
    EXPECT_NEAR(y[1], off(product), 1e-9);
    EXPECT_GT(y[1], -9);
}

TEST(Figure, GateOfOneOrZeroHasTheIdentitysLaw) {
    FigureRequest request;
    request.depths = {3};
    const auto drawing = draw("gate", request);
    EXPECT_EQ(drawing.uncertified, 0);
    const auto& panel = drawing.figure.panels.at(0);
    const auto& gates = panel.series[0].x;
    const auto isometry = law(network("identity", 3));  // orthogonal mixers have the identity's law
    ASSERT_EQ(gates.front(), 0);
    ASSERT_EQ(gates.back(), 1);
    expect_shares(panel, 0, isometry);
    expect_shares(panel, gates.size() - 1, isometry);
    // Between them mixers contract.
    EXPECT_LT(panel.series[0].lower[gates.size() / 2], panel.series[0].lower.front() - 0.1);
}

TEST(Figure, SphereIsTheFamilyAtBoundOneAndTheMeanAtZero) {
    FigureRequest request;
    request.depths = {2};
    const auto drawing = draw("sphere", request);
    EXPECT_EQ(drawing.uncertified, 0);
    const auto& panel = drawing.figure.panels.at(0);
    const auto& bounds = panel.series[0].x;
    const auto one =
        std::find_if(bounds.begin(), bounds.end(), [](double r) { return std::abs(r - 1) < 1e-12; });
    ASSERT_NE(one, bounds.end());
    auto drawn = network("spectral-sphere", 2);
    expect_shares(panel, static_cast<std::size_t>(one - bounds.begin()), law(drawn));
    for (auto& mixer : drawn.mixers) mixer.setConstant(0.25);
    expect_shares(panel, 0, law(drawn));
}

TEST(Figure, RolloutFollowsTheRecursionOfTheMeanSquare) {
    FigureRequest request;
    request.mixers = {"bistochastic"};
    request.depths = {12};
    request.width = 4;
    request.samples = 400;
    request.noise = 1;
    const auto drawing = draw("rollout", request);
    const auto& series = drawing.figure.panels.at(0).series;
    const auto described = network("bistochastic", 12, 1);
    Mixer t = Mixer::Identity(4, 4);
    for (std::size_t l = 0; l <= 12; ++l) {
        const double exact = t.trace() / 4;
        EXPECT_NEAR(2 * series[2].y[l], std::log10(exact), 1e-10) << l;
        EXPECT_NEAR(std::pow(10, 2 * series[1].y[l]) / exact, 1, 0.1) << l;
        EXPECT_LE(series[0].lower[l], series[1].y[l] + 1e-12);
        EXPECT_GE(series[0].y[l], series[1].y[l] - 1e-12);
        if (l < 12) {
            const Mixer& a = described.mixers[l];
            t = (a * t * a.transpose() + Mixer::Identity(4, 4) * (t.trace() / 4 / 12)).eval();
        }
    }
    EXPECT_LT(drawing.numbers.front().second, 4.5);
}

TEST(Figure, WidthShowsTheDistanceFallAsItsInverse) {
    FigureRequest request;
    request.mixers = {"orthogonal"};
    request.depths = {3};
    request.width = 16;
    request.samples = 150;
    const auto drawing = draw("width", request);
    EXPECT_NEAR(drawing.numbers.front().second, -1, 0.25);
    const auto& curve = drawing.figure.panels.at(0).series.at(0);
    auto described = network("orthogonal", 3);
    described.width = 16;
    montecarlo::Options options;
    options.samples = 150;
    EXPECT_NEAR(
        curve.y.back(),
        std::log10(agreement(law(described), montecarlo::simulate(described, options).law).wasserstein1),
        1e-3);
    EXPECT_NEAR(curve.x.back(), std::log10(16), 1e-12);
}

TEST(Figure, CostSetsTimesBesideDistances) {
    FigureRequest request;
    request.mixers = {"cayley"};
    request.depths = {2};
    request.width = 8;
    request.samples = 16;
    const auto drawing = draw("cost", request);
    const auto& panel = drawing.figure.panels.at(0);
    const auto& theory = panel.series.at(0);
    ASSERT_EQ(theory.x.size(), 3u);
    EXPECT_NE(drawing.figure.caption.back().find("shortest of up to 7 runs"), std::string::npos);
    EXPECT_LT(theory.y.back(), -5);  // of theory: far below what samples reach
    for (const auto& series : panel.series) {
        for (const double x : series.x) EXPECT_TRUE(x > -7 && x < 3) << x;
        if (!series.label.starts_with("simulation")) continue;
        for (const double y : series.y) EXPECT_GT(y, theory.y.back());
    }
}

TEST(Figure, TrainingShowsTheLogsOfFiles) {
    const TemporaryFolder folder;
    write_training(folder.path() / "a.h5", 0.5);
    write_training(folder.path() / "b.h5", 0.9);
    FigureRequest request;
    request.files = {(folder.path() / "a.h5").string(), (folder.path() / "b.h5").string()};
    const auto panels = draw("training", request).figure.panels;
    ASSERT_EQ(panels.size(), 3u);  // there is no β
    ASSERT_EQ(panels[0].series.size(), 4u);  // each with its dots
    EXPECT_NE(panels[0].series[0].label, panels[0].series[2].label);
    EXPECT_NEAR(panels[0].series[0].y[2], -2, 1e-12);
    EXPECT_NEAR(panels[1].series[2].y[1], 0.65, 1e-12);
    EXPECT_EQ(panels[2].series[0].y, (std::vector<double>{0.5, 0.7}));
    for (std::size_t k = 0; k < 4; k += 2) {
        EXPECT_EQ(panels[0].series[k + 1].mark, plot::Mark::points);
        EXPECT_EQ(panels[0].series[k + 1].y, panels[0].series[k].y);
    }
    request.files = {(folder.path() / "missing.h5").string()};
    EXPECT_THROW(draw("training", request), std::invalid_argument);
    request.files.clear();
    EXPECT_THROW(draw("training", request), std::invalid_argument);
}

TEST(Figure, TrainingNamesTrivialPredictorsAndTheBestOfThem) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "a.h5";
    write_training(path, 0.5, {{"copy", 0.5}, {"negation", 0.2}, {"noise_floor", 0.001}});
    FigureRequest request;
    request.files = {path.string()};
    const auto figure = draw("training", request).figure;
    EXPECT_EQ(figure.title,
              "gyroscope, edelta, seed 3: validation loss 1 → 0.01 in 20 steps; "
              "best trivial predictor (negation): 0.2");
    const auto& loss = figure.panels.at(0);
    ASSERT_EQ(loss.series.size(), 5u);  // the run, its dots and three predictors
    ASSERT_EQ(loss.annotations.size(), 3u);
    EXPECT_EQ(loss.annotations[0].text, "copying the input");
    EXPECT_EQ(loss.annotations[1].text, "negation");
    EXPECT_EQ(loss.annotations[2].text, "noise floor");
    for (std::size_t k = 0; k < 3; ++k) {
        const auto& level = loss.series[2 + k];
        EXPECT_EQ(level.x, (std::vector<double>{0, 20}));
        EXPECT_NEAR(level.y[0], std::log10(std::vector<double>{0.5, 0.2, 0.001}[k]), 1e-12);
        EXPECT_GE(loss.annotations[k].y, level.y[0]);
    }
}

TEST(Figure, WordsDoNotOverlap) {
    const TemporaryFolder folder;
    write_training(folder.path() / "a.h5", 0.5, {{"copy", 0.5}, {"zero", 0.45}, {"noise_floor", 0.001}});
    for (const char* name :
         {"composite", "gate", "sphere", "collapse", "rank", "rollout", "training", "mixers", "midpoint"}) {
        FigureRequest request;
        request.depths = {2};
        request.samples = 2;
        request.width = 2;
        if (name == std::string("training")) request.files = {(folder.path() / "a.h5").string()};
        const auto figure = draw(name, request).figure;
        const auto layout = plot::lay_out(figure);
        std::vector<std::pair<std::string, plot::Box>> all;
        for (const auto& words : layout.words) all.emplace_back(words.text, plot::extent(words));
        for (const auto& panel : layout.panels) all.emplace_back("a panel", panel.box);
        for (std::size_t a = 0; a < all.size(); ++a)
            for (std::size_t b = a + 1; b < all.size(); ++b) {
                const auto &one = all[a].second, &other = all[b].second;
                EXPECT_FALSE(one.left < other.right && other.left < one.right && one.bottom < other.top &&
                             other.bottom < one.top)
                    << name << ": " << all[a].first << " | " << all[b].first;
            }
    }
}

TEST(FigureFile, NamesSeriesOnce) {
    plot::Panel panel;
    for (const char* label : {"simulation (20 samples)", "", "", "cayley-hybrid, slope −1", "simulation"})
        panel.series.push_back({label, plot::Mark::line, plot::Dash::solid, 1, "#000000", {}, {}});
    EXPECT_EQ(study::series_names(panel), (std::vector<std::string>{"simulation", "series", "series-2",
                                                                  "cayley-hybrid-slope-1", "simulation-2"}));
}

class FigureProgram : public ::testing::Test {
protected:
    testing::ProcessResult run(std::vector<std::string> words) const {
        words.insert(words.begin(), {SPECTRA_BINARY, "figure"});
        testing::ProcessOptions options;
        options.folder = folder_.path();
        return testing::run_process(words, options);
    }

    TemporaryFolder folder_;
};

TEST_F(FigureProgram, ListsTheFiguresWithoutAName) {
    const auto result = run({});
    EXPECT_EQ(result.status, 0);
    for (const auto& kind : study::figure_kinds())
        EXPECT_NE(result.out.find("  " + kind.name), std::string::npos);
    EXPECT_EQ(folder_.entries(), 0u);
}

TEST_F(FigureProgram, WritesThePictureAndItsNumbers) {
    SPECTRA_NEEDS_GNUPLOT();
    const auto result = run({"collapse", "--mixers", "bistochastic,cayley", "--depths", "1,3", "--plot",
                             "svg,png", "--out", "picture", "--json"});
    ASSERT_EQ(result.status, 0) << result.err;
    const auto json = nlohmann::json::parse(result.out).at("figures").at(0);
    EXPECT_EQ(json.at("files"), (std::vector<std::string>{"picture.h5", "picture.svg", "picture.png"}));
    EXPECT_EQ(json.at("series"),
              (std::vector<std::string>{"figure/panel-1/bistochastic", "figure/panel-1/cayley"}));
    const auto svg = testing::content(folder_.path() / "picture.svg");
    for (const char* words : {"Collapse with depth", "bistochastic", "Lσ² = 0.05", "every point certified"})
        EXPECT_NE(svg.find(words), std::string::npos) << words;
    const auto file = h5::File::open_read(folder_.path() / "picture.h5");
    EXPECT_EQ(file.string_attribute("", "format"), "jacobian-spectra");
    EXPECT_EQ(file.string_attribute("figure", "name"), "collapse");
    EXPECT_NE(file.string_attribute("figure", "caption")->find("n = 4"), std::string::npos);
    EXPECT_EQ(file.string_attribute("figure/panel-1", "x_scale"), "log10");
    h5::Shape shape;
    const auto y = file.read_doubles("figure/panel-1/bistochastic/y", shape);
    ASSERT_EQ(y.size(), 2u);
    EXPECT_NEAR(y[1], law(network("bistochastic", 3)).cdf(std::log(0.1)), 2e-6);
    EXPECT_NEAR(file.read_doubles("figure/panel-1/bistochastic/x", shape)[1], std::log10(3), 1e-12);
}

TEST_F(FigureProgram, RefusesInOneLineAndWritesNothing) {
    const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
        {{"colapse"}, "collapse"},
        {{"gate", "--mixers", "cayley"}, "--mixers"},
        {{"collapse", "--depths", "0"}, "--depths"},
        {{"collapse", "--mixers", "caley", "--depths", "1"}, "caley"},
        {{"collapse", "--depths", "2", "--max-depth", "9"}, "cannot be combined with"},
        {{"rollout", "--depths", "2,3"}, "must be one for the figure rollout"},
        {{"training"}, "no files given"},
        {{"training", "missing.h5"}, "missing.h5"},
        {{"streams"}, "no files given"},
        {{"mixers", "missing.h5"}, "spectra validate"},
        {{"midpoint", "--seed", "2"}, "does not apply"},
        {{"generators", "--seed", "2"}, "does not apply"},
        {{"all", "missing.h5"}, "missing.h5"},
        {{"collapse", "word"}, "word"},
    };
    for (const auto& [words, part] : cases) {
        const auto result = run(words);
        EXPECT_EQ(result.status, 2) << part;
        EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
        EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    }
    EXPECT_EQ(folder_.entries(), 0u);
}

}  // namespace
}  // namespace spectra
