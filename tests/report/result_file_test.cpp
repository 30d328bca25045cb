#include "report/result_file.hpp"

#include "h5/file.hpp"
#include "report/example_report.hpp"
#include "report/stored_report.hpp"
#include "support/expect_refused.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <iterator>
#include <numbers>

namespace spectra::report {
namespace {

using spectra::testing::content;
using spectra::testing::expect_refused;
using spectra::testing::TemporaryFolder;

TEST(ResultFile, HoldsTheLayoutOfFormatOne) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "a.h5";
    Report report = tests::isometric_report();
    report.green = dyson::Green{{{0.3, 0.05}}, {{-1.25, 2.5}}, {1e-16}, {4}, {1}, {0}};
    write_result_file(report, path);
    EXPECT_EQ(folder.entries(), 1u);

    const h5::File file = h5::File::open_read(path);
    EXPECT_EQ(file.string_attribute("", "format"), "jacobian-spectra");
    EXPECT_EQ(file.integer_attribute("", "format_version"), 1);
    EXPECT_EQ(file.string_attribute("", "program_version"), "0.1.0");
    EXPECT_EQ(file.string_attribute("", "git"), "abc1234");
    EXPECT_EQ(file.string_attribute("", "command"), report.provenance.command);
    EXPECT_EQ(file.string_attribute("", "created"), "2024-05-06T07:08:09Z");
    EXPECT_EQ(file.unsigned_attribute("", "seed"), report.provenance.seed);

    EXPECT_EQ(file.integer_attribute("network", "streams"), 4);
    EXPECT_EQ(file.integer_attribute("network", "width"), 25);
    EXPECT_EQ(file.integer_attribute("network", "depth"), 3);
    EXPECT_EQ(file.string_attribute("network", "mixer"), "bistochastic");
    EXPECT_EQ(file.string_attribute("network", "branch"), "isotropic");
    EXPECT_TRUE(file.string_attribute("network", "activation"));
    h5::Shape shape;
    const auto mixers = file.read_doubles("network/mixers", shape);
    EXPECT_EQ(shape, (h5::Shape{3, 4, 4}));
    EXPECT_EQ(mixers[16 + 3], 0.5);  // layer 1, row 0, column 3: rows are contiguous
    EXPECT_EQ(file.read_doubles("network/sigma2", shape), sigma2(report.network));

    const auto& curve = report.theories[0].curve;
    const std::size_t points = curve.size();
    EXPECT_EQ(file.read_doubles("theory/ov/log_s", shape), curve.log_s);
    EXPECT_EQ(file.read_doubles("theory/ov/density_log", shape), curve.density_log);
    const auto s = file.read_doubles("theory/ov/s", shape);
    const auto density = file.read_doubles("theory/ov/density", shape);
    for (std::size_t k = 0; k < points; ++k) {
        EXPECT_EQ(s[k], std::exp(curve.log_s[k]));
        EXPECT_NEAR(density[k] * s[k], curve.density_log[k], 8e-16 * (1 + curve.density_log[k]));
    }
    const auto g = file.read_doubles("theory/ov/g", shape);
    EXPECT_EQ(shape, (h5::Shape{points, 2}));
    EXPECT_EQ(g[2 * 7], curve.g[7].real());
    EXPECT_EQ(g[2 * 7 + 1], curve.g[7].imag());
    file.read_doubles("theory/ov/omega", shape);
    EXPECT_EQ(shape, (h5::Shape{points, 2}));
    for (const char* name : {"residual", "iterations", "certified", "weight"}) {
        file.read_doubles(std::string("theory/ov/") + name, shape);
        EXPECT_EQ(shape, (h5::Shape{points})) << name;
    }
    const auto support = file.read_doubles("theory/ov/support", shape);
    EXPECT_EQ(shape, (h5::Shape{1, 2}));
    EXPECT_NEAR(support[0], 0.7, 1e-15);
    EXPECT_NEAR(support[1], 1.3, 1e-15);
    EXPECT_EQ(file.shape("theory/ov/atoms"), (h5::Shape{0, 2}));
    for (const char* name : {"mass", "mean_square", "mass_below_range", "eta", "seconds"}) {
        EXPECT_TRUE(file.double_attribute("theory/ov", name)) << name;
    }
    EXPECT_EQ(file.double_attribute("theory/scalar", "mean_square"), report.theories[1].summary.mean_square);

    EXPECT_EQ(file.read_doubles("green/g", shape), (std::vector<double>{-1.25, 2.5}));
    EXPECT_EQ(file.read_doubles("green/omega", shape), (std::vector<double>{0.3, 0.05}));
    EXPECT_EQ(file.shape("green/certified"), (h5::Shape{1}));

