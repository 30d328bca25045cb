// Reads a result file: read_result spectra-cayley-L10.h5. read_result.py does the same in Python.
//
// Prints the command that wrote the file; the metrics of every theory and of the simulation, one line each;
// and the distances between each two of them.

#include <jacobian_spectra/report/stored_report.hpp>
#include <jacobian_spectra/spectrum/metrics.hpp>

#include <cstdio>
#include <stdexcept>

int main(int count, char** arguments) {
    if (count != 2) {
        std::fprintf(stderr, "usage: read_result FILE.h5\n");
        return 2;
    }
    try {
        const spectra::report::Report report = spectra::report::read_result_file(arguments[1]);
        std::printf("%s\n", report.provenance.command.c_str());
        for (const auto& [source, metrics] : report.metrics) {
            std::printf("%s", name(source).c_str());
            for (const auto& metric : spectra::metric_names)
                std::printf(" %s=%.6g", metric.name, metrics.*metric.member);
            std::printf("\n");
        }
        for (const auto& [pair, distance] : report.agreement)
            std::printf("%s wasserstein1=%.6g kolmogorov_smirnov=%.6g\n", name(pair).c_str(), distance.wasserstein1,
                        distance.kolmogorov_smirnov);
        return 0;
    } catch (const std::invalid_argument& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
}
