// The module jacobian_spectra._core: it converts arguments, releases Python's lock, and calls the libraries; the package
// around it, in Python, has the names that users see (docs/python.md).

#include "python/describe.hpp"

#include "base/parallel.hpp"
#include "base/stop.hpp"
#include "dyson/law/theory.hpp"
#include "linalg/golub_kahan.hpp"
#include "linalg/singular_values.hpp"
#include "mixers/registry.hpp"
#include "montecarlo/cuda/module.hpp"
#include "montecarlo/finite_size.hpp"
#include "montecarlo/run/simulate.hpp"
#include "montecarlo/sample/probing.hpp"
#include "plot/figure.hpp"
#include "report/conformity_report.hpp"
#include "report/density_figure.hpp"
#include "report/json.hpp"
#include "report/result_file.hpp"
#include "report/terminal.hpp"
#include "report/validation_figure.hpp"
#include "report/validation_report.hpp"
#include "study/analysis.hpp"
#include "study/build_branch.hpp"
#include "study/memory.hpp"
#include "study/output_files.hpp"
#include "study/version.hpp"
#include "validation/validation.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <span>
#include <thread>

namespace py = pybind11;
namespace dyson = spectra::dyson;
namespace montecarlo = spectra::montecarlo;
namespace study = spectra::study;
namespace validation = spectra::validation;
using spectra::Network;
using spectra::Spectrum;
using spectra::python::describe;
using spectra::python::Described;
using spectra::python::Doubles;
using spectra::python::from_members;
using spectra::python::from_python;
using spectra::python::Members;
using spectra::python::members_of;
using spectra::python::mixer_array;
using spectra::python::to_python;
using spectra::python::view;

