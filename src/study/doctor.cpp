#include "study/doctor.hpp"

#include "base/program.hpp"
#include "base/temporary_folder.hpp"
#include "base/text.hpp"
#include "dyson/law/theory.hpp"
#include "h5/file.hpp"
#include "h5/version.hpp"
#include "linalg/blas.hpp"
#include "linalg/blas_library.hpp"
#include "linalg/singular_values.hpp"
#include "mixers/mixer.hpp"
#include "montecarlo/cuda/module.hpp"
#include "montecarlo/run/simulate.hpp"
#include "parallel/mpi_version.hpp"
#include "plot/figure.hpp"
#include "plot/matplot.hpp"
#include "study/memory.hpp"
#include "study/version.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>

namespace spectra::study {
namespace {

using report::Health;
using report::Part;
namespace fs = std::filesystem;

constexpr double longest_answer = 20;  // seconds; the first start of spectra-torch reads a gigabyte of libraries

double seconds_of(const std::function<void()>& work) {
    const auto began = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

std::string milliseconds(double seconds) {
    return fmt::format("{:.{}f} ms", 1000 * seconds, seconds < 0.01 ? 1 : 0);
}

/// The first line of a file that begins with `key`, after the colon: of /proc/cpuinfo, for example.
std::string value_in(const fs::path& file, std::string_view key) {
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);)
        if (const auto colon = line.find(':'); line.starts_with(key) && colon != std::string::npos)
            return std::string(trimmed(std::string_view(line).substr(colon + 1)));
    return "";
}

/// The line of a text that begins with `beginning`, without it; the whole first line if `beginning` is empty.
std::string line_of(const std::string& text, std::string_view beginning) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with(beginning)) return std::string(trimmed(std::string_view(line).substr(beginning.size())));
    return "";
}

/// What a program prints when asked for its version.
std::string version_of(const fs::path& program) {
    const auto [status, output] = run_program(program, {"--version"}, longest_answer);
    if (status != 0) throw std::runtime_error(fmt::format("ended with status {}: {}", status, line_of(output, "")));
    return output;
}

/// A small network for trials.
Network small_network() {
    constexpr int streams = 2, depth = 4;
    mixers::Recipe recipe;
    recipe.family = mixers::Family::bistochastic;
    Network network;
    network.streams = streams;
    network.width = 8;
    network.mixers = mixers::draw_layers(recipe, streams, depth, /*shared=*/false, /*seed=*/1);
    network.branch = IsotropicBranch{std::vector<double>(depth, 0.05 / depth)};
    check(network);
    return network;
}

// Trials: each fills what was found and sets the health. An exception means that the part fails.

void try_system(Part& part) {
    std::string processor = value_in("/proc/cpuinfo", "model name");
    utsname machine{};
    if (processor.empty() && ::uname(&machine) == 0) processor = machine.machine;
    const auto cores = std::thread::hardware_concurrency();
    const double gigabytes = static_cast<double>(physical_memory()) / 1e9;
    part.found = fmt::format("{}, {} core{}, {:.1f} GB of memory", processor, cores, cores == 1 ? "" : "s", gigabytes);
    part.measured = {{"cores", cores}, {"memory_gigabytes", gigabytes}};
    part.health = Health::works;
}

void try_openmp(Part& part) {
    int started = 0;
#pragma omp parallel reduction(+ : started)
    started += 1;
    part.found = fmt::format("{} thread{}", started, started == 1 ? "" : "s");
    part.measured = {{"threads", started}};
    // Fewer than asked for, under a limit of the system, are slower and no failure.
    if (started < omp_get_max_threads()) part.trial = fmt::format("{} were asked for", omp_get_max_threads());
    part.health = started > 0 ? Health::works : Health::fails;
}

