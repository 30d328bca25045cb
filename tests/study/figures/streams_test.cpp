#include "h5/file.hpp"
#include "study/figures/drawn.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

/// Figures of training logs: mixers and streams, ranks and norms.
namespace spectra::study {
namespace {

using testing::TemporaryFolder;

/// A log of two rows with these diagnostics.
std::string write_log(const std::filesystem::path& path, const std::string& architecture,
                      const std::map<std::string, std::vector<double>>& diagnostics) {
    auto file = h5::File::create(path);
    file.write("training/step", {0, 10});
    file.write("training/val_loss", {1, 0.5});
    file.write("training/gradient_norm", {NAN, 0.01});
    file.write_attribute("training", "task", "copy");
    file.write_attribute("training", "architecture", architecture);
    for (const auto& [name, values] : diagnostics)
        file.write("training/diagnostics/" + name, values, {2, values.size() / 2});
    file.close();
    return path.string();
}

class StreamsFigure : public ::testing::Test {
protected:
    StreamsFigure() {
        request_.files = {write_log(folder_.path() / "a.h5", "mhc-lite",
                                    {{"row_maximum_10", {0.8, 0.6, 0.7, 0.5}},
                                     {"row_maximum_median", {0.9, 0.8, 0.8, 0.7}},
                                     {"row_maximum_90", {1.0, 0.9, 0.9, 0.8}},
                                     {"diagonal_share", {1, 0.5, 0.6, 0.4}},
                                     {"composite_row_sum", {1, 1.5, 1, 10}},
                                     {"composite_column_sum", {1, 2, 1, 3}},
                                     {"stream_cosine", {9, 9, 9, 9}},
                                     {"stream_cosine_mixed", {1, 0.5, 0.9, 0.4}}}),
                          write_log(folder_.path() / "b.h5", "identity",
                                    {{"stream_cosine", {0.3, 0.2, 0.1, 0.25, 0.15, 0.05}}})};
    }

    TemporaryFolder folder_;
    FigureRequest request_;
};

TEST_F(StreamsFigure, ShowsWhatTheLogHasOfMixers) {
    const auto drawing = drawn("streams", request_);
    const auto& panels = drawing.figure.panels;
    ASSERT_EQ(panels.size(), 6u);
    const auto expect = [](const std::vector<double>& found, const std::vector<double>& expected) {
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t k = 0; k < found.size(); ++k) EXPECT_NEAR(found[k], expected[k], 1e-12);
    };
    ASSERT_EQ(panels[0].series.size(), 2u);  // the identity has no mixers
    expect(panels[0].series[0].lower, {0.7, 0.6});
    expect(panels[0].series[0].y, {0.95, 0.85});
    expect(panels[0].series[1].y, {0.85, 0.75});
    expect(panels[1].series[0].y, {0.75, 0.5});
    ASSERT_EQ(panels[2].series.size(), 2u);
    EXPECT_NEAR(panels[2].series[1].y[1], -2, 1e-12);
    expect(panels[3].series[0].y, {std::log10(2.0), 1});  // after the last mixer, of rows or columns
    EXPECT_NEAR(number(drawing, "copy, mhc-lite: cosine between streams after mixing"), 0.65, 1e-12);
}

// What identity mixers leave is what the sublayer before has made.
TEST_F(StreamsFigure, ShowsTheCosineAfterEachMixer) {
    const auto panels = drawn("streams", request_).figure.panels;
    EXPECT_EQ(panels[4].series[0].label, "connection 1");
    EXPECT_EQ(panels[4].series[0].y, (std::vector<double>{1, 0.9}));
    EXPECT_EQ(panels[4].series[1].y, (std::vector<double>{0.5, 0.4}));
    ASSERT_EQ(panels[5].series.size(), 2u);
    EXPECT_EQ(panels[5].series[0].label, "connection 2");
    EXPECT_EQ(panels[5].series[0].y, (std::vector<double>{0.3, 0.25}));
    EXPECT_EQ(panels[5].series[1].y, (std::vector<double>{0.2, 0.15}));
    EXPECT_EQ(panels[4].y.min, panels[5].y.min);
    EXPECT_EQ(panels[4].y.max, panels[5].y.max);
}

TEST_F(StreamsFigure, RefusesLogsWithoutStreams) {
    request_.files = {write_log(folder_.path() / "c.h5", "gpt", {{"effective_rank", {0.5, 0.4}}})};
    EXPECT_THROW(drawn("streams", request_), std::invalid_argument);
    request_.files.clear();
    EXPECT_THROW(drawn("streams", request_), std::invalid_argument);
}

TEST(TrainingFigure, ShowsEachSublayerRanksAfterBlocksAndNormsByPosition) {
    const TemporaryFolder folder;
    FigureRequest request;
    request.files = {write_log(folder.path() / "a.h5", "edelta",
                               {{"gate", {0.8, 0.2, 0.9, 0.1}},
                                {"sequence_rank", {0.5, 0.4, 0.3, 0.6, 0.5, 0.45}},
                                {"position_norm", {1, 1, 0.9, 0.8}}})};
    const auto panels = drawn("training", request).figure.panels;
    ASSERT_EQ(panels.size(), 5u);  // loss, gate, gradient norm, ranks, norms
    const auto& gate = panels[1].series;
    ASSERT_EQ(gate.size(), 5u);  // the range, two sublayers, the mean and its dots
    EXPECT_EQ(gate[1].y, (std::vector<double>{0.8, 0.9}));
    EXPECT_EQ(gate[2].y, (std::vector<double>{0.2, 0.1}));
    EXPECT_NEAR(gate[3].y[1], 0.5, 1e-12);
    EXPECT_EQ(panels[3].series[0].x, (std::vector<double>{0, 1, 2}));
    EXPECT_EQ(panels[3].series[0].y, (std::vector<double>{0.6, 0.5, 0.45}));
    EXPECT_EQ(panels[4].series[0].y, (std::vector<double>{0.9, 0.8}));
}

}  // namespace
}  // namespace spectra::study