namespace {

// ---------------------------------------------------------------------------------------------------------------------
// Computing without Python's lock, stopped by Ctrl-C.

/// Asked by computations whether they should end.
using Stop = std::atomic<bool>;

/// Runs f(stop, threads) in a thread of its own, without Python's lock, while this one listens to signals: Ctrl-C sets
/// `stop`, and is raised here when f has ended. `threads`: those asked for, or what OpenMP was told in this thread.
template <class F>
auto compute(int threads, F f) {
    const int count = spectra::threads_or_all(threads);
    Stop stop{false};
    auto result = std::async(std::launch::async, [&] {
        omp_set_num_threads(count);
        return f(stop, count);
    });
    bool interrupted = false;
    {
        const py::gil_scoped_release unlocked;
        while (result.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
            const py::gil_scoped_acquire locked;
            if (!interrupted && PyErr_CheckSignals() != 0) {
                PyErr_Clear();  // raised below, when nothing runs any more
                stop = interrupted = true;
            }
        }
    }
    try {
        auto out = result.get();
        if (!interrupted) return out;
    } catch (const spectra::Stopped&) {
    } catch (...) {
        if (!interrupted) throw;
    }
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    throw py::error_already_set();
}

// ---------------------------------------------------------------------------------------------------------------------
// Laws.

/// A law by what it was made from. A histogram's counts come from its distribution function, to rounding.
py::dict state_of(const Spectrum& law) {
    py::dict out;
    out["log_floor"] = law.log_floor();
    const double sampled = static_cast<double>(law.count_below(std::numeric_limits<double>::infinity()));
    if (law.is_empirical()) {
        out["log_values"] = to_python(law.log_values());
    } else if (sampled > 0 && !law.continuous().empty()) {
        std::vector<double> edges{law.continuous().lowest()}, counts;
        for (const auto& piece : law.continuous().pieces) {
            edges.push_back(piece.upper);
            counts.push_back(std::round((piece.to - piece.from) * sampled));
        }
        double below = 0, above = 0;
        for (const auto& atom : law.density().atoms)
            (std::isinf(atom.log_place) ? below : above) = std::round(atom.mass * sampled);
        out["histogram"] = py::make_tuple(to_python(edges), to_python(counts), below, above);
    } else {
        out["density"] = to_python(law.density());
    }
    return out;
}

Spectrum law_from(const py::dict& state) {
    const auto floor = py::cast<double>(state["log_floor"]);
    if (state.contains("log_values"))
        return Spectrum::from_log_values(from_python<std::vector<double>>(state["log_values"]), floor);
    if (state.contains("histogram")) {
        const auto parts = py::cast<py::tuple>(state["histogram"]);
        return Spectrum::from_histogram(from_python<std::vector<double>>(parts[0]),
                                        from_python<std::vector<double>>(parts[1]), py::cast<double>(parts[2]),
                                        py::cast<double>(parts[3]), floor);
    }
    auto density = from_python<spectra::Density>(state["density"]);
    if (density.log_s.empty() && density.atoms.empty()) return {};
    return Spectrum::from_density(std::move(density));
}

/// A function of ln s, or of a share, at every entry of an array of any shape.
template <class F>
py::array_t<double> at_each(const Doubles& x, F f) {
    py::array_t<double> out(std::vector<py::ssize_t>(x.shape(), x.shape() + x.ndim()));
    const double* in = x.data();
    double* to = out.mutable_data();
    const py::gil_scoped_release unlocked;
    for (py::ssize_t k = 0; k < x.size(); ++k) to[k] = f(in[k]);
    return out;
}

void bind_laws(py::module_& m) {
    py::class_<Spectrum>(m, "Spectrum")
        .def_static("from_log_values",
                    [](const Doubles& values, double floor) {
                        return Spectrum::from_log_values({values.data(), values.data() + values.size()}, floor);
                    })
        .def("cdf", [](const Spectrum& law, const Doubles& log_s) {
            return at_each(log_s, [&](double x) { return law.cdf(x); });
        })
        .def("density_log", [](const Spectrum& law, const Doubles& log_s) {
            return at_each(log_s, [&](double x) { return law.density_log(x); });
        })
        .def("log_quantile", [](const Spectrum& law, const Doubles& shares) {
            return at_each(shares, [&](double u) { return law.log_quantile(u); });
        })
        .def("metrics", [](const Spectrum& law) { return members_of(law.metrics()); })
        .def_property_readonly("mass", &Spectrum::mass)
        .def_property_readonly("empty", &Spectrum::empty)
        .def_property_readonly("log_floor", &Spectrum::log_floor)
        .def_property_readonly("log_values",
                               [](const py::object& self) { return view(self.cast<Spectrum&>().log_values(), self); })
        .def("grid", [](const py::object& self) {
            const auto& density = self.cast<Spectrum&>().density();
            return py::make_tuple(view(density.log_s, self), view(density.density_log, self),
                                  view(density.weight, self), view(density.cumulative, self));
        })
        .def("support", [](const Spectrum& law) { return to_python(law.density().support); })
        .def("atoms", [](const Spectrum& law) { return to_python(law.density().atoms); })
        .def(py::pickle([](const Spectrum& law) { return state_of(law); },
                        [](const py::dict& state) { return law_from(state); }));
    m.def("agreement", [](const Spectrum& a, const Spectrum& b) { return members_of(spectra::agreement(a, b)); });
}

/// Binds a struct that travels as a whole: its members on request, and pickles.
template <class S>
py::class_<S> bind_struct(py::module_& m, const char* name) {
    py::class_<S> out(m, name);
    out.def("members", [](const S& x) { return members_of(x); });
    out.def(py::pickle([](const S& x) { return members_of(x); },
                       [](const py::dict& state) { return from_members<S>(state); }));
    return out;
}

// ---------------------------------------------------------------------------------------------------------------------
// Theory and simulation.

dyson::Method method_of(const std::string& name) {
    for (const auto method : {dyson::Method::operator_valued, dyson::Method::scalar, dyson::Method::s_transform,
                              dyson::Method::printed})
        if (dyson::name(method) == name) return method;
    throw std::invalid_argument(
        fmt::format("`theory` \"{}\": must be ov, scalar, s-transform or printed", name));
}

dyson::Theory solve(const Described& described, const std::string& theory, std::optional<double> eta,
                    const std::optional<std::tuple<double, double, int, bool>>& grid, int threads) {
    const auto method = method_of(theory);
    dyson::Options options;
    options.eta = eta.value_or(0);
    if (options.eta < 0) throw std::invalid_argument("`eta`: must be ≥ 0");
    if (grid) {
        options.grid = dyson::Grid{std::get<0>(*grid), std::get<1>(*grid), std::get<2>(*grid), std::get<3>(*grid)};
        if (!(options.grid->min < options.grid->max) || options.grid->points < 2 ||
            options.grid->min < 0 || (options.grid->logarithmic && !(options.grid->min > 0)))
            throw std::invalid_argument(
                "`grid`: must be (min, max, points) with 0 ≤ min < max and at least 2 points; log needs min > 0");
    }
    dyson::check(described.network(), method);
    return compute(threads, [&](const Stop& stop, int count) {
        options.threads = count;
        options.on_step = [&stop] {
            if (stop) throw spectra::Stopped{};
        };
        return dyson::solve(described.network(), method, options);
    });
}

template <class E>
E choice(const char* field, const std::string& given, std::initializer_list<std::pair<const char*, E>> choices) {
    std::string names;
    for (const auto& [name, value] : choices) {
        if (given == name) return value;
        names += names.empty() ? name : std::string(", ") + name;
    }
    throw std::invalid_argument(fmt::format("`{}` \"{}\": must be one of {}", field, given, names));
}

montecarlo::Options simulation_options(const Described& described, const py::dict& given) {
    montecarlo::Options options;
    const auto text = [&](const char* name) { return py::cast<std::string>(given[name]); };
    options.samples = py::cast<int>(given["samples"]);
    if (options.samples < 1) throw std::invalid_argument("`samples`: must be ≥ 1");
    options.until_error = py::cast<std::optional<double>>(given["until_error"]);
    options.seed = given["seed"].is_none() ? described.seed : py::cast<std::uint64_t>(given["seed"]);
    options.keep = choice<montecarlo::Keep>("keep", text("keep"),
                                            {{"auto", montecarlo::Keep::automatic},
                                             {"values", montecarlo::Keep::values},
                                             {"histogram", montecarlo::Keep::histogram}});
    options.device = choice<montecarlo::Device>("device", text("device"),
                                                {{"auto", montecarlo::Device::automatic},
                                                 {"cpu", montecarlo::Device::cpu},
                                                 {"cuda", montecarlo::Device::cuda}});
    options.precision = choice<montecarlo::Precision>(
        "precision", text("precision"), {{"f64", montecarlo::Precision::f64}, {"f32", montecarlo::Precision::f32}});
    options.slopes = choice<montecarlo::Slopes>(
        "slopes", text("slopes"),
        {{"drawn", montecarlo::Slopes::drawn}, {"propagated", montecarlo::Slopes::propagated}});
    options.method = choice<montecarlo::Method>("method", text("method"),
                                                {{"auto", montecarlo::Method::automatic},
                                                 {"dense", montecarlo::Method::dense},
                                                 {"quadrature", montecarlo::Method::quadrature}});
    options.shared_mixers = described.shared;
    if (py::cast<bool>(given["redrawn"])) {
        if (!described.is.recipe)
            throw std::invalid_argument("`redrawn`: mixers of a file or an array are not drawn");
        options.redrawn = described.is.recipe;
    }
    return options;
}

/// Throws where a GPU that was asked for is not to be had: the simulation would run on the processor instead.
void require_gpu(const Network& network, montecarlo::Precision precision) {
    std::string why_not;
    if (!montecarlo::cuda::open_backend(network.streams, network.width, precision, why_not))
        throw std::runtime_error(fmt::format("`device` cuda: {}; auto uses a GPU where there is one", why_not));
}

montecarlo::Simulation simulate(const Described& described, const py::dict& given, int threads) {
    auto options = simulation_options(described, given);
    study::check_memory("the simulation", static_cast<double>(montecarlo::memory_needed(described.network(), options)),
                        "a smaller `width`, `streams`, `depth` or `samples`, or `keep` histogram");
    return compute(threads, [&](const Stop& stop, int count) {
        if (options.device == montecarlo::Device::cuda) require_gpu(described.network(), options.precision);
        options.threads = count;
        options.stop = &stop;
        return montecarlo::simulate(described.network(), options);
    });
}

py::object expected_distance(const Described& described, const py::dict& given, int threads) {
    auto options = simulation_options(described, given);
    const auto out = compute(threads, [&](const Stop& stop, int count) {
        options.threads = count;
        options.stop = &stop;
        return montecarlo::expected_distance(described.network(), options);
    });
    return to_python(out);
}

// ---------------------------------------------------------------------------------------------------------------------
// Reports: what is written, drawn and printed.

spectra::report::Report report_of(const Described& described, const std::vector<dyson::Theory>& theories,
                                  const std::optional<montecarlo::Simulation>& simulation) {
    spectra::report::Report out;
    out.network = described.network();
    out.theories = theories;
    out.simulation = simulation;
    spectra::report::compare(out);
    return out;
}

/// Writes to STEM.h5 what `write` writes, unless something else is there.
template <class Write>
void write_file(const std::string& path, bool force, std::uint64_t seed, const Write& write) {
    auto stem = path;
    if (stem.ends_with(".h5")) stem.resize(stem.size() - 3);
    const study::Settings settings{{"command", "python"}, {"out", std::filesystem::absolute(path).string()}};
    study::check_writable(study::output_files(stem, {}), settings, force);
    write(study::provenance({"python: jacobian_spectra", settings}, seed), stem + ".h5");
}

void bind_reports(py::module_& m) {
    using Theories = std::vector<dyson::Theory>;
    using Maybe = std::optional<montecarlo::Simulation>;
    m.def("report_json", [](const Described& d, const Theories& t, const Maybe& s) {
        return spectra::report::to_json(report_of(d, t, s));
    });
    m.def("report_page", [](const Described& d, const Theories& t, const Maybe& s, int columns) {
        return spectra::report::terminal_page(report_of(d, t, s), columns, false, true);
    });
    m.def("report_draw", [](const Described& d, const Theories& t, const Maybe& s, const std::string& path) {
        const py::gil_scoped_release unlocked;
        spectra::plot::render(spectra::report::density_figure(report_of(d, t, s)), path);
    });
    m.def("report_write", [](const Described& d, const Theories& t, const Maybe& s, const std::string& path, bool force) {
        const py::gil_scoped_release unlocked;
        write_file(path, force, d.seed, [&](const auto& provenance, const auto& file) {
            auto report = report_of(d, t, s);
            report.provenance = provenance;
            spectra::report::write_result_file(report, file);
        });
    });
}

// ---------------------------------------------------------------------------------------------------------------------
// Measured models.

/// Bases of several bidiagonalisations, kept by a Python object with the methods of linalg::Bidiagonalisation.
class PythonBases final : public spectra::linalg::Bidiagonalisation {
public:
    explicit PythonBases(py::object bases) : bases_(std::move(bases)) {}
    PythonBases(const PythonBases&) = delete;
    PythonBases& operator=(const PythonBases&) = delete;
    ~PythonBases() override {
        const py::gil_scoped_acquire locked;
        bases_ = py::object();
    }

