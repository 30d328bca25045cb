#include "report/stored_report.hpp"

#include "base/special_values.hpp"
#include "h5/file.hpp"
#include "report/result_format.hpp"
#include "report/runs_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace spectra::report {
namespace {

/// The group of one run.
class StoredRunReader {
public:
    StoredRunReader(const h5::File& file, const StoredRun& stored)
        : file_(file), name_(stored.file.string()), prefix_(stored.group.empty() ? "" : stored.group + "/") {}

    bool has(const std::string& path) const { return file_.exists(prefix_ + path); }
    std::vector<double> doubles(const std::string& path) const {
        h5::Shape shape;
        // Singular values are the largest dataset.
        constexpr std::size_t most = std::size_t{1} << 28;
        return has(path) ? file_.read_doubles(prefix_ + path, shape, most) : std::vector<double>();
    }
    double number(const std::string& object, const std::string& name, double otherwise = 0) const {
        return file_.double_attribute(prefix_ + object, name).value_or(otherwise);
    }
    int integer(const std::string& object, const std::string& name) const {
        const auto value = file_.integer_attribute(prefix_ + object, name).value_or(0);
        return std::in_range<int>(value) ? static_cast<int>(value) : 0;
    }
    std::string text(const std::string& object, const std::string& name) const {
        return file_.string_attribute(prefix_ + object, name).value_or("");
    }

    [[noreturn]] void refuse(const std::string& path, const std::string& what) const {
        throw std::invalid_argument(name_ + ": " + prefix_ + path + ": " + what);
    }
    /// The law that `make` builds from the numbers at `path`, which may be invalid.
    template <class Make>
    Spectrum law(const std::string& path, const Make& make) const {
        try {
            return make();
        } catch (const std::invalid_argument& error) {
            refuse(path, error.what());
        }
    }

private:
    const h5::File& file_;
    std::string name_, prefix_;
};

Network read_network(const StoredRunReader& in) {
    Network network;
    network.streams = in.integer("network", "streams");
    network.width = in.integer("network", "width");
    network.mixer_name = in.text("network", "mixer");
    network.title = in.text("network", "title");
    const auto entries = in.doubles("network/mixers");
    if (!std::all_of(entries.begin(), entries.end(), [](double x) { return std::isfinite(x); }))
        in.refuse("network/mixers", "has entries that are not finite");
    const auto n = static_cast<Eigen::Index>(network.streams);
    using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    for (std::size_t at = 0; n > 0 && at + static_cast<std::size_t>(n * n) <= entries.size();
         at += static_cast<std::size_t>(n * n))
        network.mixers.emplace_back(Eigen::Map<const Rows>(entries.data() + at, n, n));
    return network;
}

dyson::Theory read_theory(const StoredRunReader& in, dyson::Method method) {
    const std::string group = "theory/" + dyson::name(method);
    dyson::Theory theory;
    theory.method = method;
    theory.eta = in.number(group, "eta");
    theory.curve.log_s = in.doubles(group + "/log_s");
    theory.curve.density_log = in.doubles(group + "/density_log");

    const std::string law = in.has(group + "/law") ? group + "/law" : group;
    Density density;
    density.log_s = in.doubles(law + "/log_s");
    density.density_log = in.doubles(law + "/density_log");
    density.weight = in.doubles(law + "/weight");
    density.cumulative = in.doubles(law + "/cumulative");
    if (law == group) {
        density.mass_below = in.number(group, "mass_below_range");
        density.tail_exponent = in.number(group, "tail_exponent");
    }
    const auto bands = in.doubles(group + "/log_support");
    for (std::size_t k = 0; k + 1 < bands.size(); k += 2) density.support.push_back({bands[k], bands[k + 1]});
    const auto atoms = in.doubles(group + "/log_atoms");
    for (std::size_t k = 0; k + 1 < atoms.size(); k += 2) density.atoms.push_back({atoms[k], atoms[k + 1]});
    if (!density.log_s.empty() || !density.atoms.empty())
        theory.law = in.law(law, [&] { return Spectrum::from_density(std::move(density)); });

    theory.summary.certified = in.integer(group, "certified") != 0;
    theory.summary.message = in.text(group, "message");
    theory.summary.points = in.integer(group, "points");
    theory.summary.uncertified = in.integer(group, "uncertified");
    theory.summary.mass = in.number(group, "mass");
    theory.summary.mean_square = in.number(group, "mean_square");
    theory.summary.seconds = in.number(group, "seconds");
    if (const double mass = in.number(group, "unresolved_mass", 0); mass > 0)
        theory.summary.unresolved = {mass, in.number(group, "unresolved_log_below")};
    return theory;
}

montecarlo::Simulation read_simulation(const StoredRunReader& in) {
    const std::string group = "montecarlo";
    montecarlo::Simulation out;
    out.samples = in.integer(group, "samples");
    out.samples_requested = in.integer(group, "samples_requested");
    out.width = in.integer(group, "width");
    out.device = in.text(group, "device");
    out.precision = in.text(group, "precision");
    out.probes = in.integer(group, "probes");
    out.seconds = in.number(group, "seconds");
    out.mean_square = in.number(group, "mean_square");
    out.mean_square_error = in.number(group, "mean_square_error");
    out.largest = in.number(group, "largest");
    out.smallest = in.number(group, "smallest");
    out.converged = in.integer(group, "converged") != 0;
    out.log_floor = in.number(group, "log_floor", -std::numeric_limits<double>::infinity());
    if (in.has(group + "/log_singular_values")) {
        const auto values = in.doubles(group + "/log_singular_values");
        out.law = in.law(group, [&] { return Spectrum::from_log_values(values, out.log_floor); });
    } else {
        const auto edges = in.doubles(group + "/edges"), counts = in.doubles(group + "/counts");
        out.law = in.law(group, [&] {
            return Spectrum::from_histogram(edges, counts, in.number(group, "below"), in.number(group, "above"),
                                            out.log_floor);
        });
    }
    return out;
}

/// The expected distance of a theory from the simulation: the same for all theories.
std::optional<montecarlo::ExpectedDistance> read_expected(const StoredRunReader& in, const Run& run) {
    const std::string group = "metrics/agreement";
    for (const auto& [pair, agreement] : run.agreement) {
        const auto read = [&, key = name(pair)](const std::string& distance) {
            const std::string attribute = key + "_" + distance + "_expected";
            return montecarlo::Expected{in.number(group, attribute, nan),
                                        in.number(group, attribute + "_std", nan)};
        };
        montecarlo::ExpectedDistance expected{read("wasserstein1"), read("wasserstein1_log"),
                                              read("kolmogorov_smirnov")};
        if (expected.wasserstein1.mean >= 0) return expected;
    }
    return std::nullopt;
}

}  // namespace