/// A matrix with the singular values 1/N, 2/N, …, 1: (I − 2uuᵀ) diag(s) (I − 2vvᵀ).
Eigen::MatrixXd matrix_with_known_values(int size) {
    Eigen::VectorXd u(size), v(size);
    for (int k = 0; k < size; ++k) {
        u[k] = std::cos(k + 1.0);
        v[k] = std::sin(3.0 * k + 1.0);
    }
    u.normalize();
    v.normalize();
    Eigen::MatrixXd out = Eigen::VectorXd::LinSpaced(size, 1.0 / size, 1).asDiagonal();
    out -= 2 * u * (u.transpose() * out);
    out -= 2 * (out * v) * v.transpose();
    return out;
}

void try_blas(Part& part) {
    const auto library = linalg::blas_library();
    part.found = library.name.empty() ? "not OpenBLAS" : library.name;
    if (!library.kernel.empty()) part.found += fmt::format(", {} kernel", library.kernel);

    constexpr int size = 256;
    const auto matrix = matrix_with_known_values(size);
    std::vector<double> log_values(size);
    linalg::SingularValues solver(size);
    const linalg::SingleThreadedBlas single_threaded;
    double seconds = std::numeric_limits<double>::infinity();
    for (int round = 0; round < 3; ++round) {
        bool converged = false;
        seconds = std::min(seconds, seconds_of([&] { converged = solver.compute(matrix, 0, log_values); }));
        if (!converged) throw std::runtime_error("a singular value decomposition did not converge");
    }
    double error = 0;
    for (int k = 0; k < size; ++k)
        error = std::max(error, std::abs(std::exp(log_values[static_cast<std::size_t>(k)]) - (k + 1.0) / size));
    // LAPACK's bound: a modest multiple of N ε ‖A‖.
    const double limit = size * std::numeric_limits<double>::epsilon();
    const double gflops = 8.0 / 3 * std::pow(size, 3) / seconds / 1e9;
    part.trial = fmt::format("SVD of size {} in {}, {:.1f} GFLOP/s, error {:.0e}", size, milliseconds(seconds), gflops,
                             error);
    if (const auto kernel = linalg::faster_kernel(library, linalg::has_avx2()); !kernel.empty())
        part.trial += fmt::format("; OpenBLAS does not recognise this processor and uses slow kernels: "
                                  "set OPENBLAS_CORETYPE={}", kernel);
    part.measured = {{"svd_seconds", seconds}, {"gflops", gflops}, {"error", error}, {"error_limit", limit}};
    if (!(error <= limit)) throw std::runtime_error(part.trial + fmt::format(", which is above {:.0e}", limit));
    part.health = Health::works;
}

void try_theory(Part& part) {
    dyson::Options options;
    options.points = 50;
    const auto theory = dyson::solve(small_network(), dyson::Method::operator_valued, options);
    const auto& summary = theory.summary;
    part.found = "operator-valued chain";
    part.measured = {{"mass", summary.mass},
                     {"mean_square", summary.mean_square},
                     {"mean_square_exact", summary.mean_square_exact}};
    if (!summary.certified) throw std::runtime_error("a small law was not certified: " + summary.message);
    part.trial = fmt::format("{} points certified in {}", summary.points, milliseconds(summary.seconds));
    part.health = Health::works;
}

void try_hdf5(Part& part) {
    part.found = h5::library_version();
    const TemporaryFolder folder;
    const auto path = folder.path() / "trial.h5";
    const std::vector<double> written{1, -0.5, 1e-300, 3};
    auto file = h5::File::create(path);
    file.write("group/values", written);
    file.close();
    h5::Shape shape;
    if (h5::File::open_read(path).read_doubles("group/values", shape) != written)
        throw std::runtime_error("a file was written, and other numbers were read back");
    if (!fs::remove(path)) throw std::runtime_error("a file that was written is not there");
    part.trial = "a file was written, read back and deleted";
    part.health = Health::works;
}

plot::Figure small_figure() {
    plot::Series line;
    line.x = {0, 0.5, 1};
    line.y = {0, 1, 0.5};
    plot::Panel panel;
    panel.series = {line};
    plot::Figure figure;
    figure.title = "trial";
    figure.panels = {panel};
    figure.width = 40;
    return figure;
}