    int chains() const override { return number("chains"); }
    int dimension() const override { return number("dimension"); }
    std::vector<double> left(int k) override { return norms("left", k); }
    std::vector<double> right(int k) override { return norms("right", k); }
    void set_left(int k, const std::vector<double>& factor) override { set("set_left", k, factor); }
    void set_right(int k, const std::vector<double>& factor) override { set("set_right", k, factor); }
    void keep_first() override {
        const py::gil_scoped_acquire locked;
        bases_.attr("keep_first")();
    }

private:
    int number(const char* method) const {
        const py::gil_scoped_acquire locked;
        return py::cast<int>(bases_.attr(method)());
    }
    std::vector<double> norms(const char* method, int k) {
        const py::gil_scoped_acquire locked;
        return from_python<std::vector<double>>(bases_.attr(method)(k));
    }
    void set(const char* method, int k, const std::vector<double>& factor) {
        const py::gil_scoped_acquire locked;
        bases_.attr(method)(k, to_python(factor));
    }

    py::object bases_;
};

/// The law of a matrix by probes. `bases`(probes, steps) returns the Python object that PythonBases drives; where it
/// raises MemoryError, fewer probes are tried.
py::dict probe(int rank, int size, int columns, double rounding, const py::object& bases, const py::dict& given) {
    montecarlo::ProbingOptions options;
    options.probes = py::cast<int>(given["probes"]);
    options.steps = py::cast<int>(given["steps"]);
    options.error = py::cast<double>(given["error"]);
    options.extremes = py::cast<double>(given["extremes"]);
    options.most_steps = py::cast<int>(given["most_steps"]);
    options.seed = py::cast<std::uint64_t>(given["seed"]);
    options.input = py::cast<std::uint32_t>(given["input"]);
    montecarlo::ProbedMatrix matrix;
    matrix.rank = rank;
    matrix.size = size;
    matrix.columns = columns;
    matrix.rounding = rounding;
    matrix.bidiagonalise = [&](const std::vector<double>& probes, int count,
                               const spectra::linalg::GolubKahanOptions& how) {
        const py::gil_scoped_acquire locked;
        try {
            const py::array_t<double> rows({static_cast<py::ssize_t>(count), static_cast<py::ssize_t>(rank)},
                                           probes.data());
            PythonBases chains(bases(rows, how.steps));
            const py::gil_scoped_release unlocked;
            return spectra::linalg::golub_kahan(chains, how);
        } catch (py::error_already_set& error) {
            if (error.matches(PyExc_MemoryError)) throw montecarlo::OutOfMemory(error.what());
            throw;
        }
    };
    montecarlo::ProbedLaw found;
    {
        const py::gil_scoped_release unlocked;
        found = montecarlo::probe(matrix, options);
    }
    py::dict out;
    out["log_values"] = to_python(found.log_values);
    out["metrics"] = members_of(found.metrics);
    out["error"] = members_of(found.error);
    out["largest_converged"] = found.largest_converged;
    out["smallest_converged"] = found.smallest_converged;
    out["probes"] = found.probes;
    out["steps"] = found.steps;
    return out;
}

/// ln of the singular values of a square matrix, ascending.
py::array_t<double> log_singular_values(const Doubles& matrix) {
    if (matrix.ndim() != 2 || matrix.shape(0) != matrix.shape(1))
        throw std::invalid_argument("log_singular_values: the matrix must be square");
    const auto n = matrix.shape(0);
    std::vector<double> out(static_cast<std::size_t>(n));
    bool found = false;
    {
        const py::gil_scoped_release unlocked;
        spectra::linalg::SingularValues lapack(static_cast<int>(n));
        // Rows are read as columns: the transpose has the same singular values.
        found = lapack.compute(Eigen::Map<const Eigen::MatrixXd>(matrix.data(), n, n), 0, out);
    }
    if (!found) throw std::runtime_error("the Jacobian is not finite: the model gives infinities or NaN at this input");
    return py::array_t<double>(n, out.data());
}

/// What was measured of a model, as Python hands it over, and everything that follows from it.
struct Measured {
    std::vector<spectra::layouts::Measurement> measurements;  ///< one per input; none: no prediction
    std::vector<std::vector<double>> log_values;              ///< one set per input, where they are exact
    std::vector<validation::ProbedLaw> probed;                ///< else
    std::string words, note;
    double resolution = validation::double_resolution;
};

/// How many triplets explain it. The triplets themselves are not kept: with them a report would hold every Jacobian.
void add_alignment(validation::Validation& v, validation::AlignmentOptions options, const Stop& stop, int threads) {
    options.threads = threads;
    options.before_rank = [&](int) {
        if (stop) throw spectra::Stopped{};
    };
    v.alignment = validation::align(v.measurements, v.measured->law, options);
    for (auto& measurement : v.measurements)
        for (auto& branch : measurement.branches) branch.core = {};
}

/// `alignment`: explain, rank and seed of its search, where the branches came with their triplets; None: no search.
validation::Validation validate(const py::dict& names, const py::list& measurements, const py::list& log_values,
                                const py::list& probed, const std::optional<std::string>& require,
                                const std::optional<py::dict>& alignment, int threads) {
    Measured m;
    m.measurements = from_python<decltype(m.measurements)>(measurements);
    m.log_values = from_python<decltype(m.log_values)>(log_values);
    m.probed = from_python<decltype(m.probed)>(probed);
    m.words = py::cast<std::string>(names["words"]);
    m.note = py::cast<std::string>(names["note"]);
    m.resolution = py::cast<double>(names["resolution"]);
    validation::Validation start;
    start.file = py::cast<std::string>(names["name"]);
    start.model = py::cast<std::string>(names["model"]);
    start.layout = py::cast<std::string>(names["layout"]);
    start.step = py::cast<std::optional<std::int64_t>>(names["step"]);
    std::optional<validation::AlignmentOptions> search;
    if (alignment) {
        search.emplace();
        search->explain = py::cast<double>((*alignment)["explain"]);
        search->rank = py::cast<std::optional<int>>((*alignment)["rank"]);
        search->seed = py::cast<std::uint64_t>((*alignment)["seed"]);
    }
    auto requirements = require ? validation::parse_requirements(*require) : validation::default_requirements();
    return compute(threads, [&](const Stop& stop, int count) {
        auto v = start;
        if (!m.probed.empty())
            validation::add_probed(v, m.probed, m.words, m.resolution);
        else
            validation::add_values(v, m.log_values, m.words, m.resolution);
        if (stop) throw spectra::Stopped{};
        if (!m.measurements.empty()) validation::add_measurements(v, m.measurements, m.resolution, count);
        if (stop) throw spectra::Stopped{};
        if (!m.measurements.empty() && search) add_alignment(v, *search, stop, count);
        v.measured->words = m.words;
        v.measured->note = m.note;
        validation::conclude(v, requirements);
        return v;
    });
}

/// Two records as safetensors files in memory; JSON text.
std::string conform(const std::string& reference, const std::string& candidate) {
    const py::gil_scoped_release unlocked;
    const auto read = [](const std::string& bytes, const char* name) {
        return validation::read_connection_record(
            spectra::weightfile::TensorFile::from_bytes(std::as_bytes(std::span(bytes.data(), bytes.size())), name));
    };
    const auto found = validation::conform(read(reference, "reference"), read(candidate, "candidate"));
    return validation::conformity_json(found, "reference", "candidate").dump();
}

void bind_validation(py::module_& m) {
    using validation::Validation;
    bind_struct<Validation>(m, "Validation")
        .def("json", [](const Validation& v) { return validation::to_json(v); })
        .def("page", [](const Validation& v, int columns) { return validation::validation_page(v, columns, false, true); })
        .def("draw", [](const Validation& v, const std::string& path) {
            const py::gil_scoped_release unlocked;
            spectra::plot::render(validation::validation_figure(v), path);
        })
        .def("write", [](const Validation& v, const std::string& path, bool force, std::uint64_t seed) {
            const py::gil_scoped_release unlocked;
            write_file(path, force, seed, [&](const auto& provenance, const auto& file) {
                validation::write_validation_file(v, provenance, file);
            });
        })
        .def_property_readonly("measured_law", [](const Validation& v) { return v.measured.value().law; })
        .def_property_readonly("certified", &Validation::certified);
    m.def("validate", &validate);
    m.def("conform", [](const py::bytes& reference, const py::bytes& candidate) {
        return conform(reference, candidate);
    });
    m.def("probe", &probe);
    m.def("orthogonalise_again", &spectra::linalg::orthogonalise_again);
    m.def("log_singular_values", &log_singular_values);
    m.def("probe_vector", [](int size, std::uint64_t seed, std::uint32_t number, std::uint32_t input) {
        return to_python(montecarlo::probe_vector(size, seed, number, input));
    });
}

}  // namespace

