#include "report/validation_report.hpp"

#include "h5/file.hpp"
#include "support/measured_stack.hpp"
#include "support/temporary_folder.hpp"
#include "report/validation_figure.hpp"
#include "report/validation_json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace spectra::validation {
namespace {

Validation example(const std::string& require = "window>=0.9") {
    mixers::Recipe recipe;
    recipe.family = mixers::Family::bistochastic;
    Validation v;
    v.file = "model.ckpt";
    v.model = "drawn";
    v.step = 20;
    const auto mixers = mixers::draw_layers(recipe, 3, 4, false, 1);
    add_measurements(v,
                     {spectra::testing::measured_stack(mixers, 20, 0.3, true, 1),
                      spectra::testing::measured_stack(mixers, 20, 0.3, true, 2)},
                     double_resolution, 2);
    v.measured->words = "2 inputs, N = 60";
    conclude(v, parse_requirements(require));
    return v;
}

TEST(ValidationReport, HoldsWhatWasMeasuredAndPredicted) {
    const auto v = example();
    ASSERT_EQ(v.predictions.size(), 3U);
    ASSERT_EQ(v.layers.size(), 4U);
    EXPECT_EQ(v.measured->values.size(), 2U);
    EXPECT_EQ(v.measured->values[0].size(), 60U);
    EXPECT_FALSE(v.verdict.pass);
    EXPECT_LT(v.agreement[2]->wasserstein1, 0.03);
    EXPECT_EQ(quantity(v, "window")->value, v.measured->metrics.window);
    EXPECT_EQ(quantity(v, "window")->error, 0);
    EXPECT_EQ(quantity(v, "wasserstein1")->value, v.agreement[2]->wasserstein1);
    EXPECT_LT(quantity(v, "row_sum_defect")->value, 1e-9);
    EXPECT_NEAR(quantity(v, "norm")->value, 1, 1e-9);
    for (const auto& name : required_names()) EXPECT_TRUE(quantity(v, name).has_value()) << name;
}

TEST(ValidationReport, FileHasTheTrainedGroup) {
    const spectra::testing::TemporaryFolder folder;
    const auto v = example();
    const auto path = folder.path() / "out.h5";
    write_validation_file(v, {"1", "git", "spectra validate model.ckpt", "now", 1}, path);
    const auto file = h5::File::open_read(path);
    EXPECT_EQ(file.shape("trained/jacobian_singular_values"), (h5::Shape{2, 60}));
    EXPECT_EQ(file.shape("trained/mixers"), (h5::Shape{4, 3, 3}));
    EXPECT_EQ(file.shape("trained/composite_products"), (h5::Shape{4, 3, 3}));
    EXPECT_EQ(file.shape("trained/row_sums"), (h5::Shape{4, 3}));
    EXPECT_EQ(file.shape("trained/branch_stream_variance"), (h5::Shape{4, 3, 3}));
    for (const char* name :
         {"branch_variance", "spectral_norms", "composite_spectral_norms", "composite_forward_gains",
          "composite_backward_gains", "layer_wasserstein1"})
        EXPECT_EQ(file.shape(std::string("trained/") + name), (h5::Shape{4})) << name;
    EXPECT_EQ(file.string_attribute("trained", "verdict"), "FAIL");
    EXPECT_EQ(file.integer_attribute("trained", "step"), 20);
    EXPECT_EQ(*file.double_attribute("metrics/measured", "window"), v.measured->metrics.window);
    EXPECT_EQ(*file.double_attribute("metrics/agreement", "ov_measured_wasserstein1"),
              v.agreement[2]->wasserstein1);
    EXPECT_TRUE(file.is_dataset("theory/ov/density"));
    EXPECT_TRUE(file.double_attribute("trained/predictions/mixers", "wasserstein1").has_value());
    h5::Shape shape;
    const auto products = file.read_doubles("trained/composite_products", shape);
    Mixer last = Mixer::Identity(3, 3);
    for (const auto& c : v.stack->connections) last = (c.mixer * last).eval();
    for (Eigen::Index i = 0; i < 3; ++i)
        for (Eigen::Index j = 0; j < 3; ++j)
            EXPECT_DOUBLE_EQ(products[static_cast<std::size_t>(27 + 3 * i + j)], last(i, j));
}

TEST(ValidationReport, JsonKeepsThePromise) {
    const auto validation = example("window>=0.1");
    const auto object = validation_json(validation);
    for (const char* key : {"layout", "layers", "streams", "mixers", "composite", "measured", "predicted",
                            "agreement", "verdict", "reasons"})
        EXPECT_TRUE(object.contains(key)) << key;
    for (const char* key : {"row_sum_defect", "column_sum_defect", "orthogonality_defect",
                            "spectral_norm_max", "identity_distance", "diagonal_dominant_share"})
        EXPECT_TRUE(object["mixers"].contains(key)) << key;
    for (const char* key : {"column_sum_min", "column_sum_max", "spectral_norm", "forward_gain", "backward_gain",
                            "forward_gains", "backward_gains"})
        EXPECT_TRUE(object["composite"].contains(key)) << key;
    EXPECT_TRUE(object["agreement"]["wasserstein1"].is_number());
    EXPECT_EQ(object["verdict"], "PASS");
    EXPECT_EQ(nlohmann::ordered_json::parse(to_json(validation)), object);
    EXPECT_TRUE(object["reasons"].empty());
    EXPECT_EQ(object["layers"], 4);
}

TEST(ValidationReport, PageSaysWhatFailed) {
    const auto page = validation_page(example(), 100, false, true);
    EXPECT_NE(page.find("window is"), std::string::npos) << page;
    EXPECT_NE(page.find("required window >= 0.9"), std::string::npos) << page;
    EXPECT_NE(page.find("measured"), std::string::npos);
    EXPECT_NE(page.find("mixers alone"), std::string::npos);
    EXPECT_NE(validation_page(example("window>=0"), 80, false, false).find("PASS"), std::string::npos);
}

TEST(ValidationReport, FiguresHaveTheirPanels) {
    const auto v = example();
    const auto figure = validation_figure(v);
    ASSERT_EQ(figure.panels.size(), 4U);
    double mass = 0;
    const auto& all = figure.panels[1].series;
    const auto& bars = *std::find_if(all.begin(), all.end(), [](const auto& s) { return s.label == "measured"; });
    for (std::size_t k = 0; k < bars.y.size(); ++k)
        mass += bars.y[k] * (bars.x[k + 1] - bars.x[k]) * std::log(10.0);
    EXPECT_NEAR(mass, 1, 0.02);
    EXPECT_EQ(figure.panels[3].series.size(), 8U);  // three singular values, each a line with dots, and two gains
    EXPECT_EQ(evolution_figure({v, v}).panels.size(), 4U);
    EXPECT_NE(evolution_table({v, v}).find("FAIL"), std::string::npos);
}

TEST(ValidationReport, EveryLineOfAFigureHasItsOwnName) {
    const auto v = example();
    const auto figure = validation_figure(v);
    std::map<std::string, std::string> names;  // by colour and dashes
    for (const auto& panel : figure.panels)
        for (const auto& series : panel.series) {
            if (series.label.empty() || series.mark != plot::Mark::line) continue;
            const auto look = series.colour + "/" + std::to_string(static_cast<int>(series.dash));
            EXPECT_EQ(names.emplace(look, series.label).first->second, series.label) << look;
        }
    EXPECT_EQ(figure.panels[2].x.scale, plot::Scale::whole);
    EXPECT_EQ(figure.panels[3].x.scale, plot::Scale::whole);
    const auto named = [&](const char* label) {
        return std::any_of(names.begin(), names.end(), [&](const auto& entry) { return entry.second == label; });
    };
    EXPECT_TRUE(named("‖AᵀA − I‖"));
    EXPECT_TRUE(named("‖A − I‖"));
    std::string caption;
    for (const auto& line : figure.caption) caption += line + "\n";
    EXPECT_NE(caption.find("(required: ≥ 0.9)"), std::string::npos) << caption;
    EXPECT_EQ(figure.panels[0].series.front().label, "window [0.75, 1.25]");
    EXPECT_EQ(figure.panels[0].series.front().y.front(), figure.panels[0].y.max);
}

TEST(ValidationReport, SeriesOfCheckpointsShowTheirThresholdsAndFiles) {
    auto first = example(), second = example();
    first.file = "runs/early.ckpt";
    second.file = "runs/late.ckpt";
    first.step.reset();
    second.step.reset();
    const auto figure = evolution_figure({first, second});
    EXPECT_EQ(figure.caption.back(), "1: early.ckpt,  2: late.ckpt");
    EXPECT_EQ(figure.title, "Isometry of 2 checkpoints: none of them pass");
    const auto& window = figure.panels[0];
    EXPECT_EQ(window.x.scale, plot::Scale::whole);
    ASSERT_EQ(window.series.front().label, "required");
    for (const double y : window.series.front().y) EXPECT_EQ(y, 0.9);
    EXPECT_EQ(window.annotations.at(0).text, "at least");
    EXPECT_GT(window.y.max, 0.9);  // the threshold is in the frame
}

// A model known by its Jacobian alone has no mixers and no theory, and can still be judged.
TEST(ValidationReport, OfAJacobianAlone) {
    const spectra::testing::TemporaryFolder folder;
    Validation v;
    v.file = "model.ts";
    v.layout = "TorchScript";
    add_values(v, {{std::log(0.9), std::log(1.0), std::log(1.1)}}, "1 input", double_resolution);
    conclude(v, default_requirements());
    EXPECT_TRUE(v.verdict.pass);
    const auto object = validation_json(v);
    EXPECT_TRUE(object["mixers"].is_null());
    EXPECT_TRUE(object["predicted"].is_null());
    EXPECT_EQ(validation_figure(v).panels.size(), 2U);
    EXPECT_FALSE(validation_page(v, 80, false, true).empty());
    write_validation_file(v, {"1", "git", "command", "now", 1}, folder.path() / "out.h5");
    EXPECT_EQ(h5::File::open_read(folder.path() / "out.h5").shape("trained/jacobian_singular_values"),
              (h5::Shape{1, 3}));
}

// Quantiles of probes may miss the outermost values; the probes do not.
TEST(ValidationReport, OfProbedLawsHasTheirMetricsAndErrors) {
    const spectra::testing::TemporaryFolder folder;
    const std::vector<double> quantiles{std::log(0.9), 0, std::log(1.1)};
    Metrics first{2, -0.1, 0.8, 0.01, 0.2, 5, 0.9}, second{3, -0.3, 0.6, 0.03, 0.1, 4, 0.8};
    const Metrics error{0.3, 0.02, 0.003, 0.004, 1e-5, 1e-6, 0.01};
    auto other = error;
    other.smallest = NAN;
    Validation v;
    v.file = "model.ckpt";
    v.layout = "spectra";
    add_probed(v, {{quantiles, first, error}, {quantiles, second, other}}, "2 inputs", double_resolution);
    const auto& m = v.measured->metrics;
    EXPECT_DOUBLE_EQ(m.mean_square, 2.5);
    EXPECT_DOUBLE_EQ(m.log_mean, -0.2);
    EXPECT_DOUBLE_EQ(m.window, 0.7);
    EXPECT_DOUBLE_EQ(m.collapsed, 0.02);
    EXPECT_DOUBLE_EQ(m.smallest, 0.1);
    EXPECT_DOUBLE_EQ(m.largest, 5);
    EXPECT_DOUBLE_EQ(v.measured->error->window, 0.003);
    EXPECT_NEAR(v.measured->error->largest, 1e-6, 1e-12);
    EXPECT_TRUE(std::isnan(v.measured->error->smallest));
    conclude(v, parse_requirements("collapsed<=0.02,largest<=6,smallest>=0.01"));
    EXPECT_EQ(v.verdict.reasons,
              (std::vector<std::string>{"collapsed is 0.02 ± 0.004; required collapsed <= 0.02",
                                        "smallest is not known; required smallest >= 0.01"}));
    const auto object = validation_json(v);
    EXPECT_DOUBLE_EQ(object["measured_error"]["window"], 0.003);
    EXPECT_TRUE(object["measured_error"]["smallest"].is_null());
    const auto page = validation_page(v, 80, false, true);
    EXPECT_NE(page.find("0.003\n"), std::string::npos) << page;
    for (const char c : validation_page(v, 80, false, false)) EXPECT_LT(static_cast<unsigned char>(c), 128);
    write_validation_file(v, {"1", "git", "command", "now", 1}, folder.path() / "out.h5");
    const auto file = h5::File::open_read(folder.path() / "out.h5");
    EXPECT_DOUBLE_EQ(file.double_attribute("trained", "error_window").value(), 0.003);
    // Known of one input, not of the other, whose smallest value may be any.
    add_probed(v, {{quantiles, first, other}, {quantiles, second, error}}, "2 inputs", double_resolution);
    EXPECT_DOUBLE_EQ(v.measured->metrics.smallest, 0.1);
    EXPECT_TRUE(std::isnan(v.measured->error->smallest));
    auto wide = error;
    wide.largest = 1.5;
    add_probed(v, {{quantiles, first, error}, {quantiles, second, wide}}, "2 inputs", double_resolution);
    EXPECT_DOUBLE_EQ(v.measured->metrics.largest, 5);
    EXPECT_DOUBLE_EQ(v.measured->error->largest, 0.5);
    EXPECT_NEAR(v.measured->error->smallest, 1e-5, 1e-12);
}

}  // namespace
}  // namespace spectra::validation
