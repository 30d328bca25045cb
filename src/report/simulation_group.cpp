#include "report/simulation_group.hpp"

#include "report/result_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace spectra::report {
namespace {

using montecarlo::Simulation;
const std::string group = "montecarlo";
const std::string linear = group + "/linear";

void write_histogram(h5::File& file, const Simulation& simulation) {
    file.write(group + "/edges", simulation.log_edges);
    file.write(group + "/counts", simulation.counts);
    file.write(group + "/count_squares", simulation.count_squares);
    file.write(group + "/cumulative_squares", simulation.cumulative_squares);
    file.write_attribute(group, "below", simulation.below);
    file.write_attribute(group, "above", simulation.above);
    file.make_group(linear);
    file.write(linear + "/edges", simulation.linear.edges);
    file.write(linear + "/counts", simulation.linear.counts);
    file.write(linear + "/count_squares", simulation.linear.count_squares);
    file.write(linear + "/cumulative_squares", simulation.linear.cumulative_squares);
    file.write_attribute(linear, "below", simulation.linear.below);
    file.write_attribute(linear, "above", simulation.linear.above);
    file.write_attribute(group, "window_count", simulation.window.sum);
    file.write_attribute(group, "window_squares", simulation.window.squares);
    file.write_attribute(group, "collapsed_count", simulation.collapsed.sum);
    file.write_attribute(group, "collapsed_squares", simulation.collapsed.squares);
}

/// Reads required entries.
class GroupReader {
public:
    GroupReader(const h5::File& file, const std::string& name) : file_(file), name_(name) {}

    const h5::File& file() const { return file_; }
    std::vector<double> vector(const std::string& path, std::size_t most = h5::File::default_max_elements) const {
        h5::Shape shape;
        return file_.read_doubles(path, shape, most);
    }
    double number(const std::string& object, const char* name) const {
        return found(file_.double_attribute(object, name), name);
    }
    std::int64_t integer(const char* name) const { return found(file_.integer_attribute(group, name), name); }
    std::uint64_t count(const char* name) const { return found(file_.unsigned_attribute(group, name), name); }
    std::string text(const char* name) const { return found(file_.string_attribute(group, name), name); }

private:
    template <class T>
    T found(const std::optional<T>& value, const char* name) const {
        if (value) return *value;
        throw std::invalid_argument(
            fmt::format("{}: its simulation cannot be resumed (no attribute {} in /{})", name_, name, group));
    }

    const h5::File& file_;
    const std::string& name_;
};

}  // namespace

void write_simulation(h5::File& file, const Simulation& simulation) {
    file.make_group(group);
    if (!simulation.log_values.empty() || simulation.log_edges.empty()) {
        const auto samples = static_cast<std::size_t>(simulation.samples);
        const std::size_t size = samples == 0 ? 0 : simulation.log_values.size() / samples;
        std::vector<double> values(simulation.log_values.size());
        std::transform(simulation.log_values.begin(), simulation.log_values.end(), values.begin(),
                       [](double x) { return std::exp(x); });
        file.write(group + "/singular_values", values, {samples, size});
        file.write(group + "/log_singular_values", simulation.log_values, {samples, size});
    } else {
        write_histogram(file, simulation);
    }
    const auto attribute = [&](const char* name, const auto& value) {
        file.write_attribute(group, name, value);
    };
    attribute("samples_requested", simulation.samples_requested);
    attribute("samples", simulation.samples);
    attribute("width", simulation.width);
    attribute("device", simulation.device);
    attribute("precision", simulation.precision);
    attribute("probes", simulation.probes);
    attribute("seconds", simulation.seconds);
    attribute("mean_square", simulation.mean_square);
    attribute("mean_square_error", simulation.mean_square_error);
    attribute("largest", simulation.largest);
    attribute("smallest", simulation.smallest);
    attribute("log_largest", simulation.log_largest);
    attribute("log_smallest", simulation.log_smallest);
    attribute("log_floor", simulation.law.log_floor());
    attribute("error_mean_square", simulation.errors.mean_square);
    attribute("error_window", simulation.errors.window);
    attribute("error_collapsed", simulation.errors.collapsed);
    attribute("error_wasserstein1", simulation.errors.wasserstein1);
    attribute("converged", simulation.converged ? 1 : 0);
    attribute("fingerprint", simulation.fingerprint);
    attribute("mean_square_count", simulation.mean_square_state.count);
    attribute("mean_square_unit", simulation.mean_square_state.unit);
    attribute("mean_square_scaled", simulation.mean_square_state.mean);
    attribute("mean_square_squares", simulation.mean_square_state.squares);
}

std::optional<Simulation> read_simulation(const std::filesystem::path& path, std::size_t most_values) {
    return read_simulation(h5::File::open_read(path), path.string(), most_values);
}

std::optional<Simulation> read_simulation(const h5::File& file, const std::string& name, std::size_t most_values) {
    const GroupReader reader(file, name);
    if (!is_result_file(file))
        throw std::invalid_argument(name + ": not a spectra result file; nothing to resume");
    if (!reader.file().is_group(group)) return {};
    Simulation out;
    const auto samples = reader.integer("samples");
    if (samples < 0 || samples > std::numeric_limits<int>::max())
        throw std::invalid_argument(
            fmt::format("{}: its simulation cannot be resumed ({} samples)", name, samples));
    out.samples = static_cast<int>(samples);
    if (out.samples == 0) return {};
    out.device = reader.text("device");
    out.seconds = reader.number(group, "seconds");
    out.log_floor = reader.number(group, "log_floor");
    out.fingerprint = reader.text("fingerprint");
    out.mean_square_state.count = reader.integer("mean_square_count");
    out.mean_square_state.unit = reader.integer("mean_square_unit");
    out.mean_square_state.mean = reader.number(group, "mean_square_scaled");
    out.mean_square_state.squares = reader.number(group, "mean_square_squares");
    if (reader.file().is_dataset(group + "/log_singular_values")) {
        out.log_values = reader.vector(group + "/log_singular_values", most_values);
        return out;
    }
    out.log_edges = reader.vector(group + "/edges");
    out.counts = reader.vector(group + "/counts");
    out.count_squares = reader.vector(group + "/count_squares");
    out.cumulative_squares = reader.vector(group + "/cumulative_squares");
    out.below = reader.number(group, "below");
    out.above = reader.number(group, "above");
    out.linear.edges = reader.vector(linear + "/edges");
    out.linear.counts = reader.vector(linear + "/counts");
    out.linear.count_squares = reader.vector(linear + "/count_squares");
    out.linear.cumulative_squares = reader.vector(linear + "/cumulative_squares");
    out.linear.below = reader.number(linear, "below");
    out.linear.above = reader.number(linear, "above");
    out.window = {reader.count("window_count"), reader.count("window_squares")};
    out.collapsed = {reader.count("collapsed_count"), reader.count("collapsed_squares")};
    out.log_smallest = reader.number(group, "log_smallest");
    out.log_largest = reader.number(group, "log_largest");
    return out;
}

}  // namespace spectra::report