    EXPECT_EQ(file.read_doubles("montecarlo/log_singular_values", shape), report.simulation->log_values);
    EXPECT_EQ(shape, (h5::Shape{20, 100}));
    EXPECT_EQ(file.read_doubles("montecarlo/singular_values", shape)[5],
              std::exp(report.simulation->log_values[5]));
    EXPECT_EQ(file.integer_attribute("montecarlo", "samples"), 20);
    EXPECT_EQ(file.integer_attribute("montecarlo", "samples_requested"), 20);
    EXPECT_EQ(file.string_attribute("montecarlo", "device"), "cpu");
    EXPECT_EQ(file.string_attribute("montecarlo", "precision"), "f64");
    EXPECT_EQ(file.double_attribute("montecarlo", "largest"), report.simulation->largest);

    EXPECT_EQ(file.double_attribute("metrics/scalar", "window"), report.metrics[1].second.window);
    EXPECT_EQ(file.attributes("metrics/montecarlo").size(), 7u);
    const auto& agreement = report.agreement[1].second;
    EXPECT_EQ(file.double_attribute("metrics/agreement", "ov_montecarlo_wasserstein1"),
              agreement.wasserstein1);
    EXPECT_EQ(file.double_attribute("metrics/agreement", "ov_montecarlo_wasserstein1_log"),
              agreement.wasserstein1_log);
    EXPECT_EQ(file.double_attribute("metrics/agreement", "ov_montecarlo_kolmogorov_smirnov"),
              agreement.kolmogorov_smirnov);
}

TEST(ResultFile, KeepsInfinitiesAndScalesNoDoubleHolds) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "a.h5";
    Report report = tests::atomic_report();
    auto& curve = report.theories[0].curve;
    curve.log_s = {-2000, -1000, 0};
    curve.density_log = {0.25, 0, 0.5};
    write_result_file(report, path);
    const h5::File file = h5::File::open_read(path);
    h5::Shape shape;
    EXPECT_EQ(file.read_doubles("theory/ov/log_s", shape), curve.log_s);
    EXPECT_EQ(file.read_doubles("theory/ov/s", shape), (std::vector<double>{0, 0, 1}));
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(file.read_doubles("theory/ov/density", shape), (std::vector<double>{infinity, 0, 0.5}));
    const auto atoms = file.read_doubles("theory/ov/atoms", shape);
    EXPECT_EQ(shape, (h5::Shape{2, 2}));
    EXPECT_EQ(atoms[0], 0.0);
    EXPECT_EQ(atoms[1], 0.25);
    EXPECT_EQ(file.double_attribute("metrics/ov", "log_mean"), -infinity);
    // These points are not the law's grid, which is stored beside them.
    EXPECT_FALSE(file.exists("theory/ov/weight"));
    EXPECT_EQ(file.shape("theory/ov/law/weight"), (h5::Shape{100}));
}

TEST(ResultFile, HoldsAHistogramInPlaceOfValues) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "a.h5";
    Report report = tests::isometric_report();
    auto& simulation = *report.simulation;
    simulation.log_values.clear();
    simulation.log_edges = {-1, 0, 1};
    simulation.counts = {900, 1100};
    simulation.law = Spectrum::from_histogram(simulation.log_edges, simulation.counts, 0, 0);
    compare(report);
    write_result_file(report, path);
    const h5::File file = h5::File::open_read(path);
    h5::Shape shape;
    EXPECT_EQ(file.read_doubles("montecarlo/edges", shape), simulation.log_edges);
    EXPECT_EQ(file.read_doubles("montecarlo/counts", shape), simulation.counts);
    EXPECT_FALSE(file.exists("montecarlo/singular_values"));
    EXPECT_NE(describe_result_file(path).find("histogram"), std::string::npos);
}

TEST(ResultFile, EqualReportsAreEqualFiles) {
    const TemporaryFolder folder;
    write_result_file(tests::collapsed_report(), folder.path() / "a.h5");
    write_result_file(tests::collapsed_report(), folder.path() / "b.h5");
    EXPECT_EQ(content(folder.path() / "a.h5"), content(folder.path() / "b.h5"));
}

TEST(ResultFile, AFullDiskLeavesTheEarlierFile) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "a.h5";
    write_result_file(tests::atomic_report(), path);
    const std::string earlier = content(path);

    // A limit on file sizes fails writes as a full disk does, in the middle of the file.
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit small = before;
    small.rlim_cur = 5000;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    EXPECT_THROW(write_result_file(tests::isometric_report(), path), std::runtime_error);
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);

    EXPECT_EQ(content(path), earlier);
    EXPECT_EQ(folder.entries(), 1u);
}