void try_gnuplot(Part& part) {
    const auto program = find_program("gnuplot");
    if (!program) {
        part.health = Health::missing;
        part.found = "not in PATH";
        return;
    }
    part.found = line_of(version_of(*program), "gnuplot");
    const TemporaryFolder folder;
    const auto path = folder.path() / "trial.png";
    const double seconds = seconds_of([&] { plot::render(small_figure(), path); });
    constexpr std::string_view signature = "\x89PNG\r\n\x1a\n";
    std::string begin(signature.size(), '\0');
    std::ifstream(path, std::ios::binary).read(begin.data(), static_cast<std::streamsize>(begin.size()));
    if (begin != signature) throw std::runtime_error("what was drawn is no PNG file");
    part.trial = fmt::format("a PNG was drawn in {}{}", milliseconds(seconds),
                             plot::matplot_is_used() ? " by Matplot++" : "");
    part.health = Health::works;
}

/// "NVIDIA H200", as its driver reports it; empty without a driver.
std::string gpu_of_driver() {
    std::error_code none;
    for (const auto& gpu : fs::directory_iterator("/proc/driver/nvidia/gpus", none))
        return value_in(gpu.path() / "information", "Model");
    return "";
}

/// Whether a display or compute device by NVIDIA is connected, whatever its driver.
bool gpu_on_bus() {
    const auto word = [](const fs::path& file) {
        std::string text;
        std::ifstream(file) >> text;
        return text;
    };
    std::error_code none;
    for (const auto& device : fs::directory_iterator("/sys/bus/pci/devices", none))
        if (word(device.path() / "vendor") == "0x10de" && word(device.path() / "class").starts_with("0x03")) return true;
    return false;
}

/// Why the GPU is not used, and what to do about it.
void explain_cuda(Part& part, const std::string& gpu, const std::string& why_not) {
    const bool module_built = montecarlo::cuda::has_cuda_module();
    part.health = module_built && !gpu.empty() ? Health::fails : Health::missing;
    if (gpu.empty() && !gpu_on_bus()) {
        part.found = module_built ? "no NVIDIA GPU; the CUDA module is built" : "no NVIDIA GPU";
        part.remedy = "nothing to install, the CPU does the same";
    } else if (gpu.empty()) {
        part.found = "an NVIDIA GPU without its driver";
        part.remedy = "install the driver (nvidia-driver)";
    } else {
        part.found = gpu;
        part.trial = why_not;
        part.remedy = module_built ? "see whether nvidia-smi lists the GPU; update the driver if it is too old"
                                   : "install the CUDA toolkit (nvcc), then build again";
    }
}

void try_cuda(Part& part) {
    const Network network = small_network();
    const std::string gpu = gpu_of_driver();
    std::string why_not;
    if (!montecarlo::cuda::open_backend(network.streams, network.width, montecarlo::Precision::f64, why_not)) {
        explain_cuda(part, gpu, why_not);
        return;
    }
    montecarlo::Options options;
    options.samples = 4;
    options.threads = 1;
    const auto on_cpu = montecarlo::simulate(network, options);
    options.device = montecarlo::Device::cuda;
    const auto on_gpu = montecarlo::simulate(network, options);
    part.found = on_gpu.device;
    if (!on_gpu.note.empty()) throw std::runtime_error(on_gpu.note);
    if (on_gpu.log_values.size() != on_cpu.log_values.size()) throw std::runtime_error("samples are missing");
    double difference = 0;
    for (std::size_t k = 0; k < on_cpu.log_values.size(); ++k)
        difference = std::max(difference, std::abs(std::exp(on_gpu.log_values[k]) - std::exp(on_cpu.log_values[k])));
    difference /= on_cpu.largest;
    // Sums in another order over L products of N×N matrices.
    const double limit = 16.0 * network.depth() * network.size() * std::numeric_limits<double>::epsilon();
    part.measured = {{"difference", difference}, {"difference_limit", limit}};
    part.trial = fmt::format("{} samples, {:.0e} from the CPU's", on_gpu.samples, difference);
    if (!(difference <= limit)) throw std::runtime_error(part.trial + fmt::format(", which is above {:.0e}", limit));
    part.health = Health::works;
}