PYBIND11_MODULE(_core, m) {
    m.attr("version") = spectra::version::number;
    m.attr("git") = spectra::version::git;
    m.attr("features") = spectra::version::features;
    py::register_exception<montecarlo::OutOfMemory>(m, "OutOfMemory", PyExc_MemoryError);
    m.def("mixer_names", &study::family_names);
    m.def("branch_names", &study::branch_names);
    bind_laws(m);

    py::class_<Described>(m, "Network")
        .def(py::init(&describe))
        .def_property_readonly("streams", [](const Described& d) { return d.network().streams; })
        .def_property_readonly("width", [](const Described& d) { return d.network().width; })
        .def_property_readonly("depth", [](const Described& d) { return d.network().depth(); })
        .def_property_readonly("mixer", [](const Described& d) { return d.network().mixer_name; })
        .def_property_readonly("branch", [](const Described& d) { return spectra::branch_name(d.network().branch); })
        .def_property_readonly("title", [](const Described& d) { return d.network().title; })
        .def_property_readonly("short_name", [](const Described& d) { return d.is.short_name; })
        .def_property_readonly("seed", [](const Described& d) { return d.seed; })
        .def_property_readonly("mixers", &mixer_array)
        .def_property_readonly("sigma2", [](const Described& d) { return to_python(spectra::sigma2(d.network())); })
        .def(py::pickle(
            [](const Described& d) { return py::make_tuple(members_of(d.is), d.seed, d.shared); },
            [](const py::tuple& state) {
                return Described{from_python<study::DescribedNetwork>(state[0]), py::cast<std::uint64_t>(state[1]),
                                 py::cast<bool>(state[2])};
            }));

    bind_struct<dyson::Theory>(m, "Theory")
        .def_property_readonly("law", [](const dyson::Theory& t) { return t.law; })
        .def_property_readonly("method", [](const dyson::Theory& t) { return dyson::name(t.method); })
        .def_property_readonly("eta", [](const dyson::Theory& t) { return t.eta; })
        .def("summary", [](const dyson::Theory& t) { return members_of(t.summary); })
        .def("curve", [](const py::object& self) {
            const auto& curve = self.cast<dyson::Theory&>().curve;
            py::dict out;
            std::apply([&](const auto&... member) { ((out[member.name] = view(curve.*member.pointer, self)), ...); },
                       Members<dyson::Curve>::list);
            return out;
        });
    m.def("solve", &solve);

    bind_struct<montecarlo::Simulation>(m, "Simulation")
        .def_property_readonly("law", [](const montecarlo::Simulation& s) { return s.law; })
        .def_property_readonly("interrupted", &montecarlo::Simulation::interrupted)
        .def_property_readonly("log_values", [](const py::object& self) {
            return view(self.cast<montecarlo::Simulation&>().log_values, self);
        })
        .def("estimate", [](const montecarlo::Simulation& s, bool logarithmic) {
            const auto out = logarithmic ? montecarlo::log_density_estimate(s) : montecarlo::linear_density_estimate(s);
            return py::make_tuple(to_python(out.edges), to_python(out.density), to_python(out.standard_error));
        });
    m.def("simulate", &simulate);
    m.def("expected_distance", &expected_distance);
    bind_reports(m);
    bind_validation(m);
}