TEST(ResultFile, FolderThatIsNotThereIsNamed) {
    const TemporaryFolder folder;
    try {
        write_result_file(tests::atomic_report(), folder.path() / "absent" / "a.h5");
        ADD_FAILURE();
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string(error.what()).find("absent/a.h5"), std::string::npos) << error.what();
    }
}

TEST(ResultFile, KnowsItsOwn) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "a.h5";
    write_result_file(tests::atomic_report(), path);
    EXPECT_TRUE(is_result_file(path));
    EXPECT_FALSE(is_result_file(folder.path() / "absent"));
    EXPECT_FALSE(is_result_file(folder.path()));
    EXPECT_FALSE(is_result_file(folder.write("words.h5", "words")));
    h5::File other = h5::File::create(folder.path() / "other.h5");
    other.write_attribute("", "format", "another");
    other.close();
    EXPECT_FALSE(is_result_file(folder.path() / "other.h5"));
}

TEST(ResultFile, DescriptionSaysWhatAPersonAsks) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "a.h5";
    Report report = tests::atomic_report();
    report.theories[0].summary.certified = false;
    report.theories[0].summary.message = "2 points did not settle";
    report.simulation->samples_requested = 50;
    write_result_file(report, path);
    const std::string page = describe_result_file(path);
    for (const char* words :
         {"bistochastic, L = 2", "N = 100", "isotropic, total noise 0.05", "NOT certified",
          "2 points did not settle", "atom at 0, mass 0.25", "20 of 50 samples (interrupted)", "log_mean",
          "-inf", "ov_montecarlo", "spectra --mixer bistochastic --depth 3", "18446744073709551614"}) {
        EXPECT_NE(page.find(words), std::string::npos) << words << "\n" << page;
    }
}

TEST(ResultFile, DescriptionHasBandsBelowTheRangeOfDoubles) {
    const TemporaryFolder folder;
    Density density;
    const double bottom = -2000 * std::numbers::ln10;
    tests::add_band(density, bottom, bottom + std::numbers::ln10, 20,
                    [](double) { return 0.5 / std::numbers::ln10; });
    tests::add_band(density, 0, std::log(2.0), 20, [](double) { return 0.5 / std::log(2.0); });
    Report report = tests::atomic_report();
    report.theories = {tests::theory_of(dyson::Method::operator_valued, Spectrum::from_density(density))};
    write_result_file(report, folder.path() / "deep.h5");
    const std::string page = describe_result_file(folder.path() / "deep.h5");
    EXPECT_NE(page.find("support [1e-2000, 1e-1999] [1, 2]"), std::string::npos) << page;
}

TEST(ResultFile, DescriptionRefusesOtherFiles) {
    const TemporaryFolder folder;
    const auto describe = [&](const char* name) {
        return [=, &folder] { describe_result_file(folder.path() / name); };
    };
    expect_refused(describe("absent.h5"), {"absent.h5: no such file"});
    folder.write("words.h5", "words, many words");
    expect_refused(describe("words.h5"), {"words.h5: not an HDF5 file"});
    h5::File::create(folder.path() / "other.h5").close();
    expect_refused(describe("other.h5"), {"other.h5: not a result file of spectra"});
    h5::File newer = h5::File::create(folder.path() / "newer.h5");
    newer.write_attribute("", "format", "jacobian-spectra");
    newer.write_attribute("", "format_version", format_version + 1);
    newer.close();
    expect_refused(describe("newer.h5"), {"newer.h5: format version 2", "reads up to 1"});
    EXPECT_TRUE(is_result_file(folder.path() / "newer.h5"));
}

// data/results has one file of every format, by the program that introduced it. Its numbers are those it printed then.
TEST(ResultFile, EveryFormatIsRead) {
    for (int version = 1; version <= format_version; ++version) {
        const std::filesystem::path path =
            SPECTRA_DATA_DIR "/results/format-" + std::to_string(version) + ".h5";
        SCOPED_TRACE(path);
        ASSERT_TRUE(std::filesystem::exists(path)) << "keep a file of the new format";
        ASSERT_EQ(h5::File::open_read(path).integer_attribute("", "format_version"), version);
        const Report report = read_result_file(path);
        EXPECT_EQ(report.network.title, "cayley, L = 2, n = 2, p = 2, Lσ² = 0.05, seed 1");
        ASSERT_EQ(report.theories.size(), 1u);
        EXPECT_EQ(report.theories[0].curve.size(), 8u);
        ASSERT_TRUE(report.simulation);
        const std::string page = describe_result_file(path);
        for (const char* words : {"mean_square            1.05058      0.938306", "support [0.7133, 1.349]",
                                  "ov_montecarlo            0.0675394     0.0804093          0.25", "3 samples"})
            EXPECT_NE(page.find(words), std::string::npos) << words << "\n" << page;
    }
}

}  // namespace
}  // namespace spectra::report