void try_torch(Part& part, const std::optional<fs::path>& program) {
    if (!program) {
        part.health = Health::missing;
        part.found = "the program spectra-torch is not built";
        return;
    }
    part.found = "spectra-torch";
    const std::string output = version_of(*program);
    const std::string torch = line_of(output, "Torch ");
    part.found = torch.empty() ? "spectra-torch" : "Torch " + torch;
    part.trial = "spectra-torch starts";
    if (line_of(output, "") != fmt::format("spectra {} ({})", version::number, version::git))
        part.trial += " (built from another commit)";
    part.health = Health::works;
}

void try_mpi(Part& part) {
    if (!parallel::has_mpi_module()) {
        part.health = Health::missing;
        part.found = "the module spectra_mpi is not built";
        return;
    }
    std::string why_not;
    const auto version = parallel::mpi_version(why_not);
    if (!version) throw std::runtime_error(why_not);
    part.found = *version;
    part.trial = find_program("mpirun") || find_program("srun") ? "the module loads"
                                                                : "the module loads; no mpirun: install openmpi-bin";
    part.health = Health::works;
}

void try_git(Part& part) {
    const auto program = find_program("git");
    if (!program) {
        part.health = Health::missing;
        part.found = "not in PATH";
        return;
    }
    part.found = line_of(version_of(*program), "git version ");
    part.health = Health::works;
}

struct Examination {
    Part part;  ///< name, whether it is required, purpose, remedy
    std::function<void(Part&)> trial;
};

std::vector<Examination> examinations(const DoctorRequest& request) {
    return {
        {{"system", false, "everything", ""}, try_system},
        {{"OpenMP", true, "all computations", "check OMP_NUM_THREADS and OMP_THREAD_LIMIT; reinstall g++"}, try_openmp},
        {{"BLAS", true, "all computations", "reinstall libopenblas-dev and liblapacke-dev, then build again"}, try_blas},
        {{"theory", true, "all commands", "build again; if that does not help, please report it"}, try_theory},
        {{"HDF5", true, "result files",
          "set TMPDIR to a folder you can write to; otherwise reinstall libhdf5-dev and build again"},
         try_hdf5},
        {{"gnuplot", false, "figures", "install gnuplot-nox"}, try_gnuplot},
        {{"CUDA", false, "simulation on a GPU", ""}, try_cuda},
        {{"Torch", false, "train, and validate where it runs a model",
          "./spectra builds it when needed; otherwise install libtorch-dev, then build again"},
         [&request](Part& part) { try_torch(part, request.torch_program); }},
        {{"MPI", false, "sweep and simulation over many processes",
          "install libopenmpi-dev and openmpi-bin, then build again"},
         try_mpi},
        {{"git", false, "the commit in results, and updates", "install git"}, try_git},
    };
}

/// Runs the trial. What it throws is why the part fails.
Part examined(Examination examination) {
    Part part = std::move(examination.part);
    part.seconds = seconds_of([&] {
        try {
            examination.trial(part);
        } catch (const std::exception& error) {
            part.health = Health::fails;
            part.trial = error.what();
        }
    });
    return part;
}

}  // namespace

report::Diagnosis doctor(const DoctorRequest& request, Observer& observer) {
    report::Diagnosis diagnosis{version::number,   version::git,      version::build,
                                version::compiler, version::features, {}};
    for (auto& examination : examinations(request)) {
        observer.stage("trying " + examination.part.name);
        diagnosis.parts.push_back(examined(std::move(examination)));
    }
    return diagnosis;
}

}  // namespace spectra::study