Report read_result_file(const std::filesystem::path& path) {
    const auto file = h5::File::open_read(path);
    check_result_format(file, path.string());
    return read_report(file, {.name = {}, .file = path});
}

Report read_report(const StoredRun& stored) {
    return read_report(h5::File::open_read(stored.file), stored);
}

Report read_report(const h5::File& file, const StoredRun& stored) {
    const StoredRunReader in(file, stored);
    const Run run = read_run(file, stored);
    Report report;
    const auto text = [&](const char* name) { return file.string_attribute(stored.group, name).value_or(""); };
    report.provenance = {.program_version = text("program_version"),
                         .git = text("git"),
                         .command = text("command"),
                         .created = text("created"),
                         .seed = run.seed,
                         .description = text("description"),
                         .settings = text("settings")};
    report.network = read_network(in);
    for (const auto method : {dyson::Method::operator_valued, dyson::Method::scalar,
                              dyson::Method::s_transform, dyson::Method::printed})
        if (in.has("theory/" + dyson::name(method))) report.theories.push_back(read_theory(in, method));
    if (in.integer("montecarlo", "samples") > 0) report.simulation = read_simulation(in);
    report.metrics = run.metrics;
    report.agreement = run.agreement;
    for (auto& [pair, agreement] : report.agreement) {
        const std::string key = name(pair);
        agreement.log_floor = in.number("metrics/agreement", key + "_log_floor", agreement.log_floor);
        agreement.left_out = static_cast<std::size_t>(std::max(0, in.integer("metrics/agreement", key + "_left_out")));
    }
    report.expected = read_expected(in, run);
    return report;
}

}  // namespace spectra::report
